// SPDX-License-Identifier: Apache-2.0
// Vectors of the compiler's own kind and the few functions on them that the loops of the CPU
// backend share. Everything lies in the namespace of the build, so that no inline function compiled
// for a newer processor can be the copy that the linker keeps for everybody; and for the same
// reason no standard library function is called.
#pragma once

#include "kernels/backend_cpu_vector.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

#ifndef KVCALIPER_CPU_VARIANT
#define KVCALIPER_CPU_VARIANT baseline
#define KVCALIPER_CPU_VARIANT_NAME "baseline"
#endif

#define KV_INLINE inline __attribute__((always_inline))

namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT {

// The parts of the table, one source file each.
void attend(const AttendTask& task);
void mamba1(const Mamba1Task& task);
void conv(const ConvTask& task);
void mamba2(const Mamba2Task& task);
void delta(const DeltaTask& task);
void rglru(const RglruTask& task);
void rwkv4(const Rwkv4Task& task);
void rwkv(const RwkvTask& task);
void xlstm(const XlstmTask& task);
void index(const IndexTask& task);
void pool(const PoolTask& task);
void encode(const EncodeTask& task);
void decode(const StoredRows& rows, std::int64_t first, std::int64_t count, float* out);
void pack(const PackTask& task);
/// The packed slots of a plane, as decode().
void decode_packed(const StoredRows& rows, std::int64_t first, std::int64_t count, float* out);

namespace {

#if defined(__AVX512F__)
constexpr int lanes = 16;
#elif defined(__AVX2__)
constexpr int lanes = 8;
#else
constexpr int lanes = 4;
#endif

constexpr unsigned vector_bytes = lanes * 4;
typedef float Floats __attribute__((vector_size(vector_bytes)));
typedef std::int32_t Ints __attribute__((vector_size(vector_bytes)));
typedef std::uint32_t Words __attribute__((vector_size(vector_bytes)));
typedef std::uint16_t Halves __attribute__((vector_size(vector_bytes / 2)));
typedef std::uint64_t Longs __attribute__((vector_size(vector_bytes)));

KV_INLINE Floats load(const float* from) {
    Floats value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

KV_INLINE void store(float* to, Floats value) {
    __builtin_memcpy(to, &value, sizeof value);
}

/// The first n lanes, at most all, zero in the others.
KV_INLINE Floats load_some(const float* from, std::int64_t n) {
    if (n >= lanes)
        return load(from);
    Floats value{};
    for (std::int64_t i = 0; i < n; ++i)
        value[i] = from[i];
    return value;
}

KV_INLINE void store_some(float* to, Floats value, std::int64_t n) {
    if (n >= lanes)
        return store(to, value);
    for (std::int64_t i = 0; i < n; ++i)
        to[i] = value[i];
}

KV_INLINE Floats broadcast(float value) {
    return Floats{} + value;
}

KV_INLINE Halves load_halves(const std::uint16_t* from) {
    Halves value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

template <bool bf16> KV_INLINE Floats to_floats(Halves halves) {
    if constexpr (bf16)
        return (Floats)(__builtin_convertvector(halves, Words) << 16);
#if defined(__AVX512F__)
    return (Floats)_mm512_maskz_cvtph_ps(0xffff, (__m256i)halves);
#elif defined(__F16C__)
    return (Floats)_mm256_cvtph_ps((__m128i)halves);
#else
    // Moving the exponent bias from 15 to 127 by a product keeps subnormals right.
    const Words wide = __builtin_convertvector(halves, Words);
    const Words magnitude = (wide & 0x7fffu) << 13;
    const Words special = (Words)(magnitude >= 0x0f800000u) & 0x7f800000u;
    const Floats scaled = (Floats)magnitude * 0x1p112f;
    return (Floats)((Words)scaled | special | (wide & 0x8000u) << 16);
#endif
}

template <bool bf16> KV_INLINE Floats load_floats(const std::uint16_t* from) {
    return to_floats<bf16>(load_halves(from));
}

/// The first n lanes from memory, zero in the others: what lies behind a row is never used.
template <bool bf16> KV_INLINE Floats load_tail(const std::uint16_t* from, std::int64_t n) {
    std::uint16_t copy[lanes] = {};
    for (std::int64_t i = 0; i < n; ++i)
        copy[i] = from[i];
    return load_floats<bf16>(copy);
}

KV_INLINE std::int64_t padded(std::int64_t width) {
    return (width + scratch_padding - 1) / scratch_padding * scratch_padding;
}

KV_INLINE Floats maximum(Floats a, Floats b) {
    return a > b ? a : b;
}

/// e^x; 0 below -87, e^88 above 88, NaN for NaN. Cody-Waite reduction by ln 2 in two parts, then a
/// Taylor polynomial of degree 7 on [-ln 2 / 2, ln 2 / 2], whose remainder is below 6e-9.
KV_INLINE Floats exponential(Floats x) {
    const Floats tiny = broadcast(-87.0f), huge = broadcast(88.0f);
    Floats y = x < tiny ? tiny : x; // in this order a NaN stays one
    y = y > huge ? huge : y;
    const Floats shifted =
        y * 1.44269504088896341f + 12582912.0f; // 1.5 · 2^23 rounds to an integer
    const Floats n = shifted - 12582912.0f;
    Floats r = y - n * 0.693359375f;
    r = r + n * 2.12194440054690583e-4f;
    Floats p = broadcast(1.0f / 5040.0f);
    p = p * r + 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    p = p * r * r + r + 1.0f;
    const Ints exponent = (((Ints)shifted - 0x4b400000) + 127) << 23;
    const Floats result = p * (Floats)exponent;
    return x < tiny ? Floats{} : result;
}

KV_INLINE float largest(Floats value) {
    float best = value[0];
    for (int i = 1; i < lanes; ++i)
        best = value[i] > best ? value[i] : best;
    return best;
}

KV_INLINE float total(Floats value) {
    float sum = 0;
    for (int i = 0; i < lanes; ++i)
        sum += value[i];
    return sum;
}

} // namespace
} // namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT
