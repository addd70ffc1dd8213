// SPDX-License-Identifier: Apache-2.0
// Rows of a plane in any format, made into floats on their way into registers. A block of quants
// has 32 numbers, so lane l always holds number l of each block.
#pragma once

#include "kernels/cuda/codes.cuh"
#include "kernels/cuda/rows.cuh"
#include "kernels/formats.h"

#include <type_traits>

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

/// One row per slot, `bytes` apart.
struct PlaneRows {
    const unsigned char* rows;
    std::int64_t width, bytes;
    Format format;
};

/// PlaneRows number `index` of planes that have so many slots each.
SIMT_DEVICE PlaneRows plane_at(const void* planes, std::int64_t index, std::int64_t slots,
                               std::int64_t width, Format format) {
    const std::int64_t bytes = stored_row_bytes(format, width);
    return {static_cast<const unsigned char*>(planes) + index * slots * bytes, width, bytes,
            format};
}

template <class T> SIMT_DEVICE T load_at(const unsigned char* address) {
    return load(reinterpret_cast<const T*>(address));
}

SIMT_DEVICE float load_half(const unsigned char* address) {
    return to_float(load_at<F16>(address));
}

/// A float that is aligned to nothing.
SIMT_DEVICE float load_unaligned(const unsigned char* address) {
    std::uint32_t bits = 0;
    SIMT_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
        bits |= static_cast<std::uint32_t>(load(address + i)) << (8 * i);
    }
    return float_from_bits(bits);
}

/// This lane's half of the byte it shares with the lane 16 further.
SIMT_DEVICE int load_nibble(const unsigned char* bytes) {
    const std::int64_t lane = lane_index();
    return (load(bytes + lane % 16) >> (lane / 16 * 4)) & 15;
}

/// Which number of a group, and how wide the row is.
struct RowPlace {
    unsigned lane, width;
};

// One codec per format: this lane's number of the row's group of 32 number `group`.

template <class T> struct Plain {
    SIMT_DEVICE static float number(const unsigned char* row, unsigned group, RowPlace) {
        const std::int64_t column = kWarpLanes * group + lane_index();
        return to_float(load_at<T>(row + column * static_cast<std::int64_t>(sizeof(T))));
    }
};

struct Q8Zero {
    SIMT_DEVICE static float number(const unsigned char* row, unsigned group, RowPlace) {
        const unsigned char* const block = row + block_of(Format::q8_0).bytes * group;
        const auto quant = load_at<std::int8_t>(block + 2 + lane_index());
        return static_cast<float>(quant) * load_half(block);
    }
};

struct Q4Zero {
    SIMT_DEVICE static float number(const unsigned char* row, unsigned group, RowPlace) {
        const unsigned char* const block = row + block_of(Format::q4_0).bytes * group;
        return static_cast<float>(load_nibble(block + 2) - 8) * load_half(block);
    }
};

struct Q5Zero {
    SIMT_DEVICE static float number(const unsigned char* row, unsigned group, RowPlace) {
        const unsigned char* const block = row + block_of(Format::q5_0).bytes * group;
        const int high = (load(block + 2 + lane_index() / 8) >> (lane_index() % 8)) & 1;
        return static_cast<float>((load_nibble(block + 6) | high << 4) - 16) * load_half(block);
    }
};

struct Q4One {
    SIMT_DEVICE static float number(const unsigned char* row, unsigned group, RowPlace) {
        const unsigned char* const block = row + block_of(Format::q4_1).bytes * group;
        return static_cast<float>(load_nibble(block + 4)) * load_half(block) + load_half(block + 2);
    }
};

struct Fp8Scaled {
    SIMT_DEVICE static float number(const unsigned char* row, unsigned group, RowPlace) {
        constexpr unsigned groups = 4; // of 32 numbers in a block
        const unsigned char* const block =
            row + block_of(Format::fp8_e4m3_128).bytes * (group / groups);
        const auto code = load_at<Fp8E4m3>(block + kWarpLanes * (group % groups) + lane_index());
        return to_float(code) * load_at<float>(block + groups * kWarpLanes);
    }
};

struct Q5One {
    SIMT_DEVICE static float number(const unsigned char* row, unsigned group, RowPlace at) {
        const unsigned char* const block = row + block_of(Format::q5_1).bytes * group;
        const int high = load(block + 4 + at.lane / 8) >> (at.lane % 8) & 1;
        const int low = load(block + 8 + at.lane % 16) >> (at.lane / 16 * 4) & 15;
        return static_cast<float>(low | high << 4) * load_half(block) + load_half(block + 2);
    }
};

struct Iq4Nl {
    SIMT_DEVICE static float number(const unsigned char* row, unsigned group, RowPlace at) {
        const unsigned char* const block = row + block_of(Format::iq4_nl).bytes * group;
        const int quant = load(block + 2 + at.lane % 16) >> (at.lane / 16 * 4) & 15;
        return iq4_level(quant) * load_half(block);
    }
};

