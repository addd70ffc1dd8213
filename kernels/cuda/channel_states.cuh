// SPDX-License-Identifier: Apache-2.0
// Decode steps of RG-LRU and RWKV 4: a thread owns one channel of one sequence, keeps its few
// numbers in registers and walks through the steps in order.
#pragma once

#include "kernels/cuda/rows.cuh"
#include "kernels/views_recurrent.h"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

/// Which channel of which sequence this thread has.
struct ChannelPlace {
    std::int64_t sequence, channel;
    bool active;
};

SIMT_DEVICE ChannelPlace channel_place(std::int64_t sequences, std::int64_t width) {
    const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kBlockThreads + threadIdx.x;
    return {index / width, index % width, index < sequences * width};
}

__global__ void __launch_bounds__(kBlockThreads) rglru_steps(RglruView view) {
    const ChannelPlace place = channel_place(view.sequences, view.width);
    if (!place.active) {
        return;
    }
    float* const state = view.state + place.sequence * view.width + place.channel;
    const float decay = load(view.decay + place.channel);
    float h = load(state);
    for (std::int64_t step = 0; step < view.count; ++step) {
        const std::int64_t at = place.sequence * view.count + step;
        const float* const gates = view.gates + at * 2 * view.width + place.channel;
        const float a = expf(-decay * load(gates));
        const float input =
            load(gates + view.width) * load(view.x + at * view.width + place.channel);
        h = a * h + sqrtf(1.0f - a * a) * input;
    }
    store(state, h);
    store(view.out + place.sequence * view.width + place.channel, h);
}

/// The sums of one channel, relative to e^largest.
struct WeightedSums {
    float values, weights, largest;

    /// Both after `decay`, and with one more value of weight e^exponent.
    SIMT_DEVICE WeightedSums with(float decay, float exponent, float value) const {
        const float most = fmaxf(largest + decay, exponent);
        const float kept = expf(largest + decay - most);
        const float added = expf(exponent - most);
        return {kept * values + added * value, kept * weights + added, most};
    }
};

__global__ void __launch_bounds__(kBlockThreads) rwkv4_steps(Rwkv4View view) {
    const ChannelPlace place = channel_place(view.sequences, view.width);
    if (!place.active) {
        return;
    }
    float* const state = view.state + place.sequence * 3 * view.width + place.channel;
    const float decay = load(view.decay + place.channel);
    const float bonus = load(view.bonus + place.channel);
    WeightedSums sums{load(state), load(state + view.width), load(state + 2 * view.width)};
    float out = 0.0f;
    for (std::int64_t step = 0; step < view.count; ++step) {
        const std::int64_t at = place.sequence * view.count + step;
        const float* const row = view.rows + at * 2 * view.width + place.channel;
        const float k = load(row);
        const float v = load(row + view.width);
        if (step + 1 == view.count) {
            const WeightedSums seen = sums.with(0.0f, bonus + k, v);
            out = seen.values / seen.weights;
        }
        sums = sums.with(decay, k, v);
    }
    store(state, sums.values);
    store(state + view.width, sums.weights);
    store(state + 2 * view.width, sums.largest);
    store(view.out + place.sequence * view.width + place.channel, out);
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
