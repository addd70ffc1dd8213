// SPDX-License-Identifier: Apache-2.0
// How a split attention step is dealt out to blocks, and how their partial results come together.
//
// The attention kernels ask for one block per multiprocessor at least (launch bounds): left to
// itself, the assembler aims at more, and spills registers in the narrowest kernel to get there.
#pragma once

#include "kernels/cuda/softmax.cuh"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

// The attention kernels ask for one block per multiprocessor at least (launch bounds): left to
// itself, the assembler aims at more, and spills registers in the narrowest kernel to get there.

/// Where a block of a split attention step works.
struct BlockPlace {
    std::int64_t sequence, kv_head, split, tile;
    std::int64_t begin, end;        ///< slots
    std::int64_t first_head, heads; ///< query heads of the whole step; `heads` of them exist

    SIMT_DEVICE void find(std::int64_t kv_heads, std::int64_t group, std::int64_t valid,
                          std::int64_t tile_heads, const SplitShape& shape) {
        std::int64_t rest = blockIdx.x;
        tile = rest % shape.head_tiles;
        rest /= shape.head_tiles;
        split = rest % shape.splits;
        rest /= shape.splits;
        kv_head = rest % kv_heads;
        sequence = rest / kv_heads;
        begin = split * shape.tokens_per_split;
        end = begin + shape.tokens_per_split < valid ? begin + shape.tokens_per_split : valid;
        const std::int64_t left = group - tile * tile_heads;
        heads = left < tile_heads ? left : tile_heads;
        first_head = (sequence * kv_heads + kv_head) * group + tile * tile_heads;
    }
};

/// Merges the partial rows that the warps of this block left in shared memory, for one query head,
/// into one partial row in global memory. `rows` are `stride` floats apart.
SIMT_DEVICE void merge_warps(const float* rows, std::int64_t stride, std::int64_t width,
                             float* merged) {
    float largest = -INFINITY;
    for (std::int64_t warp = 0; warp < kBlockWarps; ++warp) {
        largest = fmaxf(largest, rows[warp * stride + width]);
    }
    for (std::int64_t column = threadIdx.x; column < width + kPartialTail; column += blockDim.x) {
        float sum = 0.0f;
        for (std::int64_t warp = 0; warp < kBlockWarps; ++warp) {
            const float* row = rows + warp * stride;
            const float weight = weight_of(row[width], largest);
            sum += weight * (column == width ? 0.0f : row[column]);
        }
        store(merged + column, column == width ? largest : sum);
    }
}

/// One block per query head: out = Σ partial sums / Σ partial totals over the splits. A sink (null:
/// none) is a score of its head, `heads` of which a sequence has, that has a weight and no row.
__global__ void merge_splits(const float* partials, float* out, std::int64_t splits,
                             std::int64_t width, const float* sinks, std::int64_t heads) {
    SIMT_DYN_SHARED(float, largest_of); // [splits], then the totals
    float* const total_of = largest_of + splits;
    const std::int64_t head = blockIdx.x;
    const float* const rows = partials + head * splits * (width + kPartialTail);
    for (std::int64_t split = threadIdx.x; split < splits; split += blockDim.x) {
        largest_of[split] = load(rows + split * (width + kPartialTail) + width);
        total_of[split] = load(rows + split * (width + kPartialTail) + width + 1);
    }
    __syncthreads();
    const float sink = sinks == nullptr ? -INFINITY : kLog2E * load(sinks + head % heads);
    float largest = sink;
    for (std::int64_t split = 0; split < splits; ++split) {
        largest = fmaxf(largest, largest_of[split]);
    }
    float total = weight_of(sink, largest);
    for (std::int64_t split = 0; split < splits; ++split) {
        total += weight_of(largest_of[split], largest) * total_of[split];
    }
    for (std::int64_t column = threadIdx.x; column < width; column += blockDim.x) {
        float sum = 0.0f;
        for (std::int64_t split = 0; split < splits; ++split) {
            sum += weight_of(largest_of[split], largest) *
                   load(rows + split * (width + kPartialTail) + column);
        }
        store(out + head * width + column, sum / total);
    }
}

/// The end of a split block: every warp's softmaxes go to shared memory and from there, merged, to
/// the partial rows of the heads that exist.
template <unsigned Heads, unsigned Columns>
SIMT_DEVICE void merge_block(const RunningSoftmax<Columns> (&softmax)[Heads], float* shared,
                             const BlockPlace& at, std::int64_t width, std::int64_t splits,
                             float* partials) {
    const std::int64_t stride = Heads * (width + kPartialTail);
    SIMT_UNROLL
    for (unsigned head = 0; head < Heads; ++head) {
        softmax[head].put(shared + warp_index() * stride + head * (width + kPartialTail), width);
    }
    __syncthreads();
    for (std::int64_t head = 0; head < at.heads; ++head) {
        const std::int64_t row = (at.first_head + head) * splits + at.split;
        merge_warps(shared + head * (width + kPartialTail), stride, width,
                    partials + row * (width + kPartialTail));
    }
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
