// SPDX-License-Identifier: Apache-2.0
// New rows on their way into a plane of another format. T is the type of the source. A warp makes a
// block of 32 quants at a time; every product and sum is rounded on its own, so that all backends
// store the same bytes.
#pragma once

#include "kernels/cuda/codes.cuh"
#include "kernels/cuda/rows.cuh"
#include "kernels/views.h"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

SIMT_DEVICE float rounded_product(float left, float right) {
#if defined(__CUDA_ARCH__)
    return __fmul_rn(left, right);
#else
    return left * right;
#endif
}

SIMT_DEVICE float rounded_sum(float left, float right) {
#if defined(__CUDA_ARCH__)
    return __fadd_rn(left, right);
#else
    return left + right;
#endif
}

SIMT_DEVICE float inverse(float scale) {
    return scale != 0.0f ? 1.0f / scale : 0.0f;
}

SIMT_DEVICE int at_most(int most, int quant) {
    return quant < most ? quant : most;
}

/// Of the lanes' numbers of the greatest size the one of the first lane.
SIMT_DEVICE float greatest(float number) {
    const float size = warp_largest(fabsf(number));
    const int lane = static_cast<int>(lane_index());
    int first = fabsf(number) == size ? lane : static_cast<int>(kWarpLanes) - 1;
    SIMT_UNROLL
    for (int bits = 16; bits > 0; bits /= 2) {
        first = at_most(first, __shfl_xor_sync(0xffffffffu, first, bits));
    }
    return __shfl_sync(0xffffffffu, number, first);
}

template <class T> SIMT_DEVICE void store_at(unsigned char* address, T value) {
    store(reinterpret_cast<T*>(address), value);
}

SIMT_DEVICE void store_half(unsigned char* address, float value) {
    if (lane_index() == 0) {
        store_at(address, to_f16(value));
    }
}

/// The lower four bits of every lane's quant, two to a byte.
SIMT_DEVICE void store_nibbles(unsigned char* bytes, int quant) {
    const int partner = __shfl_xor_sync(0xffffffffu, quant, 16);
    if (lane_index() < 16) {
        store(bytes + lane_index(), static_cast<unsigned char>((quant & 15) | (partner & 15) << 4));
    }
}

/// The fifth bit of every lane's quant, eight to a byte.
SIMT_DEVICE void store_high_bits(unsigned char* bytes, int quant) {
    int bits = (quant >> 4 & 1) << (lane_index() % 8);
    SIMT_UNROLL
    for (int step = 4; step > 0; step /= 2) {
        bits |= __shfl_xor_sync(0xffffffffu, bits, step);
    }
    if (lane_index() % 8 == 0) {
        store(bytes + lane_index() / 8, static_cast<unsigned char>(bits));
    }
}

SIMT_DEVICE void encode_q8_0(unsigned char* block, float number) {
    const float scale = warp_largest(fabsf(number)) / 127.0f;
    const float quant = roundf(rounded_product(number, inverse(scale))); // halves away from zero
    store_at(block + 2 + lane_index(), static_cast<std::int8_t>(quant));
    store_half(block, scale);
}

/// A quant from 0 to 2 · half - 1 around `half`; the greatest number's is 0. Stores the scale.
SIMT_DEVICE int signed_quant(unsigned char* block, float number, int half) {
    const float middle = static_cast<float>(half);
    const float scale = greatest(number) / -middle;
    store_half(block, scale);
    const float place = rounded_sum(rounded_product(number, inverse(scale)), middle + 0.5f);
    return at_most(2 * half - 1, static_cast<int>(place));
}

SIMT_DEVICE void encode_q4_0(unsigned char* block, float number) {
    store_nibbles(block + 2, signed_quant(block, number, 8));
}

SIMT_DEVICE void encode_q5_0(unsigned char* block, float number) {
    const int quant = signed_quant(block, number, 16);
    store_high_bits(block + 2, quant);
    store_nibbles(block + 6, quant);
}

/// A quant from 0 to `most` above the least number. Stores the scale and that number.
SIMT_DEVICE int affine_quant(unsigned char* block, float number, int most) {
    const float least = -warp_largest(-number);
    const float scale = rounded_sum(warp_largest(number), -least) / static_cast<float>(most);
    store_half(block, scale);
    store_half(block + 2, least);
    const float above = rounded_product(rounded_sum(number, -least), inverse(scale));
    return at_most(most, static_cast<int>(rounded_sum(above, 0.5f)));
}

