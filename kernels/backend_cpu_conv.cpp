// SPDX-License-Identifier: Apache-2.0
// Steps of a causal convolution, a block of channels at a time.
#include "kernels/backend_cpu_simd.h"

namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT {
namespace {

// A block keeps its columns on the stack, transposed so that a vector holds neighbouring channels.
constexpr std::int64_t block_channels = 64;

struct ConvBlock {
    std::int64_t first, count; ///< channels
    alignas(64) float history[max_conv_kernel][block_channels];
    alignas(64) float weight[max_conv_kernel][block_channels];
    alignas(64) float bias[block_channels];
};

KV_INLINE float to_float_either(std::uint16_t half, bool bf16) {
    return bf16 ? load_tail<true>(&half, 1)[0] : load_tail<false>(&half, 1)[0];
}

void load_block(const ConvTask& task, ConvBlock& block) {
    const std::int64_t past = task.conv_kernel - 1;
    for (std::int64_t i = 0; i < block_channels; ++i) {
        const bool real = i < block.count;
        const std::int64_t channel = block.first + i;
        for (std::int64_t j = 0; j < past; ++j)
            block.history[j][i] =
                real ? to_float_either(task.history[channel * past + j], task.bf16) : 0;
        for (std::int64_t j = 0; j < task.conv_kernel; ++j)
            block.weight[j][i] = real ? task.weight[channel * task.conv_kernel + j] : 0;
        block.bias[i] = real ? task.bias[channel] : 0;
    }
}

/// The last inputs as they came, so nothing is ever rounded: still in the history, or in x.
void store_history(const ConvTask& task, const ConvBlock& block) {
    const std::int64_t past = task.conv_kernel - 1;
    for (std::int64_t i = block.first; i < block.first + block.count; ++i) {
        std::uint16_t* history = task.history + i * past;
        for (std::int64_t j = 0; j < past; ++j) {
            const std::int64_t token = task.count + j - past;
            history[j] = token < 0 ? history[task.count + j] : task.x[token * task.channels + i];
        }
    }
}

KV_INLINE void store_some(float* to, Floats value, std::int64_t left) {
    if (left >= lanes)
        return store(to, value);
    for (std::int64_t i = 0; i < left; ++i)
        to[i] = value[i];
}

template <bool bf16> void step_block(const ConvTask& task, ConvBlock& block, std::int64_t token) {
    const std::int64_t past = task.conv_kernel - 1;
    const std::int64_t row = token * task.channels + block.first;
    for (std::int64_t i = 0; i < block.count; i += lanes) {
        const std::int64_t left = block.count - i;
        const Floats now = left >= lanes ? load_floats<bf16>(task.x + row + i)
                                         : load_tail<bf16>(task.x + row + i, left);
        Floats sum = load(block.bias + i) + load(block.weight[past] + i) * now;
        for (std::int64_t j = 0; j < past; ++j) {
            const Floats old = load(block.history[j] + i);
            sum += load(block.weight[j] + i) * old;
            store(block.history[j] + i, j + 1 < past ? load(block.history[j + 1] + i) : now);
        }
        if (task.silu)
            sum = sum / (1.0f + exponential(-sum));
        store_some(task.out + row + i, sum, left);
    }
}

} // namespace

void conv(const ConvTask& task) {
    ConvBlock block;
    for (block.first = task.first; block.first < task.last; block.first += block_channels) {
        const std::int64_t left = task.last - block.first;
        block.count = left < block_channels ? left : block_channels;
        load_block(task, block);
        for (std::int64_t t = 0; t < task.count; ++t)
            task.bf16 ? step_block<true>(task, block, t) : step_block<false>(task, block, t);
        store_history(task, block);
    }
}

} // namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT
