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
constexpr Qt::PenStyle dashes[] = {Qt::SolidLine, Qt::DashLine, Qt::DashDotLine,
                                   Qt::DashDotDotLine};

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

/// Header above, legend below, one axis rect between them that takes the rest.
void lay_out(QCustomPlot& plot, const ChartData& data, const ChartTheme& theme) {
    QCPLayoutGrid& grid = *plot.plotLayout();
    grid.insertRow(0);
    grid.addElement(0, 0, new HeaderElement(&plot, data, theme));
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
    QCPLayoutGrid& grid = *plot.plotLayout();
    for (int row = grid.rowCount() - 1; row >= 0; --row) {
        if (grid.hasElement(row, 0) &&
            qobject_cast<QCPAxisRect*>(grid.element(row, 0)) == nullptr) {
            grid.remove(grid.element(row, 0));
        }
    }
    grid.simplify();
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

QCPGraph* add_graph(QCustomPlot& plot, const std::vector<CurvePointData>& points, const QPen& pen) {
    QCPGraph* graph = plot.addGraph();
    graph->setData(column(points, true), column(points, false), true);
    graph->setPen(pen);
    return graph;
}

void add_points(QCustomPlot& plot, const std::vector<CurvePointData>& points,
                const QCPScatterStyle& style) {
    if (!points.empty()) {
        QCPGraph* graph = add_graph(plot, points, Qt::NoPen);
        graph->setLineStyle(QCPGraph::lsNone);
        graph->setScatterStyle(style);
    }
}

void draw_curve(QCustomPlot& plot, const Curve& curve, const ChartTheme& theme) {
    const QColor colour = theme.ink({Ink::Group::series, curve.series, Hatch::none});
    const auto dash = dashes[static_cast<std::size_t>(theme.round_of(curve.series)) % 4];
    add_graph(plot, curve.points, QPen(colour, 2, dash));
    if (!curve.beyond.empty()) {
        add_graph(plot, curve.beyond, QPen(colour, 1.5, Qt::DotLine));
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
    /// Out to powers of two, with a little slack so that the last tick keeps its label.
    QCPRange snapped() const {
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

void set_ranges(QCustomPlot& plot, const CurveChart& chart) {
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
    QCPRange across = tokens.snapped();
    const bool points = std::any_of(chart.curves.begin(), chart.curves.end(),
                                    [](const Curve& curve) { return !curve.measured.empty(); });
    if (points) {
        across.upper *= 1.15; // a marker at the edge would be cut in half
    }
    plot.xAxis->setRange(across);
    plot.yAxis->setRange(bytes.snapped());
}

void draw_guide(QCustomPlot& plot, const Guide& guide, const ChartTheme& theme) {
    auto* line = new QCPItemStraightLine(&plot);
    const double tokens = static_cast<double>(guide.tokens.count());
    line->point1->setCoords(tokens, 1);
    line->point2->setCoords(tokens, 2);
    line->setPen(QPen(theme.muted, 1, Qt::DashLine));
    auto* label = new QCPItemText(&plot);
    label->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    label->position->setTypeX(QCPItemPosition::ptPlotCoords);
    label->position->setCoords(tokens, 0.995);
    const bool right_half = std::log2(tokens) * 2 > std::log2(plot.xAxis->range().upper);
    label->setPositionAlignment((right_half ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignBottom);
    label->setPadding(QMargins(5, 0, 5, 2));
    label->setColor(theme.muted);
    label->setFont(plot.font());
    label->setText(guide.label);
}

constexpr std::size_t most_direct_labels = 16;

void draw_body(QCustomPlot& plot, const CurveChart& chart, const ChartTheme& theme) {
    for (QCPAxis* axis : {plot.xAxis, plot.yAxis}) {
        axis->setScaleType(QCPAxis::stLogarithmic);
    }
    plot.xAxis->setTicker(QSharedPointer<TokensTicker>::create());
    plot.yAxis->setTicker(QSharedPointer<BytesTicker>::create());
    plot.xAxis->setLabel(chart.x_axis);
    plot.yAxis->setLabel(chart.y_axis);
    set_ranges(plot, chart);
    for (const Curve& curve : chart.curves) {
        draw_curve(plot, curve, theme);
    }
    for (const Guide& guide : chart.guides) {
        draw_guide(plot, guide, theme);
    }
    auto* labels = new EndLabelsItem(&plot, chart, theme);
    plot.axisRect()->setMinimumMargins(QMargins(12, 8, std::max(30, labels->widest() + 18), 4));
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
    clear(plot);
    reset_axes(plot, theme);
    plot.setBackground(QBrush(theme.ground));
    lay_out(plot, data, theme);
    std::visit([&](const auto& body) { draw_body(plot, body, theme); }, data.body);
}

void fit_chart(QCustomPlot& plot) {
    // Margins depend on tick labels, these on the range, and that on the width: twice settles it.
    for (int pass = 0; pass < 2; ++pass) {
        plot.plotLayout()->setOuterRect(plot.viewport());
        for (const auto phase : {QCPLayoutElement::upPreparation, QCPLayoutElement::upMargins,
                                 QCPLayoutElement::upLayout}) {
            plot.plotLayout()->update(phase);
        }
        for (int i = 0; i < plot.itemCount(); ++i) {
            if (auto* bars = dynamic_cast<BarsItem*>(plot.item(i))) {
                bars->fitRange();
            }
        }
        // As many ticks as have room for their labels.
        const int label = plot.xAxis->scaleType() == QCPAxis::stLogarithmic ? 46 : 90;
        plot.xAxis->ticker()->setTickCount(std::max(2, plot.axisRect()->width() / label));
        plot.yAxis->ticker()->setTickCount(std::max(2, plot.axisRect()->height() / 32));
    }
}

LayersItem* layers_item(QCustomPlot& plot) {
    for (int i = 0; i < plot.itemCount(); ++i) {
        if (auto* layers = dynamic_cast<LayersItem*>(plot.item(i))) {
            return layers;
        }
    }
    return nullptr;
}

} // namespace kvcaliper::gui
