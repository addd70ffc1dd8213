// SPDX-License-Identifier: Apache-2.0
// Split decode attention on the tensor cores: keys and values in planes of their own, or multi-head
// latent attention, where a value is the first columns of its key. Up to 16 query heads that read
// the same kv head are the rows of one matrix. Four warps share such a row tile: each scores a
// quarter of a tile's tokens, and each sums up a quarter of the value columns.
//
// Queries stay as they are stored; the scale multiplies the f32 score. Folding it into a rounded
// query would cost up to 4e-3 of an output.
#pragma once

#include "kernels/cuda/matrix_tiles.cuh"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

/// The work of one warp: the sums of its columns and the softmax of its tokens. `Groups` times 16
/// columns, every fourth group of the row.
template <class T, unsigned Groups> struct MatrixWarp {
    static constexpr unsigned kTokenGroups = 2; ///< of eight tokens, at most, in a tile
    static constexpr unsigned kWeightParts = static_cast<unsigned>(
        matrix_weight_parts(std::is_same_v<T, F16> ? Element::f16 : Element::bf16));

    float sums[Groups][2][4];
    float scores[kTokenGroups][4];
    float largest[2]; ///< of row lane / 4 and the row eight further
    float total[2];   ///< of the weights of this lane's tokens
    unsigned row_tile, part, lane;

    SIMT_DEVICE void start() {
        row_tile = static_cast<unsigned>(warp_index()) / kMatrixParts;
        part = static_cast<unsigned>(warp_index()) % kMatrixParts;
        lane = static_cast<unsigned>(lane_index());
        clear_row<Groups * 8>(&sums[0][0][0]);
        largest[0] = largest[1] = -INFINITY;
        total[0] = total[1] = 0.0f;
    }

    SIMT_DEVICE unsigned row(unsigned half) const {
        return kMatrixRows * row_tile + lane / 4 + 8 * half;
    }
    /// The first of this lane's two tokens of a group.
    SIMT_DEVICE unsigned token(unsigned group, unsigned groups) const {
        return 8 * (part * groups + group) + 2 * (lane % 4);
    }

    /// Where this lane's row of the left operand starts: rows as stored, then the same eight
    /// columns further.
    SIMT_DEVICE const std::uint16_t* left(const Tile& tile) const {
        return tile.at(kMatrixRows * row_tile + lane % 16, 8 * (lane / 16));
    }

    SIMT_DEVICE void score(const Tile& queries, const Tile& keys, unsigned key_columns,
                           unsigned key_parts, unsigned groups) {
        clear_row<kTokenGroups * 4>(&scores[0][0]);
        const std::uint16_t* const query = left(queries);
        const std::uint16_t* const key = keys.at(8 * part * groups + lane % 8, 8 * (lane / 8));
        SIMT_UNROLL_BY((Groups > 4 ? 1 : 2))
        for (unsigned column = 0; column < key_columns; column += kKeyStep) {
            std::uint32_t a[2][4];
            ldmatrix_x4(a[0], query + column);
            ldmatrix_x4(a[1], query + column + 16);
            SIMT_UNROLL
            for (unsigned group = 0; group < kTokenGroups; ++group) {
                for (unsigned i = 0; group < groups && i < key_parts; ++i) {
                    std::uint32_t b[4];
                    ldmatrix_x4(b, key + 8 * group * keys.stride + i * key_columns + column);
                    mma_16816<T>(scores[group], a[0], b[0], b[1]);
                    mma_16816<T>(scores[group], a[1], b[2], b[3]);
                }
            }
        }
    }

    /// Scores in powers of two; those of tokens from `left_tokens` on weigh nothing. Leaves this
    /// warp's largest of each row for the others.
    SIMT_DEVICE void scale(float log2_scale, std::int64_t left_tokens, unsigned groups,
                           float* shares) {
        float top[2] = {largest[0], largest[1]};
        SIMT_UNROLL
        for (unsigned group = 0; group < kTokenGroups; ++group) {
            SIMT_UNROLL
            for (unsigned i = 0; i < 4; ++i) {
                const bool exists = group < groups && token(group, groups) + i % 2 < left_tokens;
                scores[group][i] = exists ? log2_scale * scores[group][i] : -INFINITY;
                top[i / 2] = fmaxf(top[i / 2], scores[group][i]);
            }
        }
        tell(top, shares, [](float a, float b) { return fmaxf(a, b); });
    }

    /// The scores become weights, rounded and left for the others; what was summed before is
    /// scaled.
    SIMT_DEVICE void weigh(const Tile& weights, unsigned groups, const float* shares) {
        float kept[2];
        SIMT_UNROLL
        for (unsigned half = 0; half < 2; ++half) {
            float top = largest[half];
            SIMT_UNROLL
            for (unsigned other = 0; other < kMatrixParts; ++other) {
                top = fmaxf(top, shares[row(half) * kMatrixParts + other]);
            }
            kept[half] = weight_of(largest[half], top);
            largest[half] = top;
            total[half] *= kept[half];
        }
        SIMT_UNROLL
        for (unsigned group = 0; group < kTokenGroups; ++group) {
            SIMT_UNROLL
            for (unsigned half = 0; half < 2; ++half) {
                if (group < groups) {
                    put_weights(weights.at(row(half), token(group, groups)), 32 * groups, half,
                                weight_of(scores[group][2 * half], largest[half]),
                                weight_of(scores[group][2 * half + 1], largest[half]));
                }
            }
        }
        rescale(kept);
    }

    /// Two weights that lie side by side, and what their rounding leaves `further` columns on. The
    /// totals are of the rounded ones, so that a row's weights sum to one.
    SIMT_DEVICE void put_weights(std::uint16_t* to, unsigned further, unsigned half, float first,
                                 float second) {
        SIMT_UNROLL
        for (unsigned i = 0; i < kWeightParts; ++i) {
            const std::uint32_t pair = packed<T>(first, second);
            *reinterpret_cast<std::uint32_t*>(to + i * further) = pair;
            total[half] += half_of_pair<T>(pair, 0) + half_of_pair<T>(pair, 1);
            first -= half_of_pair<T>(pair, 0);
            second -= half_of_pair<T>(pair, 1);
        }
    }

    SIMT_DEVICE void rescale(const float (&kept)[2]) {
        SIMT_UNROLL
        for (unsigned group = 0; group < Groups; ++group) {
            SIMT_UNROLL
            for (unsigned i = 0; i < 8; ++i) {
                sums[group][i / 4][i % 4] *= kept[i % 4 / 2];
            }
        }
    }

    SIMT_DEVICE void add(const Tile& weights, const Tile& values, unsigned column_groups) {
        const std::uint16_t* const weight = left(weights);
        const std::uint16_t* const value = values.at(lane % 16, 8 * (lane / 16));
        SIMT_UNROLL_BY((Groups >= 4 ? 1 : 2)) // wide rows need the registers
        for (unsigned token = 0; token < values.rows; token += 16) {
            std::uint32_t a[kWeightParts][4];
            SIMT_UNROLL
            for (unsigned i = 0; i < kWeightParts; ++i) {
                ldmatrix_x4(a[i], weight + i * values.rows + token);
            }
            SIMT_UNROLL
            for (unsigned group = 0; group < Groups; ++group) {
                const unsigned place = part + kMatrixParts * group;
                if (place < column_groups) {
                    std::uint32_t b[4];
                    ldmatrix_x4_trans(b, value + token * values.stride + 16 * place);
                    SIMT_UNROLL
                    for (unsigned i = 0; i < kWeightParts; ++i) {
                        mma_16816<T>(sums[group][0], a[i], b[0], b[1]);
                        mma_16816<T>(sums[group][1], a[i], b[2], b[3]);
                    }
                }
            }
        }
    }

    /// Joins two numbers over the four lanes of each row and leaves them as this warp's share.
    template <class Join>
    SIMT_DEVICE void tell(float (&number)[2], float* shares, Join join) const {
        SIMT_UNROLL
        for (unsigned half = 0; half < 2; ++half) {
            SIMT_UNROLL
            for (int bits = 1; bits < 4; bits *= 2) {
                number[half] = join(number[half], __shfl_xor_sync(0xffffffffu, number[half], bits));
            }
            if (lane % 4 == 0) {
                shares[row(half) * kMatrixParts + part] = number[half];
            }
        }
    }

    /// One partial row (see kPartialTail) of each query head that exists.
    SIMT_DEVICE void put(const BlockPlace& at, std::int64_t value_width, std::int64_t splits,
                         const float* shares, float* partials) const {
        SIMT_UNROLL
        for (unsigned half = 0; half < 2; ++half) {
            if (row(half) < at.heads) {
                float* const to = partials + ((at.first_head + row(half)) * splits + at.split) *
                                                 (value_width + kPartialTail);
                put_sums(to, half, static_cast<unsigned>(value_width) / 16);
                if (part == 0 && lane % 4 == 0) {
                    const float* const of_parts = shares + row(half) * kMatrixParts;
                    store(to + value_width, largest[half]);
                    store(to + value_width + 1,
                          (of_parts[0] + of_parts[1]) + (of_parts[2] + of_parts[3]));
                }
            }
        }
    }

    SIMT_DEVICE void put_sums(float* to, unsigned half, unsigned column_groups) const {
        SIMT_UNROLL
        for (unsigned group = 0; group < Groups; ++group) {
            const unsigned place = part + kMatrixParts * group;
            SIMT_UNROLL
            for (unsigned i = 0; i < 4; ++i) {
                if (place < column_groups) {
                    store(to + 16 * place + 8 * (i / 2) + 2 * (lane % 4) + i % 2,
                          sums[group][i / 2][2 * half + i % 2]);
                }
            }
        }
    }
};