SIMT_DEVICE void encode_q4_1(unsigned char* block, float number) {
    store_nibbles(block + 4, affine_quant(block, number, 15));
}

SIMT_DEVICE void encode_q5_1(unsigned char* block, float number) {
    const int quant = affine_quant(block, number, 31);
    store_high_bits(block + 4, quant);
    store_nibbles(block + 8, quant);
}

/// The greatest number becomes the lowest level, the others the nearest ones; the scale is the one
/// that leaves the least squares, each weighed with its own square, as ggml has it. Sums are taken
/// lane by lane, so that all backends get the same bits.
SIMT_DEVICE void encode_iq4_nl(unsigned char* block, float number) {
    const float most = greatest(number);
    const bool exists = fabsf(most) >= 1e-15f;
    const float start = most / -127.0f;
    const int quant = iq4_quant(rounded_product(number, exists ? 1.0f / start : 0.0f));
    store_nibbles(block + 2, quant);
    const float level = iq4_level(quant);
    const float weighed = rounded_product(rounded_product(number, number), level);
    const float product = warp_sum(rounded_product(weighed, number));
    const float square = warp_sum(rounded_product(weighed, level));
    store_half(block, exists ? product / square : 0.0f);
}

/// Numbers 32 · group … + 31 of a row. A format without blocks may end within them.
SIMT_DEVICE void encode_group(unsigned char* row, Format format, std::int64_t group, float number,
                              bool exists) {
    const std::int64_t column = kWarpLanes * group + lane_index();
    unsigned char* const block = row + stored_row_bytes(format, kWarpLanes * group);
    switch (format) {
    case Format::q8_0:
        return encode_q8_0(block, number);
    case Format::q4_0:
        return encode_q4_0(block, number);
    case Format::q5_0:
        return encode_q5_0(block, number);
    case Format::q4_1:
        return encode_q4_1(block, number);
    case Format::q5_1:
        return encode_q5_1(block, number);
    case Format::iq4_nl:
        return encode_iq4_nl(block, number);
    case Format::fp8_e4m3:
        if (exists) {
            store_at(row + column, to_fp8_e4m3(number));
        }
        return;
    default: // f32; nothing is narrowed to 16 bits
        if (exists) {
            store_at(row + column * 4, number);
        }
    }
}

/// A row in blocks of 128 e4m3 with a scale each, four numbers of a block to a lane.
template <class T>
SIMT_DEVICE void encode_scaled_row(unsigned char* row, const T* from, std::int64_t width) {
    constexpr int groups = 4;
    const FormatBlock shape = block_of(Format::fp8_e4m3_128);
    for (std::int64_t first = 0; first < width; first += shape.elements, row += shape.bytes) {
        float numbers[groups];
        float size = 0.0f;
        SIMT_UNROLL
        for (int i = 0; i < groups; ++i) {
            numbers[i] = to_float(load(from + first + kWarpLanes * i + lane_index()));
            size = fmaxf(size, fabsf(numbers[i]));
        }
        const float scale = warp_largest(size) / 448.0f;
        SIMT_UNROLL
        for (int i = 0; i < groups; ++i) {
            store_at(row + kWarpLanes * i + lane_index(),
                     to_fp8_e4m3(rounded_product(numbers[i], inverse(scale))));
        }
        if (lane_index() == 0) {
            store_at(row + shape.elements, scale);
        }
    }
}

template <class T>
SIMT_DEVICE float number_at(const T* from, std::int64_t column, std::int64_t width) {
    return column < width ? to_float(load(from + column)) : 0.0f;
}

SIMT_DEVICE void store_unaligned(unsigned char* address, float value) {
    SIMT_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
        store(address + i, static_cast<unsigned char>(bits_of(value) >> (8 * i)));
    }
}

/// Halves away from zero by a sum, as vLLM has it; 0 for what is no number.
SIMT_DEVICE std::int8_t to_int8(float number) {
    const float moved = rounded_sum(number, number >= 0.0f ? 0.5f : -0.5f);
    return static_cast<std::int8_t>(moved == moved ? fminf(fmaxf(moved, -128.0f), 127.0f) : 0.0f);
}

