// SPDX-License-Identifier: Apache-2.0
// Index scores and compressed entries: a vector holds neighbouring slots, or neighbouring columns.
#include "kernels/backend_cpu_simd.h"

namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT {
namespace {

/// Keys of `lanes` slots, column by column.
struct KeyBlock {
    float columns[max_index_width][lanes];
};

void load_keys(KeyBlock& block, const StoredRows& keys, std::int64_t first, std::int64_t count) {
    float rows[lanes * max_index_width];
    decode(keys, first, count, rows);
    const std::int64_t stride = padded(keys.width);
    for (std::int64_t column = 0; column < keys.width; ++column)
        for (std::int64_t t = 0; t < lanes; ++t)
            block.columns[column][t] = t < count ? rows[t * stride + column] : 0;
}

/// Σ weight · max(0, q · key) of some heads; a NaN stays one.
template <int heads>
KV_INLINE Floats score(const IndexTask& task, const KeyBlock& block, std::int64_t head) {
    Floats dots[unsigned{heads}] = {};
    const float* q = task.q + head * task.keys.width;
    for (std::int64_t column = 0; column < task.keys.width; ++column) {
        const Floats key = load(block.columns[column]);
        for (int h = 0; h < heads; ++h)
            dots[h] += key * q[h * task.keys.width + column];
    }
    Floats sum{};
    for (int h = 0; h < heads; ++h)
        sum += (dots[h] < Floats{} ? Floats{} : dots[h]) * task.weights[head + h];
    return sum;
}

} // namespace

void index(const IndexTask& task) {
    KeyBlock block;
    for (std::int64_t first = task.first; first < task.last; first += lanes) {
        const std::int64_t count = task.last - first < lanes ? task.last - first : lanes;
        load_keys(block, task.keys, first, count);
        Floats sum{};
        std::int64_t head = 0;
        for (; head + 4 <= task.heads; head += 4)
            sum += score<4>(task, block, head);
        for (; head < task.heads; ++head)
            sum += score<1>(task, block, head);
        for (std::int64_t i = 0; i < count; ++i)
            task.scores[first + i] = sum[i];
    }
}

void pool(const PoolTask& task) {
    const std::int64_t own = task.entry * task.group, end = own + task.group;
    const std::int64_t begin = task.parts == 2 && task.entry > 0 ? own - task.group : own;
    const std::int64_t gates = task.parts * task.width;
    for (std::int64_t column = task.first; column < task.last; column += lanes) {
        const std::int64_t left = task.last - column;
        const auto values = [&](std::int64_t token) {
            const std::int64_t part = token < own ? 0 : task.parts - 1;
            return task.rows + token % task.slots * 2 * gates + part * task.width + column;
        };
        Floats top = broadcast(-__builtin_inff());
        for (std::int64_t token = begin; token < end; ++token)
            top = maximum(load_some(values(token) + gates, left), top);
        Floats sum{}, total{};
        for (std::int64_t token = begin; token < end; ++token) {
            const Floats weight = exponential(load_some(values(token) + gates, left) - top);
            sum += weight * load_some(values(token), left);
            total += weight;
        }
        const Floats result = sum / total;
        for (std::int64_t i = 0; i < (left < lanes ? left : lanes); ++i)
            task.out[column + i] = result[i];
    }
}

} // namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT
