// SPDX-License-Identifier: Apache-2.0
// Mamba-2 decode steps: a warp owns one row of one head's state, spread over its lanes, and keeps
// it in registers while it walks through the steps in order.
#pragma once

#include "kernels/cuda/rows.cuh"
#include "kernels/views.h"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

/// Column 32·i + lane goes to row[i]; columns past the width are zero.
template <unsigned Columns>
SIMT_DEVICE void load_floats(float* row, const float* address, std::int64_t width) {
    SIMT_UNROLL
    for (unsigned i = 0; i < Columns; ++i) {
        const std::int64_t column = kWarpLanes * i + lane_index();
        row[i] = column < width ? load(address + column) : 0.0f;
    }
}

template <unsigned Columns>
SIMT_DEVICE void store_floats(const float* row, float* address, std::int64_t width) {
    SIMT_UNROLL
    for (unsigned i = 0; i < Columns; ++i) {
        const std::int64_t column = kWarpLanes * i + lane_index();
        if (column < width) {
            store(address + column, row[i]);
        }
    }
}

template <unsigned Columns>
__global__ void __launch_bounds__(kBlockThreads) mamba2_steps(Mamba2View view) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kBlockWarps + warp_index();
    if (row >= view.sequences * view.heads * view.head_width) { // the whole warp
        return;
    }
    const std::int64_t column = row % (view.heads * view.head_width);
    const std::int64_t sequence = row / (view.heads * view.head_width);
    const std::int64_t head = column / view.head_width;
    const std::int64_t group = head / (view.heads / view.groups) * view.state_size;
    const float a = load(view.a + head);
    float state[Columns];
    load_floats<Columns>(state, view.state + row * view.state_size, view.state_size);
    float x = 0.0f;
    for (std::int64_t step = 0; step < view.count; ++step) {
        const std::int64_t at = sequence * view.count + step;
        const float dt = load(view.dt + at * view.heads + head);
        const float decay = expf(dt * a);
        float b[Columns];
        load_floats<Columns>(b, view.b + at * view.bc_stride + group, view.state_size);
        x = load(view.x + at * view.x_stride + column);
        SIMT_UNROLL
        for (unsigned i = 0; i < Columns; ++i) {
            state[i] = decay * state[i] + dt * x * b[i];
        }
    }
    store_floats<Columns>(state, view.state + row * view.state_size, view.state_size);
    float c[Columns];
    const std::int64_t last = sequence * view.count + view.count - 1;
    load_floats<Columns>(c, view.c + last * view.bc_stride + group, view.state_size);
    const float sum = warp_sum(dot_columns<Columns>(state, c));
    if (lane_index() == 0) {
        store(view.out + row, sum + load(view.d + head) * x);
    }
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
