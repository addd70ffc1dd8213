// SPDX-License-Identifier: Apache-2.0
// What a block of the tensor cores' kernel keeps in shared memory, and how it gets there.
#pragma once

#include "kernels/cuda/split.cuh"
#include "kernels/cuda/tile.cuh"
#include "kernels/views.h"

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

template <class T, bool Converts>
SIMT_DEVICE void load_queries_tile(const MatrixView& view, const Tile& tile, const BlockPlace& at) {
    const Format format = format_of(view.element);
    load_query_part<T, Converts>(view.score, tile, format, at);
    load_query_part<T, Converts>(view.rope, columns_from(tile, view.score.width), format, at);
}

/// Queries and keys that are no multiple of a scoring step: no load ever writes these columns.
SIMT_DEVICE void end_rows_in_zeros(const MatrixTiles& tiles, const MatrixShape& shape) {
    const auto width = static_cast<unsigned>(shape.key_width);
    const auto columns = static_cast<unsigned>(shape.key_columns());
    clear_columns(tiles.queries, width, columns);
    for (unsigned stage = 0; stage < static_cast<unsigned>(shape.stages); ++stage) {
        clear_columns(tiles.keys(stage), width, columns);
    }
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
