// SPDX-License-Identifier: Apache-2.0
// Rows of a plane in any format on their way into a tile of 16-bit numbers in shared memory. Rows
// that are stored as they are multiplied are copied without passing a register; others are made
// into T sixteen numbers at a time.
#pragma once

#include "kernels/cuda/planes.cuh"
#include "kernels/simt/warp_matrix.h"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

/// Eight 16-bit numbers, which is what a copy or a matrix row takes at once.
struct alignas(16) Chunk {
    std::uint32_t pairs[4];
};

/// Two numbers rounded to T, the first one in the lower half.
template <class T> SIMT_DEVICE std::uint32_t packed(float first, float second) {
    constexpr bool f16 = std::is_same_v<T, F16>;
#if defined(__CUDA_ARCH__)
    if constexpr (f16) {
        const __half2 pair = __floats2half2_rn(first, second);
        return *reinterpret_cast<const std::uint32_t*>(&pair);
    } else {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
        return *reinterpret_cast<const std::uint32_t*>(&pair);
    }
#else
    const auto bits = [](float value) -> std::uint32_t {
        return f16 ? to_f16(value).bits : to_bf16(value).bits;
    };
    return bits(first) | bits(second) << 16;
#endif
}

template <class T> SIMT_DEVICE float half_of_pair(std::uint32_t pair, unsigned index) {
    return to_float(T{static_cast<std::uint16_t>(pair >> (16 * index))});
}

template <class T> SIMT_DEVICE Chunk packed_chunk(const float (&numbers)[8]) {
    Chunk chunk;
    SIMT_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
        chunk.pairs[i] = packed<T>(numbers[2 * i], numbers[2 * i + 1]);
    }
    return chunk;
}

/// Eight bytes within a block, whose scale leaves them aligned to two; or in a row of an even size.
SIMT_DEVICE void load_eight(std::uint32_t (&words)[2], const unsigned char* address) {
    SIMT_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
        const std::uint32_t low = load_at<std::uint16_t>(address + 4 * i);
        const std::uint32_t high = load_at<std::uint16_t>(address + 4 * i + 2);
        words[i] = low | high << 16;
    }
}

SIMT_DEVICE int byte_of(const std::uint32_t (&words)[2], unsigned index) {
    return static_cast<int>(words[index / 4] >> (8 * (index % 4)) & 255u);
}

/// Sixteen numbers of a row: eight from column `first` on and eight from `second` on.
struct Unit {
    unsigned first, second;
    float numbers[2][8];
};

// One codec per format: unit number `index` of a row that is so wide. A unit of a block of 32 has
// its numbers 0 to 7 and 16 to 23 or the eight behind each of them, so that a byte's two quants
// stay together.

SIMT_DEVICE const unsigned char* place_in_block(Unit& unit, const unsigned char* row,
                                                unsigned index, Format format) {
    unit.first = 32 * (index / 2) + 8 * (index % 2);
    unit.second = unit.first + 16;
    return row + block_of(format).bytes * (index / 2);
}

SIMT_DEVICE void place_in_row(Unit& unit, unsigned index) {
    unit.first = 16 * index;
    unit.second = unit.first + 8;
}

/// The quants of a unit whose nibbles start at `nibbles`, with a fifth bit where there is one.
SIMT_DEVICE void decode_nibbles(Unit& unit, const unsigned char* nibbles, int high_low,
                                int high_high, int middle, float scale, float least) {
    std::uint32_t words[2];
    load_eight(words, nibbles);
    SIMT_UNROLL
    for (unsigned i = 0; i < 8; ++i) {
        const int both = byte_of(words, i);
        const int low = (both & 15) | (high_low >> i & 1) << 4;
        const int high = both >> 4 | (high_high >> i & 1) << 4;
        unit.numbers[0][i] = static_cast<float>(low - middle) * scale + least;
        unit.numbers[1][i] = static_cast<float>(high - middle) * scale + least;
    }
}

template <class T> struct HalfUnit {
    SIMT_DEVICE static void read(Unit& unit, const unsigned char* row, unsigned index,
                                 std::int64_t) {
        place_in_row(unit, index);
        SIMT_UNROLL
        for (unsigned part = 0; part < 2; ++part) {
            const auto chunk = load_at<Chunk>(row + 32 * index + 16 * part);
            SIMT_UNROLL
            for (unsigned i = 0; i < 8; ++i) {
                unit.numbers[part][i] = half_of_pair<T>(chunk.pairs[i / 2], i % 2);
            }
        }
    }
};

