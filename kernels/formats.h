// SPDX-License-Identifier: Apache-2.0
// How numbers are stored: plainly, or as blocks of quants with a scale. The table is the kernels'
// own and knows nothing of core's, so that a wrong row size there is found out. C++17, no
// dependency.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define KVCALIPER_ANYWHERE __host__ __device__ constexpr
#else
#define KVCALIPER_ANYWHERE constexpr
#endif

namespace kvcaliper::kernels {

/// Numbers that stand for themselves: queries, sources of appends, states.
enum class Element : std::int32_t { f16, bf16, f32 };

constexpr std::int64_t element_bytes(Element element) {
    return element == Element::f32 ? 4 : 2;
}

/// What a cache stores a row as. Blocks lie one after another, each as ggml lays it out:
///   q8_0: f16 d, 32 int8;              value = q · d,       d = max|x| / 127
///   q4_0: f16 d, 16 bytes;             value = (q - 8) · d, d = x of max|x| / -8
///   q5_0: f16 d, 32 high bits, 16 bytes; value = (q - 16) · d, d = x of max|x| / -16
///   q4_1: f16 d, f16 m, 16 bytes;      value = q · d + m,   d = (max x - min x) / 15, m = min x
///   q5_1: f16 d, f16 m, 32 high bits, 16 bytes; value = q · d + m, d = (max x - min x) / 31
///   iq4_nl: f16 d, 16 bytes;             value = level[q] · d, d = Σ x²·level·x / Σ x²·level²
///   fp8_e4m3_128: 128 e4m3, f32 d;       value = q · d,       d = max|x| / 448
/// Byte j of the 16 holds quant j in its lower and quant j + 16 in its upper half. fp8_e4m3 has no
/// block: its scale is one per tensor, lies outside the cache and is 1 here. Beside a latent in
/// fp8_e4m3_128 the rotary key stays bf16: 4 · 132 + 64 · 2 = 656 bytes per token of DeepSeek-V3.
/// Others keep the scales of a row behind all of its numbers:
///   nvfp4: e2m1, two to a byte, the first one in the lower half; an e4m3 d per 16, max|x| / 6, as
///     vLLM packs a head; its scale per tensor lies outside and is 1 here
///   mxfp8: e4m3; an e8m0 d per 32, 2^(floor(log2 max|x|) - 8) (OCP MX 1.0, section 6.3)
///   fp8_per_token_head, int8_per_token_head: e4m3 or int8; one f32 d, max|x| / 448 or / 127 and at
///     least 1e-6, as vLLM pads a head with it
enum class Format : std::int32_t {
    f16,
    bf16,
    f32,
    fp8_e4m3,
    q8_0,
    q4_0,
    q5_0,
    q4_1,
    fp8_e4m3_128,
    q5_1,
    iq4_nl,
    nvfp4,
    mxfp8,
    fp8_per_token_head,
    int8_per_token_head
};

inline constexpr Format cache_formats[] = {Format::f16,
                                           Format::bf16,
                                           Format::f32,
                                           Format::fp8_e4m3,
                                           Format::q8_0,
                                           Format::q4_0,
                                           Format::q5_0,
                                           Format::q4_1,
                                           Format::fp8_e4m3_128,
                                           Format::q5_1,
                                           Format::iq4_nl,
                                           Format::nvfp4,
                                           Format::mxfp8,
                                           Format::fp8_per_token_head,
                                           Format::int8_per_token_head};

struct FormatBlock {
    std::int64_t elements, bytes;
    std::int64_t row_bytes = 0; ///< what a row has besides its blocks
};

KVCALIPER_ANYWHERE FormatBlock block_of(Format format) {
    switch (format) {
    case Format::f16:
    case Format::bf16:
        return {1, 2};
    case Format::f32:
        return {1, 4};
    case Format::fp8_e4m3:
        return {1, 1};
    case Format::q8_0:
        return {32, 2 + 32};
    case Format::q4_0:
        return {32, 2 + 16};
    case Format::q5_0:
        return {32, 2 + 4 + 16};
    case Format::q4_1:
        return {32, 2 + 2 + 16};
    case Format::fp8_e4m3_128:
        return {128, 128 + 4};
    case Format::q5_1:
        return {32, 2 + 2 + 4 + 16};
    case Format::iq4_nl:
        return {32, 2 + 16};
    case Format::nvfp4:
        return {16, 8 + 1};
    case Format::mxfp8:
        return {32, 32 + 1};
    case Format::fp8_per_token_head:
    case Format::int8_per_token_head:
        return {1, 1, 4};
    }
    return {1, 1};
}

KVCALIPER_ANYWHERE Format format_of(Element element) {
    return element == Element::f16 ? Format::f16
                                   : (element == Element::bf16 ? Format::bf16 : Format::f32);
}

constexpr const char* name_of(Format format) {
    constexpr const char* names[] = {
        "f16",    "bf16",  "f32",   "fp8_e4m3",           "q8_0",
        "q4_0",   "q5_0",  "q4_1",  "fp8_e4m3_128",       "q5_1",
        "iq4_nl", "nvfp4", "mxfp8", "fp8_per_token_head", "int8_per_token_head"};
    return names[static_cast<int>(format)];
}

/// What the rotary key of a latent cache is stored as beside a latent of that format.
KVCALIPER_ANYWHERE Format rope_format(Format format) {
    return format == Format::fp8_e4m3_128 ? Format::bf16 : format;
}

/// True when a row of so many elements divides into whole blocks.
constexpr bool divides(Format format, std::int64_t width) {
    return width % block_of(format).elements == 0;
}

KVCALIPER_ANYWHERE std::int64_t stored_row_bytes(Format format, std::int64_t width) {
    const FormatBlock block = block_of(format);
    return width / block.elements * block.bytes + block.row_bytes;
}

/// True where the scales of a row lie behind all of its numbers, so that no part of it can be read
/// without its end.
KVCALIPER_ANYWHERE bool scales_behind(Format format) {
    return format == Format::nvfp4 || format == Format::mxfp8 || block_of(format).row_bytes > 0;
}

/// Sources of 16 bits are stored as they are or in a format of another kind; f16 is never made of
/// bf16 or the other way round.
constexpr bool can_store(Format format, Element source) {
    return format == format_of(source) || static_cast<int>(format) >= static_cast<int>(Format::f32);
}

} // namespace kvcaliper::kernels
