// SPDX-License-Identifier: Apache-2.0
// Rows of f16 numbers packed into groups of codes. A thread makes one group: of a channel over
// several tokens, or of neighbouring channels of one token.
#pragma once

#include "kernels/cuda/rows.cuh"
#include "kernels/views.h"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

/// Where a group's numbers come from and where its parts go.
struct PackPlace {
    const F16* from;
    std::int64_t step; ///< between numbers
    unsigned char *scale, *least, *word;
    std::int64_t word_step; ///< bytes

    SIMT_DEVICE float number(std::int64_t index) const {
        return to_float(load(from + index * step));
    }

    /// Group number `index`, those that are read together one after another.
    SIMT_DEVICE void find(const PackView& view, const Packing& packing, std::int64_t index) {
        const std::int64_t per_row = view.per_channel ? view.width : view.width / packing.group;
        const std::int64_t tokens = view.per_channel ? packing.group : 1; // of a group
        const std::int64_t group = index % per_row;
        const std::int64_t stretch = index / per_row % (view.count / tokens);
        const std::int64_t plane = index / per_row / (view.count / tokens);
        const std::int64_t channel = view.per_channel ? group : group * packing.group;
        from = static_cast<const F16*>(view.source) + plane / view.rows * view.sequence_step +
               plane % view.rows * view.row_step + stretch * tokens * view.token_step + channel;
        step = view.per_channel ? view.token_step : 1;
        const std::int64_t slots = view.slots / tokens, slot = view.first / tokens + stretch;
        unsigned char* const out = static_cast<unsigned char*>(view.plane) +
                                   (plane * slots + slot) * per_row * packing.group_bytes();
        if (view.per_channel) {
            scale = out + 2 * group;
            least = out + 2 * (view.width + group);
            word = out + 4 * (view.width + group);
            word_step = 4 * view.width;
        } else {
            scale = out + group * packing.group_bytes();
            least = scale + 2;
            word = scale + 4;
            word_step = 4;
        }
    }
};

/// The code of a number above the least, a step being d; 0 where all numbers are equal.
SIMT_DEVICE std::uint32_t code_of(float above, float d, float most) {
    const float place = d > 0.0f ? rintf(above / d) : 0.0f; // halves to even
    return static_cast<std::uint32_t>(fminf(place, most));
}

SIMT_DEVICE void pack_group(const PackPlace& at, const Packing& packing) {
    float low = at.number(0);
    float high = low;
    for (std::int64_t i = 1; i < packing.group; ++i) {
        const float number = at.number(i);
        low = fminf(low, number);
        high = fmaxf(high, number);
    }
    const auto most = static_cast<float>((1 << packing.bits) - 1);
    const F16 scale = to_f16((high - low) / most);
    store(reinterpret_cast<F16*>(at.scale), scale);
    store(reinterpret_cast<F16*>(at.least), to_f16(low));
    const std::int64_t per_word = 32 / packing.bits;
    for (std::int64_t w = 0; w < packing.words(); ++w) {
        std::uint32_t word = 0;
        for (std::int64_t j = 0; j < per_word; ++j) {
            const float above = at.number(w * per_word + j) - low;
            word |= code_of(above, to_float(scale), most) << (j * packing.bits);
        }
        store(reinterpret_cast<std::uint32_t*>(at.word + w * at.word_step), word);
    }
}

__global__ void __launch_bounds__(kBlockThreads) pack_groups(PackView view, std::int64_t groups) {
    const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kBlockThreads + threadIdx.x;
    if (index >= groups) {
        return;
    }
    const Packing packing = packing_of(view.format);
    PackPlace place;
    place.find(view, packing, index);
    pack_group(place, packing);
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
