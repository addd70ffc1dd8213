// SPDX-License-Identifier: Apache-2.0
// Codes of a few bits and the numbers they stand for, in registers: a table in memory would be
// reached by every lane at another place.
#pragma once

#include "kernels/simt/portable.h"

#include <cstdint>

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

using namespace simt;

/// ggml's sixteen levels of iq4_nl, -127 to 113, a byte each.
SIMT_DEVICE float iq4_level(int quant) {
    const std::uint64_t half = quant < 8 ? 0xf6eaddcfbfad9881u : 0x7159453526190d01u;
    return static_cast<float>(static_cast<std::int8_t>(half >> (8 * (quant % 8)) & 0xffu));
}

/// The nearest level's quant, between two the upper one; 0 for a NaN.
SIMT_DEVICE int iq4_quant(float number) {
    int quant = 0;
    SIMT_UNROLL
    for (int i = 1; i < 16; ++i) {
        quant += number >= 0.5f * (iq4_level(i - 1) + iq4_level(i)) ? 1 : 0;
    }
    return quant;
}

/// e2m1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 under a sign.
SIMT_DEVICE float e2m1_value(int code) {
    const std::uint32_t halves = 0xc8643210u;
    const float size = 0.5f * static_cast<float>(halves >> (4 * (code & 7)) & 15u);
    return (code & 8) != 0 ? -size : size;
}

/// To nearest, ties to even, at most 6; what is no number becomes 6 as the device's own conversion
/// has it.
SIMT_DEVICE int to_e2m1(float number) {
    const float size = fabsf(number);
    const int code = (size <= 0.25f ? 0 : 1) + (size < 0.75f ? 0 : 1) + (size <= 1.25f ? 0 : 1) +
                     (size < 1.75f ? 0 : 1) + (size <= 2.5f ? 0 : 1) + (size < 3.5f ? 0 : 1) +
                     (size <= 5.0f ? 0 : 1);
    return number < 0.0f || (number == 0.0f && bits_of(number) != 0) ? code | 8 : code;
}

/// 2^(code - 127); 255 is no number.
SIMT_DEVICE float e8m0_value(unsigned code) {
    const std::uint32_t bits = code == 0 ? 0x00400000u : code == 255 ? 0x7fc00000u : code << 23;
    return float_from_bits(bits);
}

/// The scale of a block whose greatest size that is: its power of two, 2^8 below, for e4m3 ends
/// there.
SIMT_DEVICE unsigned e8m0_of(float size) {
    const unsigned exponent = bits_of(size) >> 23;
    return exponent > 8 ? exponent - 8 : 0;
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
