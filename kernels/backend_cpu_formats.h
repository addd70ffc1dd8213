// SPDX-License-Identifier: Apache-2.0
// What the sources share that bring rows into and out of the formats of a cache: numbers of eight
// and sixteen bits. In the namespace of the build, as backend_cpu_simd.h says; those sources are
// built without contracting products and sums, so that every build stores the same bytes.
#pragma once

#include "kernels/backend_cpu_simd.h"

namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT {

/// Formats whose scales lie behind a row's numbers.
void encode_scales_behind(const EncodeTask& task);
void decode_scales_behind(const StoredRows& rows, const unsigned char* in, float* out);

namespace {

typedef std::int8_t Bytes __attribute__((vector_size(lanes)));
typedef std::uint8_t UnsignedBytes __attribute__((vector_size(lanes)));

// Spelled out where the compiler would take the bytes one by one.
KV_INLINE Ints widen(Bytes bytes) {
#if defined(__AVX512F__)
    return (Ints)_mm512_maskz_cvtepi8_epi32(0xffff, (__m128i)bytes);
#elif defined(__AVX2__)
    return (Ints)_mm256_cvtepi8_epi32(_mm_cvtsi64_si128((long long)bytes));
#else
    return __builtin_convertvector(bytes, Ints);
#endif
}

KV_INLINE Words widen(UnsignedBytes bytes) {
#if defined(__AVX512F__)
    return (Words)_mm512_maskz_cvtepu8_epi32(0xffff, (__m128i)bytes);
#elif defined(__AVX2__)
    return (Words)_mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)bytes));
#else
    return __builtin_convertvector(bytes, Words);
#endif
}

/// Exact, and without a branch: the sign of a scale can not be foreseen.
KV_INLINE float half_to_float(std::uint16_t half) {
    const std::uint32_t magnitude = (half & 0x7fffu) << 13;
    float value;
    __builtin_memcpy(&value, &magnitude, 4);
    value *= 0x1p112f;
    std::uint32_t bits;
    __builtin_memcpy(&bits, &value, 4);
    bits |= (magnitude >= 0x0f800000u ? 0x7f800000u : 0u) | (half & 0x8000u) << 16;
    __builtin_memcpy(&value, &bits, 4);
    return value;
}

/// To nearest, ties to even; beyond 65504 infinite.
KV_INLINE std::uint16_t float_to_half(float value) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, &value, 4);
    const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    std::uint32_t half = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13;
    if (magnitude < 0x38800000u) { // below 2^-14 the adder rounds to a multiple of 2^-24
        const float shifted = (value < 0 ? -value : value) + 0.5f;
        __builtin_memcpy(&half, &shifted, 4);
        half &= 0x7fffu;
    }
    if (magnitude >= 0x477ff000u)
        half = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    return static_cast<std::uint16_t>(sign | half);
}

template <typename T> KV_INLINE T load_as(const unsigned char* from) {
    T value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

template <typename T> KV_INLINE void store_as(unsigned char* to, T value) {
    __builtin_memcpy(to, &value, sizeof value);
}

KV_INLINE Floats magnitude_of(Floats x) {
    return (Floats)((Words)x & 0x7fffffffu);
}

KV_INLINE float inverse(float d) {
    return d != 0 ? 1.0f / d : 0.0f;
}

/// To nearest, ties to even, at most 448; a NaN stays one.
KV_INLINE UnsignedBytes to_fp8_e4m3(Floats x) {
    const Words bits = (Words)x, size = bits & 0x7fffffffu;
    const Words normal = (size - (120u << 23) + 0x7ffffu + (size >> 20 & 1u)) >> 20;
    const Words small = (Words)((Floats)size + 16384.0f) & 0xfu; // a multiple of 2^-9
    Words code = size < (121u << 23) ? small : normal;
    code = code > 0x7eu ? Words{} + 0x7eu : code;
    code = size > 0x7f800000u ? Words{} + 0x7fu : code;
    return __builtin_convertvector(code | (bits >> 24 & 0x80u), UnsignedBytes);
}

KV_INLINE Floats from_fp8_e4m3(UnsignedBytes bytes) {
    const Words wide = widen(bytes), code = wide & 0x7fu;
    const Floats size = (Floats)(code << 20) * 0x1p120f;
    const Words bits = (Words)size | ((Words)(code == 0x7fu) & 0x7fc00000u);
    return (Floats)(bits | (wide & 0x80u) << 24);
}

/// `n` (at most a vector of) source numbers, zeros behind them.
KV_INLINE Floats source_numbers(const EncodeTask& task, std::int64_t first, std::int64_t n) {
    if (task.element == Element::f32) {
        float copy[lanes] = {};
        __builtin_memcpy(copy, static_cast<const float*>(task.source) + first,
                         static_cast<std::size_t>(n) * 4);
        return load(copy);
    }
    const auto* from = static_cast<const std::uint16_t*>(task.source) + first;
    if (n < lanes)
        return task.element == Element::bf16 ? load_tail<true>(from, n) : load_tail<false>(from, n);
    return task.element == Element::bf16 ? load_floats<true>(from) : load_floats<false>(from);
}

} // namespace
} // namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT
