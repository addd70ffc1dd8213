// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/chart_layout.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace kvcaliper::gui {

namespace {

constexpr double gap = 7; // from a point to its label

/// The places beside a point, the ones that cover least of a rising curve first.
std::vector<QRectF> places(const LabelWish& wish) {
    const double w = wish.size.width();
    const double h = wish.size.height();
    const auto at = [&](double dx, double dy) {
        return QRectF(wish.at + QPointF(dx, dy), wish.size);
    };
    const double left = -w - gap;
    const double above = -h - gap;
    return {at(left, -h - gap / 2), at(gap, gap / 2),  at(gap, -h / 2),       at(left, -h / 2),
            at(-w / 2, above),      at(-w / 2, gap),   at(gap, -h - gap / 2), at(left, gap / 2),
            at(-w + gap, above),    at(-w + gap, gap), at(-gap, above),       at(-gap, gap)};
}

} // namespace

std::vector<std::optional<QRectF>> place_labels(const std::vector<LabelWish>& wishes,
                                                const QRectF& area, std::vector<QRectF> taken) {
    std::vector<std::optional<QRectF>> placed;
    for (const LabelWish& wish : wishes) {
        placed.emplace_back();
        for (const QRectF& place : places(wish)) {
            const bool free = area.contains(place) &&
                              std::none_of(taken.begin(), taken.end(), [&](const QRectF& other) {
                                  return other.intersects(place);
                              });
            if (free) {
                placed.back() = place;
                taken.push_back(place);
                break;
            }
        }
    }
    return placed;
}

namespace {

/// The point between two others that is furthest above or below the line through these.
struct Furthest {
    std::size_t index = 0;
    double distance = 0;
};
Furthest furthest(const std::vector<QPointF>& line, std::size_t first, std::size_t last) {
    const QPointF& from = line[first];
    const QPointF way = line[last] - from;
    Furthest found;
    for (std::size_t i = first + 1; i < last; ++i) {
        const double share = way.x() > 0 ? (line[i].x() - from.x()) / way.x() : 0;
        const double distance = std::abs(line[i].y() - (from.y() + share * way.y()));
        if (distance > found.distance) {
            found = {i, distance};
        }
    }
    return found;
}

} // namespace

std::vector<std::size_t> corners(const std::vector<QPointF>& line, double tolerance) {
    std::vector<std::size_t> kept;
    if (line.empty()) {
        return kept;
    }
    kept.push_back(0);
    std::vector<std::size_t> ends{line.size() - 1}; // of what is still to be looked at, last first
    while (!ends.empty()) {
        const Furthest corner = furthest(line, kept.back(), ends.back());
        if (corner.distance > tolerance) {
            ends.push_back(corner.index);
            continue;
        }
        if (ends.back() != kept.back()) { // a single point is its own end
            kept.push_back(ends.back());
        }
        ends.pop_back();
    }
    return kept;
}

std::vector<double> stack_bottoms(std::vector<double> bottoms, double height, double top) {
    // From the lowest up, then what went too high comes down again and pushes the others.
    for (std::size_t i = bottoms.size(); i-- > 1;) {
        bottoms[i - 1] = std::min(bottoms[i - 1], bottoms[i] - height);
    }
    double least = top + height;
    for (double& bottom : bottoms) {
        bottom = std::max(bottom, least);
        least = bottom + height;
    }
    return bottoms;
}

double ShareLanes::height() const {
    int most = 0;
    for (const ShareLane& lane : lanes) {
        most = std::max(most, lane.lane + 1);
    }
    return most == 0 ? 0 : most * lane_height + 2;
}

bool borrows(const LayerRow& row) {
    return std::any_of(row.cells.begin(), row.cells.end(),
                       [](const LayerCell& cell) { return cell.owner.has_value(); });
}

ShareLanes share_lanes(const LayerRow& row) {
    std::map<int, ShareLane> by_owner;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
        if (const auto owner = row.cells[i].owner) {
            const int layer = static_cast<int>(i);
            ShareLane& share =
                by_owner.try_emplace(*owner, ShareLane{*owner, {}, *owner, *owner, 0})
                    .first->second;
            share.borrowers.push_back(layer);
            share.from = std::min(share.from, layer);
            share.to = std::max(share.to, layer);
        }
    }
    ShareLanes result;
    for (auto& [owner, share] : by_owner) {
        const auto occupied = [&](const ShareLane& other) {
            return other.lane == share.lane && other.from <= share.to && share.from <= other.to;
        };
        while (std::any_of(result.lanes.begin(), result.lanes.end(), occupied)) {
            ++share.lane;
        }
        result.lanes.push_back(share);
    }
    return result;
}

} // namespace kvcaliper::gui
