// SPDX-License-Identifier: Apache-2.0
// Constants and small structs that a launch plan and the kernels must agree on. C++17, nothing
// beyond the formats.
#pragma once

#include "kernels/formats.h"

#include <cstdint>

namespace kvcaliper::kernels {

inline constexpr std::int64_t kWarpLanes = 32;
inline constexpr std::int64_t kBlockWarps = 4;
inline constexpr std::int64_t kBlockThreads = kWarpLanes * kBlockWarps;

/// A lane of a warp holds every 32nd column of a row, at most 16 of them.
inline constexpr std::int64_t kMaxHeadWidth = 512;
inline constexpr unsigned kLatentColumns = 16;
inline constexpr unsigned kRopeColumns = 2;
inline constexpr std::int64_t kMaxLatentRank = kLatentColumns * kWarpLanes;
inline constexpr std::int64_t kMaxRopeWidth = kRopeColumns * kWarpLanes;

/// Most slots that a warp takes at once: a page must hold a whole number of these.
inline constexpr std::int64_t kPageStep = 4;

// Attention over pages, or with recent slots apart (placed.cuh).

/// Widest rows that several query heads share there.
inline constexpr std::int64_t kMaxPlacedGroupWidth = 256;
/// The narrowest kernel's columns per lane.
inline constexpr unsigned kPlacedColumns = 4;
/// Slots that a warp takes at once: as many as fit into registers.
constexpr unsigned placed_chunk(unsigned columns, unsigned heads) {
    return columns == 16 ? 1 : columns * heads > 16 ? 2 : kPageStep;
}

/// Widest index key: four of its columns in a lane.
inline constexpr unsigned kIndexColumns = 4;
inline constexpr std::int64_t kMaxIndexWidth = kIndexColumns * kWarpLanes;
/// Threads that look for the greatest scores of one sequence, and how often they read all of them:
/// once per bit of a score, then to count and to write.
inline constexpr std::int64_t kSelectThreads = 256;
inline constexpr std::int64_t kSelectPasses = 32 + 2;

/// Query heads that one block scores against each row it loads.
inline constexpr unsigned kGroupedHeads = 4;

inline constexpr std::int64_t kMaxStateSize = 256;
/// Most rows of a state matrix: 32 of them in each of 12 warps.
inline constexpr std::int64_t kMaxKeyWidth = 384;
/// The same of RWKV, whose heads are 64 wide: 32 rows in each of 4 warps.
inline constexpr std::int64_t kMaxRwkvWidth = 128;
/// And of xLSTM, whose keys are up to 256 wide: 32 rows in each of 8 warps.
inline constexpr std::int64_t kXlstmWarps = 8;
inline constexpr std::int64_t kMaxXlstmKeyWidth = 32 * kXlstmWarps;

// Largest relative L2 error per head against a double reference on the same 16-bit values. Widening
// them is exact and everything after is f32, so the element does not matter; the attention bound
// allows for peaky logits (3.9e-6 seen where the logits are 16 times those of normal data, 3.1e-7
// otherwise), the state bound for 64 steps (1.4e-7 seen).
inline constexpr double kAttentionBound = 2e-5;
inline constexpr double kStateBound = 2e-6;

// The tensor cores' kernel rounds each weight before it multiplies a value, to 11 bits in f16 and
// to 16 in the sum of two bf16 numbers; quantised rows are rounded to f16 too.
inline constexpr double kF16WeightBound = 1e-3;
inline constexpr double kBf16WeightBound = 5e-5;

/// Scores are in powers of two: logits times log2(e).
inline constexpr float kLog2E = 1.44269504088896341f;

/// A partial result of one split has the unnormalised sums of an output row, then the largest score
/// (in powers of two), then the sum of weights.
inline constexpr std::int64_t kPartialTail = 2;

/// How the tokens and the query heads of one attention step are dealt out to blocks. The block
/// index counts head tiles fastest, then splits, then kv heads, then sequences: blocks that read
/// the same rows run at the same time and share them in the cache.
struct SplitShape {
    std::int64_t splits = 1;
    std::int64_t tokens_per_split = 1;
    std::int64_t head_tiles = 1; ///< tiles of query heads per kv head
};

/// Which kernel attends: one that multiplies row by row in f32, or one for the tensor cores.
enum class Core : std::int32_t { simt, matrix };

/// Rows of queries in one tile of the tensor cores' kernel, and the warps that share its work: each
/// scores a quarter of the tokens and sums up a quarter of the value columns.
inline constexpr std::int32_t kMatrixRows = 16;
inline constexpr std::int32_t kMatrixParts = 4;
/// Most row tiles in a block. One that converts its rows needs more registers for each thread.
KVCALIPER_ANYWHERE std::int32_t matrix_row_tiles(bool converts) {
    return converts ? 3 : 4;
}
KVCALIPER_ANYWHERE std::int32_t matrix_threads(bool converts) {
    return matrix_row_tiles(converts) * kMatrixParts * 32;
}
/// A weight of a bf16 cache is kept as the sum of two bf16 numbers. One alone has eight bits, and
/// the error of an output, up to 6e-3, would hide a damaged number of the cache.
KVCALIPER_ANYWHERE std::int32_t matrix_weight_parts(Element weights) {
    return weights == Element::bf16 ? 2 : 1;
}
/// A quantised number has more bits than f16: keys are kept as the sum of two, for what a score is
/// off its weight is off in proportion. Of a value one rounded number will do. f16 holds nvfp4.
KVCALIPER_ANYWHERE std::int32_t matrix_key_parts(Format format) {
    return block_of(format).elements > 1 && format != Format::nvfp4 ? 2 : 1;
}
/// Columns of a key that one step of scoring takes; shorter keys end in zeros.
inline constexpr std::int32_t kKeyStep = 32;
/// Eight more numbers than a row has keep the rows of a tile in different banks.
inline constexpr std::int32_t kRowPadding = 8;

/// The tiles that one block of the tensor cores' kernel keeps in shared memory, rows of 16-bit
/// numbers: the queries, `stages` times the keys and values of tile_tokens tokens, and the weights;
/// then one f32 per query row and part.
struct MatrixShape {
    std::int32_t row_tiles = 1;    ///< of kMatrixRows query heads
    std::int32_t tile_tokens = 32; ///< 32 or 64
    std::int32_t stages = 1;       ///< 1 or 2; with 2 one is filled while the other is used
    std::int32_t key_width = 0;
    std::int32_t value_width = 0;
    bool shared_values = false;    ///< a value is the first columns of its key
    std::int32_t weight_parts = 1; ///< 16-bit numbers whose sum is a weight
    std::int32_t key_parts = 1;    ///< the same for a number of a key

    KVCALIPER_ANYWHERE std::int32_t rows() const { return row_tiles * kMatrixRows; }
    KVCALIPER_ANYWHERE std::int32_t key_columns() const {
        return (key_width + kKeyStep - 1) / kKeyStep * kKeyStep;
    }
    KVCALIPER_ANYWHERE std::int32_t query_stride() const { return key_columns() + kRowPadding; }
    KVCALIPER_ANYWHERE std::int32_t key_stride() const {
        return key_parts * key_columns() + kRowPadding;
    }
    KVCALIPER_ANYWHERE std::int32_t value_stride() const {
        return shared_values ? key_stride() : value_width + kRowPadding;
    }
    KVCALIPER_ANYWHERE std::int32_t weight_stride() const {
        return weight_parts * tile_tokens + kRowPadding;
    }

    // In 16-bit numbers.
    KVCALIPER_ANYWHERE std::int32_t query_size() const { return rows() * query_stride(); }
    KVCALIPER_ANYWHERE std::int32_t key_size() const { return tile_tokens * key_stride(); }
    KVCALIPER_ANYWHERE std::int32_t stage_size() const {
        return key_size() + (shared_values ? 0 : tile_tokens * value_stride());
    }
    KVCALIPER_ANYWHERE std::int32_t weight_size() const { return rows() * weight_stride(); }

    KVCALIPER_ANYWHERE std::int32_t shared_bytes() const {
        return 2 * (query_size() + stages * stage_size() + weight_size()) +
               4 * rows() * kMatrixParts;
    }
};

} // namespace kvcaliper::kernels
