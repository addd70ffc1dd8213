// SPDX-License-Identifier: Apache-2.0
// Split decode attention on the tensor cores: keys and values in planes of their own, or multi-head
// latent attention, where a value is the first columns of its key. Up to 16 query heads that read
// the same kv head are the rows of one matrix. Four warps share such a row tile: each scores a
// quarter of a tile's tokens, and each sums up a quarter of the value columns.
//
// Queries stay as they are stored; the scale multiplies the f32 score. Folding it into a rounded
// query would cost up to 4e-3 of an output.
#pragma once

#include "kernels/cuda/split.cuh"
#include "kernels/cuda/tile.cuh"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

/// One part of a query and of a key: they are multiplied and the parts' products added.
struct ScorePart {
    const void* query; ///< [sequences][heads][width]
    const void* key;   ///< [sequences][kv_heads][slots][width]
    std::int64_t width;
};

/// Either kind of attention, as the tensor cores' kernel sees it.
struct MatrixView {
    ScorePart score, rope; ///< the second one may have no columns
    const void* values;    ///< [sequences][kv_heads][slots][value_width], or null: of `score.key`
    std::int64_t heads, kv_heads, slots, valid;
    Element element; ///< of the queries
    Format key_format, value_format;
};

inline MatrixView matrix_view(const AttentionView& view) {
    return {{view.q, view.k, view.key_width},
            {nullptr, nullptr, 0},
            view.v,
            view.heads,
            view.kv_heads,
            view.slots,
            view.valid,
            view.element,
            view.key_format,
            view.value_format};
}

inline MatrixView matrix_view(const LatentView& view) {
    return {{view.q_latent, view.latent, view.rank},
            {view.q_rope, view.rope, view.rope_width},
            nullptr,
            view.heads,
            1,
            view.slots,
            view.valid,
            view.element,
            view.format,
            view.format};
}

/// Where the tiles of a block lie.
struct MatrixTiles {
    Tile queries, weights;
    Tile first_keys, first_values; ///< of stage 0
    unsigned stage_size;
    float* shares; ///< [rows][parts]: what the warps of a row tile tell each other

    SIMT_DEVICE MatrixTiles(std::uint16_t* shared, const MatrixShape& shape) {
        const auto rows = static_cast<unsigned>(shape.rows());
        const auto tokens = static_cast<unsigned>(shape.tile_tokens);
        stage_size = static_cast<unsigned>(shape.stage_size());
        queries = {shared, rows, static_cast<unsigned>(shape.query_stride())};
        std::uint16_t* const stages = shared + shape.query_size();
        first_keys = {stages, tokens, static_cast<unsigned>(shape.key_stride())};
        first_values = {stages + (shape.shared_values ? 0 : shape.key_size()), tokens,
                        static_cast<unsigned>(shape.value_stride())};
        weights = {stages + shape.stages * shape.stage_size(), rows,
                   static_cast<unsigned>(shape.weight_stride())};
        shares = reinterpret_cast<float*>(weights.numbers + shape.weight_size());
    }

    SIMT_DEVICE Tile keys(unsigned stage) const {
        return {first_keys.numbers + stage * stage_size, first_keys.rows, first_keys.stride};
    }
    SIMT_DEVICE Tile values(unsigned stage) const {
        return {first_values.numbers + stage * stage_size, first_values.rows, first_values.stride};
    }
};

/// A tile's columns from `first` on.
SIMT_DEVICE Tile columns_from(const Tile& tile, std::int64_t first) {
    return {tile.numbers + first, tile.rows, tile.stride};
}

template <class T, bool Converts>
SIMT_DEVICE void load_query_part(const ScorePart& part, const Tile& columns, Format format,
                                 const BlockPlace& at) {
    const PlaneRows rows = plane_at(part.query, 0, 0, part.width, format);
    const std::int64_t end = at.first_head + at.heads;
    if (part.width == 0) {
        return;
    }
    if (Converts && format == Format::bf16) {
        convert_rows<HalfUnit<Bf16>, T>(columns, rows, at.first_head, end, 0);
    } else {
        copy_rows(columns, rows, at.first_head, end);
    }
}

