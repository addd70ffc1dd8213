// SPDX-License-Identifier: Apache-2.0
// Storage types of 16 and 8 bits. Widening them is exact; narrowing, for scales and test data,
// rounds to nearest even. The CPU-only build must not need the CUDA headers, hence own conversions.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define KVCALIPER_BOTH_SIDES __host__ __device__ __forceinline__
#else
#define KVCALIPER_BOTH_SIDES inline
#endif

namespace kvcaliper::simt {

struct F16 {
    std::uint16_t bits;
};

struct Bf16 {
    std::uint16_t bits;
};

KVCALIPER_BOTH_SIDES float float_from_bits(std::uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

KVCALIPER_BOTH_SIDES std::uint32_t bits_of(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

KVCALIPER_BOTH_SIDES float widen(F16 value) {
    const std::uint32_t sign = (value.bits & 0x8000u) << 16;
    const std::uint32_t exponent = (value.bits >> 10) & 0x1fu;
    const std::uint32_t fraction = value.bits & 0x3ffu;
    if (exponent == 0) { // zero or subnormal: a multiple of 2^-24
        const float size = static_cast<float>(fraction) * 0x1p-24f;
        return float_from_bits(sign | bits_of(size));
    }
    const std::uint32_t wide = exponent == 31 ? 255u : exponent + 112u;
    return float_from_bits(sign | (wide << 23) | (fraction << 13));
}

KVCALIPER_BOTH_SIDES float widen(Bf16 value) {
    return float_from_bits(static_cast<std::uint32_t>(value.bits) << 16);
}

KVCALIPER_BOTH_SIDES float to_float(F16 value) {
#if defined(__CUDA_ARCH__)
    return __half2float(__ushort_as_half(value.bits));
#else
    return widen(value);
#endif
}

KVCALIPER_BOTH_SIDES float to_float(Bf16 value) {
#if defined(__CUDA_ARCH__)
    return __bfloat162float(__ushort_as_bfloat16(value.bits));
#else
    return widen(value);
#endif
}

/// Drops the lowest `count` bits of `bits`, rounding to nearest, ties to even.
KVCALIPER_BOTH_SIDES std::uint32_t round_off(std::uint32_t bits, unsigned count) {
    const std::uint32_t half = (1u << (count - 1)) - 1u;
    return (bits + half + ((bits >> count) & 1u)) >> count;
}

KVCALIPER_BOTH_SIDES Bf16 to_bf16(float value) {
    const std::uint32_t bits = bits_of(value);
    if (value != value) {
        return Bf16{static_cast<std::uint16_t>((bits >> 16) | 0x40u)};
    }
    return Bf16{static_cast<std::uint16_t>(round_off(bits, 16))};
}

KVCALIPER_BOTH_SIDES F16 to_f16(float value) {
    const std::uint32_t sign = (bits_of(value) >> 16) & 0x8000u;
    const std::uint32_t size = bits_of(value) & 0x7fffffffu;
    std::uint32_t narrow = 0;
    if (size > 0x7f800000u) {
        narrow = 0x7e00u; // a quiet NaN
    } else if (size >= 0x477ff000u) {
        narrow = 0x7c00u; // rounds beyond 65504
    } else if (size >= 0x38800000u) {
        narrow = round_off(size - (112u << 23), 13);
    } else if (size >= 0x33000000u) { // subnormal: shift the full fraction to units of 2^-24
        const unsigned shift = 126u - (size >> 23);
        narrow = round_off((size & 0x7fffffu) | 0x800000u, shift);
    }
    return F16{static_cast<std::uint16_t>(sign | narrow)};
}

/// Sign, 4 bits of exponent, 3 of fraction; no infinity.
struct Fp8E4m3 {
    std::uint8_t bits;
};

KVCALIPER_BOTH_SIDES float to_float(Fp8E4m3 value) {
    const std::uint32_t size = value.bits & 0x7fu;
    const std::uint32_t sign = (value.bits & 0x80u) << 24;
    if (size == 0x7fu) {
        return float_from_bits(sign | 0x7fc00000u);
    }
    return float_from_bits(sign | bits_of(float_from_bits(size << 20) * 0x1p120f));
}

/// At most 448 in size, as caches store it: nothing becomes a NaN that was none.
KVCALIPER_BOTH_SIDES Fp8E4m3 to_fp8_e4m3(float value) {
    const std::uint32_t sign = (bits_of(value) >> 24) & 0x80u;
    const std::uint32_t size = bits_of(value) & 0x7fffffffu;
    std::uint32_t narrow = 0x7eu;
    if (size > 0x7f800000u) {
        narrow = 0x7fu;
    } else if (size < 0x3c800000u) { // below 2^-6: the adder rounds to a multiple of 2^-9
        narrow = bits_of(float_from_bits(size) + 16384.0f) & 0xfu;
    } else if (size < 0x43e00000u) {
        narrow = round_off(size - (120u << 23), 20);
    }
    return Fp8E4m3{static_cast<std::uint8_t>(sign | narrow)};
}

KVCALIPER_BOTH_SIDES float to_float(float value) {
    return value;
}

} // namespace kvcaliper::simt
