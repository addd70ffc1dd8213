// SPDX-License-Identifier: GPL-3.0-or-later
// What a chart shows, in numbers and words. Knows neither the plot library nor colours: the view
// and the exports draw it, tests read it.
#pragma once

#include "core/cache_spec.h"
#include "core/units.h"

#include <QString>

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace kvcaliper::gui {

/// A second channel beside the colour, so that a chart reads without colours.
enum class Hatch { none, diagonal, back_diagonal, horizontal, vertical, cross };

/// A colour of the theme: the n-th of the series, or that of a layer kind.
struct Ink {
    enum class Group { series, kind };
    Group group = Group::series;
    int index = 0;
    Hatch hatch = Hatch::none;
};

struct LegendEntry {
    QString text;
    Ink ink;
    std::optional<int> marker{}; ///< the points of that series instead of a filled swatch
};

/// A bar in bytes: a solid part and, behind it, one that stops growing at a window.
struct Bar {
    QString name;
    Ratio solid;
    Ratio hatched;
    QString label;  ///< its number
    QString detail; ///< a second line, for what one number does not say
    QString tooltip;
    int series = 0;
};

/// A line across all bars, such as what a device holds.
struct Limit {
    Ratio bytes;
    QString label;
};

struct BarChart {
    std::vector<Bar> bars;
    std::optional<Limit> limit{};
    QString axis;
};

struct CurvePointData {
    Tokens tokens;
    Bytes bytes;
    friend bool operator==(const CurvePointData&, const CurvePointData&) = default;
};

struct Curve {
    QString name;
    int series = 0;
    std::vector<CurvePointData> points;   ///< up to the model's maximum context
    std::vector<CurvePointData> beyond;   ///< past it: arithmetic only
    std::vector<CurvePointData> knees;    ///< where a window is full
    std::vector<CurvePointData> measured; ///< what a verification found
    friend bool operator==(const Curve&, const Curve&) = default;
};

/// A vertical line at a token count.
struct Guide {
    Tokens tokens;
    QString label;
};

/// A horizontal line at what a device holds.
struct Capacity {
    Bytes bytes;
    QString label;
};

/// Where a curve meets another one, or a capacity.
struct Meeting {
    Tokens tokens;
    Bytes bytes;
    QString label;   ///< its token count
    QString meaning; ///< who meets whom, and what follows
};

/// Token reads against tokens, with a cache and without, in a small chart below the curves.
struct ReadsPanel {
    struct Point {
        Tokens tokens;
        std::int64_t without = 0; ///< n(n+1)/2
        friend bool operator==(const Point&, const Point&) = default;
    };
    std::vector<Point> points;
    QString title;
    QString caption;
    QString with_label;
    QString without_label;
    friend bool operator==(const ReadsPanel&, const ReadsPanel&) = default;
};

struct CurveChart {
    std::vector<Curve> curves;
    std::vector<Guide> guides;
    QString x_axis;
    QString y_axis;
    bool linear = false; ///< both axes; logarithmic otherwise
    std::vector<Capacity> capacities{};
    std::vector<Meeting> meetings{};
    std::optional<ReadsPanel> reads{};
};

struct LayerCell {
    QString kind; ///< "full attention + Mamba 2", "shared"
    Ink ink;
    double fill = 0;            ///< bytes at the context as a share of the model's largest layer
    std::optional<int> owner{}; ///< the cell whose cache this one reads
};

struct LayerRow {
    QString name;
    QString caption;
    std::vector<LayerCell> cells;
};

struct LayerChart {
    std::vector<LayerRow> rows;
    QString axis;
};

struct ScatterPoint {
    double bytes = 0;
    double error = 0; ///< relative, above 0
    QString label;    ///< drawn where there is room, the first ones first; empty: none
};

struct ScatterSeries {
    QString name;
    int series = 0; ///< colour and shape
    std::vector<ScatterPoint> points;
};

/// Two points at the same bytes, and a word on them over the higher one.
struct ScatterSpan {
    ScatterPoint low, high;
    QString label;
};

/// Errors over bytes: both to be small. The front is what nothing undercuts, by bytes.
struct ScatterChart {
    std::vector<ScatterSeries> series;
    std::vector<ScatterPoint> front;
    std::optional<ScatterSpan> span{};
    QString x_axis;
    QString y_axis;
};

struct ChartData {
    QString title;
    QString subtitle;
    QString description; ///< one sentence with every number: accessible text and file metadata
    std::vector<LegendEntry> legend;
    std::variant<BarChart, CurveChart, LayerChart, ScatterChart> body;
};

/// Colour and hatch of a kind: no two kinds share both.
Ink kind_ink(LayerKind kind);
/// The same for a layer: of its one kind, or of what several, sharing or nothing look like.
Ink layer_ink(const LayerCache& layer);

} // namespace kvcaliper::gui
