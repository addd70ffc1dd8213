// SPDX-License-Identifier: GPL-3.0-or-later
// Errors over bytes: points by series, the front, one pair held together, and labels where there is
// room for them.
#include "app/gui/chart_paint.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kvcaliper::gui {

namespace {

/// "0.1 %" at powers of ten.
class PercentTicker : public QCPAxisTickerLog {
  protected:
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        return QStringLiteral("%1 %").arg(100 * tick, 0, 'g', 3);
    }
};

/// Four ticks to a doubling.
class QuarterBytesTicker : public BytesTicker {
  protected:
    QVector<double> createTickVector(double, const QCPRange& range) override {
        QVector<double> ticks;
        const int first = static_cast<int>(std::floor(std::log2(range.lower)));
        for (double from = std::exp2(first); from <= range.upper; from *= 2) {
            for (const double part : {1.0, 1.25, 1.5, 1.75}) {
                ticks << from * part;
            }
        }
        return ticks;
    }
};

/// Names beside their points; one that would cover another name or a point is left out.
class ScatterLabelsItem : public CanvasItem {
  public:
    ScatterLabelsItem(QCustomPlot* plot, const ScatterChart& chart, const ChartTheme& theme);

  protected:
    void draw(QCPPainter* painter) override;

  private:
    QPointF place(const ScatterPoint& point) const { return {x(point.bytes), y(point.error)}; }
    std::vector<QRectF> marks() const;
    std::optional<QRectF> room_for(const ScatterPoint& point,
                                   const std::vector<QRectF>& taken) const;
    ScatterChart chart_;
    std::vector<ScatterPoint> named_;
    ChartTheme theme_;
    QFont font_;
};

/// The first ones get their place first.
std::vector<ScatterPoint> named_points(const ScatterChart& chart) {
    std::vector<ScatterPoint> points = chart.front;
    if (chart.span) {
        points.insert(points.begin(), {chart.span->low, chart.span->high});
    }
    for (const ScatterSeries& series : chart.series) {
        points.insert(points.end(), series.points.begin(), series.points.end());
    }
    std::vector<ScatterPoint> named;
    for (const ScatterPoint& point : points) {
        const bool known = std::any_of(named.begin(), named.end(), [&](const ScatterPoint& other) {
            return other.bytes == point.bytes && other.error == point.error;
        });
        if (!point.label.isEmpty() && !known) {
            named.push_back(point);
        }
    }
    return named;
}

ScatterLabelsItem::ScatterLabelsItem(QCustomPlot* plot, const ScatterChart& chart,
                                     const ChartTheme& theme)
    : CanvasItem(plot), chart_(chart), named_(named_points(chart)), theme_(theme),
      font_(plot->font()) {}

/// What a name must not cover: points, the front's stairs, the line between two points.
std::vector<QRectF> ScatterLabelsItem::marks() const {
    std::vector<QRectF> marks;
    for (const ScatterSeries& series : chart_.series) {
        for (const ScatterPoint& point : series.points) {
            marks.push_back(QRectF(-4, -4, 8, 8).translated(place(point)));
        }
    }
    for (std::size_t i = 1; i < chart_.front.size(); ++i) {
        const QPointF from = place(chart_.front[i - 1]), to = place(chart_.front[i]);
        marks.emplace_back(from.x(), from.y() - 1, to.x() - from.x(), 2);
        marks.emplace_back(to.x() - 1, from.y(), 2, to.y() - from.y());
    }
    if (chart_.span) {
        const QPointF low = place(chart_.span->low), high = place(chart_.span->high);
        marks.emplace_back(high.x() - 2, high.y(), 4, low.y() - high.y());
    }
    return marks;
}

/// Beside the point, under or over it.
std::optional<QRectF> ScatterLabelsItem::room_for(const ScatterPoint& point,
                                                  const std::vector<QRectF>& taken) const {
    const QFontMetricsF metrics(font_, parentPlot());
    const QSizeF size(metrics.horizontalAdvance(point.label) + 4, metrics.height());
    const QRectF area(parentPlot()->axisRect()->rect());
    const double right = 6, left = -6 - size.width(), middle = -size.height() / 2;
    const double under = 3, over = -3 - size.height(), centre = -size.width() / 2;
    for (const QPointF& offset :
         {QPointF(right, middle), QPointF(left, middle), QPointF(left, under), QPointF(right, over),
          QPointF(centre, 2 * under), QPointF(centre, 2 * over - middle), QPointF(right, under),
          QPointF(left, over)}) {
        const QRectF box(place(point) + offset, size);
        const auto covers = [&](const QRectF& other) { return other.intersects(box); };
        if (area.contains(box) && std::none_of(taken.begin(), taken.end(), covers)) {
            return box;
        }
    }
    return std::nullopt;
}

void ScatterLabelsItem::draw(QCPPainter* painter) {
    std::vector<QRectF> taken = marks();
    painter->setFont(font_);
    painter->setPen(theme_.text);
    for (const ScatterPoint& point : named_) {
        if (const auto box = room_for(point, taken)) {
            taken.push_back(*box);
            painter->drawText(*box, Qt::AlignCenter | Qt::TextDontClip, point.label);
        }
    }
}

QCPGraph* add_points(QCustomPlot& plot, const std::vector<ScatterPoint>& points) {
    QVector<double> bytes, errors;
    for (const ScatterPoint& point : points) {
        bytes << point.bytes;
        errors << point.error;
    }
    QCPGraph* graph = plot.addGraph();
    graph->setData(bytes, errors);
    return graph;
}

/// The front as stairs: what so many bytes buy at best.
void draw_front(QCustomPlot& plot, const std::vector<ScatterPoint>& front,
                const ChartTheme& theme) {
    QCPGraph* graph = add_points(plot, front);
    graph->setLineStyle(QCPGraph::lsStepLeft);
    graph->setPen(QPen(theme.muted, 1.5, Qt::DashLine));
}

void draw_span(QCustomPlot& plot, const ScatterSpan& span, const ChartTheme& theme) {
    QCPGraph* line = add_points(plot, {span.low, span.high});
    line->setPen(QPen(theme.text, 1.5));
    line->setScatterStyle({QCPScatterStyle::ssCircle, QPen(theme.text, 1.5), Qt::NoBrush, 13});
    auto* label = new QCPItemText(&plot);
    label->position->setCoords(span.high.bytes, span.high.error);
    label->setPositionAlignment(Qt::AlignHCenter | Qt::AlignBottom);
    label->setPadding(QMargins(0, 0, 0, 9)); // over the point's ring
    label->setColor(theme.text);
    label->setFont(plot.font());
    label->setText(span.label);
}

void set_ranges(QCustomPlot& plot, const ScatterChart& chart) {
    double least_bytes = 1e30, most_bytes = 1, least = 1, most = 1e-12;
    for (const ScatterSeries& series : chart.series) {
        for (const ScatterPoint& point : series.points) {
            least_bytes = std::min(least_bytes, point.bytes);
            most_bytes = std::max(most_bytes, point.bytes);
            least = std::min(least, point.error);
            most = std::max(most, point.error);
        }
    }
    plot.xAxis->setRange(least_bytes / 1.12, most_bytes * 1.08);
    plot.yAxis->setRange(least / 1.5, most * 1.7); // room for a name over the highest point
}

} // namespace

QCPScatterStyle scatter_style(int series, const ChartTheme& theme, double size) {
    constexpr std::array shapes{QCPScatterStyle::ssCircle, QCPScatterStyle::ssSquare,
                                QCPScatterStyle::ssTriangle};
    const QColor colour = theme.ink({Ink::Group::series, series, Hatch::none});
    return {shapes[static_cast<std::size_t>(series) % shapes.size()], QPen(theme.ground, 0.8),
            QBrush(colour), size};
}

void draw_scatter(QCustomPlot& plot, const ScatterChart& chart, const ChartTheme& theme) {
    for (QCPAxis* axis : {plot.xAxis, plot.yAxis}) {
        axis->setScaleType(QCPAxis::stLogarithmic);
    }
    plot.xAxis->setTicker(QSharedPointer<QuarterBytesTicker>::create());
    plot.yAxis->setTicker(QSharedPointer<PercentTicker>::create());
    plot.xAxis->setLabel(chart.x_axis);
    plot.yAxis->setLabel(chart.y_axis);
    set_ranges(plot, chart);
    draw_front(plot, chart.front, theme);
    for (const ScatterSeries& series : chart.series) {
        QCPGraph* graph = add_points(plot, series.points);
        graph->setLineStyle(QCPGraph::lsNone);
        graph->setScatterStyle(scatter_style(series.series, theme, 8));
    }
    if (chart.span) {
        draw_span(plot, *chart.span, theme);
    }
    new ScatterLabelsItem(&plot, chart, theme);
    plot.axisRect()->setMinimumMargins(QMargins(12, 8, 24, 4));
}

} // namespace kvcaliper::gui
