// SPDX-License-Identifier: Apache-2.0
// Split decode of multi-head latent attention on the latent itself: the latent row is read once and
// serves as key and as value; the rope row only scores.
#pragma once

#include "kernels/cuda/attention.cuh"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

/// Scores a few slots for one head and turns the scores into weights.
template <unsigned Columns, unsigned RopeColumns, unsigned Chunk>
SIMT_DEVICE void score_latent(float (&scores)[Chunk], RunningSoftmax<Columns>& softmax,
                              const float (&q_latent)[Columns], const float (&q_rope)[RopeColumns],
                              const float (&latents)[Chunk][Columns],
                              const float (&ropes)[Chunk][RopeColumns], std::int64_t left,
                              float log2_scale) {
    SIMT_UNROLL
    for (unsigned j = 0; j < Chunk; ++j) {
        const float dot =
            dot_columns<Columns>(q_latent, latents[j]) + dot_columns<RopeColumns>(q_rope, ropes[j]);
        const float score = log2_scale * warp_sum(dot);
        scores[j] = j < left ? score : -INFINITY;
    }
    softmax.template weigh<Chunk>(scores);
}

template <class T, unsigned Columns, unsigned RopeColumns, unsigned Heads, unsigned Chunk>
__global__ void __launch_bounds__(kBlockThreads, 1)
    attend_latent_split(LatentView view, SplitShape shape, float log2_scale, float* partials) {
    SIMT_DYN_SHARED(float, shared);
    BlockPlace at;
    at.find(1, view.heads, view.valid, Heads, shape);
    const std::int64_t plane = at.sequence * view.slots;
    const T* const latent = static_cast<const T*>(view.latent) + plane * view.rank;
    const T* const rope = static_cast<const T*>(view.rope) + plane * view.rope_width;

    float q_latent[Heads][Columns];
    float q_rope[Heads][RopeColumns];
    load_queries(q_latent, static_cast<const T*>(view.q_latent), view.rank, at);
    load_queries(q_rope, static_cast<const T*>(view.q_rope), view.rope_width, at);
    RunningSoftmax<Columns> softmax[Heads];
    SIMT_UNROLL
    for (unsigned head = 0; head < Heads; ++head) {
        softmax[head].clear();
    }
    for (std::int64_t slot = at.begin + warp_index() * Chunk; slot < at.end;
         slot += kBlockWarps * Chunk) {
        float latents[Chunk][Columns];
        float ropes[Chunk][RopeColumns];
        load_rows(latents, latent, slot, at.end, view.rank);
        load_rows(ropes, rope, slot, at.end, view.rope_width);
        SIMT_UNROLL
        for (unsigned head = 0; head < Heads; ++head) {
            float scores[Chunk];
            score_latent(scores, softmax[head], q_latent[head], q_rope[head], latents, ropes,
                         at.end - slot, log2_scale);
            SIMT_UNROLL
            for (unsigned j = 0; j < Chunk; ++j) {
                softmax[head].add(scores[j], latents[j]);
            }
        }
    }
    merge_block(softmax, shared, at, view.rank, shape.splits, partials);
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
