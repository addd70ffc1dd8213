// SPDX-License-Identifier: Apache-2.0
// Mamba-1 steps, a block of channels at a time.
#include "kernels/backend_cpu_simd.h"

namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT {
namespace {

// Mamba-1 keeps a block of channels on the stack, convolution columns transposed so that a vector
// holds neighbouring channels, states as rows padded to whole vectors.
constexpr std::int64_t block_channels = 64;
constexpr std::int64_t block_floats = 4096;

struct ChannelBlock {
    std::int64_t first, count; ///< channels
    std::int64_t stride;       ///< floats per state row
    alignas(64) float history[max_conv_kernel][block_channels];
    alignas(64) float weight[max_conv_kernel][block_channels];
    alignas(64) float bias[block_channels];
    alignas(64) float drive[block_channels]; ///< u
    alignas(64) float state[block_floats];
    alignas(64) float a[block_floats];
};

KV_INLINE float half_to_float(std::uint16_t half, bool bf16) {
    Halves halves{};
    halves[0] = half;
    return bf16 ? to_floats<true>(halves)[0] : to_floats<false>(halves)[0];
}

/// The inverse for values that came from half_to_float, so nothing is ever rounded.
KV_INLINE std::uint16_t exact_half(float value, bool bf16) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    if (bf16)
        return static_cast<std::uint16_t>(bits >> 16);
    const std::uint32_t sign = bits >> 16 & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude >= 0x7f800000u)
        return static_cast<std::uint16_t>(sign | 0x7c00u | (magnitude >> 13 & 0x3ffu));
    float scaled;
    __builtin_memcpy(&scaled, &magnitude, sizeof scaled);
    scaled *= 0x1p-112f;
    __builtin_memcpy(&bits, &scaled, sizeof bits);
    return static_cast<std::uint16_t>(sign | bits >> 13);
}

void load_block(const Mamba1Task& task, ChannelBlock& block) {
    const std::int64_t past = task.conv_kernel - 1;
    for (std::int64_t i = 0; i < block_channels; ++i) {
        const bool real = i < block.count;
        const std::int64_t channel = block.first + (real ? i : 0);
        for (std::int64_t j = 0; j < task.conv_kernel; ++j) {
            block.weight[j][i] = real ? task.weight[channel * task.conv_kernel + j] : 0;
            if (j < past)
                block.history[j][i] =
                    real ? half_to_float(task.history[channel * past + j], task.bf16) : 0;
        }
        block.bias[i] = real ? task.bias[channel] : 0;
    }
    for (std::int64_t i = 0; i < block.count; ++i)
        for (std::int64_t n = 0; n < block.stride; ++n) {
            const std::int64_t at = (block.first + i) * task.state_size + n;
            block.state[i * block.stride + n] = n < task.state_size ? task.state[at] : 0;
            block.a[i * block.stride + n] = n < task.state_size ? task.a[at] : 0;
        }
}

void store_block(const Mamba1Task& task, const ChannelBlock& block) {
    const std::int64_t past = task.conv_kernel - 1;
    for (std::int64_t i = 0; i < block.count; ++i) {
        const std::int64_t channel = block.first + i;
        for (std::int64_t j = 0; j < past; ++j)
            task.history[channel * past + j] = exact_half(block.history[j][i], task.bf16);
        for (std::int64_t n = 0; n < task.state_size; ++n)
            task.state[channel * task.state_size + n] = block.state[i * block.stride + n];
    }
}

/// Convolution and gate of one token: u for every channel of the block.
void convolve(const Mamba1Task& task, ChannelBlock& block, std::int64_t token) {
    const std::int64_t past = task.conv_kernel - 1;
    const std::uint16_t* x = task.x + token * task.inner + block.first;
    alignas(64) float input[block_channels] = {};
    for (std::int64_t i = 0; i < block.count; ++i)
        input[i] = half_to_float(x[i], task.bf16);
    for (std::int64_t i = 0; i < block_channels; i += lanes) {
        const Floats now = load(input + i);
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
        load_block(task, block);
        for (std::int64_t t = 0; t < task.count; ++t) {
            alignas(64) float b[max_state_size + lanes] = {};
            alignas(64) float c[max_state_size + lanes] = {};
            for (std::int64_t n = 0; n < task.state_size; ++n) {
                b[n] = task.b[t * task.state_size + n];
                c[n] = task.c[t * task.state_size + n];
            }
            convolve(task, block, t);
            advance_states(task, block, t, b);
            if (t + 1 == task.count)
                read_out(task, block, c);
        }
        store_block(task, block);
    }
}

} // namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT
