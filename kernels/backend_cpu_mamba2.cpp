// SPDX-License-Identifier: Apache-2.0
// Mamba-2 steps of one head, a block of state rows at a time.
#include "kernels/backend_cpu_simd.h"

namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT {
namespace {

constexpr std::int64_t block_floats = 4096; ///< of state: stays in the first cache for all steps

/// Rows are updated in place when they are whole vectors, else in padded copies.
struct RowBlock {
    std::int64_t first, count, stride;
    float* state;
    alignas(64) float padded_state[block_floats];
    alignas(64) float padded_row[max_state_size + lanes];
};

void copy_padded(const float* from, std::int64_t width, std::int64_t stride, float* to) {
    for (std::int64_t n = 0; n < stride; ++n)
        to[n] = n < width ? from[n] : 0;
}

void load_states(const Mamba2Task& task, RowBlock& block) {
    float* rows = task.state + block.first * task.state_size;
    const bool whole = block.stride == task.state_size;
    block.state = whole ? rows : block.padded_state;
    for (std::int64_t i = 0; !whole && i < block.count; ++i)
        copy_padded(rows + i * task.state_size, task.state_size, block.stride,
                    block.state + i * block.stride);
}

void store_states(const Mamba2Task& task, const RowBlock& block) {
    if (block.stride == task.state_size)
        return;
    for (std::int64_t i = 0; i < block.count; ++i)
        for (std::int64_t n = 0; n < task.state_size; ++n)
            task.state[(block.first + i) * task.state_size + n] = block.state[i * block.stride + n];
}

const float* whole_vectors(const Mamba2Task& task, RowBlock& block, const float* row) {
    if (block.stride == task.state_size)
        return row;
    copy_padded(row, task.state_size, block.stride, block.padded_row);
    return block.padded_row;
}

void advance(const Mamba2Task& task, RowBlock& block, std::int64_t token) {
    const float dt = task.dt[token * task.dt_stride];
    const float* x = task.x + token * task.x_stride + block.first;
    const float* b = whole_vectors(task, block, task.b + token * task.bc_stride);
    const Floats decay = exponential(broadcast(dt * task.a));
    for (std::int64_t i = 0; i < block.count; ++i) {
        const Floats push = broadcast(dt * x[i]);
        float* state = block.state + i * block.stride;
        for (std::int64_t n = 0; n < block.stride; n += lanes)
            store(state + n, decay * load(state + n) + push * load(b + n));
    }
}

void read_out(const Mamba2Task& task, RowBlock& block) {
    const std::int64_t last = task.count - 1;
    const float* x = task.x + last * task.x_stride + block.first;
    const float* c = whole_vectors(task, block, task.c + last * task.bc_stride);
    for (std::int64_t i = 0; i < block.count; ++i) {
        Floats sum{};
        for (std::int64_t n = 0; n < block.stride; n += lanes)
            sum += load(block.state + i * block.stride + n) * load(c + n);
        task.out[block.first + i] = total(sum) + task.d * x[i];
    }
}

} // namespace

void mamba2(const Mamba2Task& task) {
    RowBlock block;
    block.stride = (task.state_size + lanes - 1) / lanes * lanes;
    const std::int64_t fit = block_floats / block.stride;
    for (block.first = 0; block.first < task.head_width; block.first += fit) {
        const std::int64_t left = task.head_width - block.first;
        block.count = left < fit ? left : fit;
        load_states(task, block);
        for (std::int64_t t = 0; t < task.count; ++t)
            advance(task, block, t);
        read_out(task, block);
        store_states(task, block);
    }
}

} // namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT
