// SPDX-License-Identifier: Apache-2.0
// The numbers a verification runs on: a pure function of (seed, layer, sequence, plane, token,
// element), so that the runner and the reference get the same history without sharing memory.
#pragma once

#include "kernels/views.h"

#include <cstdint>

namespace kvcaliper::kernels {

/// What a stream of numbers is for. Different purposes never share numbers.
enum class Purpose : std::uint32_t {
    key,
    value,
    latent,
    rope_key,
    query,
    query_rope,
    ssm_input,
    ssm_step,
    ssm_b,
    ssm_c,
    ssm_a,
    ssm_d,
    conv_weight,
    conv_bias,
    delta_gate,
    delta_beta,
    sink,
    page,
    index_key,
    index_query,
    index_weight,
    key_value,
    compressed,
    tail,
    index_tail,
};

struct StreamId {
    std::uint64_t seed = 0;
    std::int64_t layer = 0;
    std::int64_t sequence = 0;
    Purpose purpose = Purpose::key;
};

/// The key of all numbers of one token of a stream.
std::uint64_t token_key(const StreamId& stream, std::int64_t token);

/// Elements first to first + count - 1 of a token: roughly normal (mean 0, deviation 1.15, at most
/// 4 in size), rounded to the element type. Never a NaN, so it never looks like poison.
void normal_halves(std::uint64_t key, std::int64_t first, std::int64_t count, Element element,
                   std::uint16_t* out);
/// The same numbers, decoded.
void normal_values(std::uint64_t key, std::int64_t first, std::int64_t count, Element element,
                   double* out);
/// The same distribution times `scale`, in f32 (not the same numbers when rounding is coarser).
void normal_floats(std::uint64_t key, std::int64_t first, std::int64_t count, float scale,
                   float* out);
/// Evenly spread over (0, high].
void uniform_floats(std::uint64_t key, std::int64_t first, std::int64_t count, float high,
                    float* out);

} // namespace kvcaliper::kernels
