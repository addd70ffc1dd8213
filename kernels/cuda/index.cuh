// SPDX-License-Identifier: Apache-2.0
// What an indexer does before attention: scores every key, chooses the greatest scores and brings
// their rows together.
#pragma once

#include "kernels/cuda/planes.cuh"
#include "kernels/views.h"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

SIMT_DEVICE float number_at(const void* numbers, Element element, std::int64_t index) {
    return element == Element::f16 ? to_float(load(static_cast<const F16*>(numbers) + index))
                                   : to_float(load(static_cast<const Bf16*>(numbers) + index));
}

/// Column by column, so that the lanes of a warp read the numbers of neighbouring heads.
SIMT_DEVICE void load_index_queries(float* queries, const IndexScoreView& view,
                                    std::int64_t sequence) {
    const std::int64_t count = view.heads * view.width;
    for (std::int64_t i = threadIdx.x; i < count; i += kBlockThreads) {
        queries[i % view.width * view.heads + i / view.width] =
            number_at(view.q, view.element, sequence * count + i);
    }
}

/// This lane's heads: every 32nd. A negative product counts as nothing, a NaN stays one.
SIMT_DEVICE float score_heads(const float* queries, const float* key, const IndexScoreView& view,
                              std::int64_t sequence) {
    float sum = 0.0f;
    for (std::int64_t head = lane_index(); head < view.heads; head += kWarpLanes) {
        float dot = 0.0f;
        for (std::int64_t column = 0; column < view.width; ++column) {
            dot += queries[column * view.heads + head] * key[column];
        }
        sum += load(view.weights + sequence * view.heads + head) * (dot < 0.0f ? 0.0f : dot);
    }
    return sum;
}

/// The blocks of a sequence take its slots in turn, a warp one slot at a time.
__global__ void __launch_bounds__(kBlockThreads) index_scores(IndexScoreView view) {
    SIMT_DYN_SHARED(float, queries); // [width][heads], then a key for each warp
    const std::int64_t blocks = gridDim.x / view.sequences;
    const std::int64_t sequence = blockIdx.x / blocks;
    float* const key = queries + view.heads * view.width + warp_index() * kMaxIndexWidth;
    const PlaneRows keys = plane_at(view.keys, sequence, view.slots, view.width, view.format);
    load_index_queries(queries, view, sequence);
    __syncthreads();
    for (std::int64_t slot = blockIdx.x % blocks * kBlockWarps + warp_index(); slot < view.valid;
         slot += blocks * kBlockWarps) {
        float row[1][kIndexColumns];
        load_rows<AnyFormat>(row, keys, slot, view.valid);
        SIMT_UNROLL
        for (unsigned i = 0; i < kIndexColumns; ++i) {
            key[kWarpLanes * i + lane_index()] = row[0][i];
        }
        __syncwarp();
        const float sum = warp_sum(score_heads(queries, key, view, sequence));
        if (lane_index() == 0) {
            store(view.scores + sequence * view.stride + slot, sum);
        }
        __syncwarp(); // before the key is overwritten
    }
}

/// A number's bits in an order that is the numbers' own; a NaN is greater than all.
SIMT_DEVICE std::uint32_t ordered_bits(float number) {
    const std::uint32_t bits = bits_of(number);
    return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

/// The sum over the threads of the block, in every thread. `sums` has a place for each warp.
SIMT_DEVICE int block_sum(int value, int* sums) {
    SIMT_UNROLL
    for (int bits = 16; bits > 0; bits /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, bits);
    }
    __syncthreads(); // nobody reads the sums of the last time any more
    if (lane_index() == 0) {
        sums[warp_index()] = value;
    }
    __syncthreads();
    int sum = 0;
    for (std::int64_t warp = 0; warp < kSelectThreads / kWarpLanes; ++warp) {
        sum += sums[warp];
    }
    return sum;
}