struct Fp8Unit {
    SIMT_DEVICE static void read(Unit& unit, const unsigned char* row, unsigned index,
                                 std::int64_t) {
        place_in_row(unit, index);
        const auto chunk = load_at<Chunk>(row + 16 * index);
        SIMT_UNROLL
        for (unsigned i = 0; i < 16; ++i) {
            const auto bits = static_cast<std::uint8_t>(chunk.pairs[i / 4] >> (8 * (i % 4)));
            unit.numbers[i / 8][i % 8] = to_float(Fp8E4m3{bits});
        }
    }
};

struct Q8ZeroUnit {
    SIMT_DEVICE static void read(Unit& unit, const unsigned char* row, unsigned index,
                                 std::int64_t) {
        const unsigned char* const block = place_in_block(unit, row, index, Format::q8_0);
        const float scale = load_half(block);
        SIMT_UNROLL
        for (unsigned part = 0; part < 2; ++part) {
            std::uint32_t words[2];
            load_eight(words, block + 2 + 8 * (index % 2) + 16 * part);
            SIMT_UNROLL
            for (unsigned i = 0; i < 8; ++i) {
                const auto quant = static_cast<std::int8_t>(byte_of(words, i));
                unit.numbers[part][i] = static_cast<float>(quant) * scale;
            }
        }
    }
};

struct Q4ZeroUnit {
    SIMT_DEVICE static void read(Unit& unit, const unsigned char* row, unsigned index,
                                 std::int64_t) {
        const unsigned char* const block = place_in_block(unit, row, index, Format::q4_0);
        decode_nibbles(unit, block + 2 + 8 * (index % 2), 0, 0, 8, load_half(block), 0.0f);
    }
};

struct Q5ZeroUnit {
    SIMT_DEVICE static void read(Unit& unit, const unsigned char* row, unsigned index,
                                 std::int64_t) {
        const unsigned char* const block = place_in_block(unit, row, index, Format::q5_0);
        const unsigned char* const high = block + 2 + index % 2;
        decode_nibbles(unit, block + 6 + 8 * (index % 2), load(high), load(high + 2), 16,
                       load_half(block), 0.0f);
    }
};

struct Q4OneUnit {
    SIMT_DEVICE static void read(Unit& unit, const unsigned char* row, unsigned index,
                                 std::int64_t) {
        const unsigned char* const block = place_in_block(unit, row, index, Format::q4_1);
        decode_nibbles(unit, block + 4 + 8 * (index % 2), 0, 0, 0, load_half(block),
                       load_half(block + 2));
    }
};

struct Q5OneUnit {
    SIMT_DEVICE static void read(Unit& unit, const unsigned char* row, unsigned index,
                                 std::int64_t) {
        const unsigned char* const block = place_in_block(unit, row, index, Format::q5_1);
        const unsigned char* const high = block + 4 + index % 2;
        decode_nibbles(unit, block + 8 + 8 * (index % 2), load(high), load(high + 2), 0,
                       load_half(block), load_half(block + 2));
    }
};

struct Iq4NlUnit {
    SIMT_DEVICE static void read(Unit& unit, const unsigned char* row, unsigned index,
                                 std::int64_t) {
        const unsigned char* const block = place_in_block(unit, row, index, Format::iq4_nl);
        const float scale = load_half(block);
        std::uint32_t words[2];
        load_eight(words, block + 2 + 8 * (index % 2));
        SIMT_UNROLL
        for (unsigned i = 0; i < 8; ++i) {
            unit.numbers[0][i] = iq4_level(byte_of(words, i) & 15) * scale;
            unit.numbers[1][i] = iq4_level(byte_of(words, i) >> 4) * scale;
        }
    }
};

/// Sixteen numbers are a block of nvfp4; the scales lie behind the row's numbers.
struct Nvfp4Unit {
    SIMT_DEVICE static void read(Unit& unit, const unsigned char* row, unsigned index,
                                 std::int64_t width) {
        place_in_row(unit, index);
        const float scale = to_float(load_at<Fp8E4m3>(row + width / 2 + index));
        std::uint32_t words[2];
        load_eight(words, row + 8 * index);
        SIMT_UNROLL
        for (unsigned i = 0; i < 16; ++i) {
            const int code = byte_of(words, i / 2) >> (4 * (i % 2)) & 15;
            unit.numbers[i / 8][i % 8] = e2m1_value(code) * scale;
        }
    }
};

/// Deals the pieces of a tile's rows out to the threads of a block.
struct PieceWalk {
    unsigned row, piece, row_step, piece_step, per_row;

    SIMT_DEVICE explicit PieceWalk(unsigned pieces_per_row)
        : row(threadIdx.x / pieces_per_row), piece(threadIdx.x % pieces_per_row),
          row_step(blockDim.x / pieces_per_row), piece_step(blockDim.x % pieces_per_row),
          per_row(pieces_per_row) {}

