// SPDX-License-Identifier: Apache-2.0
// Mamba-1 steps, a block of channels at a time.
#include "kernels/backend_cpu_simd.h"

namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT {
namespace {

// A block of channels keeps its convolution columns on the stack, transposed so that a vector holds
// neighbouring channels. States are updated in place when their rows are whole vectors, else in
// padded copies.
constexpr std::int64_t block_channels = 64;
constexpr std::int64_t block_floats = 4096;

struct ChannelBlock {
    std::int64_t first, count; ///< channels
    std::int64_t stride;       ///< floats per row of state, a, b and c
    float* state;
    const float* a;
    alignas(64) float history[max_conv_kernel][block_channels];
    alignas(64) float weight[max_conv_kernel][block_channels];
    alignas(64) float bias[block_channels];
    alignas(64) float drive[block_channels]; ///< u
    alignas(64) float padded_state[block_floats];
    alignas(64) float padded_a[block_floats];
    alignas(64) float padded_b[max_state_size + lanes];
    alignas(64) float padded_c[max_state_size + lanes];
};

KV_INLINE Floats load_either(const std::uint16_t* from, std::int64_t left, bool bf16) {
    if (left >= lanes)
        return bf16 ? load_floats<true>(from) : load_floats<false>(from);
    return bf16 ? load_tail<true>(from, left) : load_tail<false>(from, left);
}

void to_float_row(const std::uint16_t* from, std::int64_t count, bool bf16, float* to) {
    for (std::int64_t i = 0; i < count; i += lanes)
        store(to + i, load_either(from + i, count - i, bf16));
}

void load_convolution(const Mamba1Task& task, ChannelBlock& block) {
    const std::int64_t past = task.conv_kernel - 1;
    alignas(64) float row[block_channels * max_conv_kernel];
    to_float_row(task.history + block.first * past, block.count * past, task.bf16, row);
    for (std::int64_t i = 0; i < block_channels; ++i) {
        const bool real = i < block.count;
        for (std::int64_t j = 0; j < past; ++j)
            block.history[j][i] = real ? row[i * past + j] : 0;
        const float* weight = task.weight + (block.first + i) * task.conv_kernel;
        for (std::int64_t j = 0; j < task.conv_kernel; ++j)
            block.weight[j][i] = real ? weight[j] : 0;
        block.bias[i] = real ? task.bias[block.first + i] : 0;
    }
}

void pad_row(const float* from, std::int64_t width, std::int64_t stride, float* to) {
    for (std::int64_t n = 0; n < stride; ++n)
        to[n] = n < width ? from[n] : 0;
}

void load_states(const Mamba1Task& task, ChannelBlock& block) {
    const std::int64_t first = block.first * task.state_size;
    block.state = task.state + first;
    block.a = task.a + first;
    if (block.stride == task.state_size)
        return;
    for (std::int64_t i = 0; i < block.count; ++i) {
        pad_row(block.state + i * task.state_size, task.state_size, block.stride,
                block.padded_state + i * block.stride);
        pad_row(block.a + i * task.state_size, task.state_size, block.stride,
                block.padded_a + i * block.stride);
    }
    block.state = block.padded_state;
    block.a = block.padded_a;
}

void store_states(const Mamba1Task& task, const ChannelBlock& block) {
    if (block.stride == task.state_size)
        return;
    for (std::int64_t i = 0; i < block.count; ++i)
        for (std::int64_t n = 0; n < task.state_size; ++n)
            task.state[(block.first + i) * task.state_size + n] = block.state[i * block.stride + n];
}

/// The last inputs as they came, so nothing is ever rounded: still in the history, or in x.
void store_history(const Mamba1Task& task, const ChannelBlock& block) {
    const std::int64_t past = task.conv_kernel - 1;
    for (std::int64_t i = block.first; i < block.first + block.count; ++i) {
        std::uint16_t* history = task.history + i * past;
        for (std::int64_t j = 0; j < past; ++j) {
            const std::int64_t token = task.count + j - past;
            history[j] = token < 0 ? history[task.count + j] : task.x[token * task.inner + i];
        }
    }
}

/// Convolution and gate of one token: u for every channel of the block.
void convolve(const Mamba1Task& task, ChannelBlock& block, std::int64_t token) {
    const std::int64_t past = task.conv_kernel - 1;
    const std::uint16_t* x = task.x + token * task.inner + block.first;
    for (std::int64_t i = 0; i < block.count; i += lanes) {
        const Floats now = load_either(x + i, block.count - i, task.bf16);
        Floats sum = load(block.bias + i) + load(block.weight[past] + i) * now;
        for (std::int64_t j = 0; j < past; ++j) {
            const Floats old = load(block.history[j] + i);
            sum += load(block.weight[j] + i) * old;
            store(block.history[j] + i, j + 1 < past ? load(block.history[j + 1] + i) : now);
        }
        store(block.drive + i, sum / (1.0f + exponential(-sum)));
    }
}

void advance_states(const Mamba1Task& task, ChannelBlock& block, std::int64_t token,
                    const float* b) {
    const float* dt = task.dt + token * task.inner + block.first;
    for (std::int64_t i = 0; i < block.count; ++i) {
        const Floats step = broadcast(dt[i]);
        const Floats push = broadcast(dt[i] * block.drive[i]);
        float* state = block.state + i * block.stride;
        const float* a = block.a + i * block.stride;
        for (std::int64_t n = 0; n < block.stride; n += lanes)
            store(state + n,
                  exponential(step * load(a + n)) * load(state + n) + push * load(b + n));
    }
}

void read_out(const Mamba1Task& task, const ChannelBlock& block, const float* c) {
    for (std::int64_t i = 0; i < block.count; ++i) {
        Floats sum{};
        for (std::int64_t n = 0; n < block.stride; n += lanes)
            sum += load(block.state + i * block.stride + n) * load(c + n);
        const std::int64_t channel = block.first + i;
        task.out[channel] = total(sum) + task.d[channel] * block.drive[i];
    }
}

} // namespace

void mamba1(const Mamba1Task& task) {
    ChannelBlock block;
    block.stride = (task.state_size + lanes - 1) / lanes * lanes;
    const std::int64_t fit = block_floats / block.stride;
    const std::int64_t size = fit < block_channels ? fit : block_channels;
    for (block.first = task.first; block.first < task.last; block.first += size) {
        block.count = task.last - block.first < size ? task.last - block.first : size;
        load_convolution(task, block);
        load_states(task, block);
        for (std::int64_t t = 0; t < task.count; ++t) {
            const float* b = task.b + t * task.state_size;
            const float* c = task.c + t * task.state_size;
            if (block.stride != task.state_size) {
                pad_row(b, task.state_size, block.stride, block.padded_b);
                pad_row(c, task.state_size, block.stride, block.padded_c);
                b = block.padded_b;
                c = block.padded_c;
            }
            convolve(task, block, t);
            advance_states(task, block, t, b);
            if (t + 1 == task.count)
                read_out(task, block, c);
        }
        store_states(task, block);
        store_history(task, block);
    }
}

} // namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT
