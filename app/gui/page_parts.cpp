// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/chart_view.h"
#include "app/gui/pages.h"

#include <QHeaderView>
#include <QTableView>
#include <QToolTip>

namespace kvcaliper::gui {

void style_table(QTableView& view) {
    view.setSelectionMode(QAbstractItemView::SingleSelection);
    view.setAlternatingRowColors(true);
    view.verticalHeader()->hide();
    view.verticalHeader()->setDefaultSectionSize(view.fontMetrics().height() + 10);
    QHeaderView& header = *view.horizontalHeader();
    header.setSortIndicator(-1, Qt::AscendingOrder);
    header.setSortIndicatorClearable(true);
    header.setHighlightSections(false);
    view.setSortingEnabled(true);
}

void follow_bars(ChartView& chart, Study& study) {
    QObject::connect(
        &chart, &ChartView::hovered, &chart, [&chart](const ChartSpot& spot, const QPoint& global) {
            const auto& bars = std::get<BarChart>(chart.data().body).bars;
            const bool on_bar = spot.row >= 0 && spot.row < static_cast<int>(bars.size());
            QToolTip::showText(global, on_bar ? bars[static_cast<std::size_t>(spot.row)].tooltip
                                              : QString());
        });
    QObject::connect(&chart, &ChartView::clicked, &study, [&study](const ChartSpot& spot) {
        study.setCurrent(study.state().models.value(spot.row));
    });
}

int bars_height(std::size_t bars) {
    constexpr int bar_height = 34;
    constexpr int frame_height = 130;
    return frame_height + bar_height * static_cast<int>(bars);
}

} // namespace kvcaliper::gui
