// SPDX-License-Identifier: Apache-2.0
// Copies new rows into their slots. T only says how many bytes a value has.
#pragma once

#include "kernels/cuda/rows.cuh"
#include "kernels/views.h"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

/// One warp per row, rows dealt out in turn. `skip` leading tokens are overwritten within this very
/// call, because the ring is shorter than `count`; writing them would race with their successors.
template <class T>
__global__ void __launch_bounds__(kBlockThreads) append_rows(AppendView view, std::int64_t skip) {
    const std::int64_t kept = view.count - skip;
    const std::int64_t rows = view.sequences * kept * view.rows;
    const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * kBlockWarps;
    for (std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kBlockWarps + warp_index();
         index < rows; index += warps) {
        const std::int64_t row = index % view.rows;
        const std::int64_t token = skip + index / view.rows % kept;
        const std::int64_t sequence = index / view.rows / kept;
        const std::int64_t slot = (view.first + token) % view.slots;
        const T* const from = static_cast<const T*>(view.source) +
                              ((sequence * view.count + token) * view.rows + row) * view.width;
        T* const to = static_cast<T*>(view.plane) +
                      ((sequence * view.rows + row) * view.slots + slot) * view.width;
        for (std::int64_t column = lane_index(); column < view.width; column += kWarpLanes) {
            store(to + column, load(from + column));
        }
    }
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
