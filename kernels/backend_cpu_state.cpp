// SPDX-License-Identifier: Apache-2.0
#include "kernels/backend_cpu_state.h"

#include "core/error.h"
#include "kernels/parallel.h"

#include <algorithm>
#include <string>

namespace kvcaliper::kernels {
namespace {

void require(bool condition, const char* message) {
    if (!condition)
        throw Error(std::string("cpu backend: ") + message);
}

} // namespace

void run_state_step(const VectorKernels& kernels, const Mamba1View& v) {
    require(v.inner > 0 && v.state_size > 0 && v.state_size <= max_state_size,
            "state_size must be between 1 and 1024");
    require(v.conv_kernel > 0 && v.conv_kernel <= max_conv_kernel,
            "conv_kernel must be between 1 and 16");
    require(v.element != Element::f32, "no state kernel for an f32 convolution history yet");
    constexpr std::int64_t channels = 256;
    const std::int64_t blocks = (v.inner + channels - 1) / channels;
    parallel_for(v.sequences * blocks, [&](std::int64_t i) {
        const std::int64_t s = i / blocks, first = i % blocks * channels;
        Mamba1Task task{};
        task.x = static_cast<const std::uint16_t*>(v.x) + s * v.count * v.inner;
        task.dt = v.dt + s * v.count * v.inner;
        task.b = v.b + s * v.count * v.state_size;
        task.c = v.c + s * v.count * v.state_size;
        task.a = v.a;
        task.d = v.d;
        task.weight = v.weight;
        task.bias = v.bias;
        task.history = static_cast<std::uint16_t*>(v.history) + s * v.inner * (v.conv_kernel - 1);
        task.state = v.state + s * v.inner * v.state_size;
        task.out = v.out + s * v.inner;
        task.inner = v.inner;
        task.state_size = v.state_size;
        task.conv_kernel = v.conv_kernel;
        task.count = v.count;
        task.first = first;
        task.last = std::min(v.inner, first + channels);
        task.bf16 = v.element == Element::bf16;
        kernels.mamba1(task);
    });
}

void run_state_step(const VectorKernels& kernels, const ConvView& v) {
    require(v.sequences > 0 && v.channels > 0 && v.count > 0, "empty convolution");
    require(v.conv_kernel > 0 && v.conv_kernel <= max_conv_kernel,
            "conv_kernel must be between 1 and 16");
    constexpr std::int64_t channels = 256;
    const std::int64_t blocks = (v.channels + channels - 1) / channels;
    parallel_for(v.sequences * blocks, [&](std::int64_t i) {
        const std::int64_t s = i / blocks, first = i % blocks * channels;
        ConvTask task{};
        task.x =
            static_cast<const char*>(v.x) + s * v.count * v.channels * element_bytes(v.element);
        task.weight = v.weight;
        task.bias = v.bias;
        task.history = static_cast<char*>(v.history) +
                       s * v.channels * (v.conv_kernel - 1) * element_bytes(v.element);
        task.out = v.out + s * v.count * v.channels;
        task.channels = v.channels;
        task.conv_kernel = v.conv_kernel;
        task.count = v.count;
        task.first = first;
        task.last = std::min(v.channels, first + channels);
        task.silu = v.silu;
        task.element = v.element;
        kernels.conv(task);
    });
}

/// One task per head and sequence: its state stays in the caches of one core.
void run_state_step(const VectorKernels& kernels, const Mamba2View& v) {
    require(v.sequences > 0 && v.head_width > 0 && v.count > 0, "empty step");
    require(v.groups > 0 && v.heads > 0 && v.heads % v.groups == 0,
            "heads must be a multiple of groups");
    require(v.state_size > 0 && v.state_size <= max_state_size,
            "state_size must be between 1 and 1024");
    const std::int64_t heads_per_group = v.heads / v.groups;
    parallel_for(v.sequences * v.heads, [&](std::int64_t i) {
        const std::int64_t s = i / v.heads, head = i % v.heads;
        const std::int64_t step = s * v.count;
        const std::int64_t group = head / heads_per_group * v.state_size;
        Mamba2Task task{};
        task.x = v.x + step * v.x_stride + head * v.head_width;
        task.b = v.b + step * v.bc_stride + group;
        task.c = v.c + step * v.bc_stride + group;
        task.dt = v.dt + step * v.heads + head;
        task.a = v.a[head];
        task.d = v.d[head];
        task.state = v.state + i * v.head_width * v.state_size;
        task.out = v.out + i * v.head_width;
        task.head_width = v.head_width;
        task.state_size = v.state_size;
        task.count = v.count;
        task.x_stride = v.x_stride;
        task.bc_stride = v.bc_stride;
        task.dt_stride = v.heads;
        kernels.mamba2(task);
    });
}

void run_state_step(const VectorKernels& kernels, const DeltaView& v) {
    require(v.sequences > 0 && v.value_width > 0 && v.count > 0, "empty step");
    require(v.key_heads > 0 && v.value_heads > 0 && v.value_heads % v.key_heads == 0,
            "value heads must be a multiple of key heads");
    require(v.key_width > 0 && v.key_width <= max_key_width, "key_width must be between 1 and 384");
    require(v.gate_width == 1 || v.gate_width == v.key_width, "gate_width must be 1 or key_width");
    const std::int64_t share = v.value_heads / v.key_heads;
    parallel_for(v.sequences * v.value_heads, [&](std::int64_t i) {
        const std::int64_t s = i / v.value_heads, head = i % v.value_heads;
        const std::int64_t step = s * v.count;
        DeltaTask task{};
        task.q = v.q + step * v.stride + head / share * v.key_width;
        task.k = v.k + step * v.stride + head / share * v.key_width;
        task.v = v.v + step * v.stride + head * v.value_width;
        task.gate = v.gate + (step * v.value_heads + head) * v.gate_width;
        task.beta = v.beta == nullptr ? nullptr : v.beta + step * v.value_heads + head;
        task.state = v.state + i * v.key_width * v.value_width;
        task.out = v.out + i * v.value_width;
        task.key_width = v.key_width;
        task.value_width = v.value_width;
        task.count = v.count;
        task.stride = v.stride;
        task.gate_width = v.gate_width;
        task.gate_stride = v.value_heads * v.gate_width;
        task.beta_stride = v.value_heads;
        task.log_gate = v.log_gate;
        task.normalise = v.normalise;
        task.scale = v.scale;
        kernels.delta(task);
    });
}

} // namespace kvcaliper::kernels
