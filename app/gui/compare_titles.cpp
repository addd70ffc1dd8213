// SPDX-License-Identifier: GPL-3.0-or-later
// What stands over the columns of the comparison: short, exact, and in a sentence.
#include "app/gui/compare_model.h"

#include "app/gui/table_text.h"
#include "app/gui/text.h"

namespace kvcaliper::gui {

QString CompareModel::title(int column) const {
    const QString context = integer_text(study_.settings().context.count());
    const QString names[] = {tr("Model"),
                             tr("Attention"),
                             tr("Uncapped\nper token"),
                             tr("Growth\nper token"),
                             tr("Constant"),
                             tr("Total at\n%1").arg(context),
                             tr("Ratio"),
                             tr("Most\nsequences"),
                             tr("Growth is"),
                             tr("Layers")};
    return names[column];
}

QString CompareModel::exactTitle(int column) const {
    const Settings& settings = study_.settings();
    const QString names[] = {
        tr("Model"),
        tr("Attention"),
        tr("Uncapped (B/token)"),
        tr("Growth (B/token)"),
        tr("Constant (B/sequence)"),
        tr("Total at %1 tokens, %2 sequence(s) (B)")
            .arg(settings.context.count())
            .arg(settings.sequences),
        tr("Ratio to %1").arg(baselineName()),
        tr("Most sequences %1").arg(place_text(study_) + options_text(study_.state().budget)),
        tr("Growth is"),
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
        tr("As many sequences of the context as fit %1; chosen on the Budget page")
            .arg(place_text(study_) + options_text(study_.state().budget)),
        tr("Low, moderate or high, by what one more token adds"),
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
        return QVariant(Qt::AlignVCenter | (section == Mark     ? Qt::AlignHCenter
                                            : isNumber(section) ? Qt::AlignRight
                                                                : Qt::AlignLeft));
    default:
        return {};
    }
}

} // namespace kvcaliper::gui