    SIMT_DEVICE void advance() {
        row += row_step;
        piece += piece_step;
        if (piece >= per_row) {
            piece -= per_row;
            ++row;
        }
    }
};

/// Rows of 16-bit numbers in shared memory, `stride` apart.
struct Tile {
    std::uint16_t* numbers;
    unsigned rows, stride;

    SIMT_DEVICE std::uint16_t* at(unsigned row, unsigned column) const {
        return numbers + row * stride + column;
    }
    SIMT_DEVICE void put(unsigned row, unsigned column, const Chunk& chunk) const {
        *reinterpret_cast<Chunk*>(at(row, column)) = chunk;
    }
};

/// Rows first … of a plane; those from `end` on become zeros: whatever lies there, 0 · NaN would
/// reach the sums.
SIMT_DEVICE void copy_rows(const Tile& tile, const PlaneRows& plane, std::int64_t first,
                           std::int64_t end) {
    for (PieceWalk walk(static_cast<unsigned>(plane.width) / 8); walk.row < tile.rows;
         walk.advance()) {
        const bool exists = first + walk.row < end;
        const unsigned char* const from =
            exists ? plane.rows + (first + walk.row) * plane.bytes + 16 * walk.piece : plane.rows;
        cp_async_16(tile.at(walk.row, 8 * walk.piece), from, exists);
    }
}

/// Eight numbers rounded to T and, `further` columns on, what the rounding leaves; 0: nowhere.
template <class T>
SIMT_DEVICE void put_numbers(const Tile& tile, unsigned row, unsigned column,
                             const float (&numbers)[8], unsigned further) {
    const Chunk chunk = packed_chunk<T>(numbers);
    tile.put(row, column, chunk);
    if (further > 0) {
        float left[8];
        SIMT_UNROLL
        for (unsigned i = 0; i < 8; ++i) {
            left[i] = numbers[i] - half_of_pair<T>(chunk.pairs[i / 2], i % 2);
        }
        tile.put(row, column + further, packed_chunk<T>(left));
    }
}

/// The same through registers, with any codec.
template <class Codec, class T>
SIMT_DEVICE void convert_rows(const Tile& tile, const PlaneRows& plane, std::int64_t first,
                              std::int64_t end, unsigned further) {
    SIMT_UNROLL_BY(2)
    for (PieceWalk walk(static_cast<unsigned>(plane.width) / 16); walk.row < tile.rows;
         walk.advance()) {
        Unit unit{};
        if (first + walk.row < end) {
            Codec::read(unit, plane.rows + (first + walk.row) * plane.bytes, walk.piece,
                        plane.width);
        } else {
            place_in_row(unit, walk.piece);
        }
        put_numbers<T>(tile, walk.row, unit.first, unit.numbers[0], further);
        put_numbers<T>(tile, walk.row, unit.second, unit.numbers[1], further);
    }
}

/// A tile for products in T of rows that are stored so or, for f16 products, in eight bits or less.
/// The code for those takes registers; without `Converts` it is left out. What T does not hold of a
/// number in a block format goes `further` columns on.
template <class T, bool Converts>
SIMT_DEVICE void load_tile(const Tile& tile, const PlaneRows& plane, std::int64_t first,
                           std::int64_t end, unsigned further) {
    if constexpr (Converts) {
        switch (plane.format) {
        case Format::fp8_e4m3:
            return convert_rows<Fp8Unit, T>(tile, plane, first, end, 0);
        case Format::q8_0:
            return convert_rows<Q8ZeroUnit, T>(tile, plane, first, end, further);
        case Format::q4_0:
            return convert_rows<Q4ZeroUnit, T>(tile, plane, first, end, further);
        case Format::q5_0:
            return convert_rows<Q5ZeroUnit, T>(tile, plane, first, end, further);
        case Format::q4_1:
            return convert_rows<Q4OneUnit, T>(tile, plane, first, end, further);
        case Format::q5_1:
            return convert_rows<Q5OneUnit, T>(tile, plane, first, end, further);
        case Format::iq4_nl:
            return convert_rows<Iq4NlUnit, T>(tile, plane, first, end, further);
        case Format::nvfp4: // f16 holds all of it
            return convert_rows<Nvfp4Unit, T>(tile, plane, first, end, 0);
        default:
            break;
        }
    }
    copy_rows(tile, plane, first, end);
}

/// Zeros in columns first … end - 1, both multiples of eight, of every row.
SIMT_DEVICE void clear_columns(const Tile& tile, unsigned first, unsigned end) {
    for (unsigned row = threadIdx.x; row < tile.rows; row += blockDim.x) {
        for (unsigned column = first; column < end; column += 8) {
            tile.put(row, column, Chunk{});
        }
    }
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