/// The keys and values of a tile from slot `first` on. One loop over what there is to load: the
/// code for every format is there once.
template <class T, bool Converts>
SIMT_DEVICE void load_stage(const MatrixView& view, const MatrixTiles& tiles, unsigned stage,
                            const BlockPlace& at, std::int64_t first, const MatrixShape& shape) {
    const auto further = static_cast<unsigned>(shape.key_parts == 2 ? shape.key_columns() : 0);
    const std::int64_t plane = at.sequence * view.kv_heads + at.kv_head;
    SIMT_UNROLL_BY(1)
    for (int i = 0; i < 3; ++i) {
        const bool value = i == 2;
        const void* const from = value ? view.values : i == 0 ? view.score.key : view.rope.key;
        const std::int64_t width = value    ? shape.value_width
                                   : i == 0 ? view.score.width
                                            : view.rope.width;
        const Tile tile = value ? tiles.values(stage)
                                : columns_from(tiles.keys(stage), i == 0 ? 0 : view.score.width);
        const Format format = value ? view.value_format : view.key_format;
        if (from != nullptr && width > 0) {
            load_tile<T, Converts>(tile, plane_at(from, plane, view.slots, width, format), first,
                                   at.end, value ? 0 : further);
        }
    }
    cp_async_commit();
}

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
    const auto groups = static_cast<unsigned>(shape.tile_tokens) / 32;
    const auto column_groups = static_cast<unsigned>(shape.value_width) / 16;
    const auto key_columns = static_cast<unsigned>(shape.key_columns());
    const unsigned key_parts = Converts ? static_cast<unsigned>(shape.key_parts) : 1;
    clear_columns(tiles.queries, static_cast<unsigned>(shape.key_width), key_columns);
    for (unsigned stage = 0; stage < static_cast<unsigned>(shape.stages); ++stage) {
        clear_columns(tiles.keys(stage), static_cast<unsigned>(shape.key_width), key_columns);
    }
    MatrixWarp<T, Groups> warp;
    warp.start();
    if (at.begin < at.end) {
        const Format format = format_of(view.element);
        load_query_part<T, Converts>(view.score, tiles.queries, format, at);
        load_query_part<T, Converts>(view.rope, columns_from(tiles.queries, view.score.width),
                                     format, at);
    }
    const bool ahead = shape.stages == 2; // else a tile is loaded just before it is used
    unsigned stage = ahead ? 1 : 0;
    for (std::int64_t first = at.begin - (ahead ? shape.tile_tokens : 0); first < at.end;
         first += shape.tile_tokens) {
        const std::int64_t next = first + (ahead ? shape.tile_tokens : 0);
        const unsigned other = ahead ? 1 - stage : stage;
        cp_async_wait<0>();
        __syncthreads(); // all copies of this tile are there, and nobody uses the other stage
        if (next < at.end) {
            load_stage<T, Converts>(view, tiles, other, at, next, shape);
        }
        if (!ahead) {
            cp_async_wait<0>();
            __syncthreads();
        }
        if (first >= at.begin) {
            warp.score(tiles.queries, tiles.keys(stage), key_columns, key_parts, groups);
            warp.scale(log2_scale, at.end - first, groups, tiles.shares);
            __syncthreads();
            warp.weigh(tiles.weights, groups, tiles.shares);
            __syncthreads();
            warp.add(tiles.weights, tiles.values(stage), column_groups);
        }
        stage = other;
    }
    warp.tell(warp.total, tiles.shares, [](float a, float b) { return a + b; });
    __syncthreads();
    warp.put(at, shape.value_width, split.splits, tiles.shares, partials);
#endif
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
