// SPDX-License-Identifier: Apache-2.0
// Rows into and out of the formats of a cache. Built without contracting products and sums, so that
// every build stores the same bytes.
#include "kernels/backend_cpu_formats.h"

namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT {
namespace {

constexpr int block = 32;
constexpr int vectors = block / lanes;

/// The 32 numbers of one block, and what its quants are made from.
struct Numbers {
    Floats x[vectors];

    KV_INLINE float size() const {
        Floats best = magnitude_of(x[0]);
        for (int j = 1; j < vectors; ++j)
            best = maximum(magnitude_of(x[j]), best);
        return largest(best);
    }
    /// Of the numbers of the greatest size the first.
    KV_INLINE float greatest() const {
        Floats high = x[0], low = -x[0];
        for (int j = 1; j < vectors; ++j) {
            high = maximum(x[j], high);
            low = maximum(-x[j], low);
        }
        const float above = largest(high), below = largest(low);
        if (above != below)
            return above > below ? above : -below;
        float values[unsigned{block}];
        __builtin_memcpy(values, x, sizeof values);
        int i = 0;
        while (i + 1 < block && values[i] != above && values[i] != -above)
            ++i;
        return values[i];
    }
};

/// Halves away from zero.
KV_INLINE Ints nearest(Floats t) {
    const Ints whole = __builtin_convertvector(t, Ints);
    const Floats rest = t - __builtin_convertvector(whole, Floats);
    return whole - (Ints)(rest >= 0.5f) + (Ints)(rest <= -0.5f);
}

/// Floors what is not negative, at most `most`.
KV_INLINE Ints quant(Floats t, int most) {
    const Ints whole = __builtin_convertvector(t, Ints);
    return whole > most ? Ints{} + most : whole;
}

void encode_q8_0(const Numbers& numbers, unsigned char* out) {
    const float d = numbers.size() / 127.0f, by = inverse(d);
    store_as(out, float_to_half(d));
    for (int j = 0; j < vectors; ++j)
        store_as(out + 2 + j * lanes, __builtin_convertvector(nearest(numbers.x[j] * by), Bytes));
}

/// 32 quants; the lower halves of their bits go to 16 bytes.
struct Quants {
    std::uint8_t q[unsigned{block}];

    KV_INLINE void put_nibbles(unsigned char* out) const {
        for (int j = 0; j < block / 2; ++j)
            out[j] = static_cast<unsigned char>((q[j] & 15) | q[j + block / 2] << 4);
    }
    KV_INLINE std::uint32_t high_bits() const {
        std::uint32_t bits = 0;
        for (int j = 0; j < block; ++j)
            bits |= static_cast<std::uint32_t>(q[j] >> 4) << j;
        return bits;
    }
};

/// Quants 0 … 2 · half - 1 around `half`; the greatest number becomes quant 0.
KV_INLINE Quants signed_quants(const Numbers& numbers, int half, std::uint16_t* scale) {
    const float d = numbers.greatest() / static_cast<float>(-half), by = inverse(d);
    *scale = float_to_half(d);
    Quants quants;
    for (int j = 0; j < vectors; ++j) {
        const Floats t = numbers.x[j] * by + (static_cast<float>(half) + 0.5f);
        store_as(quants.q + j * lanes,
                 __builtin_convertvector(quant(t, 2 * half - 1), UnsignedBytes));
    }
    return quants;
}

void encode_q4_0(const Numbers& numbers, unsigned char* out) {
    std::uint16_t scale;
    const Quants quants = signed_quants(numbers, 8, &scale);
    store_as(out, scale);
    quants.put_nibbles(out + 2);
}

void encode_q5_0(const Numbers& numbers, unsigned char* out) {
    std::uint16_t scale;
    const Quants quants = signed_quants(numbers, 16, &scale);
    store_as(out, scale);
    store_as(out + 2, quants.high_bits());
    quants.put_nibbles(out + 6);
}

/// Quants 0 … most above the least number; the scale and that number go to the block's start.
KV_INLINE Quants affine_quants(const Numbers& numbers, int most, unsigned char* out) {
    Floats high = numbers.x[0], low = -numbers.x[0];
    for (int j = 1; j < vectors; ++j) {
        high = maximum(numbers.x[j], high);
        low = maximum(-numbers.x[j], low);
    }
    const float least = -largest(low), d = (largest(high) - least) / static_cast<float>(most),
                by = inverse(d);
    store_as(out, float_to_half(d));
    store_as(out + 2, float_to_half(least));
    Quants quants;
    for (int j = 0; j < vectors; ++j) {
        const Floats t = (numbers.x[j] - least) * by + 0.5f;
        store_as(quants.q + j * lanes, __builtin_convertvector(quant(t, most), UnsignedBytes));
    }
    return quants;
}

void encode_q4_1(const Numbers& numbers, unsigned char* out) {
    affine_quants(numbers, 15, out).put_nibbles(out + 4);
}

void encode_q5_1(const Numbers& numbers, unsigned char* out) {
    const Quants quants = affine_quants(numbers, 31, out);
    store_as(out + 4, quants.high_bits());
    quants.put_nibbles(out + 8);
}

constexpr float iq4_levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                  1,    13,   25,  38,  53,  69,  89,  113};

/// The nearest level's quant, between two the upper one.
KV_INLINE Ints iq4_quant(Floats t) {
    Ints quant{};
    for (int i = 1; i < 16; ++i)
        quant -= (Ints)(t >= 0.5f * (iq4_levels[i - 1] + iq4_levels[i]));
    return quant;
}

/// Halves are added until one number is left, as the lanes of a warp do it.
float sum_of_lanes(float (&numbers)[unsigned{block}]) {
    for (int n = block / 2; n > 0; n /= 2)
        for (int i = 0; i < n; ++i)
            numbers[i] += numbers[i + n];
    return numbers[0];
}

/// The greatest number becomes the lowest level, the others the nearest ones; the scale is the one
/// that leaves the least squares, each weighed with its own square.
void encode_iq4_nl(const Numbers& numbers, unsigned char* out) {
    const float most = numbers.greatest();
    const bool exists = (most < 0 ? -most : most) >= 1e-15f;
    const float by = exists ? 1.0f / (most / -127.0f) : 0.0f;
    Quants quants;
    float products[unsigned{block}], squares[unsigned{block}];
    for (int j = 0; j < vectors; ++j) {
        const Floats x = numbers.x[j];
        const Ints quant = iq4_quant(x * by);
        store_as(quants.q + j * lanes, __builtin_convertvector(quant, UnsignedBytes));
        Floats level{};
        for (int i = 0; i < lanes; ++i)
            level[i] = iq4_levels[quant[i]];
        const Floats weighed = x * x * level;
        store(products + j * lanes, weighed * x);
        store(squares + j * lanes, weighed * level);
    }
    quants.put_nibbles(out + 2);
    store_as(out, exists ? float_to_half(sum_of_lanes(products) / sum_of_lanes(squares))
                         : std::uint16_t{0});
}

/// Blocks of 128 e4m3 with a scale each.
void encode_scaled(const EncodeTask& task) {
    constexpr std::int64_t numbers = 128;
    auto* out = static_cast<unsigned char*>(task.out);
    for (std::int64_t first = 0; first < task.width; first += numbers, out += numbers + 4) {
        Floats size{};
        for (std::int64_t i = 0; i < numbers; i += lanes)
            size = maximum(magnitude_of(source_numbers(task, first + i, lanes)), size);
        const float scale = largest(size) / 448.0f, by = inverse(scale);
        for (std::int64_t i = 0; i < numbers; i += lanes)
            store_as(out + i, to_fp8_e4m3(source_numbers(task, first + i, lanes) * by));
        store_as(out + numbers, scale);
    }
}

template <void (*encode_block)(const Numbers&, unsigned char*)>
void encode_blocks(const EncodeTask& task, std::int64_t bytes) {
    auto* out = static_cast<unsigned char*>(task.out);
    for (std::int64_t i = 0; i < task.width; i += block, out += bytes) {
        Numbers numbers;
        for (int j = 0; j < vectors; ++j)
            numbers.x[j] = source_numbers(task, i + j * lanes, lanes);
        encode_block(numbers, out);
    }
}

/// Formats of one number after another.
void encode_numbers(const EncodeTask& task) {
    auto* out = static_cast<unsigned char*>(task.out);
    for (std::int64_t i = 0; i < task.width; i += lanes) {
        const std::int64_t n = task.width - i < lanes ? task.width - i : lanes;
        const Floats numbers = source_numbers(task, i, n);
        const UnsignedBytes codes = to_fp8_e4m3(numbers);
        if (task.format == Format::f32)
            __builtin_memcpy(out + i * 4, &numbers, static_cast<std::size_t>(n) * 4);
        else
            __builtin_memcpy(out + i, &codes, static_cast<std::size_t>(n));
    }
}

void decode_q8_0(const unsigned char* in, float* out) {
    const float d = half_to_float(load_as<std::uint16_t>(in));
    for (int j = 0; j < vectors; ++j)
        store(out + j * lanes,
              __builtin_convertvector(widen(load_as<Bytes>(in + 2 + j * lanes)), Floats) * d);
}

/// One number per nibble: quant · d + offset, quants having `high` as their fifth bits.
KV_INLINE void decode_nibbles(const unsigned char* in, std::uint32_t high, int half, float d,
                              float offset, float* out) {
    Ints shifts{};
    for (int i = 0; i < lanes; ++i)
        shifts[i] = i;
    for (int j = 0; j < block / 2; j += lanes) {
        const Words bytes = widen(load_as<UnsignedBytes>(in + j));
        const Words low = bytes & 15u, up = bytes >> 4;
        const Words low_bit = (Words{} + (high >> j)) >> (Words)shifts & 1u;
        const Words up_bit = (Words{} + (high >> (j + 16))) >> (Words)shifts & 1u;
        const Ints first = (Ints)(low | low_bit << 4) - half,
                   second = (Ints)(up | up_bit << 4) - half;
        store(out + j, __builtin_convertvector(first, Floats) * d + offset);
        store(out + j + 16, __builtin_convertvector(second, Floats) * d + offset);
    }
}

void decode_q4_0(const unsigned char* in, float* out) {
    decode_nibbles(in + 2, 0, 8, half_to_float(load_as<std::uint16_t>(in)), 0, out);
}

void decode_q5_0(const unsigned char* in, float* out) {
    decode_nibbles(in + 6, load_as<std::uint32_t>(in + 2), 16,
                   half_to_float(load_as<std::uint16_t>(in)), 0, out);
}

void decode_q4_1(const unsigned char* in, float* out) {
    decode_nibbles(in + 4, 0, 0, half_to_float(load_as<std::uint16_t>(in)),
                   half_to_float(load_as<std::uint16_t>(in + 2)), out);
}

void decode_q5_1(const unsigned char* in, float* out) {
    decode_nibbles(in + 8, load_as<std::uint32_t>(in + 4), 0,
                   half_to_float(load_as<std::uint16_t>(in)),
                   half_to_float(load_as<std::uint16_t>(in + 2)), out);
}

void decode_iq4_nl(const unsigned char* in, float* out) {
    const float d = half_to_float(load_as<std::uint16_t>(in));
    for (int j = 0; j < block / 2; ++j) {
        out[j] = iq4_levels[in[2 + j] & 15] * d;
        out[j + block / 2] = iq4_levels[in[2 + j] >> 4] * d;
    }
}

void decode_scaled(const StoredRows& rows, const unsigned char* in, float* out) {
    constexpr std::int64_t numbers = 128;
    for (std::int64_t first = 0; first < rows.width; first += numbers, in += numbers + 4) {
        const float scale = load_as<float>(in + numbers);
        for (std::int64_t i = 0; i < numbers; i += lanes)
            store(out + first + i, from_fp8_e4m3(load_as<UnsignedBytes>(in + i)) * scale);
    }
}

template <void (*decode_block)(const unsigned char*, float*)>
void decode_blocks(const StoredRows& rows, std::int64_t bytes, const unsigned char* in,
                   float* out) {
    for (std::int64_t i = 0; i < rows.width; i += block, in += bytes)
        decode_block(in, out + i);
}

/// `n` (at most a vector of) stored numbers, zeros behind them.
KV_INLINE Floats stored_numbers(Format format, const unsigned char* from, std::int64_t n) {
    unsigned char copy[4 * lanes] = {};
    if (n < lanes) {
        const std::int64_t size = format == Format::f32 ? 4 : format == Format::fp8_e4m3 ? 1 : 2;
        __builtin_memcpy(copy, from, static_cast<std::size_t>(n * size));
        from = copy;
    }
    switch (format) {
    case Format::f16:
        return to_floats<false>(load_as<Halves>(from));
    case Format::bf16:
        return to_floats<true>(load_as<Halves>(from));
    case Format::f32:
        return load_as<Floats>(from);
    default:
        return from_fp8_e4m3(load_as<UnsignedBytes>(from));
    }
}

template <Format format, int size>
void decode_numbers(const StoredRows& rows, const unsigned char* in, float* out) {
    for (std::int64_t i = 0; i < rows.width; i += lanes)
        store(out + i, stored_numbers(format, in + i * size,
                                      rows.width - i < lanes ? rows.width - i : lanes));
    for (std::int64_t i = rows.width; i < padded(rows.width); ++i)
        out[i] = 0;
}

void decode_row(const StoredRows& rows, const unsigned char* in, float* out) {
    switch (rows.format) {
    case Format::f16:
        return decode_numbers<Format::f16, 2>(rows, in, out);
    case Format::bf16:
        return decode_numbers<Format::bf16, 2>(rows, in, out);
    case Format::f32:
        return decode_numbers<Format::f32, 4>(rows, in, out);
    case Format::fp8_e4m3:
        return decode_numbers<Format::fp8_e4m3, 1>(rows, in, out);
    case Format::q8_0:
        return decode_blocks<decode_q8_0>(rows, 34, in, out);
    case Format::q4_0:
        return decode_blocks<decode_q4_0>(rows, 18, in, out);
    case Format::q5_0:
        return decode_blocks<decode_q5_0>(rows, 22, in, out);
    case Format::q4_1:
        return decode_blocks<decode_q4_1>(rows, 20, in, out);
    case Format::fp8_e4m3_128:
        return decode_scaled(rows, in, out);
    case Format::q5_1:
        return decode_blocks<decode_q5_1>(rows, 24, in, out);
    case Format::iq4_nl:
        return decode_blocks<decode_iq4_nl>(rows, 18, in, out);
    case Format::nvfp4:
    case Format::mxfp8:
    case Format::fp8_per_token_head:
    case Format::int8_per_token_head:
        return decode_scales_behind(rows, in, out);
    case Format::kivi_2bit:
    case Format::kivi_4bit:
    case Format::kivi_2bit_r32:
    case Format::kivi_4bit_r32:
    case Format::kivi_2bit_g64:
    case Format::kivi_4bit_g64:
    case Format::kivi_2bit_g128:
    case Format::kivi_4bit_g128:
        return; // no matter of rows (backend_cpu_packed.cpp)
    }
}

} // namespace

