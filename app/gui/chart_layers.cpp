// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/chart_paint.h"

#include <algorithm>
#include <cmath>

namespace kvcaliper::gui {

namespace {

constexpr double least_cell = 4; // pixels across, for a gap of a whole one

double edge(double at) {
    return std::round(at) + 0.5;
}

} // namespace

LayersItem::LayersItem(QCustomPlot* plot, const LayerChart& chart, const ChartTheme& theme)
    : CanvasItem(plot), chart_(chart), theme_(theme), font_(plot->font()),
      text_height_(QFontMetrics(font_, plot).height()) {
    for (const LayerRow& row : chart_.rows) {
        shares_.push_back(share_lanes(row));
    }
}

/// On whole pixels where a cell has some (the painter's are half a pixel off): edges between them
/// are blurred, and slow to fill.
QRectF LayersItem::cellRect(int row, int layer) const {
    const double top = edge(y(row - 0.5)) + text_height_ + 6;
    const double shares = shares_[static_cast<std::size_t>(row)].height();
    const double bottom = std::max(edge(y(row + 0.5)) - 6 - shares, top + 4);
    double left = x(layer);
    double right = x(layer + 1);
    if (right - left >= least_cell) {
        left = edge(left);
        right = edge(right);
    }
    return {left, top, right - left, std::min(bottom - top, 110.0)};
}

void LayersItem::drawRow(QCPPainter* painter, int row) const {
    const LayerRow& data = chart_.rows[static_cast<std::size_t>(row)];
    for (std::size_t i = 0; i < data.cells.size(); ++i) {
        const LayerCell& cell = data.cells[i];
        const QRectF rect = cellRect(row, static_cast<int>(i));
        const QRectF box = rect.adjusted(0, 0, rect.width() >= least_cell ? -1 : -0.25, 0);
        const QColor colour = theme_.ink(cell.ink);
        QRectF filled = box;
        filled.setTop(box.bottom() - std::max(std::round(cell.fill * box.height()), 3.0));
        QRectF rest = box;
        rest.setBottom(filled.top());
        painter->fillRect(rest, mixed(colour, theme_.ground, 0.16));
        paint_fill(*painter, filled, colour, cell.ink.hatch, theme_.ground);
        if (row == marked_row && static_cast<int>(i) == marked_layer) {
            painter->setBrush(Qt::NoBrush);
            painter->setPen(QPen(theme_.text, 2));
            painter->drawRect(box.adjusted(-1, -2, 1, 2));
        }
    }
}

/// A line below the cells from the layers that read a cache to an arrow at the layer that has it.
void LayersItem::drawShares(QCPPainter* painter, int row) const {
    painter->setPen(QPen(theme_.muted, 1));
    painter->setBrush(theme_.text);
    for (const ShareLane& share : shares_[static_cast<std::size_t>(row)].lanes) {
        const QRectF owner = cellRect(row, share.owner);
        const double under = owner.bottom();
        const double at = std::round(under + 4 + share.lane * ShareLanes::lane_height);
        const auto middle = [&](int layer) {
            return std::round(cellRect(row, layer).center().x());
        };
        for (const int layer : share.borrowers) {
            painter->drawLine(QLineF(middle(layer), under + 1, middle(layer), at));
        }
        painter->drawLine(QLineF(middle(share.from), at, middle(share.to), at));
        painter->drawLine(QLineF(middle(share.owner), at, middle(share.owner), under + 1));
        const double tip = middle(share.owner);
        painter->setPen(Qt::NoPen);
        painter->drawPolygon(QPolygonF(
            {QPointF(tip, under), QPointF(tip - 3.5, under + 5), QPointF(tip + 3.5, under + 5)}));
        painter->setPen(QPen(theme_.muted, 1));
    }
}

void LayersItem::draw(QCPPainter* painter) {
    const QRect area = parentPlot()->axisRect()->rect();
    QFont bold = font_;
    bold.setBold(true);
    const QFontMetrics metrics(font_, parentPlot());
    for (int row = 0; row < static_cast<int>(chart_.rows.size()); ++row) {
        const LayerRow& data = chart_.rows[static_cast<std::size_t>(row)];
        const int top = static_cast<int>(std::lround(y(row - 0.5))) + 2;
        const int name_width = QFontMetrics(bold, parentPlot()).horizontalAdvance(data.name) + 10;
        painter->setFont(bold);
        painter->setPen(theme_.text);
        painter->drawText(QRect(area.left(), top, name_width + 20, metrics.height()),
                          Qt::AlignLeft | Qt::AlignVCenter, data.name);
        painter->setFont(font_);
        painter->setPen(theme_.muted);
        const QRect space(area.left() + name_width, top, area.width() - name_width,
                          metrics.height());
        painter->drawText(space, Qt::AlignLeft | Qt::AlignVCenter,
                          metrics.elidedText(data.caption, Qt::ElideRight, space.width()));
        drawRow(painter, row);
        drawShares(painter, row);
    }
}

} // namespace kvcaliper::gui
