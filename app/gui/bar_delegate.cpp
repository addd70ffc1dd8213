// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/bar_delegate.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace kvcaliper::gui {

namespace {

constexpr int thickness = 3;
constexpr int margin = 4;

} // namespace

QRect BarDelegate::barOf(const QRect& cell, double share) {
    const int room = std::max(0, cell.width() - 2 * margin);
    const double length = std::clamp(share, 0.0, 1.0) * room;
    // What is there at all is seen.
    const int width = share > 0 ? std::max(1, static_cast<int>(std::lround(length))) : 0;
    return {cell.left() + margin, cell.bottom() - thickness, std::min(width, room), thickness};
}

void BarDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
    QStyledItemDelegate::initStyleOption(option, index);
    if (!deltas_) {
        return;
    }
    if (const QString delta = index.data(delta_role).toString(); !delta.isEmpty()) {
        option->text += QStringLiteral(" (%1)").arg(delta);
    }
}

void BarDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                        const QModelIndex& index) const {
    QStyledItemDelegate::paint(painter, option, index);
    const QVariant share = index.data(bar_role);
    if (!share.isValid()) {
        return;
    }
    // The colour of the text, toned down: as readable on the palette's ground as the text is.
    const bool selected = option.state.testFlag(QStyle::State_Selected);
    QColor colour = option.palette.color(selected ? QPalette::HighlightedText : QPalette::Text);
    colour.setAlpha(150);
    painter->fillRect(barOf(option.rect, share.toDouble()), colour);
}

} // namespace kvcaliper::gui
