// SPDX-License-Identifier: GPL-3.0-or-later
// Colours of a chart on a light and on a dark ground: the Okabe-Ito palette, in an order chosen per
// ground so that every line has a contrast of at least 3 to 1.
#pragma once

#include "app/gui/chart_data.h"

#include <QColor>

#include <vector>

class QPalette;

namespace kvcaliper::gui {

struct ChartTheme {
    bool dark = false;
    QColor ground;
    QColor text;
    QColor muted;
    QColor grid;
    std::vector<QColor> series;
    std::vector<QColor> kinds; ///< in the order of LayerKind

    QColor ink(const Ink& ink) const;
    /// How often the series colours have been used up before this one: the dash of its line.
    int round_of(int series_index) const;
};

ChartTheme light_chart_theme();
ChartTheme dark_chart_theme();
/// The one that suits a palette, by the lightness of its window colour. Where the palette is black
/// and white, nothing in the chart is muted.
ChartTheme chart_theme_for(const QPalette& palette);

} // namespace kvcaliper::gui
