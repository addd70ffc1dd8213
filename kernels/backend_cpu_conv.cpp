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

/// The numbers of a history and its inputs: two kinds of halves, or floats.
template <bool bf16> struct Half {
    using Number = std::uint16_t;
    static Floats load_first(const Number* from, std::int64_t n) {
        return n >= lanes ? load_floats<bf16>(from) : load_tail<bf16>(from, n);
    }
};
struct Whole {
    using Number = float;
    static Floats load_first(const Number* from, std::int64_t n) { return load_some(from, n); }
};

template <class Kind> void load_block(const ConvTask& task, ConvBlock& block) {
    const auto* stored = static_cast<const typename Kind::Number*>(task.history);
    const std::int64_t past = task.conv_kernel - 1;
    for (std::int64_t i = 0; i < block_channels; ++i) {
        const bool real = i < block.count;
        const std::int64_t channel = block.first + i;
        for (std::int64_t j = 0; j < past; ++j)
            block.history[j][i] = real ? Kind::load_first(stored + channel * past + j, 1)[0] : 0;
        for (std::int64_t j = 0; j < task.conv_kernel; ++j)
            block.weight[j][i] = real ? task.weight[channel * task.conv_kernel + j] : 0;
        block.bias[i] = real ? task.bias[channel] : 0;
    }
}

/// The last inputs as they came, so nothing is ever rounded: still in the history, or in x.
template <class Kind> void store_history(const ConvTask& task, const ConvBlock& block) {
    const auto* x = static_cast<const typename Kind::Number*>(task.x);
    const std::int64_t past = task.conv_kernel - 1;
    for (std::int64_t i = block.first; i < block.first + block.count; ++i) {
        auto* history = static_cast<typename Kind::Number*>(task.history) + i * past;
        for (std::int64_t j = 0; j < past; ++j) {
            const std::int64_t token = task.count + j - past;
            history[j] = token < 0 ? history[task.count + j] : x[token * task.channels + i];
        }
    }
}

template <class Kind> void step_block(const ConvTask& task, ConvBlock& block, std::int64_t token) {
    const auto* x = static_cast<const typename Kind::Number*>(task.x);
    const std::int64_t past = task.conv_kernel - 1;
    const std::int64_t row = token * task.channels + block.first;
    for (std::int64_t i = 0; i < block.count; i += lanes) {
        const std::int64_t left = block.count - i;
        const Floats now = Kind::load_first(x + row + i, left);
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

template <class Kind> void convolve(const ConvTask& task) {
    ConvBlock block;
    for (block.first = task.first; block.first < task.last; block.first += block_channels) {
        const std::int64_t left = task.last - block.first;
        block.count = left < block_channels ? left : block_channels;
        load_block<Kind>(task, block);
        for (std::int64_t t = 0; t < task.count; ++t)
            step_block<Kind>(task, block, t);
        store_history<Kind>(task, block);
    }
}

} // namespace

void conv(const ConvTask& task) {
    if (task.element == Element::f32)
        return convolve<Whole>(task);
    task.element == Element::bf16 ? convolve<Half<true>>(task) : convolve<Half<false>>(task);
}

} // namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT
