// SPDX-License-Identifier: Apache-2.0
// Steps of a causal convolution: a thread owns one channel of one sequence with its history and
// walks through the steps in order.
#pragma once

#include "kernels/cuda/mamba1.cuh"
#include "kernels/cuda/rows.cuh"
#include "kernels/views.h"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

template <class T> __global__ void __launch_bounds__(kBlockThreads) conv_steps(ConvView view) {
    const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kBlockThreads + threadIdx.x;
    if (index >= view.sequences * view.channels) {
        return;
    }
    const std::int64_t channel = index % view.channels;
    const std::int64_t sequence = index / view.channels;
    T* const history = static_cast<T*>(view.history) + index * (view.conv_kernel - 1);
    for (std::int64_t step = 0; step < view.count; ++step) {
        const std::int64_t at = (sequence * view.count + step) * view.channels + channel;
        const T input = load(static_cast<const T*>(view.x) + at);
        const float sum = convolve(view, channel, history, input);
        store(view.out + at, view.silu ? silu(sum) : sum);
    }
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
