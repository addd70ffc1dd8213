// SPDX-License-Identifier: Apache-2.0
// Steps of linear attention with a matrix state (gated delta rule, KDA, lightning, GLA) of one
// head, a tile of value columns at a time.
#include "kernels/backend_cpu_simd.h"
#include "kernels/views.h"

namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT {
namespace {

constexpr int tile_vectors = 4; ///< independent sums, so that one hides the other's latency
constexpr std::int64_t tile_columns = tile_vectors * lanes;

struct Tile {
    std::int64_t first, count; ///< columns
    alignas(64) float state[max_key_width][tile_columns];
    alignas(64) float k[max_key_width + lanes];
    alignas(64) float q[max_key_width + lanes];
    alignas(64) float decay[max_key_width + lanes];
    alignas(64) float u[tile_columns];
};

void load_state(const DeltaTask& task, Tile& tile) {
    for (std::int64_t j = 0; j < task.key_width; ++j) {
        const float* from = task.state + j * task.value_width + tile.first;
        if (tile.count == tile_columns)
            __builtin_memcpy(tile.state[j], from, sizeof tile.state[j]);
        else
            for (std::int64_t i = 0; i < tile_columns; ++i)
                tile.state[j][i] = i < tile.count ? from[i] : 0;
    }
}

void store_state(const DeltaTask& task, const Tile& tile) {
    for (std::int64_t j = 0; j < task.key_width; ++j) {
        float* to = task.state + j * task.value_width + tile.first;
        if (tile.count == tile_columns)
            __builtin_memcpy(to, tile.state[j], sizeof tile.state[j]);
        else
            for (std::int64_t i = 0; i < tile.count; ++i)
                to[i] = tile.state[j][i];
    }
}

/// A row of the key width, divided by its length where that is asked for, times `scale`.
void prepare_row(const DeltaTask& task, const float* from, float scale, float* to) {
    float sum = 0;
    for (std::int64_t j = 0; task.normalise && j < task.key_width; ++j)
        sum += from[j] * from[j];
    const float factor = task.normalise ? scale / __builtin_sqrtf(sum + length_epsilon) : scale;
    for (std::int64_t j = 0; j < task.key_width; ++j)
        to[j] = from[j] * factor;
}

void prepare_decay(const DeltaTask& task, std::int64_t token, Tile& tile) {
    const float* gate = task.gate + token * task.gate_stride;
    for (std::int64_t j = 0; j < task.key_width; ++j)
        tile.decay[j] = gate[task.gate_width == 1 ? 0 : j];
    for (std::int64_t j = 0; task.log_gate && j < task.key_width; j += lanes)
        store(tile.decay + j, exponential(load(tile.decay + j)));
}

/// S = decay · S, and Sᵀk into u.
void decay_and_look_up(const DeltaTask& task, Tile& tile) {
    Floats sums[tile_vectors] = {};
    for (std::int64_t j = 0; j < task.key_width; ++j) {
        const Floats decay = broadcast(tile.decay[j]), k = broadcast(tile.k[j]);
        for (int i = 0; i < tile_vectors; ++i) {
            const Floats kept = load(tile.state[j] + i * lanes) * decay;
            store(tile.state[j] + i * lanes, kept);
            sums[i] += kept * k;
        }
    }
    for (int i = 0; i < tile_vectors; ++i)
        store(tile.u + i * lanes, sums[i]);
}

/// S = S + k uᵀ.
void push(const DeltaTask& task, Tile& tile) {
    Floats u[tile_vectors];
    for (int i = 0; i < tile_vectors; ++i)
        u[i] = load(tile.u + i * lanes);
    for (std::int64_t j = 0; j < task.key_width; ++j) {
        const Floats k = broadcast(tile.k[j]);
        for (int i = 0; i < tile_vectors; ++i)
            store(tile.state[j] + i * lanes, load(tile.state[j] + i * lanes) + k * u[i]);
    }
}

/// S = decay · S + k uᵀ, for a rule that looks nothing up.
void decay_and_push(const DeltaTask& task, Tile& tile) {
    Floats u[tile_vectors];
    for (int i = 0; i < tile_vectors; ++i)
        u[i] = load(tile.u + i * lanes);
    for (std::int64_t j = 0; j < task.key_width; ++j) {
        const Floats decay = broadcast(tile.decay[j]), k = broadcast(tile.k[j]);
        for (int i = 0; i < tile_vectors; ++i)
            store(tile.state[j] + i * lanes, load(tile.state[j] + i * lanes) * decay + k * u[i]);
    }
}

void step_tile(const DeltaTask& task, Tile& tile, std::int64_t token) {
    const float* v = task.v + token * task.stride + tile.first;
    prepare_row(task, task.k + token * task.stride, 1, tile.k);
    prepare_decay(task, token, tile);
    if (task.beta == nullptr) {
        for (std::int64_t i = 0; i < tile_columns; ++i)
            tile.u[i] = i < tile.count ? v[i] : 0;
        return decay_and_push(task, tile);
    }
    decay_and_look_up(task, tile);
    const float beta = task.beta[token * task.beta_stride];
    for (std::int64_t i = 0; i < tile_columns; ++i)
        tile.u[i] = i < tile.count ? beta * (v[i] - tile.u[i]) : 0;
    push(task, tile);
}

void read_out(const DeltaTask& task, Tile& tile) {
    prepare_row(task, task.q + (task.count - 1) * task.stride, task.scale, tile.q);
    Floats sums[tile_vectors] = {};
    for (std::int64_t j = 0; j < task.key_width; ++j)
        for (int i = 0; i < tile_vectors; ++i)
            sums[i] += load(tile.state[j] + i * lanes) * broadcast(tile.q[j]);
    for (std::int64_t i = 0; i < tile.count; ++i)
        task.out[tile.first + i] = sums[i / lanes][i % lanes];
}

} // namespace

void delta(const DeltaTask& task) {
    Tile tile;
    for (tile.first = 0; tile.first < task.value_width; tile.first += tile_columns) {
        const std::int64_t left = task.value_width - tile.first;
        tile.count = left < tile_columns ? left : tile_columns;
        load_state(task, tile);
        for (std::int64_t t = 0; t < task.count; ++t)
            step_tile(task, tile, t);
        read_out(task, tile);
        store_state(task, tile);
    }
}

} // namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT
