// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention_core.h"

#include <algorithm>
#include <array>

namespace kvcaliper::kernels {

namespace {

constexpr std::int64_t kLeastGroup = 3;
constexpr std::int64_t kLeastCapability = 80;
constexpr std::int64_t kColumnUnit = 16;
constexpr std::int64_t kMaxKeyColumns = 576;
constexpr std::int64_t kMaxValueColumns = 512;

std::string found(const char* what, std::int64_t value) {
    return std::string(what) + " " + std::to_string(value);
}

/// Why the tensor cores cannot hold rows of these widths; empty when they can.
std::string width_obstacle(const AttentionKind& kind) {
    const std::int64_t stored_key = kind.key_width - kind.rope_width;
    for (const std::int64_t width : {stored_key, kind.rope_width, kind.value_width}) {
        if (width % kColumnUnit != 0) {
            return found("a width that is no multiple of 16,", width);
        }
    }
    for (const auto& [format, width] : {std::pair{kind.key_format, stored_key},
                                        std::pair{rope_format(kind.key_format), kind.rope_width},
                                        std::pair{kind.value_format, kind.value_width}}) {
        if (stored_row_bytes(format, width) % 2 != 0) { // the tile loader reads two bytes at once
            return found("rows of an odd number of bytes,", stored_row_bytes(format, width));
        }
    }
    if (kind.key_width > kMaxKeyColumns) {
        return found("keys wider than 576,", kind.key_width);
    }
    return kind.value_width > kMaxValueColumns ? found("values wider than 512,", kind.value_width)
                                               : std::string();
}

/// True for formats that the tile loader makes f16 of, alone or as the sum of two. f16 does not
/// hold what bf16 and f32 hold.
bool fits_f16(Format format) {
    switch (format) {
    case Format::f16:
    case Format::fp8_e4m3:
    case Format::q8_0:
    case Format::q4_0:
    case Format::q5_0:
    case Format::q4_1:
    case Format::q5_1:
    case Format::iq4_nl:
    case Format::nvfp4: // exactly: 2 bits times 4, from 2^-10 to 6 · 448
        return true;
    default:
        return false;
    }
}

/// The type that queries, keys and values are multiplied in: bf16 where all of them are stored so,
/// else f16; f32 when neither will do.
Element operand_type(const AttentionKind& kind) {
    if (kind.element == Element::bf16 && !converts(kind)) {
        return Element::bf16;
    }
    return fits_f16(kind.key_format) && fits_f16(kind.value_format) ? Element::f16 : Element::f32;
}

std::string obstacle(const AttentionKind& kind, const DeviceFacts& facts) {
    if (kind.group < kLeastGroup) {
        return found("few query heads per kv head:", kind.group);
    }
    if (facts.compute_capability < kLeastCapability) {
        return found("tensor cores older than compute capability 80:", facts.compute_capability);
    }
    if (operand_type(kind) == Element::f32) {
        return std::string("no 16-bit type holds queries and a cache of ") +
               name_of(kind.key_format) + " and " + name_of(kind.value_format);
    }
    return width_obstacle(kind);
}

/// The roomiest tiles that leave space for a second block, which works while the first one waits;
/// else the roomiest that fit.
std::optional<MatrixShape> fitting(MatrixShape shape, bool converting, const DeviceFacts& facts) {
    constexpr std::array<std::pair<int, int>, 3> options{{{64, 2}, {32, 2}, {32, 1}}};
    for (const std::int64_t blocks : {2, 1}) {
        for (const auto& [tokens, stages] : options) {
            shape.tile_tokens = tokens;
            shape.stages = stages;
            const std::int64_t threads = std::int64_t{shape.row_tiles} * kMatrixParts * kWarpLanes;
            if (resident_blocks(threads, matrix_threads(converting), shape.shared_bytes(), facts) >=
                blocks) {
                return shape;
            }
        }
    }
    return std::nullopt;
}

/// As many row tiles per block as the group fills, evenly: each reads the cache again.
std::optional<MatrixShape> shape_for(const AttentionKind& kind, const DeviceFacts& facts) {
    MatrixShape shape;
    shape.key_width = static_cast<std::int32_t>(kind.key_width);
    shape.value_width = static_cast<std::int32_t>(kind.value_width);
    shape.shared_values = kind.shared_values;
    shape.weight_parts = matrix_weight_parts(operand_type(kind));
    shape.key_parts = matrix_key_parts(kind.key_format);
    const std::int64_t tiles = (kind.group + kMatrixRows - 1) / kMatrixRows;
    const std::int64_t most = matrix_row_tiles(converts(kind));
    for (std::int64_t blocks = (tiles + most - 1) / most; blocks <= tiles; ++blocks) {
        shape.row_tiles = static_cast<std::int32_t>((tiles + blocks - 1) / blocks);
        if (const auto fits = fitting(shape, converts(kind), facts)) {
            return fits;
        }
    }
    return std::nullopt;
}

} // namespace

bool converts(const AttentionKind& kind) {
    const Format plain = format_of(kind.element);
    return kind.key_format != plain || kind.value_format != plain;
}

std::int64_t resident_blocks(std::int64_t threads, std::int64_t most_threads,
                             std::int64_t shared_bytes, const DeviceFacts& facts) {
    constexpr std::int64_t reserved = 1024; // shared bytes the system takes of each block
    const std::int64_t by_registers = most_threads / threads;
    const std::int64_t by_shared = (facts.shared_limit + reserved) / (shared_bytes + reserved);
    return std::min(by_registers, by_shared);
}

std::int64_t tile_row_load_bytes(Format format, std::int64_t width) {
    const std::int64_t blocks = width / block_of(format).elements;
    switch (format) {
    case Format::q8_0:
    case Format::q4_0:
    case Format::q5_0:
    case Format::iq4_nl:
        return stored_row_bytes(format, width) + blocks * 2;
    case Format::q4_1:
    case Format::q5_1:
        return stored_row_bytes(format, width) + blocks * 4;
    default:
        return stored_row_bytes(format, width);
    }
}

CoreChoice choose_core(const AttentionKind& kind, const DeviceFacts& facts) {
    if (const std::string reason = obstacle(kind, facts); !reason.empty()) {
        return {Core::simt, reason, Element::f32, {}};
    }
    const auto shape = shape_for(kind, facts);
    if (!shape) {
        return {Core::simt,
                found("too little shared memory for a tile:", facts.shared_limit),
                Element::f32,
                {}};
    }
    return {Core::matrix, found("several query heads per kv head:", kind.group), operand_type(kind),
            *shape};
}

} // namespace kvcaliper::kernels
