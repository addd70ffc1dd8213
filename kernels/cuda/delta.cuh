// SPDX-License-Identifier: Apache-2.0
// Decode steps of linear attention with a matrix state (gated delta rule, KDA, lightning, GLA). A
// block owns 32 value columns of one head: lane l of every warp holds one column, warp w its rows
// w, w + Warps, w + 2 · Warps, …, in registers through all steps. Sums over rows meet in shared
// memory.
#pragma once

#include "kernels/cuda/rows.cuh"
#include "kernels/views.h"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

/// Which head and columns a block has, and its rows of one step.
struct DeltaPlace {
    std::int64_t sequence, head, key_head, column;
    bool active; ///< this lane's column exists
};

SIMT_DEVICE DeltaPlace delta_place(const DeltaView& view) {
    const std::int64_t tiles = (view.value_width + kWarpLanes - 1) / kWarpLanes;
    const std::int64_t block = static_cast<std::int64_t>(blockIdx.x);
    DeltaPlace place;
    place.column = block % tiles * kWarpLanes + lane_index();
    place.head = block / tiles % view.value_heads;
    place.sequence = block / tiles / view.value_heads;
    place.key_head = place.head / (view.value_heads / view.key_heads);
    place.active = place.column < view.value_width;
    return place;
}

/// Rows and columns of a head's state.
struct MatrixSize {
    std::int64_t key_width, value_width;
};

/// 1 / length of a row in shared memory, the same bits in every thread.
SIMT_DEVICE float inverse_length(const float* row, std::int64_t width) {
    float sum = 0.0f;
    for (std::int64_t i = lane_index(); i < width; i += kWarpLanes) {
        sum += row[i] * row[i];
    }
    return 1.0f / sqrtf(warp_sum(sum) + length_epsilon);
}

/// The block's threads copy a row of the key width into shared memory.
template <unsigned Warps>
SIMT_DEVICE void stage_row(const float* from, std::int64_t width, float* to) {
    for (std::int64_t i = threadIdx.x; i < width; i += Warps * kWarpLanes) {
        to[i] = load(from + i);
    }
}

template <unsigned Warps>
SIMT_DEVICE void stage_decay(const DeltaView& view, const DeltaPlace& place, std::int64_t at,
                             float* to) {
    const float* const gate = view.gate + (at * view.value_heads + place.head) * view.gate_width;
    for (std::int64_t i = threadIdx.x; i < view.key_width; i += Warps * kWarpLanes) {
        const float value = load(gate + (view.gate_width == 1 ? 0 : i));
        to[i] = view.log_gate ? expf(value) : value;
    }
}

/// The sum over the warps of what each brought for this lane's column. All threads take part.
template <unsigned Warps> SIMT_DEVICE float sum_over_warps(float value, float* partial) {
    __syncthreads(); // what was there before has been read
    partial[warp_index() * kWarpLanes + lane_index()] = value;
    __syncthreads();
    float sum = 0.0f;
    SIMT_UNROLL
    for (unsigned warp = 0; warp < Warps; ++warp) {
        sum += partial[warp * kWarpLanes + lane_index()];
    }
    return sum;
}

