// SPDX-License-Identifier: Apache-2.0
// Compressed entries: the tokens of a group, or of two, weighted column by column. A thread owns
// one column of one entry.
#pragma once

#include "kernels/cuda/softmax.cuh"
#include "kernels/views.h"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

/// One column of the rows that an entry is made of.
struct PooledColumn {
    const float* rows; ///< of the sequence
    std::int64_t slots, width, parts, column;
    std::int64_t begin, own, end; ///< tokens; from `own` on those of the entry's own group

    /// Where a token's value lies; its gate is parts · width further.
    SIMT_DEVICE const float* value(std::int64_t token) const {
        const std::int64_t part = token < own ? 0 : parts - 1;
        return rows + token % slots * 2 * parts * width + part * width + column;
    }
    SIMT_DEVICE float gate(std::int64_t token) const {
        return kLog2E * load(value(token) + parts * width);
    }
};

SIMT_DEVICE float pooled(const PooledColumn& at) {
    float largest = -INFINITY;
    for (std::int64_t token = at.begin; token < at.end; ++token) {
        largest = fmaxf(largest, at.gate(token));
    }
    float sum = 0.0f;
    float total = 0.0f;
    for (std::int64_t token = at.begin; token < at.end; ++token) {
        const float weight = weight_of(at.gate(token), largest);
        sum += weight * load(at.value(token));
        total += weight;
    }
    return sum / total;
}

__global__ void __launch_bounds__(kBlockThreads) pool_groups(PoolView view) {
    const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kBlockThreads + threadIdx.x;
    if (index >= view.sequences * view.count * view.width) {
        return;
    }
    const std::int64_t sequence = index / view.width / view.count;
    const std::int64_t entry = view.first + index / view.width % view.count;
    const std::int64_t own = entry * view.group;
    const std::int64_t begin = view.parts == 2 && entry > 0 ? own - view.group : own;
    const PooledColumn column{view.rows + sequence * view.slots * 2 * view.parts * view.width,
                              view.slots,
                              view.width,
                              view.parts,
                              index % view.width,
                              begin,
                              own,
                              own + view.group};
    const float value = pooled(column);
    store(static_cast<std::uint16_t*>(view.out) + index,
          view.element == Element::f16 ? to_f16(value).bits : to_bf16(value).bits);
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