void encode(const EncodeTask& task) {
    switch (task.format) {
    case Format::q8_0:
        return encode_blocks<encode_q8_0>(task, 34);
    case Format::q4_0:
        return encode_blocks<encode_q4_0>(task, 18);
    case Format::q5_0:
        return encode_blocks<encode_q5_0>(task, 22);
    case Format::q4_1:
        return encode_blocks<encode_q4_1>(task, 20);
    case Format::fp8_e4m3_128:
        return encode_scaled(task);
    case Format::q5_1:
        return encode_blocks<encode_q5_1>(task, 24);
    case Format::iq4_nl:
        return encode_blocks<encode_iq4_nl>(task, 18);
    case Format::nvfp4:
    case Format::mxfp8:
    case Format::fp8_per_token_head:
    case Format::int8_per_token_head:
        return encode_scales_behind(task);
    default:
        return encode_numbers(task);
    }
}

void decode(const StoredRows& rows, std::int64_t first, std::int64_t count, float* out) {
    const unsigned char* in = static_cast<const unsigned char*>(rows.first) + first * rows.bytes;
    for (std::int64_t t = 0; t < count; ++t) {
        const unsigned char* row = in + t * rows.bytes;
        for (std::int64_t i = 0; i < rows.bytes; i += 64) // the block after this one
            __builtin_prefetch(row + count * rows.bytes + i, 0, 3);
        decode_row(rows, row, out + t * padded(rows.width));
    }
}

} // namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT
