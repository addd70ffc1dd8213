// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/chart_view.h"

#include "app/gui/chart_paint.h"

#include <QEvent>
#include <QMouseEvent>
#include <QVBoxLayout>

#include <cmath>

namespace kvcaliper::gui {

ChartView::ChartView(QWidget* parent) : QWidget(parent), plot_(new QCustomPlot(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(plot_);
    plot_->setFont(font());
    plot_->setPlottingHint(QCP::phImmediateRefresh, false); // painted once, with all the rest
    plot_->setMinimumSize(120, 80); // a plot without area can not be painted, and says so
    connect(plot_, &QCustomPlot::beforeReplot, this, [this] { fit_chart(*plot_); });
    connect(plot_, &QCustomPlot::mouseMove, this, [this](QMouseEvent* event) {
        Q_EMIT hovered(spotAt(event->position()), event->globalPosition().toPoint());
    });
    connect(plot_, &QCustomPlot::mousePress, this,
            [this](QMouseEvent* event) { Q_EMIT clicked(spotAt(event->position())); });
    plot_->setMouseTracking(true);
}

void ChartView::setData(const ChartData& data) {
    const bool moved = !stale_ && isVisible() && move_marks(*plot_, data_, data);
    data_ = data;
    setAccessibleName(data.title);
    setAccessibleDescription(data.description);
    plot_->setAccessibleName(data.title);
    plot_->setAccessibleDescription(data.description);
    if (!moved) {
        redraw();
    }
}

void ChartView::setMarkedLayer(int row, int layer) {
    marked_row_ = row;
    marked_layer_ = layer;
    markLayer();
}

void ChartView::markLayer() {
    LayersItem* layers = layers_item(*plot_);
    if (layers != nullptr && !stale_) {
        layers->marked_row = marked_row_;
        layers->marked_layer = marked_layer_;
        plot_->replot(QCustomPlot::rpQueuedReplot);
    }
}

/// A hidden chart is drawn when it is shown: a slider moves one chart, not four.
void ChartView::redraw() {
    stale_ = !isVisible();
    if (stale_) {
        return;
    }
    draw_chart(*plot_, data_, chart_theme_for(palette()));
    markLayer();
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

void ChartView::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (stale_) {
        redraw();
    }
}

void ChartView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        plot_->setFont(font());
        redraw();
    }
}

/// In the chart over tokens, or in the smaller one below it.
ChartSpot ChartView::spotOverTokens(const CurveChart& chart, const QPointF& position) const {
    ChartSpot spot;
    for (const QCPAxisRect* rect : plot_->axisRects()) {
        if (rect->rect().contains(position.toPoint())) {
            spot.tokens = rect->axis(QCPAxis::atBottom)->pixelToCoord(position.x());
        }
    }
    if (!plot_->axisRect()->rect().contains(position.toPoint())) {
        return spot;
    }
    spot.bytes = plot_->yAxis->pixelToCoord(position.y());
    double nearest = 9; // pixels
    for (std::size_t i = 0; i < chart.meetings.size(); ++i) {
        const double x =
            plot_->xAxis->coordToPixel(static_cast<double>(chart.meetings[i].tokens.count()));
        const double y =
            plot_->yAxis->coordToPixel(static_cast<double>(chart.meetings[i].bytes.count()));
        const double distance = std::hypot(x - position.x(), y - position.y());
        if (distance < nearest) {
            nearest = distance;
            spot.meeting = static_cast<int>(i);
        }
    }
    return spot;
}

ChartSpot ChartView::spotAt(const QPointF& position) const {
    if (const auto* curves = std::get_if<CurveChart>(&data_.body)) {
        return spotOverTokens(*curves, position);
    }
    ChartSpot spot;
    if (!plot_->axisRect()->rect().contains(position.toPoint())) {
        return spot;
    }
    const double x = plot_->xAxis->pixelToCoord(position.x());
    const int row = static_cast<int>(std::lround(plot_->yAxis->pixelToCoord(position.y())));
    spot.row = row;
    spot.layer = static_cast<int>(std::floor(x));
    return spot;
}

} // namespace kvcaliper::gui
