// SPDX-License-Identifier: Apache-2.0
// Decode steps of RWKV 5 to 7. A block owns 32 value columns of one head as in delta.cuh, whose
// columns and sums it uses.
#pragma once

#include "kernels/cuda/delta.cuh"
#include "kernels/views_recurrent.h"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

SIMT_DEVICE DeltaPlace rwkv_place(const RwkvView& view) {
    const std::int64_t tiles = (view.width + kWarpLanes - 1) / kWarpLanes;
    const std::int64_t block = static_cast<std::int64_t>(blockIdx.x);
    DeltaPlace place;
    place.column = block % tiles * kWarpLanes + lane_index();
    place.head = place.key_head = block / tiles % view.heads;
    place.sequence = block / tiles / view.heads;
    place.active = place.column < view.width;
    return place;
}

/// Σ r · bonus · k over a head's rows in shared memory, the same bits in every thread.
SIMT_DEVICE float bonus_weight(const float* r, const float* bonus, const float* k,
                               std::int64_t width) {
    float sum = 0.0f;
    for (std::int64_t i = lane_index(); i < width; i += kWarpLanes) {
        sum += r[i] * bonus[i] * k[i];
    }
    return warp_sum(sum);
}

template <unsigned Rows, unsigned Warps>
__global__ void __launch_bounds__(Warps* kWarpLanes, 1) rwkv_steps(RwkvView view) {
    constexpr unsigned keys = Rows * Warps;
    SIMT_SHARED(float, r, keys);
    SIMT_SHARED(float, k, keys);
    SIMT_SHARED(float, decay, keys);
    SIMT_SHARED(float, a, keys);
    SIMT_SHARED(float, b, keys); // or the bonus
    SIMT_SHARED(float, partial, Warps* kWarpLanes);
    SIMT_SHARED(std::int64_t, pitch, 1); // read back at the end, as in delta.cuh
    if (threadIdx.x == 0) {
        pitch[0] = view.width;
    }
    const DeltaPlace place = rwkv_place(view);
    const MatrixSize size{view.width, view.width};
    const std::int64_t inner = view.heads * view.width;
    float* const state =
        view.state + (place.sequence * view.heads + place.head) * view.width * view.width;
    for (std::int64_t i = threadIdx.x; i < keys; i += Warps * kWarpLanes) {
        r[i] = k[i] = decay[i] = a[i] = b[i] = 0.0f; // rows past the width stay zero
    }
    const bool bonus = view.bonus != nullptr;
    float out = 0.0f;
    DeltaColumn<Rows, Warps> column;
    column.load_from(size, place, state);
    for (std::int64_t step = 0; step < view.count; ++step) {
        const std::int64_t at = place.sequence * view.count + step;
        const float* const rows = view.rows + at * rwkv_rows(bonus) * inner;
        const float* const row = rows + place.head * view.width;
        const bool last = step + 1 == view.count;
        __syncthreads(); // the last step's rows have been read
        stage_row<Warps>(row + inner, view.width, k);
        stage_row<Warps>(row + 3 * inner, view.width, decay);
        if (last) {
            stage_row<Warps>(row, view.width, r);
        }
        if (!bonus) {
            stage_row<Warps>(row + 4 * inner, view.width, a);
            stage_row<Warps>(row + 5 * inner, view.width, b);
        } else if (last) {
            stage_row<Warps>(view.bonus + place.head * view.width, view.width, b);
        }
        __syncthreads();
        const float v = place.active ? load(row + 2 * inner + place.column) : 0.0f;
        if (!bonus) {
            const float found = sum_over_warps<Warps>(column.dot(a), partial);
            column.decay(decay);
            column.push(b, found);
        } else {
            if (last) {
                out = sum_over_warps<Warps>(column.dot(r), partial) +
                      bonus_weight(r, b, k, view.width) * v;
            }
            column.decay(decay);
        }
        column.push(k, v);
    }
    column.store_to(size, place, state, pitch[0]);
    if (!bonus) {
        out = sum_over_warps<Warps>(column.dot(r), partial);
    }
    if (place.active && warp_index() == 0) {
        store(view.out + (place.sequence * view.heads + place.head) * view.width + place.column,
              out);
    }
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
