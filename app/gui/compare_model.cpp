// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/compare_model.h"

#include "app/gui/chart_theme.h"
#include "app/gui/table_text.h"
#include "app/gui/text.h"

#include <QFont>
#include <QGuiApplication>
#include <QPalette>

namespace kvcaliper::gui {

namespace {

bool is_bytes(int column) {
    return column >= CompareModel::Uncapped && column <= CompareModel::Total;
}

/// The figure in a column; nothing for a column that is none.
std::optional<FigureKind> figure_of(int column) {
    switch (column) {
    case CompareModel::Uncapped:
        return FigureKind::uncapped;
    case CompareModel::Growth:
        return FigureKind::growth;
    case CompareModel::Constant:
        return FigureKind::constant;
    case CompareModel::Total:
        return FigureKind::total;
    default:
        return std::nullopt;
    }
}

/// The colour beside the mark of a badge; the view's own for what is only computed.
QVariant badge_brush(Badge badge) {
    const bool dark = chart_theme_for(QGuiApplication::palette()).dark;
    return badge == Badge::computed ? QVariant() : QVariant(badge_colour(badge, dark));
}

std::optional<Ratio> ratio_to_baseline(const Study& study, const StudyRow& row) {
    const StudyRow* baseline = study.row(study.effectiveBaseline());
    if (baseline == nullptr || !baseline->estimate ||
        baseline->estimate->required.value() == Ratio(0)) {
        return std::nullopt;
    }
    return row.estimate->required.value() / baseline->estimate->required.value();
}

} // namespace

std::optional<Ratio> compare_number(const Study& study, const StudyRow& row, int column) {
    if (column == CompareModel::Layers && row.model) {
        return Ratio(static_cast<std::int64_t>(row.model->spec.layers.size()));
    }
    if (!row.estimate) {
        return std::nullopt;
    }
    switch (column) {
    case CompareModel::Uncapped:
        return row.estimate->uncapped.value();
    case CompareModel::Growth:
        return row.estimate->growth.value();
    case CompareModel::Constant:
        return row.estimate->constant.value();
    case CompareModel::Total:
        return row.estimate->required.value();
    case CompareModel::RatioColumn:
        return ratio_to_baseline(study, row);
    default:
        return std::nullopt;
    }
}

CompareModel::CompareModel(const Study& study, QObject* parent)
    : QAbstractTableModel(parent), study_(study),
      shown_rows_(static_cast<int>(study.rows().size())) {
    connect(&study_, &Study::changed, this, &CompareModel::refresh);
    connect(&study_, &Study::recordsChanged, this, &CompareModel::refresh);
}

/// Slider moves change cells and not rows: then the view keeps its selection and scroll position.
void CompareModel::refresh() {
    const int rows = static_cast<int>(study_.rows().size());
    if (rows != shown_rows_) {
        beginResetModel();
        shown_rows_ = rows;
        endResetModel();
        return;
    }
    if (rows > 0) {
        Q_EMIT dataChanged(index(0, 0), index(rows - 1, ColumnCount - 1));
    }
    Q_EMIT headerDataChanged(Qt::Horizontal, 0, ColumnCount - 1);
}

int CompareModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : shown_rows_;
}

int CompareModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant CompareModel::display(const StudyRow& row, int column) const {
    if (column == Name) {
        return row.name;
    }
    if (column == Kind) {
        return row.estimate ? kinds_text(row.model->spec) : row.error;
    }
    const std::optional<Ratio> number = compare_number(study_, row, column);
    if (!number) {
        return QStringLiteral("–");
    }
    if (is_bytes(column)) {
        const QString mark = badge_mark(badge(row, column));
        return mark.isEmpty() ? bytes_text(*number) : mark + u' ' + bytes_text(*number);
    }
    return column == RatioColumn ? QStringLiteral("%1×").arg(text(format_decimal(*number, 3)))
                                 : integer_text(number->to_integer());
}

QVariant CompareModel::exact(const StudyRow& row, int column) const {
    const std::optional<Ratio> number = compare_number(study_, row, column);
    if (!number) {
        return column == Kind || column == Name ? display(row, column) : QVariant(QString());
    }
    return column == RatioColumn ? text(format_decimal(*number, 6)) : text(number->to_string());
}

