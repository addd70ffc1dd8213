// SPDX-License-Identifier: Apache-2.0
// Decode steps of the mLSTM cell of xLSTM. n is one more column of C whose value is always one, so
// that a block owns 32 columns of a head as in delta.cuh; m is a number that every block works out
// for itself. A second kernel divides, when all columns are there, and keeps m.
#pragma once

#include "kernels/cuda/delta.cuh"
#include "kernels/views_recurrent.h"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

SIMT_DEVICE DeltaPlace xlstm_place(const XlstmView& view) {
    const std::int64_t tiles = view.value_width / kWarpLanes + 1; // of value_width + 1 columns
    const std::int64_t block = static_cast<std::int64_t>(blockIdx.x);
    DeltaPlace place;
    place.column = block % tiles * kWarpLanes + lane_index();
    place.head = place.key_head = block / tiles % view.heads;
    place.sequence = block / tiles / view.heads;
    place.active = place.column <= view.value_width;
    return place;
}

/// The two gates of a step, relative to e^m.
struct XlstmGates {
    float forget, input;
};

/// Moves m on by the step number `at` over all sequences.
SIMT_DEVICE XlstmGates xlstm_gates(const XlstmView& view, std::int64_t at, std::int64_t head,
                                   float& m) {
    const float* const gates = view.gates + at * 2 * view.heads + head;
    const float kept = load(gates) + m;
    const float input = load(gates + view.heads);
    m = fmaxf(kept, input);
    return {expf(kept - m), expf(input - m)};
}

template <unsigned Rows, unsigned Warps>
__global__ void __launch_bounds__(Warps* kWarpLanes, 1) xlstm_steps(XlstmView view) {
    constexpr unsigned keys = Rows * Warps;
    SIMT_SHARED(float, k, keys);
    SIMT_SHARED(float, q, keys);
    SIMT_SHARED(float, gate, 2);
    SIMT_SHARED(float, partial, Warps* kWarpLanes);
    SIMT_SHARED(std::int64_t, pitch, 1); // read back at the end, as in delta.cuh
    if (threadIdx.x == 0) {
        pitch[0] = view.value_width + 1;
    }
    const DeltaPlace place = xlstm_place(view);
    const MatrixSize size{view.key_width, view.value_width + 1};
    const std::int64_t head = place.sequence * view.heads + place.head;
    float* const state = view.state + head * xlstm_state(view.key_width, view.value_width);
    for (std::int64_t i = threadIdx.x; i < keys; i += Warps * kWarpLanes) {
        k[i] = q[i] = 0.0f; // rows past the key width stay zero
    }
    float m = threadIdx.x == 0 ? load(state + view.key_width * (view.value_width + 1)) : 0.0f;
    DeltaColumn<Rows, Warps> column;
    column.load_from(size, place, state);
    for (std::int64_t step = 0; step < view.count; ++step) {
        const std::int64_t at = place.sequence * view.count + step;
        const std::int64_t key = at * view.stride + place.head * view.key_width;
        __syncthreads(); // the last step's rows have been read
        stage_row<Warps>(view.k + key, view.key_width, k);
        if (step + 1 == view.count) {
            stage_row<Warps>(view.q + key, view.key_width, q);
        }
        if (threadIdx.x == 0) {
            const XlstmGates gates = xlstm_gates(view, at, place.head, m);
            gate[0] = gates.forget;
            gate[1] = gates.input;
        }
        __syncthreads();
        const float* const v = view.v + at * view.stride + place.head * view.value_width;
        const float value = place.column < view.value_width ? load(v + place.column) : 1.0f;
        column.scale(gate[0]);
        column.push(k, gate[1] * value);
    }
    column.store_to(size, place, state, pitch[0]);
    const float out = sum_over_warps<Warps>(column.dot(q), partial) * view.scale;
    if (place.active && warp_index() == 0) {
        store(view.out + head * (view.value_width + 1) + place.column, out);
    }
}

/// One block per head.
__global__ void __launch_bounds__(kBlockThreads) xlstm_divide(XlstmView view) {
    SIMT_SHARED(float, divisor, 1);
    const auto head = static_cast<std::int64_t>(blockIdx.x);
    float* const out = view.out + head * (view.value_width + 1);
    if (threadIdx.x == 0) {
        float* const kept =
            view.state + (head + 1) * xlstm_state(view.key_width, view.value_width) - 1;
        float m = load(kept);
        for (std::int64_t step = 0; step < view.count; ++step) {
            xlstm_gates(view, head / view.heads * view.count + step, head % view.heads, m);
        }
        store(kept, m);
        divisor[0] = fmaxf(fabsf(load(out + view.value_width)), expf(-m)) + xlstm_epsilon;
        store(out + view.value_width, divisor[0]);
    }
    __syncthreads();
    for (std::int64_t i = threadIdx.x; i < view.value_width; i += kBlockThreads) {
        store(out + i, load(out + i) / divisor[0]);
    }
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
