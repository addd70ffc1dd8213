// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/chart_theme.h"

#include "app/gui/app_theme.h"

#include <QPalette>

namespace kvcaliper::gui {

namespace {

// Okabe and Ito, "Color Universal Design", 2008.
constexpr QRgb orange = 0xFFE69F00;
constexpr QRgb sky_blue = 0xFF56B4E9;
constexpr QRgb green = 0xFF009E73;
constexpr QRgb blue = 0xFF0072B2;
constexpr QRgb vermillion = 0xFFD55E00;
constexpr QRgb purple = 0xFFCC79A7;

QColor at(const std::vector<QColor>& colours, int index) {
    return colours[static_cast<std::size_t>(index) % colours.size()];
}

} // namespace

QColor ChartTheme::ink(const Ink& ink) const {
    if (ink.index < 0) {
        return muted;
    }
    return at(ink.group == Ink::Group::series ? series : kinds, ink.index);
}

int ChartTheme::round_of(int series_index) const {
    return series_index / static_cast<int>(series.size());
}

ChartTheme light_chart_theme() {
    return {false,
            QColor(255, 255, 255),
            QColor(26, 26, 28),
            QColor(92, 92, 98),
            QColor(226, 226, 230),
            {blue, vermillion, green, purple, QColor(70, 70, 76)},
            {blue, orange, green, purple, vermillion}};
}

ChartTheme dark_chart_theme() {
    return {true,
            QColor(30, 30, 32),
            QColor(236, 236, 238),
            QColor(168, 168, 176),
            QColor(62, 62, 66),
            {orange, sky_blue, purple, green, vermillion},
            {sky_blue, orange, green, purple, vermillion}};
}

ChartTheme chart_theme_for(const QPalette& palette) {
    const bool dark = palette.color(QPalette::Window).lightness() <
                      palette.color(QPalette::WindowText).lightness();
    ChartTheme theme = dark ? dark_chart_theme() : light_chart_theme();
    if (is_black_and_white(palette)) {
        theme.ground = palette.color(QPalette::Base);
        theme.text = theme.muted = palette.color(QPalette::Text);
        theme.grid = QColor(128, 128, 128);
    }
    return theme;
}

} // namespace kvcaliper::gui
