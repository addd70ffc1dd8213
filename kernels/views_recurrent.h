// SPDX-License-Identifier: Apache-2.0
// What the steps of RG-LRU, RWKV and xLSTM read and write. As in views.h: plain structs that nvcc,
// the emulator and the native CPU backend all take, `count` steps in order, the output that of the
// last one.
#pragma once

#include "kernels/formats.h"

#include <cstdint>

namespace kvcaliper::kernels {

/// The RG-LRU behind its convolution, per channel (transformers, modeling_recurrent_gemma.py):
///   a = exp(-decay · r);  h = a · h + √(1 - a²) · i · x;  y = h
struct RglruView {
    const float* x;     ///< [sequences][count][width]
    const float* gates; ///< [sequences][count][2][width]: r, 0 or more, and i
    const float* decay; ///< [width], positive: 8 · softplus(Λ)
    float* state;       ///< [sequences][width]
    float* out;         ///< [sequences][width]
    std::int64_t sequences, width, count;
};

/// RWKV 4 behind its token shift, per channel, with sums kept relative to their largest exponent M
/// (transformers, modeling_rwkv.py):
///   m = max(M, bonus + k);  y = (e^(M - m) · num + e^(bonus + k - m) · v) / (the same of den and
///   1) m = max(M + decay, k);  num = e^(M + decay - m) · num + e^(k - m) · v;  den likewise;  M =
///   m
/// A sequence that has not begun has M = rwkv4_nothing.
struct Rwkv4View {
    const float* rows;  ///< [sequences][count][2][width]: k and v
    const float* decay; ///< [width], negative
    const float* bonus; ///< [width]
    float* state;       ///< [sequences][3][width]: num, den and M
    float* out;         ///< [sequences][width]
    std::int64_t sequences, width, count;
};
inline constexpr float rwkv4_nothing = -1e38f;

/// RWKV 5 to 7 behind its token shift; the state S of a head is [width][width], rows by key
/// (flash-linear-attention, ops/rwkv6 and ops/rwkv7). With a bonus, versions 5 and 6:
///   y = (S + (bonus · k) vᵀ)ᵀ r;  S = decay · S + k vᵀ
/// and without one, version 7, a generalised delta rule:
///   S = decay · S + b (Sᵀa)ᵀ + k vᵀ;  y = Sᵀr
/// A decay is a factor for every row of S.
struct RwkvView {
    const float* rows;  ///< [sequences][count][rwkv_rows][heads][width]: r, k, v, decay, a, b
    const float* bonus; ///< [heads][width], or null: then there are a and b
    float* state;       ///< [sequences][heads][width][width]
    float* out;         ///< [sequences][heads][width]
    std::int64_t sequences, heads, width, count;
};
/// Rows of a token: without a bonus a and b too.
KVCALIPER_ANYWHERE std::int64_t rwkv_rows(bool bonus) {
    return bonus ? 4 : 6;
}

/// The mLSTM cell of xLSTM with its stabiliser m (transformers, modeling_xlstm.py, the native
/// recurrent step):
///   m' = max(log f + m, i);  F = e^(log f + m - m');  I = e^(i - m')
///   C = F · C + I · k vᵀ;  n = F · n + I · k;  d = max(|scale · n·q|, e^-m') + xlstm_epsilon
///   y = scale · Cᵀq / d
/// The rows of a step lie `stride` floats apart in q, k and v.
struct XlstmView {
    const float* q;     ///< [sequences][count][heads][key_width]
    const float* k;     ///< [sequences][count][heads][key_width]
    const float* v;     ///< [sequences][count][heads][value_width]
    const float* gates; ///< [sequences][count][2][heads]: log f, negative, and i
    float* state;       ///< [sequences][heads][xlstm_state()]: rows of C, each with its n; then m
    float* out;         ///< [sequences][heads][value_width + 1]: y, then d
    std::int64_t sequences, heads, key_width, value_width, count, stride;
    float scale; ///< 1/√key_width
};
inline constexpr float xlstm_epsilon = 1e-6f;

/// Numbers that a head keeps: C, n and m.
KVCALIPER_ANYWHERE std::int64_t xlstm_state(std::int64_t key_width, std::int64_t value_width) {
    return key_width * (value_width + 1) + 1;
}

} // namespace kvcaliper::kernels
