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
    const PlaneRows latents =
        plane_at(view.latent, at.sequence, view.slots, view.rank, view.format);
    const PlaneRows ropes =
        plane_at(view.rope, at.sequence, view.slots, view.rope_width, rope_format(view.format));

    float q_latent[Heads][Columns];
    float q_rope[Heads][RopeColumns];
    load_queries<T>(q_latent, view.q_latent, view.rank, view.element, at);
    load_queries<T>(q_rope, view.q_rope, view.rope_width, view.element, at);
    RunningSoftmax<Columns> softmax[Heads];
    clear_all(softmax);
    for (std::int64_t slot = at.begin + warp_index(); slot < at.end; slot += kBlockWarps) {
        float latent[1][Columns];
        float rope[1][RopeColumns];
        load_rows<T>(latent, latents, slot, at.end);
        load_rows<T>(rope, ropes, slot, at.end);
        SIMT_UNROLL
        for (unsigned head = 0; head < Heads; ++head) {
            const float dot = dot_columns<Columns>(q_latent[head], latent[0]) +
                              dot_columns<RopeColumns>(q_rope[head], rope[0]);
            float score = log2_scale * warp_sum(dot);
            softmax[head].template weigh<1>(&score);
            softmax[head].add(score, latent[0]);
        }
    }
    merge_block(softmax, shared, at, view.rank, shape.splits, partials);
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