/// The greatest bits that at least view.count scores reach, made bit by bit.
SIMT_DEVICE std::uint32_t least_chosen(const float* scores, const SelectView& view, int* sums) {
    std::uint32_t least = 0;
    for (int bit = 31; bit >= 0; --bit) {
        const std::uint32_t tried = least | 1u << bit;
        int reach = 0;
        for (std::int64_t i = threadIdx.x; i < view.valid; i += kSelectThreads) {
            reach += ordered_bits(load(scores + i)) >= tried ? 1 : 0;
        }
        least = block_sum(reach, sums) >= view.count ? tried : least;
    }
    return least;
}

/// One block per sequence. Every thread writes those of a run of slots: all above the least chosen
/// score, and of the scores equal to it as many of the first ones as are left.
__global__ void __launch_bounds__(kSelectThreads) select_greatest(SelectView view) {
    SIMT_SHARED(int, sums, kSelectThreads / kWarpLanes);
    SIMT_SHARED(int, above, kSelectThreads);
    SIMT_SHARED(int, equal, kSelectThreads);
    const float* const scores = view.scores + blockIdx.x * view.stride;
    const std::uint32_t least = least_chosen(scores, view, sums);
    const std::int64_t run = (view.valid + kSelectThreads - 1) / kSelectThreads;
    const std::int64_t first = threadIdx.x * run;
    const std::int64_t end = first + run < view.valid ? first + run : view.valid;
    int own_above = 0;
    int own_equal = 0;
    for (std::int64_t i = first; i < end; ++i) {
        const std::uint32_t bits = ordered_bits(load(scores + i));
        own_above += bits > least ? 1 : 0;
        own_equal += bits == least ? 1 : 0;
    }
    above[threadIdx.x] = own_above;
    equal[threadIdx.x] = own_equal;
    const std::int64_t left = view.count - block_sum(own_above, sums);
    std::int64_t above_before = 0;
    std::int64_t equal_before = 0;
    for (unsigned thread = 0; thread < threadIdx.x; ++thread) {
        above_before += above[thread];
        equal_before += equal[thread];
    }
    std::int32_t* const table = view.table + blockIdx.x * view.count;
    for (std::int64_t i = first; i < end; ++i) {
        const std::uint32_t bits = ordered_bits(load(scores + i));
        const std::int64_t equals = equal_before < left ? equal_before : left;
        if (bits > least || (bits == least && equal_before < left)) {
            store(table + above_before + equals, static_cast<std::int32_t>(i));
        }
        above_before += bits > least ? 1 : 0;
        equal_before += bits == least ? 1 : 0;
    }
}

template <class T>
SIMT_DEVICE void copy_row(unsigned char* to, const unsigned char* from, std::int64_t bytes) {
    for (std::int64_t i = lane_index(); i < bytes / static_cast<std::int64_t>(sizeof(T));
         i += kWarpLanes) {
        store(reinterpret_cast<T*>(to) + i, load(reinterpret_cast<const T*>(from) + i));
    }
}

/// One warp per row, rows dealt out in turn.
__global__ void __launch_bounds__(kBlockThreads) gather_rows(GatherView view) {
    const std::int64_t rows = view.sequences * view.rows * view.count;
    const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * kBlockWarps;
    for (std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kBlockWarps + warp_index();
         index < rows; index += warps) {
        const std::int64_t place = index % view.count;
        const std::int64_t plane = index / view.count;
        const std::int32_t* const table =
            view.table == nullptr ? nullptr : view.table + plane / view.rows * view.count;
        const std::int64_t slot = table == nullptr ? place : load(table + place);
        const unsigned char* const from = static_cast<const unsigned char*>(view.planes) +
                                          (plane * view.slots + slot) * view.row_bytes;
        unsigned char* const to =
            static_cast<unsigned char*>(view.out) +
            (plane * view.out_slots + view.out_first + place) * view.row_bytes;
        if (view.row_bytes % 4 == 0) {
            copy_row<std::uint32_t>(to, from, view.row_bytes);
        } else {
            copy_row<unsigned char>(to, from, view.row_bytes);
        }
    }
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