QVariant CompareModel::toolTip(const StudyRow& row, int column) const {
    if (!row.error.isEmpty()) {
        return row.error;
    }
    if (column == Name) {
        return row.id;
    }
    if (column == Kind || column == Layers) {
        return layers_text(row.model->spec);
    }
    const std::optional<Ratio> number = compare_number(study_, row, column);
    if (!number || !is_bytes(column)) {
        return {};
    }
    return badge(row, column) == Badge::computed
               ? exact_text(*number)
               : exact_text(*number) + u'\n' +
                     evidence_text(study_.evidence(row.id, *figure_of(column)));
}

Badge CompareModel::badge(const StudyRow& row, int column) const {
    const auto figure = figure_of(column);
    return figure && row.estimate ? study_.badge(row.id, *figure) : Badge::computed;
}

/// What a screen reader says: the badge as a word instead of a mark.
QVariant CompareModel::accessible(const StudyRow& row, int column) const {
    const std::optional<Ratio> number = compare_number(study_, row, column);
    return number && is_bytes(column)
               ? QStringLiteral("%1, %2").arg(bytes_text(*number), badge_text(badge(row, column)))
               : display(row, column);
}

QVariant CompareModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const StudyRow& row = study_.rows()[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        return display(row, column);
    case Qt::ToolTipRole:
        return toolTip(row, column);
    case Qt::TextAlignmentRole:
        return QVariant(Qt::AlignVCenter | (column >= Uncapped ? Qt::AlignRight : Qt::AlignLeft));
    case Qt::FontRole: {
        QFont font;
        font.setBold(column == Name && row.id == study_.effectiveBaseline());
        return font;
    }
    case Qt::AccessibleTextRole:
        return accessible(row, column);
    case Qt::ForegroundRole:
        return badge_brush(badge(row, column));
    case sort_role:
        if (const auto number = compare_number(study_, row, column)) {
            return number->to_double();
        }
        return column >= Uncapped ? QVariant(-1.0) : display(row, column);
    case exact_role:
        return exact(row, column);
    case id_role:
        return row.id;
    default:
        return {};
    }
}

QString CompareModel::title(int column) const {
    const QString context = integer_text(study_.settings().context.count());
    const QString names[] = {tr("Model"),
                             tr("Attention"),
                             tr("Uncapped\nper token"),
                             tr("Growth\nper token"),
                             tr("Constant"),
                             tr("Total at\n%1").arg(context),
                             tr("Ratio"),
                             tr("Layers")};
    return names[column];
}

QString CompareModel::exactTitle(int column) const {
    const Settings& settings = study_.settings();
    const QString names[] = {tr("Model"),
                             tr("Attention"),
                             tr("Uncapped (B/token)"),
                             tr("Growth (B/token)"),
                             tr("Constant (B/sequence)"),
                             tr("Total at %1 tokens, %2 sequence(s) (B)")
                                 .arg(settings.context.count())
                                 .arg(settings.sequences),
                             tr("Ratio to %1").arg(baselineName()),
                             tr("Layers")};
    return names[column];
}

QString CompareModel::titleTip(int column) const {
    const QString tips[] = {
        tr("Bold: the baseline. Choose another in the context menu."),
        tr("The kinds of layers, in order of appearance"),
        tr("Every attention layer counted as growing: what most published tables print"),
        tr("What one more token adds at the model's maximum context"),
        tr("Full windows and states, per sequence"),
        tr("All sequences at the chosen context"),
        tr("Total at the context as a multiple of that of %1").arg(baselineName()),
        tr("Layers that the model's config counts")};
    return tips[column];
}

QString CompareModel::baselineName() const {
    const StudyRow* baseline = study_.row(study_.effectiveBaseline());
    return baseline != nullptr ? baseline->name : tr("the baseline");
}

QVariant CompareModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount) {
        return QAbstractTableModel::headerData(section, orientation, role);
    }
    switch (role) {
    case Qt::DisplayRole:
        return title(section);
    case exact_role:
        return exactTitle(section);
    case Qt::ToolTipRole:
        return titleTip(section);
    case Qt::TextAlignmentRole:
        return QVariant(Qt::AlignVCenter | (section >= Uncapped ? Qt::AlignRight : Qt::AlignLeft));
    default:
        return {};
    }
}

} // namespace kvcaliper::gui
