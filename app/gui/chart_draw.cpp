// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/chart_paint.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kvcaliper::gui {

namespace {

constexpr QCPScatterStyle::ScatterShape shapes[] = {
    QCPScatterStyle::ssCircle, QCPScatterStyle::ssSquare, QCPScatterStyle::ssTriangle,
    QCPScatterStyle::ssDiamond, QCPScatterStyle::ssTriangleInverted};

void style_axis(QCPAxis& axis, const ChartTheme& theme) {
    axis.setBasePen(QPen(theme.muted, 1));
    axis.setTickPen(QPen(theme.muted, 1));
    axis.setSubTickPen(Qt::NoPen);
    axis.setTickLabelColor(theme.text);
    axis.setLabelColor(theme.muted);
    axis.setTickLabelFont(axis.parentPlot()->font());
    axis.setLabelFont(axis.parentPlot()->font());
    axis.grid()->setPen(QPen(theme.grid, 1));
    axis.grid()->setZeroLinePen(Qt::NoPen);
    axis.grid()->setSubGridVisible(false);
}

/// The item of a kind that a chart has one of; null where it has none.
template <class Item> Item* item_of(QCustomPlot& plot) {
    for (int i = 0; i < plot.itemCount(); ++i) {
        if (auto* item = dynamic_cast<Item*>(plot.item(i))) {
            return item;
        }
    }
    return nullptr;
}

/// Of what can move alone, painted into a buffer of its own above the rest.
QCPLayer& marks_layer(QCustomPlot& plot) {
    const QString name = QStringLiteral("marks");
    if (plot.layer(name) == nullptr) {
        plot.addLayer(name, plot.layer(QStringLiteral("legend")));
        plot.layer(name)->setMode(QCPLayer::lmBuffered);
    }
    return *plot.layer(name);
}

/// Header above, legend below, one axis rect between them that takes the rest.
void lay_out(QCustomPlot& plot, const ChartData& data, const ChartTheme& theme) {
    QCPLayoutGrid& grid = *plot.plotLayout();
    grid.insertRow(0);
    auto* header = new HeaderElement(&plot, data, theme);
    if (std::holds_alternative<CurveChart>(data.body)) { // the words change with a slider, too
        header->setLayer(&marks_layer(plot));
    }
    grid.addElement(0, 0, header);
    grid.setRowStretchFactor(0, 0.0001);
    if (!data.legend.empty()) {
        grid.addElement(2, 0, new LegendElement(&plot, data, theme));
        grid.setRowStretchFactor(2, 0.0001);
    }
    grid.setRowSpacing(0);
}

void clear(QCustomPlot& plot) {
    plot.clearPlottables();
    plot.clearItems();
    QCPAxisRect* const own = plot.axisRect(); // the one that stays; the others were a chart's
    QCPMarginGroup* const group = own->marginGroups().value(QCP::msLeft);
    own->setMarginGroup(QCP::msLeft | QCP::msRight, nullptr);
    QCPLayoutGrid& grid = *plot.plotLayout();
    for (int row = grid.rowCount() - 1; row >= 0; --row) {
        if (grid.hasElement(row, 0) && grid.element(row, 0) != own) {
            grid.remove(grid.element(row, 0));
        }
    }
    grid.simplify();
    delete group;
}

// --- bars

void draw_body(QCustomPlot& plot, const BarChart& chart, const ChartTheme& theme) {
    auto* item = new BarsItem(&plot, chart, theme);
    auto names = QSharedPointer<QCPAxisTickerText>::create();
    for (std::size_t i = 0; i < chart.bars.size(); ++i) {
        names->addTick(static_cast<double>(i), chart.bars[i].name);
    }
    plot.yAxis->setTicker(names);
    plot.yAxis->setRangeReversed(true);
    plot.yAxis->setRange(-0.6, std::max<double>(static_cast<double>(chart.bars.size()), 1) - 0.4);
    plot.yAxis->setTickLength(0);
    plot.yAxis->grid()->setVisible(false);
    plot.xAxis->setTicker(QSharedPointer<LinearBytesTicker>::create());
    plot.xAxis->setLabel(chart.axis);
    plot.axisRect()->setMinimumMargins(QMargins(12, 4, 24, 4));
    item->fitRange();
}

// --- curves

QVector<double> column(const std::vector<CurvePointData>& points, bool tokens) {
    QVector<double> values;
    for (const CurvePointData& point : points) {
        if (point.bytes.count() > 0) { // a logarithm has no zero
            values << static_cast<double>(tokens ? point.tokens.count() : point.bytes.count());
        }
    }
    return values;
}

void add_points(QCustomPlot& plot, const std::vector<CurvePointData>& points,
                const QCPScatterStyle& style) {
    if (!points.empty()) {
        QCPGraph* graph = plot.addGraph();
        graph->setData(column(points, true), column(points, false), true);
        graph->setPen(Qt::NoPen);
        graph->setLineStyle(QCPGraph::lsNone);
        graph->setScatterStyle(style);
    }
}

/// The points of a curve; its lines are the CurvesItem's.
void draw_points(QCustomPlot& plot, const Curve& curve, const ChartTheme& theme) {
    const QColor colour = theme.ink({Ink::Group::series, curve.series, Hatch::none});
    if (!curve.beyond.empty()) {
        const std::vector<CurvePointData> end = {curve.points.back()};
        add_points(plot, end,
                   {QCPScatterStyle::ssCircle, QPen(colour, 1.5), QBrush(theme.ground), 7});
    }
    const auto shape = shapes[static_cast<std::size_t>(curve.series) % 5];
    add_points(plot, curve.knees,
               {QCPScatterStyle::ssDiamond, QPen(colour, 1.5), QBrush(theme.ground), 10});
    add_points(plot, curve.measured, {shape, QPen(theme.text, 1), QBrush(colour), 10});
}

struct Range {
    double least = std::numeric_limits<double>::max();
    double most = 0;
    void take(const std::vector<CurvePointData>& points, bool tokens) {
        for (const double value : column(points, tokens)) {
            least = std::min(least, value);
            most = std::max(most, value);
        }
    }
    /// Out to powers of two, with a little slack so that the last tick keeps its label; from zero
    /// where the axis is linear.
    QCPRange snapped(bool linear) const {
        if (linear) {
            return {0, std::max(most, 1.0) * 1.04};
        }
        if (most <= 0) {
            return {1, 1024};
        }
        const double low = std::exp2(std::floor(std::log2(least)));
        const double high = std::exp2(std::ceil(std::log2(most)));
        if (high < low * 8) { // a flat curve: room for ticks above and below
            return {low / 2 / 1.02, low * 8 * 1.02};
        }
        return {low / 1.02, high * 1.02};
    }
};

/// Tokens across and bytes up that a chart shows.
std::pair<QCPRange, QCPRange> ranges_of(const CurveChart& chart) {
    Range tokens, bytes;
    for (const Curve& curve : chart.curves) {
        for (const auto* points : {&curve.points, &curve.beyond, &curve.measured}) {
            tokens.take(*points, true);
            bytes.take(*points, false);
        }
    }
    for (const Guide& guide : chart.guides) {
        tokens.most = std::max(tokens.most, static_cast<double>(guide.tokens.count()));
        tokens.least = std::min(tokens.least, 1.0);
    }
    for (const Capacity& capacity : chart.capacities) {
        bytes.most = std::max(bytes.most, static_cast<double>(capacity.bytes.count()) * 1.1);
        bytes.least = std::min(bytes.least, static_cast<double>(capacity.bytes.count()));
    }
    QCPRange across = tokens.snapped(chart.linear);
    const bool points = std::any_of(chart.curves.begin(), chart.curves.end(),
                                    [](const Curve& curve) { return !curve.measured.empty(); });
    if (points) {
        across.upper *= 1.15; // a marker at the edge would be cut in half
    }
    return {across, bytes.snapped(chart.linear)};
}

/// All but the marks, and where they would be.
bool same_lines(const CurveChart& a, const CurveChart& b) {
    return a.curves == b.curves && a.reads == b.reads && a.linear == b.linear &&
           a.x_axis == b.x_axis && a.y_axis == b.y_axis && ranges_of(a) == ranges_of(b);
}

// --- reads

/// A line of reads and its name at the right end.
void add_reads(QCPAxisRect& rect, const ReadsPanel& panel, bool with_cache,
               const ChartTheme& theme) {
    QCPAxis* const x = rect.axis(QCPAxis::atBottom);
    QCPAxis* const y = rect.axis(QCPAxis::atLeft);
    QVector<double> tokens, reads;
    for (const ReadsPanel::Point& point : panel.points) {
        tokens << static_cast<double>(point.tokens.count());
        reads << (with_cache ? tokens.back() : static_cast<double>(point.without));
    }
    QCPGraph* graph = rect.parentPlot()->addGraph(x, y);
    graph->setData(tokens, reads, true);
    graph->setPen(QPen(theme.text, 1.5, with_cache ? Qt::DashLine : Qt::SolidLine));
    auto* label = new QCPItemText(rect.parentPlot());
    label->setClipToAxisRect(false);
    label->position->setAxes(x, y);
    label->position->setCoords(x->range().upper, reads.back());
    label->setPositionAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    label->setPadding(QMargins(8, 0, 0, 0));
    label->setColor(theme.text);
    label->setFont(rect.parentPlot()->font());
    label->setText(with_cache ? panel.with_label : panel.without_label);
}

/// Scales and ticks of a chart over tokens; `counts` for reads, bytes otherwise.
void set_scales(QCPAxis& x, QCPAxis& y, bool linear, bool counts) {
    for (QCPAxis* axis : {&x, &y}) {
        axis->setScaleType(linear ? QCPAxis::stLinear : QCPAxis::stLogarithmic);
    }
    using Ticker = QSharedPointer<QCPAxisTicker>;
    x.setTicker(linear ? Ticker(new LinearTokensTicker) : Ticker(new TokensTicker));
    y.setTicker(counts   ? linear ? Ticker(new LinearCountTicker) : Ticker(new DecadeTicker)
                  : linear ? Ticker(new LinearBytesTicker)
                         : Ticker(new BytesTicker));
}

/// A small chart below the curves, on an axis of its own and over the same tokens.
void add_reads_panel(QCustomPlot& plot, const CurveChart& chart, const ChartTheme& theme) {
    const ReadsPanel& panel = *chart.reads;
    QCPLayoutGrid& grid = *plot.plotLayout();
    ChartData head;
    head.title = panel.title;
    head.subtitle = panel.caption;
    grid.addElement(grid.rowCount(), 0, new HeaderElement(&plot, head, theme));
    grid.setRowStretchFactor(grid.rowCount() - 1, 0.0001);
    auto* rect = new QCPAxisRect(&plot);
    grid.addElement(grid.rowCount(), 0, rect);
    grid.setRowStretchFactor(grid.rowCount() - 1, 0.4);
    rect->setLayer(QStringLiteral("background"));
    for (QCPAxis* axis : rect->axes()) {
        axis->setLayer(QStringLiteral("axes"));
        axis->grid()->setLayer(QStringLiteral("grid"));
        style_axis(*axis, theme);
    }
    QCPAxis& x = *rect->axis(QCPAxis::atBottom);
    QCPAxis& y = *rect->axis(QCPAxis::atLeft);
    set_scales(x, y, chart.linear, true);
    x.setRange(plot.xAxis->range());
    const double most = static_cast<double>(panel.points.back().without);
    y.setRange(chart.linear ? QCPRange(0, most * 1.04) : QCPRange(0.9, most * 2));
    rect->setMinimumMargins(plot.axisRect()->minimumMargins());
    rect->setMinimumSize(100, 70);
    auto* group = new QCPMarginGroup(&plot);
    for (QCPAxisRect* one : {plot.axisRect(), rect}) {
        one->setMarginGroup(QCP::msLeft | QCP::msRight, group);
    }
    add_reads(*rect, panel, false, theme);
    add_reads(*rect, panel, true, theme);
}

void draw_body(QCustomPlot& plot, const CurveChart& chart, const ChartTheme& theme) {
    set_scales(*plot.xAxis, *plot.yAxis, chart.linear, false);
    plot.xAxis->setLabel(chart.x_axis);
    plot.yAxis->setLabel(chart.y_axis);
    const auto [across, up] = ranges_of(chart);
    plot.xAxis->setRange(across);
    plot.yAxis->setRange(up);
    new CurvesItem(&plot, chart, theme);
    for (const Curve& curve : chart.curves) {
        draw_points(plot, curve, theme);
    }
    (new MarksItem(&plot, chart, theme))->setLayer(&marks_layer(plot));
    auto* labels = new EndLabelsItem(&plot, chart, theme);
    const int least = chart.reads ? 80 : 30;
    plot.axisRect()->setMinimumMargins(QMargins(12, 8, std::max(least, labels->widest() + 18), 4));
    if (chart.reads) {
        add_reads_panel(plot, chart, theme);
    }
}

// --- layers

void draw_body(QCustomPlot& plot, const LayerChart& chart, const ChartTheme& theme) {
    new LayersItem(&plot, chart, theme);
    std::size_t longest = 1;
    for (const LayerRow& row : chart.rows) {
        longest = std::max(longest, row.cells.size());
    }
    plot.xAxis->setRange(0, static_cast<double>(longest));
    plot.xAxis->setLabel(chart.axis);
    plot.xAxis->grid()->setVisible(false);
    plot.yAxis->setVisible(false);
    plot.yAxis->setRangeReversed(true);
    plot.yAxis->setRange(-0.5, std::max<double>(static_cast<double>(chart.rows.size()), 1) - 0.5);
    plot.axisRect()->setMinimumMargins(QMargins(14, 4, 24, 4));
}

void draw_body(QCustomPlot& plot, const ScatterChart& chart, const ChartTheme& theme) {
    draw_scatter(plot, chart, theme);
}

/// Axes as a chart finds them, whatever was drawn before.
void reset_axes(QCustomPlot& plot, const ChartTheme& theme) {
    for (QCPAxis* axis : {plot.xAxis, plot.yAxis}) {
        axis->setScaleType(QCPAxis::stLinear);
        axis->setTicker(QSharedPointer<QCPAxisTicker>::create());
        axis->setRangeReversed(false);
        axis->setVisible(true);
        axis->setLabel(QString());
        axis->setTickLength(4);
        axis->grid()->setVisible(true);
        style_axis(*axis, theme);
    }
}

} // namespace

