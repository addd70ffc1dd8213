// SPDX-License-Identifier: Apache-2.0
// What the launch plans are checked against. Inside the plans only.
#pragma once

#include "kernels/launch_plan.h"
#include "kernels/launch_shape.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace kvcaliper::kernels {

inline constexpr std::int64_t kMaxGrid = 0x7fffffff;
inline constexpr std::int64_t kFloat = 4;
inline constexpr std::int64_t kAny = std::int64_t{1} << 40;

inline std::int64_t divide_up(std::int64_t number, std::int64_t by) {
    return (number + by - 1) / by;
}

struct Limit {
    const char* name;
    std::int64_t value, least, most;
};

/// "expected NAME from LEAST to MOST, found VALUE" of the first that is off; empty when none is.
template <std::size_t Count> std::string first_refusal(const std::array<Limit, Count>& limits) {
    for (const Limit& limit : limits) {
        if (limit.value < limit.least || limit.value > limit.most) {
            return std::string("expected ") + limit.name + " from " + std::to_string(limit.least) +
                   " to " + std::to_string(limit.most) + ", found " + std::to_string(limit.value);
        }
    }
    return {};
}

inline LaunchPlan refused(const std::string& reason) {
    LaunchPlan plan;
    plan.refusal = reason;
    return plan;
}

/// What the grid and the device add to the limits of the view.
inline void refuse_what_does_not_fit(LaunchPlan& plan, const DeviceFacts& facts) {
    const std::int64_t shared = std::max(plan.shared_bytes, plan.merge_shared_bytes);
    plan.refusal = first_refusal(std::array{
        Limit{"blocks", std::max(plan.grid, plan.merge_grid), 1, kMaxGrid},
        Limit{"shared bytes per block", shared, 0, facts.shared_limit},
    });
}

/// What the lanes load of a row: each its own quant, and all of them what they share.
std::int64_t row_load_bytes(Format format, std::int64_t width);

/// Why a format can not store rows of that width ("expected NAME to be a multiple of …"), or empty.
std::string row_refusal(Format format, std::int64_t width, const char* name);

/// The smallest kernel that covers the width.
inline unsigned columns_for(std::int64_t width) {
    unsigned columns = 2;
    while (columns * kWarpLanes < width) {
        columns *= 2;
    }
    return columns;
}

} // namespace kvcaliper::kernels