/// A row of e4m3 or int8 and its one scale.
template <class T>
SIMT_DEVICE void encode_row_and_scale(unsigned char* row, const T* from, std::int64_t width,
                                      bool fp8) {
    float size = 0.0f;
    for (std::int64_t column = lane_index(); column < width; column += kWarpLanes) {
        size = fmaxf(size, fabsf(to_float(load(from + column))));
    }
    const float scale = fmaxf(warp_largest(size) / (fp8 ? 448.0f : 127.0f), 1e-6f);
    for (std::int64_t column = lane_index(); column < width; column += kWarpLanes) {
        const float number = rounded_product(to_float(load(from + column)), 1.0f / scale);
        store_at(row + column,
                 fp8 ? to_fp8_e4m3(number).bits : static_cast<std::uint8_t>(to_int8(number)));
    }
    if (lane_index() == 0) {
        store_unaligned(row + width, scale);
    }
}

/// Two blocks of sixteen at a time.
template <class T>
SIMT_DEVICE void encode_nvfp4_row(unsigned char* row, const T* from, std::int64_t width) {
    for (std::int64_t first = 0; first < width; first += kWarpLanes) {
        const std::int64_t column = first + lane_index();
        const float number = number_at(from, column, width);
        float size = fabsf(number);
        SIMT_UNROLL
        for (int bits = 8; bits > 0; bits /= 2) {
            size = fmaxf(size, __shfl_xor_sync(0xffffffffu, size, bits));
        }
        const Fp8E4m3 scale = to_fp8_e4m3(fmaxf(size, 0.0f) / 6.0f); // 0 where nothing is a number
        const int code = to_e2m1(rounded_product(number, inverse(to_float(scale))));
        const int partner = __shfl_xor_sync(0xffffffffu, code, 1);
        if (column < width && column % 2 == 0) {
            store(row + column / 2, static_cast<unsigned char>(code | partner << 4));
        }
        if (column < width && column % 16 == 0) {
            store_at(row + width / 2 + column / 16, scale);
        }
    }
}

template <class T>
SIMT_DEVICE void encode_mxfp8_row(unsigned char* row, const T* from, std::int64_t width) {
    for (std::int64_t first = 0; first < width; first += kWarpLanes) {
        const float number = to_float(load(from + first + lane_index()));
        const unsigned scale = e8m0_of(fmaxf(warp_largest(fabsf(number)), 0.0f));
        const float by = e8m0_value(254 - scale);
        store_at(row + first + lane_index(), to_fp8_e4m3(rounded_product(number, by)));
        if (lane_index() == 0) {
            store(row + width + first / kWarpLanes, static_cast<unsigned char>(scale));
        }
    }
}

/// Formats whose scales are no part of a group of 32; false for the others.
template <class T>
SIMT_DEVICE bool encode_whole_row(unsigned char* row, const T* from, const AppendView& view) {
    switch (view.format) {
    case Format::fp8_e4m3_128:
        encode_scaled_row(row, from, view.width);
        return true;
    case Format::nvfp4:
        encode_nvfp4_row(row, from, view.width);
        return true;
    case Format::mxfp8:
        encode_mxfp8_row(row, from, view.width);
        return true;
    case Format::fp8_per_token_head:
    case Format::int8_per_token_head:
        encode_row_and_scale(row, from, view.width, view.format == Format::fp8_per_token_head);
        return true;
    default:
        return false;
    }
}

/// One warp per row, as append_rows deals them out.
template <class T>
__global__ void __launch_bounds__(kBlockThreads, 1)
    encode_rows(AppendView view, std::int64_t skip) {
    const std::int64_t kept = view.count - skip;
    const std::int64_t rows = view.sequences * kept * view.rows;
    const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * kBlockWarps;
    const std::int64_t row_bytes = stored_row_bytes(view.format, view.width);
    for (std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kBlockWarps + warp_index();
         index < rows; index += warps) {
        const std::int64_t row = index % view.rows;
        const std::int64_t token = skip + index / view.rows % kept;
        const std::int64_t sequence = index / view.rows / kept;
        const std::int64_t slot = (view.first + token) % view.slots;
        const T* const from = static_cast<const T*>(view.source) +
                              ((sequence * view.count + token) * view.rows + row) * view.width;
        unsigned char* const to = static_cast<unsigned char*>(view.plane) +
                                  ((sequence * view.rows + row) * view.slots + slot) * row_bytes;
        if (encode_whole_row(to, from, view)) {
            continue;
        }
        for (std::int64_t group = 0; group * kWarpLanes < view.width; ++group) {
            const std::int64_t column = group * kWarpLanes + lane_index();
            const bool exists = column < view.width;
            encode_group(to, view.format, group, exists ? to_float(load(from + column)) : 0.0f,
                         exists);
        }
    }
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