struct Nvfp4 {
    SIMT_DEVICE static float number(const unsigned char* row, unsigned group, RowPlace at) {
        const int code = load(row + at.lane / 2 + 16 * group) >> (4 * (at.lane % 2)) & 15;
        const unsigned char* const scales = row + at.width / 2 + at.lane / 16;
        return e2m1_value(code) * to_float(load_at<Fp8E4m3>(scales + 2 * group));
    }
};

struct Mxfp8 {
    SIMT_DEVICE static float number(const unsigned char* row, unsigned group, RowPlace at) {
        const auto code = load_at<Fp8E4m3>(row + at.lane + kWarpLanes * group);
        return to_float(code) * e8m0_value(load(row + at.width + group));
    }
};

/// One scale for the row, which may lie anywhere.
template <class T> struct PerRow {
    SIMT_DEVICE static float number(const unsigned char* row, unsigned group, RowPlace at) {
        const T code = load_at<T>(row + at.lane + kWarpLanes * group);
        const float scale = load_unaligned(row + at.width);
        if constexpr (std::is_same_v<T, Fp8E4m3>) {
            return to_float(code) * scale;
        } else {
            return static_cast<float>(code) * scale;
        }
    }
};

/// The rows of slots first … first + Count - 1, column 32 · i + lane of a row in rows[…][i], zeros
/// past the width; slots from `end` on are zero and not read, because what they hold may be NaN and
/// 0 · NaN is NaN.
template <class Codec, unsigned Columns, unsigned Count>
SIMT_DEVICE void decode_rows(float (&rows)[Count][Columns], const PlaneRows& plane,
                             std::int64_t first, std::int64_t end) {
    // Not to be worked out in front of the loop over slots for every format there is.
    const RowPlace at{opaque(static_cast<unsigned>(lane_index())),
                      opaque(static_cast<unsigned>(plane.width))};
    SIMT_UNROLL
    for (unsigned j = 0; j < Count; ++j) {
        const unsigned char* const row = plane.rows + (first + j) * plane.bytes;
        const std::int64_t width = first + j < end ? plane.width : 0;
        SIMT_UNROLL
        for (unsigned i = 0; i < Columns; ++i) {
            const std::int64_t column = kWarpLanes * i + lane_index();
            rows[j][i] = column < width ? Codec::number(row, i, at) : 0.0f;
        }
    }
}

/// Stands for a type where a plane's format is known only when the kernel runs.
struct AnyFormat {};

template <unsigned Columns, unsigned Count>
SIMT_DEVICE void decode_any(float (&rows)[Count][Columns], const PlaneRows& plane,
                            std::int64_t first, std::int64_t end) {
    switch (plane.format) {
    case Format::f16:
        return decode_rows<Plain<F16>>(rows, plane, first, end);
    case Format::bf16:
        return decode_rows<Plain<Bf16>>(rows, plane, first, end);
    case Format::f32:
        return decode_rows<Plain<float>>(rows, plane, first, end);
    case Format::fp8_e4m3:
        return decode_rows<Plain<Fp8E4m3>>(rows, plane, first, end);
    case Format::q8_0:
        return decode_rows<Q8Zero>(rows, plane, first, end);
    case Format::q4_0:
        return decode_rows<Q4Zero>(rows, plane, first, end);
    case Format::q5_0:
        return decode_rows<Q5Zero>(rows, plane, first, end);
    case Format::q4_1:
        return decode_rows<Q4One>(rows, plane, first, end);
    case Format::fp8_e4m3_128:
        return decode_rows<Fp8Scaled>(rows, plane, first, end);
    case Format::q5_1:
        return decode_rows<Q5One>(rows, plane, first, end);
    case Format::iq4_nl:
        return decode_rows<Iq4Nl>(rows, plane, first, end);
    case Format::nvfp4:
        return decode_rows<Nvfp4>(rows, plane, first, end);
    case Format::mxfp8:
        return decode_rows<Mxfp8>(rows, plane, first, end);
    case Format::fp8_per_token_head:
        return decode_rows<PerRow<Fp8E4m3>>(rows, plane, first, end);
    case Format::int8_per_token_head:
        return decode_rows<PerRow<std::int8_t>>(rows, plane, first, end);
    case Format::kivi_2bit:
    case Format::kivi_4bit:
    case Format::kivi_2bit_r32:
    case Format::kivi_4bit_r32:
    case Format::kivi_2bit_g64:
    case Format::kivi_4bit_g64:
    case Format::kivi_2bit_g128:
    case Format::kivi_4bit_g128:
        return; // no matter of rows (placed.cuh)
    }
}

/// The same with numbers of type T, or in the plane's own format.
template <class T, unsigned Columns, unsigned Count>
SIMT_DEVICE void load_rows(float (&rows)[Count][Columns], const PlaneRows& plane,
                           std::int64_t first, std::int64_t end) {
    if constexpr (std::is_same_v<T, AnyFormat>) {
        decode_any(rows, plane, first, end);
    } else {
        decode_rows<Plain<T>>(rows, plane, first, end);
    }
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
