// SPDX-License-Identifier: Apache-2.0
// New rows on their way into a plane of another format. T is the type of the source. A warp makes a
// block of 32 quants at a time; every product and sum is rounded on its own, so that all backends
// store the same bytes.
#pragma once

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

SIMT_DEVICE void encode_q4_1(unsigned char* block, float number) {
    const float least = -warp_largest(-number);
    const float scale = rounded_sum(warp_largest(number), -least) / 15.0f;
    store_half(block, scale);
    store_half(block + 2, least);
    const float above = rounded_product(rounded_sum(number, -least), inverse(scale));
    store_nibbles(block + 4, at_most(15, static_cast<int>(rounded_sum(above, 0.5f))));
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

/// One warp per row, as append_rows deals them out.
template <class T>
__global__ void __launch_bounds__(kBlockThreads) encode_rows(AppendView view, std::int64_t skip) {
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
        if (view.format == Format::fp8_e4m3_128) {
            encode_scaled_row(to, from, view.width);
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
