// SPDX-License-Identifier: Apache-2.0
// Rows of a plane spread over a warp: lane l holds columns l, l + 32, l + 64, …
#pragma once

#include "kernels/launch_shape.h"
#include "kernels/simt/portable.h"

#include <cmath>
#include <cstdint>

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

using namespace simt;

SIMT_DEVICE std::int64_t lane_index() {
    return threadIdx.x % kWarpLanes;
}

SIMT_DEVICE std::int64_t warp_index() {
    return threadIdx.x / kWarpLanes;
}

template <unsigned Columns> SIMT_DEVICE void clear_row(float* row) {
    SIMT_UNROLL
    for (unsigned i = 0; i < Columns; ++i) {
        row[i] = 0.0f;
    }
}

/// This lane's share of the dot product of two rows.
template <unsigned Columns> SIMT_DEVICE float dot_columns(const float* left, const float* right) {
    float sum = 0.0f;
    SIMT_UNROLL
    for (unsigned i = 0; i < Columns; ++i) {
        sum += left[i] * right[i];
    }
    return sum;
}

/// The largest over the lanes of a warp.
SIMT_DEVICE float warp_largest(float value) {
    SIMT_UNROLL
    for (int bits = 16; bits > 0; bits /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, bits));
    }
    return value;
}

/// The sum over the lanes of a warp, the same bits in every lane.
SIMT_DEVICE float warp_sum(float value) {
    SIMT_UNROLL
    for (int bits = 16; bits > 0; bits /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, bits);
    }
    return value;
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