/// Rows of the state that a thread holds: a column's, every Warps-th.
template <unsigned Rows, unsigned Warps> struct DeltaColumn {
    float rows[Rows];

    /// How many of the rows this warp has.
    SIMT_DEVICE static unsigned count(const MatrixSize& size, const DeltaPlace& place) {
        const auto warp = static_cast<unsigned>(warp_index());
        return place.active ? (static_cast<unsigned>(size.key_width) + Warps - 1 - warp) / Warps
                            : 0;
    }

    SIMT_DEVICE void load_from(const MatrixSize& size, const DeltaPlace& place,
                               const float* state) {
        const float* from = state + warp_index() * size.value_width + place.column;
        const unsigned real = count(size, place);
        SIMT_UNROLL
        for (unsigned i = 0; i < Rows; ++i, from += Warps * size.value_width) {
            rows[i] = i < real ? load(from) : 0.0f;
        }
    }
    SIMT_DEVICE void store_to(const MatrixSize& size, const DeltaPlace& place, float* state,
                              std::int64_t pitch) const {
        float* to = state + warp_index() * pitch + place.column;
        const unsigned real = count(size, place);
        SIMT_UNROLL
        for (unsigned i = 0; i < Rows; ++i, to += Warps * pitch) {
            if (i < real) {
                store(to, rows[i]);
            }
        }
    }
    SIMT_DEVICE void decay(const float* factors) {
        SIMT_UNROLL
        for (unsigned i = 0; i < Rows; ++i) {
            rows[i] *= factors[i * Warps + warp_index()];
        }
    }
    SIMT_DEVICE void scale(float factor) {
        SIMT_UNROLL
        for (unsigned i = 0; i < Rows; ++i) {
            rows[i] *= factor;
        }
    }
    SIMT_DEVICE float dot(const float* vector) const {
        float sum = 0.0f;
        SIMT_UNROLL
        for (unsigned i = 0; i < Rows; ++i) {
            sum += rows[i] * vector[i * Warps + warp_index()];
        }
        return sum;
    }
    SIMT_DEVICE void push(const float* vector, float u) {
        SIMT_UNROLL
        for (unsigned i = 0; i < Rows; ++i) {
            rows[i] += vector[i * Warps + warp_index()] * u;
        }
    }
};

/// One block per multiprocessor is enough for the compiler: when it aims at more, it spills.
template <unsigned Rows, unsigned Warps>
__global__ void __launch_bounds__(Warps* kWarpLanes, 1) delta_steps(DeltaView view) {
    constexpr unsigned keys = Rows * Warps;
    SIMT_SHARED(float, k, keys);
    SIMT_SHARED(float, q, keys);
    SIMT_SHARED(float, decay, keys);
    SIMT_SHARED(float, partial, Warps* kWarpLanes);
    // Read back at the end, so that the compiler does not keep the addresses of all rows in
    // registers from the load to the store: they would spill.
    SIMT_SHARED(std::int64_t, pitch, 1);
    if (threadIdx.x == 0) {
        pitch[0] = view.value_width;
    }
    const DeltaPlace place = delta_place(view);
    float* const state = view.state + (place.sequence * view.value_heads + place.head) *
                                          view.key_width * view.value_width;
    for (std::int64_t i = threadIdx.x; i < keys; i += Warps * kWarpLanes) {
        k[i] = q[i] = decay[i] = 0.0f; // rows past the key width stay zero
    }
    const MatrixSize size{view.key_width, view.value_width};
    DeltaColumn<Rows, Warps> column;
    column.load_from(size, place, state);
    for (std::int64_t step = 0; step < view.count; ++step) {
        const std::int64_t at = place.sequence * view.count + step;
        const std::int64_t key = at * view.stride + place.key_head * view.key_width;
        __syncthreads(); // the last step's rows have been read
        stage_row<Warps>(view.k + key, view.key_width, k);
        stage_decay<Warps>(view, place, at, decay);
        if (step + 1 == view.count) {
            stage_row<Warps>(view.q + key, view.key_width, q);
        }
        __syncthreads();
        column.decay(decay);
        const float shrink = view.normalise ? inverse_length(k, view.key_width) : 1.0f;
        const float* const v = view.v + at * view.stride + place.head * view.value_width;
        float u = place.active ? load(v + place.column) : 0.0f;
        if (view.beta != nullptr) {
            const float found = sum_over_warps<Warps>(column.dot(k), partial) * shrink;
            u = load(view.beta + at * view.value_heads + place.head) * (u - found);
        }
        column.push(k, shrink * u);
    }
    column.store_to(size, place, state, pitch[0]);
    const float shrink = view.normalise ? inverse_length(q, view.key_width) : 1.0f;
    const float out = sum_over_warps<Warps>(column.dot(q), partial) * shrink * view.scale;
    if (place.active && warp_index() == 0) {
        store(view.out + (place.sequence * view.value_heads + place.head) * view.value_width +
                  place.column,
              out);
    }
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
