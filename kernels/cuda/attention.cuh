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
    const std::int64_t end = at.first_head + at.heads;
    if constexpr (!std::is_same_v<T, AnyFormat>) {
        decode_rows<Plain<T>>(q, rows, at.first_head, end);
    } else if (element == Element::f16) { // queries come in two types only
        decode_rows<Plain<F16>>(q, rows, at.first_head, end);
    } else {
        decode_rows<Plain<Bf16>>(q, rows, at.first_head, end);
    }
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

/// The keys and values of slots first … first + Chunk - 1, those in front of `end`. In any format
/// both go through one piece of code: there is much of it. Rows is PlaneRows, or what else
/// decode_any() takes.
template <class T, unsigned Chunk, unsigned Columns, unsigned Heads, class Rows>
SIMT_DEVICE void attend_chunk(RunningSoftmax<Columns> (&softmax)[Heads],
                              const float (&q)[Heads][Columns], const Rows& keys,
                              const Rows& values, std::int64_t first, std::int64_t end,
                              float log2_scale) {
    float rows[Chunk][Columns];
    float weights[Heads][Chunk];
    if constexpr (std::is_same_v<T, AnyFormat>) {
        SIMT_UNROLL_BY(1)
        for (int part = 0; part < 2; ++part) {
            decode_any(rows, part == 0 ? keys : values, first, end);
            if (part == 0) {
                weigh_rows(weights, softmax, q, rows, end - first, log2_scale);
            } else {
                add_rows(softmax, weights, rows);
            }
        }
    } else {
        decode_rows<Plain<T>>(rows, keys, first, end);
        weigh_rows(weights, softmax, q, rows, end - first, log2_scale);
        decode_rows<Plain<T>>(rows, values, first, end);
        add_rows(softmax, weights, rows);
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
        attend_chunk<T, Chunk>(softmax, q, keys, values, slot, at.end, log2_scale);
    }
    merge_block(softmax, shared, at, view.value_width, shape.splits, partials);
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
