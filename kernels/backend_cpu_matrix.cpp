// SPDX-License-Identifier: Apache-2.0
// Steps of the matrix states of RWKV 5 to 7 and xLSTM, one head, a tile of value columns at a time.
#include "kernels/backend_cpu_simd.h"
#include "kernels/views_recurrent.h"

namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT {
namespace {

constexpr int tile_vectors = 4; ///< independent sums, so that one hides the other's latency
constexpr std::int64_t tile_columns = tile_vectors * lanes;

/// Some columns of a state, padded with zeros, and one number for each of them.
struct Tile {
    float* stored; ///< [rows][pitch]
    std::int64_t rows, pitch;
    std::int64_t first, count; ///< columns
    alignas(64) float state[max_key_width][tile_columns];
};
struct Columns {
    Floats part[tile_vectors];
};

void load_state(Tile& tile) {
    for (std::int64_t j = 0; j < tile.rows; ++j)
        for (int i = 0; i < tile_vectors; ++i)
            store(tile.state[j] + i * lanes,
                  load_some(tile.stored + j * tile.pitch + tile.first + i * lanes,
                            tile.count - i * lanes));
}

void store_state(const Tile& tile) {
    for (std::int64_t j = 0; j < tile.rows; ++j)
        for (int i = 0; i < tile_vectors; ++i)
            store_some(tile.stored + j * tile.pitch + tile.first + i * lanes,
                       load(tile.state[j] + i * lanes), tile.count - i * lanes);
}

Columns load_columns(const float* from, std::int64_t count) {
    Columns columns;
    for (int i = 0; i < tile_vectors; ++i)
        columns.part[i] = load_some(from + i * lanes, count - i * lanes);
    return columns;
}

void store_columns(const Columns& columns, float* to, std::int64_t count) {
    for (int i = 0; i < tile_vectors; ++i)
        store_some(to + i * lanes, columns.part[i], count - i * lanes);
}

/// Sᵀx.
Columns look_up(const Tile& tile, const float* x) {
    Columns sums{};
    for (std::int64_t j = 0; j < tile.rows; ++j)
        for (int i = 0; i < tile_vectors; ++i)
            sums.part[i] += load(tile.state[j] + i * lanes) * x[j];
    return sums;
}

/// S = decay · S + k vᵀ.
void decay_and_push(Tile& tile, const float* decay, const float* k, const Columns& v) {
    for (std::int64_t j = 0; j < tile.rows; ++j)
        for (int i = 0; i < tile_vectors; ++i)
            store(tile.state[j] + i * lanes,
                  load(tile.state[j] + i * lanes) * decay[j] + v.part[i] * k[j]);
}

/// S = decay · S + k vᵀ + b uᵀ.
void decay_and_push(Tile& tile, const float* decay, const float* k, const Columns& v,
                    const float* b, const Columns& u) {
    for (std::int64_t j = 0; j < tile.rows; ++j)
        for (int i = 0; i < tile_vectors; ++i)
            store(tile.state[j] + i * lanes,
                  load(tile.state[j] + i * lanes) * decay[j] + v.part[i] * k[j] + u.part[i] * b[j]);
}

/// S = forget · S + input · k vᵀ.
void forget_and_push(Tile& tile, float forget, float input, const float* k, const Columns& v) {
    for (std::int64_t j = 0; j < tile.rows; ++j)
        for (int i = 0; i < tile_vectors; ++i)
            store(tile.state[j] + i * lanes,
                  load(tile.state[j] + i * lanes) * forget + v.part[i] * (input * k[j]));
}

void step_rwkv(const RwkvTask& task, Tile& tile, std::int64_t token) {
    const auto row = [&](std::int64_t number) {
        return task.rows + token * task.token_stride + number * task.row_stride;
    };
    const float *r = row(0), *k = row(1), *decay = row(3);
    const bool last = token + 1 == task.count;
    const Columns v = load_columns(row(2) + tile.first, tile.count);
    if (task.bonus == nullptr) {
        decay_and_push(tile, decay, k, v, row(5), look_up(tile, row(4)));
        if (last)
            store_columns(look_up(tile, r), task.out + tile.first, tile.count);
        return;
    }
    if (last) {
        Columns out = look_up(tile, r);
        float weight = 0;
        for (std::int64_t j = 0; j < task.width; ++j)
            weight += r[j] * task.bonus[j] * k[j];
        for (int i = 0; i < tile_vectors; ++i)
            out.part[i] += v.part[i] * weight;
        store_columns(out, task.out + tile.first, tile.count);
    }
    decay_and_push(tile, decay, k, v);
}

/// The two gates of a step, relative to e^m.
struct XlstmGates {
    float forget, input;
};

XlstmGates next_gates(const XlstmTask& task, std::int64_t token, float& m) {
    const float* gates = task.gates + token * 2 * task.heads;
    const float kept = gates[0] + m, input = gates[task.heads];
    m = kept > input ? kept : input;
    Floats exponents{};
    exponents[0] = kept - m;
    exponents[1] = input - m;
    const Floats factors = exponential(exponents);
    return {factors[0], factors[1]};
}

/// The numbers of v that a tile has; the column of n always sees a one.
Columns values_of(const XlstmTask& task, const Tile& tile, std::int64_t token) {
    alignas(64) float values[tile_columns] = {};
    const float* v = task.v + token * task.stride;
    for (std::int64_t i = 0; i < tile.count; ++i)
        values[i] = tile.first + i < task.value_width ? v[tile.first + i] : 1.0f;
    return load_columns(values, tile_columns);
}

/// All steps of a tile, the output not yet divided; returns m after them.
float walk(const XlstmTask& task, Tile& tile, float m) {
    load_state(tile);
    for (std::int64_t t = 0; t < task.count; ++t) {
        const XlstmGates gates = next_gates(task, t, m);
        forget_and_push(tile, gates.forget, gates.input, task.k + t * task.stride,
                        values_of(task, tile, t));
    }
    Columns out = look_up(tile, task.q + (task.count - 1) * task.stride);
    for (Floats& part : out.part)
        part *= task.scale;
    store_columns(out, task.out + tile.first, tile.count);
    store_state(tile);
    return m;
}

} // namespace

void rwkv(const RwkvTask& task) {
    Tile tile;
    tile.stored = task.state;
    tile.rows = tile.pitch = task.width;
    for (tile.first = 0; tile.first < task.width; tile.first += tile_columns) {
        const std::int64_t left = task.width - tile.first;
        tile.count = left < tile_columns ? left : tile_columns;
        load_state(tile);
        for (std::int64_t t = 0; t < task.count; ++t)
            step_rwkv(task, tile, t);
        store_state(tile);
    }
}

void xlstm(const XlstmTask& task) {
    Tile tile;
    tile.stored = task.state;
    tile.rows = task.key_width;
    tile.pitch = task.value_width + 1;
    float& m = task.state[tile.rows * tile.pitch];
    float after = m;
    for (tile.first = 0; tile.first < tile.pitch; tile.first += tile_columns) {
        const std::int64_t left = tile.pitch - tile.first;
        tile.count = left < tile_columns ? left : tile_columns;
        after = walk(task, tile, m);
    }
    m = after;
    float& found = task.out[task.value_width];
    const float size = found < 0 ? -found : found, least = exponential(broadcast(-m))[0];
    found = (size > least ? size : least) + xlstm_epsilon;
    for (std::int64_t i = 0; i < task.value_width; ++i)
        task.out[i] /= found;
}

} // namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT
