// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/compare_model.h"

#include "app/gui/bar_delegate.h"
#include "app/gui/chart_theme.h"
#include "app/gui/table_text.h"
#include "app/gui/text.h"
#include "core/catalog.h"
#include "core/error.h"

#include <QElapsedTimer>
#include <QFont>
#include <QTimer>

#include <QGuiApplication>
#include <QPalette>
#include <algorithm>

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
    case CompareModel::Mark:
        return Ratio(static_cast<std::int64_t>(growth_mark(row.estimate->growth.value())));
    default:
        return std::nullopt;
    }
}

QString mark_text(GrowthMark mark) {
    switch (mark) {
    case GrowthMark::none:
        return CompareModel::tr("○○○ none");
    case GrowthMark::low:
        return CompareModel::tr("●○○ low");
    case GrowthMark::moderate:
        return CompareModel::tr("●●○ moderate");
    case GrowthMark::high:
        return CompareModel::tr("●●● high");
    }
    return {};
}

CompareModel::CompareModel(const Study& study, QObject* parent)
    : QAbstractTableModel(parent), study_(study),
      shown_rows_(static_cast<int>(study.rows().size())), worker_(new QTimer(this)) {
    worker_->setSingleShot(true);
    connect(worker_, &QTimer::timeout, this, &CompareModel::answerSome);
    connect(&study_, &Study::changed, this, &CompareModel::refresh);
    connect(&study_, &Study::recordsChanged, this, &CompareModel::refresh);
    measureColumns();
}

void CompareModel::measureColumns() {
    for (int column = 0; column < ColumnCount; ++column) {
        double& largest = largest_[static_cast<std::size_t>(column)];
        largest = 0;
        for (const StudyRow& row : study_.rows()) {
            if (const auto number = compare_number(study_, row, column)) {
                largest = std::max(largest, number->to_double());
            }
        }
    }
}

/// Slider moves change cells and not rows: then the view keeps its selection and scroll position.
void CompareModel::refresh() {
    for (KnownSequences& known : sequences_) {
        known.fresh = false;
    }
    measureColumns();
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

const CompareModel::KnownSequences& CompareModel::answerNow(const StudyRow& row) const {
    KnownSequences& known = sequences_[row.id];
    if (!known.fresh) {
        known = {sequences_answer(study_, row), true};
    }
    return known;
}

/// False where every row has its answer.
bool CompareModel::answerNext() {
    for (std::size_t i = 0; i < study_.rows().size(); ++i) {
        const StudyRow& row = study_.rows()[i];
        if (!sequences_.value(row.id).fresh) {
            answerNow(row);
            const QModelIndex cell = index(static_cast<int>(i), Sequences);
            Q_EMIT dataChanged(cell, cell);
            return true;
        }
    }
    return false;
}

/// As many rows as fit beside a frame; the others when the events that waited were served.
void CompareModel::answerSome() {
    constexpr qint64 share_of_a_frame = 8;
    QElapsedTimer since;
    since.start();
    bool more = true;
    while (more && since.elapsed() < share_of_a_frame) {
        more = answerNext();
    }
    if (more) {
        worker_->start(0);
    }
    Q_EMIT sequencesKnown();
}

void CompareModel::finishSequences() {
    while (answerNext()) {
    }
    Q_EMIT sequencesKnown();
}

std::optional<Ratio> CompareModel::number(const StudyRow& row, int column) const {
    if (column != Sequences) {
        return compare_number(study_, row, column);
    }
    const KnownSequences known = sequences_.value(row.id);
    return known.fresh && known.answer.most ? std::optional<Ratio>(*known.answer.most)
                                            : std::nullopt;
}

QString CompareModel::sequencesText(const StudyRow& row) const {
    const KnownSequences known = sequences_.value(row.id);
    if (!known.fresh) {
        worker_->start(0);
        return QStringLiteral("…");
    }
    if (!known.answer.most) {
        return QStringLiteral("–");
    }
    return *known.answer.most >= any_sequences ? tr("any") : integer_text(*known.answer.most);
}

QString CompareModel::sequencesTip(const StudyRow& row) const {
    const KnownSequences known = sequences_.value(row.id);
    if (!known.fresh) {
        return tr("not searched yet");
    }
    if (!known.answer.most) {
        return tr("Can not be told: %1").arg(known.answer.problem);
    }
    return tr("sequences of %1 tokens %2")
        .arg(integer_text(study_.settings().context.count()),
             place_text(study_) + options_text(study_.state().budget));
}

QString CompareModel::markTip(const StudyRow& row) const {
    const QString tokens = text(format_tokens(marked_tokens));
    const auto bound = [&](Bytes bytes) {
        return tr("%1 per token (%2 for %3 tokens)")
            .arg(bytes_text(Ratio(bytes.count(), marked_tokens.count())), text(format_bytes(bytes)),
                 tokens);
    };
    const QString rule = tr("Low: up to %1; moderate: up to %2; high: more.")
                             .arg(bound(low_at_most), bound(moderate_at_most));
    return tr("Grows by %1 per token at the model's maximum context.")
               .arg(bytes_text(row.estimate->growth.value())) +
           u' ' + rule;
}

/// "−73.3%"; empty for the baseline itself, and where it or the row has no number above 0.
QString CompareModel::delta(const StudyRow& row, int column) const {
    const StudyRow* baseline = study_.row(study_.effectiveBaseline());
    if (baseline == nullptr || baseline == &row || !(is_bytes(column) || column == Sequences)) {
        return {};
    }
    const auto value = number(row, column);
    const auto base = number(*baseline, column);
    if (!value || !base || *base == Ratio(0)) {
        return {};
    }
    try {
        const Ratio percent = (*value / *base - Ratio(1)) * Ratio(100);
        const bool less = percent < Ratio(0);
        const Ratio size = less ? Ratio(0) - percent : percent;
        const QString sign = less ? QStringLiteral("−") : QStringLiteral("+");
        return sign + text(format_decimal(size, size < Ratio(1000) ? 1 : 0)) + u'%';
    } catch (const Error&) { // a quotient past 64 bits is none that is read
        return {};
    }
}

/// A cell for those who do not see its bar, its dots or what stands over it.
QVariant CompareModel::spoken(const StudyRow& row, int column) const {
    if (column == Mark && row.estimate) {
        return exact(row, column);
    }
    const std::optional<Ratio> number = compare_number(study_, row, column);
    // A screen reader says the badge as a word instead of a mark.
    const QString shown =
        number && is_bytes(column)
            ? QStringLiteral("%1, %2").arg(bytes_text(*number), badge_text(badge(row, column)))
            : display(row, column).toString();
    const QString distance = delta(row, column);
    return distance.isEmpty() ? shown
                              : tr("%1, %2 against %3").arg(shown, distance, baselineName());
}

QVariant CompareModel::bar(const StudyRow& row, int column) const {
    if (!is_bytes(column)) {
        return {};
    }
    const double largest = largest_[static_cast<std::size_t>(column)];
    const auto value = number(row, column);
    return value && largest > 0 ? QVariant(value->to_double() / largest) : QVariant();
}

/// Vendors and families are in the catalog alone; a file is found by its path.
QString CompareModel::searched(const StudyRow& row) const {
    if (catalog_.isEmpty()) {
        try {
            for (const CatalogEntry& entry : bundled_models()) {
                catalog_.insert(text(entry.name), text(entry.vendor) + u' ' + text(entry.family));
            }
        } catch (const Error&) { // said where the models are listed
        }
        catalog_.insert(QString(), QString());
    }
    QStringList words{row.name, row.id, catalog_.value(row.id), row.error};
    if (row.model) {
        words << text(row.model->plan.model_type) << kinds_text(row.model->spec);
        for (const LayerCache& layer : row.model->spec.layers) {
            words << text(layer.kind);
        }
        words.removeDuplicates();
    }
    return words.join(u' ');
}

QVariant CompareModel::sortKey(const StudyRow& row, int column) const {
    if (column == Sequences) { // an answer that is not in yet stays where it was
        return QVariant::fromValue(
            static_cast<qlonglong>(sequences_.value(row.id).answer.most.value_or(-1)));
    }
    if (const auto value = compare_number(study_, row, column)) {
        return value->to_double();
    }
    return column >= Uncapped ? QVariant(-1.0) : display(row, column);
}

QVariant CompareModel::display(const StudyRow& row, int column) const {
    if (column == Name) {
        return row.name;
    }
    if (column == Kind) {
        return row.estimate ? kinds_text(row.model->spec) : row.error;
    }
    if (column == Sequences) {
        return sequencesText(row);
    }
    const std::optional<Ratio> number = compare_number(study_, row, column);
    if (!number) {
        return QStringLiteral("–");
    }
    if (column == Mark) {
        return mark_text(growth_mark(row.estimate->growth.value()));
    }
    if (is_bytes(column)) {
        const QString mark = badge_mark(badge(row, column));
        return mark.isEmpty() ? bytes_text(*number) : mark + u' ' + bytes_text(*number);
    }
    return column == RatioColumn ? QStringLiteral("%1×").arg(text(format_decimal(*number, 3)))
                                 : integer_text(number->to_integer());
}

QVariant CompareModel::exact(const StudyRow& row, int column) const {
    if (column == Sequences) {
        const auto most = answerNow(row).answer.most;
        return !most                    ? QString()
               : *most >= any_sequences ? QStringLiteral("any")
                                        : QString::number(*most);
    }
    if (column == Mark && row.estimate) {
        return text(to_string(growth_mark(row.estimate->growth.value())));
    }
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
    if (column == Mark) {
        return markTip(row);
    }
    if (column == Sequences) {
        return sequencesTip(row);
    }
    const std::optional<Ratio> number = compare_number(study_, row, column);
    if (!number || !is_bytes(column)) {
        return {};
    }
    const QString distance = delta(row, column);
    const QString exactly =
        distance.isEmpty()
            ? exact_text(*number)
            : tr("%1; %2 against %3").arg(exact_text(*number), distance, baselineName());
    return badge(row, column) == Badge::computed
               ? exactly
               : exactly + u'\n' + evidence_text(study_.evidence(row.id, *figure_of(column)));
}

Badge CompareModel::badge(const StudyRow& row, int column) const {
    const auto figure = figure_of(column);
    return figure && row.estimate ? study_.badge(row.id, *figure) : Badge::computed;
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
        return QVariant(Qt::AlignVCenter | (isNumber(column) ? Qt::AlignRight : Qt::AlignLeft));
    case Qt::FontRole: {
        QFont font;
        font.setBold(column == Name && row.id == study_.effectiveBaseline());
        return font;
    }
    case Qt::AccessibleTextRole:
        return spoken(row, column);
    case Qt::ForegroundRole:
        return badge_brush(badge(row, column));
    case sort_role:
        return sortKey(row, column);
    case bar_role:
        return bar(row, column);
    case delta_role:
        return delta(row, column);
    case search_role:
        return searched(row);
    case exact_role:
        return exact(row, column);
    case id_role:
        return row.id;
    default:
        return {};
    }
}

} // namespace kvcaliper::gui
