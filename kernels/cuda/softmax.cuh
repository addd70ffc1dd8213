// SPDX-License-Identifier: Apache-2.0
// The running softmax of an attention step. Scores are in powers of two, so exp2 serves.
#pragma once

#include "kernels/cuda/rows.cuh"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

/// 2^(score - largest); nothing seen yet weighs nothing, where the difference would be NaN.
SIMT_DEVICE float weight_of(float score, float largest) {
    return score == -INFINITY ? 0.0f : exp2f(score - largest);
}

/// Softmax-weighted sum of rows seen so far, for one query head; the warp's lanes share the
/// columns.
template <unsigned Columns> struct RunningSoftmax {
    float largest;
    float total;
    float sums[Columns];

    SIMT_DEVICE void clear() {
        largest = -INFINITY;
        total = 0.0f;
        clear_row<Columns>(sums);
    }

    /// Turns the scores of a chunk of rows into weights, scaling what was summed before once.
    template <unsigned Chunk> SIMT_DEVICE void weigh(float* scores) {
        float top = largest;
        SIMT_UNROLL
        for (unsigned j = 0; j < Chunk; ++j) {
            top = fmaxf(top, scores[j]);
        }
        const float kept = weight_of(largest, top);
        largest = top;
        total *= kept;
        SIMT_UNROLL
        for (unsigned i = 0; i < Columns; ++i) {
            sums[i] *= kept;
        }
        SIMT_UNROLL
        for (unsigned j = 0; j < Chunk; ++j) {
            scores[j] = weight_of(scores[j], top);
            total += scores[j];
        }
    }

    SIMT_DEVICE void add(float weight, const float* row) {
        SIMT_UNROLL
        for (unsigned i = 0; i < Columns; ++i) {
            sums[i] += weight * row[i];
        }
    }

    /// As one partial row (see kPartialTail).
    SIMT_DEVICE void put(float* row, std::int64_t width) const {
        SIMT_UNROLL
        for (unsigned i = 0; i < Columns; ++i) {
            const std::int64_t column = kWarpLanes * i + lane_index();
            if (column < width) {
                row[column] = sums[i];
            }
        }
        if (lane_index() == 0) {
            row[width] = largest;
            row[width + 1] = total;
        }
    }
};

template <unsigned Columns, unsigned Heads>
SIMT_DEVICE void clear_all(RunningSoftmax<Columns> (&softmax)[Heads]) {
    SIMT_UNROLL
    for (unsigned head = 0; head < Heads; ++head) {
        softmax[head].clear();
    }
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
