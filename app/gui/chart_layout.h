// SPDX-License-Identifier: GPL-3.0-or-later
// Where the small parts of a chart go: labels that touch nothing, and lines of layers that share.
// Numbers alone; the plot library is not needed.
#pragma once

#include "app/gui/chart_data.h"

#include <QPointF>
#include <QRectF>
#include <QSizeF>

#include <cstddef>
#include <optional>
#include <vector>

namespace kvcaliper::gui {

/// A point that is to have a label of that size beside it.
struct LabelWish {
    QPointF at;
    QSizeF size;
};
/// A place for each wish, inside the area, that touches no other label and nothing of what is
/// taken; none where there is no such place. Earlier wishes go first.
std::vector<std::optional<QRectF>> place_labels(const std::vector<LabelWish>& wishes,
                                                const QRectF& area, std::vector<QRectF> taken);

/// Boxes of one height whose bottoms are at most those wished for (ascending), apart from each
/// other, and none above `top` where there is room for all.
std::vector<double> stack_bottoms(std::vector<double> bottoms, double height, double top);

/// So many of them, evenly chosen, the first and the last among them; all where they are fewer.
template <typename T> std::vector<T> thinned(const std::vector<T>& all, std::size_t room) {
    if (all.size() <= room) {
        return all;
    }
    std::vector<T> kept;
    for (std::size_t i = 0; i < room; ++i) {
        kept.push_back(all[room == 1 ? 0 : i * (all.size() - 1) / (room - 1)]);
    }
    return kept;
}

/// The points of a line (ascending in x) that are enough to draw it: between them it is nowhere
/// higher or lower than `tolerance` beside the straight line. Ends are always among them; the way
/// is Douglas and Peucker's.
std::vector<std::size_t> corners(const std::vector<QPointF>& line, double tolerance);

/// The layers that read one layer's cache, and the lane below the cells in which that is drawn.
struct ShareLane {
    int owner = 0;
    std::vector<int> borrowers;
    int from = 0; ///< the first of all of them
    int to = 0;   ///< the last
    int lane = 0;
};
struct ShareLanes {
    static constexpr int lane_height = 6;
    std::vector<ShareLane> lanes;
    /// Room they take below the cells.
    double height() const;
};
/// Whether a layer of the row reads another one's cache.
bool borrows(const LayerRow& row);
/// No two that overlap are in one lane.
ShareLanes share_lanes(const LayerRow& row);

} // namespace kvcaliper::gui
