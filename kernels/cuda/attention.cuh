// SPDX-License-Identifier: Apache-2.0
// Split decode attention over separate key and value planes, T being the type of all numbers or
// AnyFormat. A warp takes a few slots at a time,
// its lanes share the columns, and each row it loads serves up to Heads query heads.
#pragma once

#include "kernels/cuda/planes.cuh"
#include "kernels/cuda/split.cuh"
#include "kernels/views.h"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

/// Query rows that do not exist are zero: their scores are computed and never used.
template <class T, unsigned Columns, unsigned Heads>
SIMT_DEVICE void load_queries(float (&q)[Heads][Columns], const void* base, std::int64_t width,
                              Element element, const BlockPlace& at) {
    const PlaneRows rows = plane_at(base, 0, 0, width, format_of(element));
    load_rows<T>(q, rows, at.first_head, at.first_head + at.heads);
}

/// Scores a chunk of key rows, `left` of which exist, and turns the scores into weights.
template <unsigned Columns, unsigned Heads, unsigned Chunk>
SIMT_DEVICE void weigh_rows(float (&weights)[Heads][Chunk],
                            RunningSoftmax<Columns> (&softmax)[Heads],
                            const float (&q)[Heads][Columns], const float (&rows)[Chunk][Columns],
                            std::int64_t left, float log2_scale) {
    SIMT_UNROLL
    for (unsigned head = 0; head < Heads; ++head) {
        SIMT_UNROLL
        for (unsigned j = 0; j < Chunk; ++j) {
            const float dot = warp_sum(dot_columns<Columns>(q[head], rows[j]));
            weights[head][j] = j < left ? log2_scale * dot : -INFINITY;
        }
        softmax[head].template weigh<Chunk>(weights[head]);
    }
}

template <unsigned Columns, unsigned Heads, unsigned Chunk>
SIMT_DEVICE void add_rows(RunningSoftmax<Columns> (&softmax)[Heads],
                          const float (&weights)[Heads][Chunk],
                          const float (&rows)[Chunk][Columns]) {
    SIMT_UNROLL
    for (unsigned head = 0; head < Heads; ++head) {
        SIMT_UNROLL
        for (unsigned j = 0; j < Chunk; ++j) {
            softmax[head].add(weights[head][j], rows[j]);
        }
    }
}

template <class T, unsigned Columns, unsigned Heads, unsigned Chunk>
__global__ void __launch_bounds__(kBlockThreads, 1)
    attend_split(AttentionView view, SplitShape shape, float log2_scale, float* partials) {
    SIMT_DYN_SHARED(float, shared);
    BlockPlace at;
    at.find(view.kv_heads, view.heads / view.kv_heads, view.valid, Heads, shape);
    const std::int64_t plane = at.sequence * view.kv_heads + at.kv_head;
    const PlaneRows keys = plane_at(view.k, plane, view.slots, view.key_width, view.key_format);
    const PlaneRows values =
        plane_at(view.v, plane, view.slots, view.value_width, view.value_format);

    float q[Heads][Columns];
    load_queries<T>(q, view.q, view.key_width, view.element, at);
    RunningSoftmax<Columns> softmax[Heads];
    clear_all(softmax);
    for (std::int64_t slot = at.begin + warp_index() * Chunk; slot < at.end;
         slot += kBlockWarps * Chunk) {
        float rows[Chunk][Columns];
        float weights[Heads][Chunk];
        load_rows<T>(rows, keys, slot, at.end);
        weigh_rows(weights, softmax, q, rows, at.end - slot, log2_scale);
        load_rows<T>(rows, values, slot, at.end);
        add_rows(softmax, weights, rows);
    }
    merge_block(softmax, shared, at, view.value_width, shape.splits, partials);
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