/// Scores, weighs and adds up the tile of a stage, `left` tokens of which exist.
template <class T, bool Converts, unsigned Groups>
SIMT_DEVICE void attend_tile(MatrixWarp<T, Groups>& warp, const MatrixTiles& tiles, unsigned stage,
                             const MatrixShape& shape, float log2_scale, std::int64_t left) {
    const auto groups = static_cast<unsigned>(shape.tile_tokens) / 32;
    warp.score(tiles.queries, tiles.keys(stage), static_cast<unsigned>(shape.key_columns()),
               Converts ? static_cast<unsigned>(shape.key_parts) : 1, groups);
    warp.scale(log2_scale, left, groups, tiles.shares);
    __syncthreads();
    warp.weigh(tiles.weights, groups, tiles.shares);
    __syncthreads();
    warp.add(tiles.weights, tiles.values(stage), static_cast<unsigned>(shape.value_width) / 16);
}

/// All tiles of a block in turn. With two stages the next tile is on its way while one is used;
/// with one stage a tile is loaded just before.
template <class T, bool Converts, unsigned Groups>
SIMT_DEVICE void attend_tiles(MatrixWarp<T, Groups>& warp, const MatrixView& view,
                              const MatrixTiles& tiles, const BlockPlace& at,
                              const MatrixShape& shape, float log2_scale) {
    const bool ahead = shape.stages == 2;
    const std::int64_t distance = ahead ? shape.tile_tokens : 0;
    unsigned stage = ahead ? 1 : 0;
    for (std::int64_t first = at.begin - distance; first < at.end; first += shape.tile_tokens) {
        const unsigned next_stage = ahead ? 1 - stage : stage;
        cp_async_wait<0>();
        __syncthreads(); // all copies of this tile are there, and nobody uses the next stage
        if (first + distance < at.end) {
            load_stage<T, Converts>(view, tiles, next_stage, at, first + distance, shape);
        }
        if (!ahead) {
            cp_async_wait<0>();
            __syncthreads();
        }
        if (first >= at.begin) {
            attend_tile<T, Converts>(warp, tiles, stage, shape, log2_scale, at.end - first);
        }
        stage = next_stage;
    }
}

/// Blocks of 4 · row_tiles warps. Without tensor cores of that kind the kernel is empty, and no
/// plan chooses it.
template <class T, bool Converts, unsigned Groups>
__global__ void __launch_bounds__(matrix_threads(Converts), 1)
    attend_matrix(MatrixView view, MatrixShape shape, SplitShape split, float log2_scale,
                  float* partials) {
#if defined(KVCALIPER_TENSOR_CORES)
    SIMT_DYN_SHARED(std::uint16_t, shared);
    const MatrixTiles tiles(shared, shape);
    BlockPlace at;
    at.find(view.kv_heads, view.heads / view.kv_heads, view.valid, shape.rows(), split);
    MatrixWarp<T, Groups> warp;
    warp.start();
    if (at.begin < at.end) {
        end_rows_in_zeros(tiles, shape);
        load_queries_tile<T, Converts>(view, tiles.queries, at);
        attend_tiles<T, Converts>(warp, view, tiles, at, shape, log2_scale);
    }
    warp.tell(warp.total, tiles.shares, [](float a, float b) { return a + b; });
    __syncthreads();
    warp.put(at, shape.value_width, split.splits, tiles.shares, partials);
#endif
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
