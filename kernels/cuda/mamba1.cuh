// SPDX-License-Identifier: Apache-2.0
// Mamba-1 decode steps: a thread owns one channel of one sequence, with its convolution history and
// its row of the state, and walks through the steps in order.
#pragma once

#include "kernels/cuda/rows.cuh"
#include "kernels/views.h"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

SIMT_DEVICE float silu(float value) {
    return value / (1.0f + expf(-value));
}

/// Convolves the history and the new input, and shifts the history by one.
template <class View, class T>
SIMT_DEVICE float convolve(const View& view, std::int64_t channel, T* history, T input) {
    const float* const weight = view.weight + channel * view.conv_kernel;
    const std::int64_t past = view.conv_kernel - 1;
    float sum = load(view.bias + channel);
    for (std::int64_t j = 0; j < past; ++j) {
        const T value = load(history + j);
        sum += load(weight + j) * to_float(value);
        if (j > 0) {
            store(history + j - 1, value);
        }
    }
    if (past > 0) {
        store(history + past - 1, input);
    }
    return sum + load(weight + past) * to_float(input);
}

/// Moves one channel's state by one step and returns what it reads out. `at` is the step's index
/// over all sequences.
SIMT_DEVICE float advance_state(const Mamba1View& view, std::int64_t channel, std::int64_t at,
                                float* state, float u) {
    const float dt = load(view.dt + at * view.inner + channel);
    const float* const a = view.a + channel * view.state_size;
    const float* const b = view.b + at * view.state_size;
    const float* const c = view.c + at * view.state_size;
    const float input = dt * u;
    float sum = load(view.d + channel) * u;
    for (std::int64_t n = 0; n < view.state_size; ++n) {
        const float next = expf(dt * load(a + n)) * load(state + n) + input * load(b + n);
        store(state + n, next);
        sum += next * load(c + n);
    }
    return sum;
}

template <class T> __global__ void __launch_bounds__(kBlockThreads) mamba1_steps(Mamba1View view) {
    const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kBlockThreads + threadIdx.x;
    if (index >= view.sequences * view.inner) {
        return;
    }
    const std::int64_t channel = index % view.inner;
    const std::int64_t sequence = index / view.inner;
    T* const history = static_cast<T*>(view.history) + index * (view.conv_kernel - 1);
    float* const state = view.state + index * view.state_size;
    float out = 0.0f;
    for (std::int64_t step = 0; step < view.count; ++step) {
        const std::int64_t at = sequence * view.count + step;
        const T input = load(static_cast<const T*>(view.x) + at * view.inner + channel);
        const float u = silu(convolve(view, channel, history, input));
        out = advance_state(view, channel, at, state, u);
    }
    store(view.out + index, out);
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
