// SPDX-License-Identifier: Apache-2.0
// Formats whose scales lie behind a row's numbers: nvfp4, mxfp8, and one scale for a whole row.
#include "kernels/backend_cpu_formats.h"

namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT {
namespace {

KV_INLINE float float_of(std::uint32_t bits) {
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

KV_INLINE std::uint32_t bits_of(float value) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}

/// The greatest size among `count` numbers from `first` on; what is no number does not count.
KV_INLINE float size_of_numbers(const EncodeTask& task, std::int64_t first, std::int64_t count) {
    Floats size{};
    for (std::int64_t i = first; i < first + count; i += lanes)
        size = maximum(magnitude_of(source_numbers(
                           task, i, first + count - i < lanes ? first + count - i : lanes)),
                       size);
    return largest(size);
}

KV_INLINE std::uint8_t fp8_of(float value) {
    return to_fp8_e4m3(broadcast(value))[0];
}

KV_INLINE float fp8_value(std::uint8_t code) {
    return from_fp8_e4m3(UnsignedBytes{} + code)[0];
}

// ---- nvfp4 ------------------------------------------------------------------------------------

constexpr std::int64_t nvfp4_block = 16;
constexpr float e2m1_values[16] = {0,     0.5f,  1,  1.5f,  2,  3,  4,  6,
                                   -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};

/// To nearest, ties to even, at most 6; what is no number becomes 6.
KV_INLINE Ints to_e2m1(Floats x) {
    const Floats size = magnitude_of(x);
    const Ints below = (Ints)(size <= 0.25f) + (Ints)(size < 0.75f) + (Ints)(size <= 1.25f) +
                       (Ints)(size < 1.75f) + (Ints)(size <= 2.5f) + (Ints)(size < 3.5f) +
                       (Ints)(size <= 5.0f);
    const Words sign = (Words)x >> 28 & 8u & (Words)(x == x);
    return (7 + below) | (Ints)sign;
}

void encode_nvfp4(const EncodeTask& task) {
    auto* out = static_cast<unsigned char*>(task.out);
    for (std::int64_t first = 0; first < task.width; first += nvfp4_block) {
        const std::uint8_t scale = fp8_of(size_of_numbers(task, first, nvfp4_block) / 6.0f);
        const float by = inverse(fp8_value(scale));
        out[task.width / 2 + first / nvfp4_block] = scale;
        for (std::int64_t i = first; i < first + nvfp4_block; i += lanes) {
            const Ints codes = to_e2m1(source_numbers(task, i, lanes) * by);
            for (int lane = 0; lane < lanes; lane += 2)
                out[(i + lane) / 2] =
                    static_cast<unsigned char>(codes[lane] | codes[lane + 1] << 4);
        }
    }
}

void decode_nvfp4(std::int64_t width, const unsigned char* in, float* out) {
    const unsigned char* const scales = in + width / 2;
    for (std::int64_t first = 0; first < width; first += nvfp4_block) {
        const float scale = fp8_value(scales[first / nvfp4_block]);
        for (std::int64_t i = first; i < first + nvfp4_block; i += 2) {
            out[i] = e2m1_values[in[i / 2] & 15] * scale;
            out[i + 1] = e2m1_values[in[i / 2] >> 4] * scale;
        }
    }
}

// ---- mxfp8 ------------------------------------------------------------------------------------

constexpr std::int64_t mx_block = 32;

/// 2^(code - 127); 255 is no number.
KV_INLINE float e8m0_value(std::uint32_t code) {
    return float_of(code == 0 ? 0x00400000u : code == 255 ? 0x7fc00000u : code << 23);
}

void encode_mxfp8(const EncodeTask& task) {
    auto* out = static_cast<unsigned char*>(task.out);
    for (std::int64_t first = 0; first < task.width; first += mx_block) {
        const std::uint32_t exponent = bits_of(size_of_numbers(task, first, mx_block)) >> 23;
        const std::uint32_t scale = exponent > 8 ? exponent - 8 : 0;
        const float by = e8m0_value(254 - scale);
        for (std::int64_t i = first; i < first + mx_block; i += lanes)
            store_as(out + i, to_fp8_e4m3(source_numbers(task, i, lanes) * by));
        out[task.width + first / mx_block] = static_cast<unsigned char>(scale);
    }
}

void decode_mxfp8(std::int64_t width, const unsigned char* in, float* out) {
    for (std::int64_t first = 0; first < width; first += mx_block) {
        const float scale = e8m0_value(in[width + first / mx_block]);
        for (std::int64_t i = first; i < first + mx_block; i += lanes)
            store(out + i, from_fp8_e4m3(load_as<UnsignedBytes>(in + i)) * scale);
    }
}

// ---- one scale for a row ----------------------------------------------------------------------

/// Halves away from zero by a sum; 0 for what is no number.
KV_INLINE Ints to_int8(Floats x) {
    const Floats moved = x + (x >= 0.0f ? broadcast(0.5f) : broadcast(-0.5f));
    const Floats low = moved < -128.0f ? broadcast(-128.0f) : moved;
    const Floats inside = low > 127.0f ? broadcast(127.0f) : low;
    return __builtin_convertvector(inside == inside ? inside : Floats{}, Ints);
}

template <bool fp8> void encode_per_row(const EncodeTask& task) {
    auto* out = static_cast<unsigned char*>(task.out);
    const float least = 1e-6f;
    const float size = size_of_numbers(task, 0, task.width) / (fp8 ? 448.0f : 127.0f);
    const float scale = size > least ? size : least, by = 1.0f / scale;
    for (std::int64_t i = 0; i < task.width; i += lanes) {
        const std::int64_t n = task.width - i < lanes ? task.width - i : lanes;
        const Floats x = source_numbers(task, i, n) * by;
        const UnsignedBytes codes =
            fp8 ? to_fp8_e4m3(x) : (UnsignedBytes) __builtin_convertvector(to_int8(x), Bytes);
        __builtin_memcpy(out + i, &codes, static_cast<std::size_t>(n));
    }
    store_as(out + task.width, scale);
}

template <bool fp8> void decode_per_row(std::int64_t width, const unsigned char* in, float* out) {
    const float scale = load_as<float>(in + width);
    for (std::int64_t i = 0; i < width; i += lanes) {
        unsigned char codes[lanes] = {};
        __builtin_memcpy(codes, in + i,
                         static_cast<std::size_t>(width - i < lanes ? width - i : lanes));
        const Floats numbers = fp8 ? from_fp8_e4m3(load_as<UnsignedBytes>(codes))
                                   : __builtin_convertvector(widen(load_as<Bytes>(codes)), Floats);
        store(out + i, numbers * scale);
    }
    for (std::int64_t i = width; i < padded(width); ++i)
        out[i] = 0;
}

} // namespace

void encode_scales_behind(const EncodeTask& task) {
    switch (task.format) {
    case Format::nvfp4:
        return encode_nvfp4(task);
    case Format::mxfp8:
        return encode_mxfp8(task);
    case Format::fp8_per_token_head:
        return encode_per_row<true>(task);
    default:
        return encode_per_row<false>(task);
    }
}

void decode_scales_behind(const StoredRows& rows, const unsigned char* in, float* out) {
    switch (rows.format) {
    case Format::nvfp4:
        return decode_nvfp4(rows.width, in, out);
    case Format::mxfp8:
        return decode_mxfp8(rows.width, in, out);
    case Format::fp8_per_token_head:
        return decode_per_row<true>(rows.width, in, out);
    default:
        return decode_per_row<false>(rows.width, in, out);
    }
}

} // namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT
