// SPDX-License-Identifier: Apache-2.0
// Split decode of multi-head latent attention on the latent itself: the latent row is read once and
// serves as key and as value; the rope row only scores.
#pragma once

#include "kernels/cuda/attention.cuh"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

/// A warp takes one slot at a time: the query and the sums of four heads already take more than
/// half of the registers there are.
template <class T, unsigned Columns, unsigned RopeColumns, unsigned Heads>
__global__ void __launch_bounds__(kBlockThreads, 1)
    attend_latent_split(LatentView view, SplitShape shape, float log2_scale, float* partials) {
    SIMT_DYN_SHARED(float, shared);
    BlockPlace at;
    at.find(1, view.heads, view.valid, Heads, shape);
    const std::int64_t plane = at.sequence * view.slots;
    const T* const latents = static_cast<const T*>(view.latent) + plane * view.rank;
    const T* const ropes = static_cast<const T*>(view.rope) + plane * view.rope_width;

    float q_latent[Heads][Columns];
    float q_rope[Heads][RopeColumns];
    load_queries(q_latent, static_cast<const T*>(view.q_latent), view.rank, at);
    load_queries(q_rope, static_cast<const T*>(view.q_rope), view.rope_width, at);
    RunningSoftmax<Columns> softmax[Heads];
    clear_all(softmax);
    for (std::int64_t slot = at.begin + warp_index(); slot < at.end; slot += kBlockWarps) {
        float latent[Columns];
        float rope[RopeColumns];
        load_row<Columns>(latent, latents + slot * view.rank, view.rank);
        load_row<RopeColumns>(rope, ropes + slot * view.rope_width, view.rope_width);
        SIMT_UNROLL
        for (unsigned head = 0; head < Heads; ++head) {
            const float dot = dot_columns<Columns>(q_latent[head], latent) +
                              dot_columns<RopeColumns>(q_rope[head], rope);
            float score = log2_scale * warp_sum(dot);
            softmax[head].template weigh<1>(&score);
            softmax[head].add(score, latent);
        }
    }
    merge_block(softmax, shared, at, view.rank, shape.splits, partials);
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
