// SPDX-License-Identifier: Apache-2.0
// Test data of the state layers' steps, the plainest double-precision computation of what they
// promise, and a run of each on a backend.
#pragma once

#include "simt_steps.h"

namespace kvcaliper::kernels::test {

/// history is advanced in place and holds inputs as they are.
struct ConvData {
    Values x, weight, bias, history;
};
/// Rows of x, b and c are as far apart as the view says; NaN lies between them.
struct Mamba2Data {
    Values x, b, c, dt, a, d, state;
};
struct DeltaData {
    Values q, k, v, gate, beta, state;
};

/// Floats between the rows of two steps.
inline constexpr std::int64_t row_gap = 5;
/// Normal values, as f32 holds them.
Values normal_floats(std::int64_t count, std::uint64_t seed, double spread = 1.0);
/// Rows of `width` normal values, `stride` apart, with NaN between them.
Values rows_apart(std::int64_t rows, std::int64_t width, std::int64_t stride, std::uint64_t seed);
/// The values squeezed in between low and high, as f32 holds them.
Values between(Values values, double low, double high);

ConvView conv_view(std::int64_t sequences, std::int64_t channels, std::int64_t conv_kernel,
                   std::int64_t count, bool silu = true, Element element = Element::f16);
Mamba2View mamba2_view(std::int64_t sequences, std::int64_t heads, std::int64_t head_width,
                       std::int64_t groups, std::int64_t state_size, std::int64_t count);
DeltaView delta_view(std::int64_t sequences, std::int64_t key_heads, std::int64_t value_heads,
                     std::int64_t key_width, std::int64_t value_width, std::int64_t count);

ConvData conv_data(const ConvView& sizes, std::uint64_t seed);
Mamba2Data mamba2_data(const Mamba2View& sizes, std::uint64_t seed);
/// Without betas where `delta_rule` is false.
DeltaData delta_data(const DeltaView& sizes, std::uint64_t seed, bool delta_rule = true);

/// Only the sizes and flags of the views are used. History and state are advanced.
Values reference(const ConvView& sizes, ConvData& data);
Values reference(const Mamba2View& sizes, Mamba2Data& data);
Values reference(const DeltaView& sizes, DeltaData& data);

Values run_step(Backend& backend, ConvView view, ConvData& data);
Values run_step(Backend& backend, Mamba2View view, Mamba2Data& data);
Values run_step(Backend& backend, DeltaView view, DeltaData& data);

} // namespace kvcaliper::kernels::test
