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
/// KIVI (jy-yuan/KIVI, quant/new_pack.py) keeps recent tokens in f16 and packs older ones, V token
/// by token in groups of channels, K channel by channel in groups of tokens; see PackView. A group
/// of numbers has an f16 d = (max - min) / (2^bits - 1), an f16 m = min, then the codes, the first
/// one in the lowest bits of a 32-bit word: value = q · d + m. _r32 keeps 32 recent tokens, the
/// others 128; groups are of 32 numbers, of _g64 and _g128 of so many.
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
    int8_per_token_head,
    kivi_2bit,
    kivi_4bit,
    kivi_2bit_r32,
    kivi_4bit_r32,
    kivi_2bit_g64,
    kivi_4bit_g64,
    kivi_2bit_g128,
    kivi_4bit_g128
};

/// Formats that store every row as soon as it comes.
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

/// Formats that keep recent rows in f16.
inline constexpr Format residual_formats[] = {
    Format::kivi_2bit,     Format::kivi_4bit,     Format::kivi_2bit_r32,  Format::kivi_4bit_r32,
    Format::kivi_2bit_g64, Format::kivi_4bit_g64, Format::kivi_2bit_g128, Format::kivi_4bit_g128};

/// Of a format with a residual: bits of a code, numbers of a group and recent tokens; else zeros.
struct Packing {
    std::int64_t bits = 0, group = 0, residual = 0;

    KVCALIPER_ANYWHERE std::int64_t words() const { return group * bits / 32; } ///< of a group
    KVCALIPER_ANYWHERE std::int64_t group_bytes() const { return 2 + 2 + 4 * words(); }
};

KVCALIPER_ANYWHERE Packing packing_of(Format format) {
    switch (format) {
    case Format::kivi_2bit:
        return {2, 32, 128};
    case Format::kivi_4bit:
        return {4, 32, 128};
    case Format::kivi_2bit_r32:
        return {2, 32, 32};
    case Format::kivi_4bit_r32:
        return {4, 32, 32};
    case Format::kivi_2bit_g64:
        return {2, 64, 128};
    case Format::kivi_4bit_g64:
        return {4, 64, 128};
    case Format::kivi_2bit_g128:
        return {2, 128, 128};
    case Format::kivi_4bit_g128:
        return {4, 128, 128};
    default:
        return {};
    }
}

KVCALIPER_ANYWHERE bool keeps_residual(Format format) {
    return packing_of(format).residual > 0;
}

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
    case Format::kivi_2bit:
    case Format::kivi_4bit:
    case Format::kivi_2bit_r32:
    case Format::kivi_4bit_r32:
    case Format::kivi_2bit_g64:
    case Format::kivi_4bit_g64:
    case Format::kivi_2bit_g128:
    case Format::kivi_4bit_g128:
        return {packing_of(format).group, packing_of(format).group_bytes()};
    }
    return {1, 1};
}

KVCALIPER_ANYWHERE Format format_of(Element element) {
    return element == Element::f16 ? Format::f16
                                   : (element == Element::bf16 ? Format::bf16 : Format::f32);
}

constexpr const char* name_of(Format format) {
    constexpr const char* names[] = {"f16",
                                     "bf16",
                                     "f32",
                                     "fp8_e4m3",
                                     "q8_0",
                                     "q4_0",
                                     "q5_0",
                                     "q4_1",
                                     "fp8_e4m3_128",
                                     "q5_1",
                                     "iq4_nl",
                                     "nvfp4",
                                     "mxfp8",
                                     "fp8_per_token_head",
                                     "int8_per_token_head",
                                     "kivi_2bit",
                                     "kivi_4bit",
                                     "kivi_2bit_r32",
                                     "kivi_4bit_r32",
                                     "kivi_2bit_g64",
                                     "kivi_4bit_g64",
                                     "kivi_2bit_g128",
                                     "kivi_4bit_g128"};
    return names[static_cast<int>(format)];
}

/// What the rotary key of a latent cache is stored as beside a latent of that format.
KVCALIPER_ANYWHERE Format rope_format(Format format) {
    return format == Format::fp8_e4m3_128 ? Format::bf16 : format;
}

/// Of a cache of so many tokens those that are packed: of K whole stretches of `residual` tokens,
/// of V all but the last `residual` (KIVI, models/llama_kivi.py).
KVCALIPER_ANYWHERE std::int64_t packed_keys(Format format, std::int64_t tokens) {
    const std::int64_t residual = packing_of(format).residual;
    return residual > 0 ? tokens / residual * residual : 0;
}
KVCALIPER_ANYWHERE std::int64_t packed_values(Format format, std::int64_t tokens) {
    const std::int64_t residual = packing_of(format).residual;
    return residual > 0 && tokens > residual ? tokens - residual : 0;
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
/// bf16 or the other way round. What keeps a residual is packed, not appended.
constexpr bool can_store(Format format, Element source) {
    if (keeps_residual(format))
        return false;
    return format == format_of(source) || static_cast<int>(format) >= static_cast<int>(Format::f32);
}

} // namespace kvcaliper::kernels
