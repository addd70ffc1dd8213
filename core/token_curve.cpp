// SPDX-License-Identifier: Apache-2.0
#include "core/token_curve.h"

#include "core/error.h"
#include "core/stored_components.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace kvcaliper {

namespace {

constexpr std::int64_t longest_period = 4096;

/// Bytes of one stored unit of a component of one layer.
Bytes unit_bytes(Component component, const CacheFormats& formats) {
    component.units = {Units::Kind::constant, 1};
    return component_bytes(component, formats, Tokens(1));
}

} // namespace

TokenCurve::TokenCurve(const CacheSpec& spec, const CacheFormats& formats, std::int64_t sequences)
    : formats_(formats) {
    check_storable(spec, formats);
    for (const ComponentGroup& group : group_components(spec, formats)) {
        const Units& units = group.component.units;
        const Bytes bytes = unit_bytes(group.component, formats) * group.layers * sequences;
        const auto same = std::find_if(parts_.begin(), parts_.end(),
                                       [&](const Part& part) { return part.units == units; });
        if (same != parts_.end()) {
            same->per_unit += bytes;
        } else {
            parts_.push_back({units, bytes});
        }
    }
}

Bytes TokenCurve::at(Tokens tokens) const {
    Bytes sum;
    for (const Part& part : parts_) {
        sum += part.per_unit * part.units.at(tokens);
    }
    return sum;
}

Bytes TokenCurve::most_until(Tokens tokens) const {
    const Tokens fullest = fullest_context(formats_, tokens);
    return fullest == tokens ? at(tokens) : std::max(at(tokens), at(fullest));
}

std::vector<Tokens> TokenCurve::bends() const {
    std::set<Tokens> bends;
    for (const Part& part : parts_) {
        const Units::Kind kind = part.units.kind;
        if (kind == Units::Kind::window || kind == Units::Kind::chunk ||
            kind == Units::Kind::past) {
            bends.insert(Tokens(part.units.n));
        }
    }
    return {bends.begin(), bends.end()};
}

std::int64_t TokenCurve::period() const {
    std::int64_t period = 1;
    for (const Part& part : parts_) {
        if (part.units.kind != Units::Kind::groups && part.units.kind != Units::Kind::remainder) {
            continue;
        }
        if (part.units.n > longest_period || std::lcm(period, part.units.n) > longest_period) {
            throw Error("crossings: expected compressed entries of at most " +
                        std::to_string(longest_period) + " tokens, found " +
                        std::to_string(part.units.n));
        }
        period = std::lcm(period, part.units.n);
    }
    return period;
}

std::optional<Tokens> last_within(const TokenCurve& curve, Bytes capacity, Tokens from, Tokens to) {
    if (curve.most_until(from) > capacity || curve.most_until(to) <= capacity) {
        return std::nullopt;
    }
    std::int64_t within = from.count();
    std::int64_t over = to.count();
    while (over - within > 1) {
        const std::int64_t middle = within + (over - within) / 2;
        (curve.most_until(Tokens(middle)) <= capacity ? within : over) = middle;
    }
    return Tokens(within);
}

// ---- crossings ----------------------------------------------------------------------------------

namespace {

/// Which of two curves takes more.
class Order {
  public:
    Order(const TokenCurve& first, const TokenCurve& second) : first_(first), second_(second) {}
    int at(std::int64_t tokens) const {
        const auto order = first_.at(Tokens(tokens)) <=> second_.at(Tokens(tokens));
        return order > 0 ? 1 : order < 0 ? -1 : 0;
    }

  private:
    const TokenCurve& first_;
    const TokenCurve& second_;
};

/// A stretch without bends: along every period-th count the difference of two curves is linear.
struct Stretch {
    std::int64_t from;
    std::int64_t to;
    std::int64_t period;
};

/// The last of the counts start, start + period, … of a stretch whose order is not `order`; one
/// before the stretch when all are. Linear in them, so that they change at most once.
std::int64_t last_other(const Order& orders, const Stretch& stretch, std::int64_t start,
                        int order) {
    std::int64_t low = 0;
    std::int64_t high = (stretch.to - start) / stretch.period;
    const auto other = [&](std::int64_t step) {
        return orders.at(start + step * stretch.period) != order;
    };
    if (other(high)) {
        return start + high * stretch.period;
    }
    if (!other(low)) {
        return stretch.from - 1;
    }
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (other(middle) ? low : high) = middle;
    }
    return start + low * stretch.period;
}

/// The first count from which to the end of the stretch the order is that of its end.
std::int64_t settled(const Order& orders, const Stretch& stretch, int order) {
    std::int64_t last = stretch.from - 1;
    const std::int64_t counts = std::min(stretch.period, stretch.to - stretch.from + 1);
    for (std::int64_t i = 0; i < counts; ++i) {
        last = std::max(last, last_other(orders, stretch, stretch.from + i, order));
    }
    return last + 1;
}

/// The ends of the stretches from `from` to `to`.
std::set<std::int64_t> stretch_ends(const TokenCurve& first, const TokenCurve& second, Tokens from,
                                    Tokens to) {
    std::set<std::int64_t> ends{from.count(), to.count()};
    for (const TokenCurve* curve : {&first, &second}) {
        for (const Tokens bend : curve->bends()) {
            if (bend > from && bend < to) {
                ends.insert(bend.count());
            }
        }
    }
    return ends;
}

} // namespace

std::vector<Crossing> crossings(const TokenCurve& first, const TokenCurve& second, Tokens from,
                                Tokens to) {
    const Order orders(first, second);
    const std::int64_t period = std::lcm(first.period(), second.period());
    int before = orders.at(from.count());
    std::vector<Crossing> result;
    std::int64_t start = from.count();
    for (const std::int64_t end : stretch_ends(first, second, from, to)) {
        const int after = orders.at(end);
        if (after != 0 && after == -before) {
            const Tokens at(settled(orders, {start, end, period}, after));
            result.push_back({at, first.at(at), second.at(at)});
        }
        before = after != 0 ? after : before;
        start = end;
    }
    return result;
}

} // namespace kvcaliper