void draw_chart(QCustomPlot& plot, const ChartData& data, const ChartTheme& theme) {
    plot.setAutoAddPlottableToLegend(false); // the legend is ours
    clear(plot);
    reset_axes(plot, theme);
    plot.setBackground(QBrush(theme.ground));
    lay_out(plot, data, theme);
    std::visit([&](const auto& body) { draw_body(plot, body, theme); }, data.body);
}

bool move_marks(QCustomPlot& plot, const ChartData& drawn, const ChartData& data) {
    const auto* before = std::get_if<CurveChart>(&drawn.body);
    const auto* after = std::get_if<CurveChart>(&data.body);
    auto* header = dynamic_cast<HeaderElement*>(plot.plotLayout()->element(0, 0));
    auto* marks = item_of<MarksItem>(plot);
    if (before == nullptr || after == nullptr || header == nullptr || marks == nullptr ||
        !drawn.legend.empty() || !data.legend.empty() || !same_lines(*before, *after) ||
        !header->setWords(data)) {
        return false;
    }
    marks->setChart(*after);
    marks_layer(plot).replot();
    return true;
}

void fit_chart(QCustomPlot& plot) {
    // Margins depend on tick labels, these on the range, and that on the width: twice settles it.
    for (int pass = 0; pass < 2; ++pass) {
        plot.plotLayout()->setOuterRect(plot.viewport());
        for (const auto phase : {QCPLayoutElement::upPreparation, QCPLayoutElement::upMargins,
                                 QCPLayoutElement::upLayout}) {
            plot.plotLayout()->update(phase);
        }
        if (auto* bars = item_of<BarsItem>(plot)) {
            bars->fitRange();
        }
        // As many ticks as have room for their labels.
        for (QCPAxisRect* rect : plot.axisRects()) {
            QCPAxis& x = *rect->axis(QCPAxis::atBottom);
            const int label = x.scaleType() == QCPAxis::stLogarithmic ? 46 : 90;
            x.ticker()->setTickCount(std::max(2, rect->width() / label));
            rect->axis(QCPAxis::atLeft)->ticker()->setTickCount(std::max(2, rect->height() / 32));
        }
    }
}

LayersItem* layers_item(QCustomPlot& plot) {
    return item_of<LayersItem>(plot);
}

} // namespace kvcaliper::gui
