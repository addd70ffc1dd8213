// SPDX-License-Identifier: Apache-2.0
#include "kernels/generator.h"

#include "kernels/backend_cpu.h"

#include <bit>

namespace kvcaliper::kernels {
namespace {

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/// 32 well mixed bits of one element: a multiplicative counter, then a finaliser with the constants
/// of the hash-prospector search ("lowbias32"). Plain 32-bit arithmetic, so that compilers
/// vectorise it.
inline std::uint32_t element_bits(std::uint32_t low, std::uint32_t high, std::int64_t element) {
    std::uint32_t x = static_cast<std::uint32_t>(element) * 0x9e3779b9u + low;
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15) ^ high) * 0x846ca68bu;
    return x ^ (x >> 16);
}

/// Sum of four bytes less its mean: -510 … 510, bell-shaped, deviation 147.8.
inline std::int32_t bell(std::uint32_t bits) {
    const std::uint32_t pairs = (bits & 0x00ff00ffu) + ((bits >> 8) & 0x00ff00ffu);
    return static_cast<std::int32_t>((pairs & 0xffffu) + (pairs >> 16)) - 510;
}

inline std::uint32_t low_of(std::uint64_t key) {
    return static_cast<std::uint32_t>(key);
}
inline std::uint32_t high_of(std::uint64_t key) {
    return static_cast<std::uint32_t>(key >> 32);
}

inline float bell_float(std::uint64_t key, std::int64_t element) {
    return static_cast<float>(bell(element_bits(low_of(key), high_of(key), element))) * 0x1p-7f;
}

/// Rounded to nearest even; no NaN comes here.
inline std::uint32_t bf16_bits(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}

} // namespace

std::uint64_t token_key(const StreamId& stream, std::int64_t token) {
    std::uint64_t key = mix(stream.seed);
    key = mix(key ^ static_cast<std::uint64_t>(stream.layer));
    key = mix(key ^ static_cast<std::uint64_t>(stream.sequence));
    key = mix(key ^ static_cast<std::uint64_t>(stream.purpose));
    return mix(key ^ static_cast<std::uint64_t>(token));
}

void normal_halves(std::uint64_t key, std::int64_t first, std::int64_t count, Element element,
                   std::uint16_t* out) {
    static const VectorKernels& kernels = *usable_vector_kernels().back();
    kernels.normal_halves(low_of(key), high_of(key), first, count, element == Element::bf16, out);
}

void normal_values(std::uint64_t key, std::int64_t first, std::int64_t count, Element element,
                   double* out) {
    if (element == Element::f16)
        for (std::int64_t i = 0; i < count; ++i)
            out[i] = static_cast<double>(bell_float(key, first + i));
    else
        for (std::int64_t i = 0; i < count; ++i)
            out[i] = static_cast<double>(
                std::bit_cast<float>(bf16_bits(bell_float(key, first + i)) << 16));
}

void normal_floats(std::uint64_t key, std::int64_t first, std::int64_t count, float scale,
                   float* out) {
    for (std::int64_t i = 0; i < count; ++i)
        out[i] = bell_float(key, first + i) * scale;
}

void uniform_floats(std::uint64_t key, std::int64_t first, std::int64_t count, float high,
                    float* out) {
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint32_t bits = element_bits(low_of(key), high_of(key), first + i) >> 9;
        out[i] = static_cast<float>(static_cast<std::int32_t>(bits) + 1) * 0x1p-23f * high;
    }
}

} // namespace kvcaliper::kernels
