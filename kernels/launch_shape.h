// SPDX-License-Identifier: Apache-2.0
// Constants and small structs that a launch plan and the kernels must agree on. C++17, no
// dependency.
#pragma once

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

/// Widest rows of a page that several query heads share.
inline constexpr std::int64_t kMaxPagedGroupWidth = 256;

/// Slots that a warp takes at once from a page: as many as fit into registers.
constexpr unsigned paged_chunk(unsigned columns, unsigned heads) {
    return columns == 16 || columns * heads > 16 ? 2 : kPageStep;
}

/// Query heads that one block scores against each row it loads.
inline constexpr unsigned kGroupedHeads = 4;

inline constexpr std::int64_t kMaxStateSize = 256;
/// Most rows of a state matrix: 32 of them in each of 12 warps.
inline constexpr std::int64_t kMaxKeyWidth = 384;

// Largest relative L2 error per head against a double reference on the same 16-bit values. Widening
// them is exact and everything after is f32, so the element does not matter; the attention bound
// allows for peaky logits (3.9e-6 seen where the logits are 16 times those of normal data, 3.1e-7
// otherwise), the state bound for 64 steps (1.4e-7 seen).
inline constexpr double kAttentionBound = 2e-5;
inline constexpr double kStateBound = 2e-6;

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

} // namespace kvcaliper::kernels
