// SPDX-License-Identifier: Apache-2.0
// The two 16-bit number types of a cache, as bits (IEEE 754 binary16, and the upper half of
// binary32).
#pragma once

#include <bit>
#include <cstdint>

namespace kvcaliper::kernels {

/// Exact for every input; a NaN stays a NaN.
inline float f16_to_float(std::uint16_t half) {
    const std::uint32_t sign = std::uint32_t{half & 0x8000u} << 16;
    const std::uint32_t magnitude = std::uint32_t{half & 0x7fffu} << 13;
    // 2^112 moves the exponent bias from 15 to 127, subnormals included.
    const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
    const bool special = magnitude >= 0x0f800000u; // infinity or NaN
    const std::uint32_t bits =
        special ? magnitude | 0x7f800000u : std::bit_cast<std::uint32_t>(scaled);
    return std::bit_cast<float>(bits | sign);
}

/// Rounds to nearest, ties to even; too large becomes infinity.
inline std::uint16_t float_to_f16(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16) & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return static_cast<std::uint16_t>(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) // 65520 is half way to the first number that does not fit
        return static_cast<std::uint16_t>(sign | 0x7c00u);
    if (magnitude < 0x38800000u) { // below 2^-14: let the adder round to a multiple of 2^-24
        const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
        return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) & 0x7fffu));
    }
    const std::uint32_t odd = (magnitude >> 13) & 1u;
    const std::uint32_t rounded = magnitude + 0xfffu + odd - 0x38000000u;
    return static_cast<std::uint16_t>(sign | (rounded >> 13));
}

inline float bf16_to_float(std::uint16_t half) {
    return std::bit_cast<float>(std::uint32_t{half} << 16);
}

/// Rounds to nearest, ties to even.
inline std::uint16_t float_to_bf16(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
    return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

} // namespace kvcaliper::kernels
