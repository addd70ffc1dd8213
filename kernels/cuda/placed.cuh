// SPDX-License-Identifier: Apache-2.0
// Split decode attention where slots do not simply follow each other: in pages that a table names,
// or packed with recent ones apart in f16. The rows of a chunk lie in one page, because splits
// begin with a page and a page holds a whole number of chunks.
#pragma once

#include "kernels/cuda/attention.cuh"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

/// One head's rows: slots in front of `packed` in groups of codes, the others as they are.
struct SplitRows {
    PlaneRows packed_rows; ///< per channel: `bytes` is that of a group
    PlaneRows others;
    std::int64_t packed, ring;               ///< ring: places of the others; 0: slots are places
    unsigned bits, group_bytes, group_shift; ///< a group has 32 << group_shift numbers
    bool per_channel;
};

/// Chunks begin at multiples of kPageStep or where values begin to be recent, so that the slots of
/// one share a word of their channel.
template <unsigned Columns, unsigned Count>
SIMT_DEVICE void decode_channels(float (&rows)[Count][Columns], const SplitRows& split,
                                 std::int64_t first, std::int64_t end) {
    const auto width = static_cast<unsigned>(split.packed_rows.width);
    const std::int64_t group = first >> (5 + split.group_shift);
    const unsigned char* const base = split.packed_rows.rows + group * split.packed_rows.bytes;
    const unsigned token = static_cast<unsigned>(first) & ((32u << split.group_shift) - 1);
    const unsigned bit = token * split.bits;
    const std::uint32_t mask = (1u << split.bits) - 1;
    SIMT_UNROLL
    for (unsigned i = 0; i < Columns; ++i) {
        const auto column = static_cast<unsigned>(kWarpLanes * i + lane_index());
        std::uint32_t word = 0;
        float d = 0.0f;
        float m = 0.0f;
        if (column < width) {
            d = load_half(base + 2 * column);
            m = load_half(base + 2 * (width + column));
            word = load_at<std::uint32_t>(base + 4 * (width * (bit / 32 + 1) + column));
        }
        word >>= bit % 32;
        SIMT_UNROLL
        for (unsigned j = 0; j < Count; ++j) {
            rows[j][i] = first + j < end ? static_cast<float>(word & mask) * d + m : 0.0f;
            word >>= split.bits;
        }
    }
}

template <unsigned Columns, unsigned Count>
SIMT_DEVICE void decode_neighbours(float (&rows)[Count][Columns], const SplitRows& split,
                                   std::int64_t first, std::int64_t end) {
    const std::uint32_t mask = (1u << split.bits) - 1;
    SIMT_UNROLL
    for (unsigned j = 0; j < Count; ++j) {
        const unsigned char* const row =
            split.packed_rows.rows + (first + j) * split.packed_rows.bytes;
        const std::int64_t width = first + j < end ? split.packed_rows.width : 0;
        SIMT_UNROLL
        for (unsigned i = 0; i < Columns; ++i) {
            const auto lane = static_cast<unsigned>(lane_index());
            const unsigned char* const group = row + (i >> split.group_shift) * split.group_bytes;
            const unsigned within = 32 * (i & ((1u << split.group_shift) - 1)) + lane;
            const unsigned bit = within * split.bits;
            float number = 0.0f;
            if (kWarpLanes * i + lane < width) {
                const auto word = load_at<std::uint32_t>(group + 4 + 4 * (bit / 32));
                number = static_cast<float>(word >> (bit % 32) & mask) * load_half(group) +
                         load_half(group + 2);
            }
            rows[j][i] = number;
        }
    }
}

/// Slots first … end - 1 are either all packed or all not.
template <unsigned Columns, unsigned Count>
SIMT_DEVICE void decode_any(float (&rows)[Count][Columns], const SplitRows& split,
                            std::int64_t first, std::int64_t end) {
    if (first >= split.packed) {
        const std::int64_t place = split.ring > 0 ? first % split.ring : first;
        decode_any(rows, split.others, place, place + (end - first));
    } else if (split.per_channel) {
        decode_channels(rows, split, first, end);
    } else {
        decode_neighbours(rows, split, first, end);
    }
}

/// Either view of such a step: without a table there are no pages, and with one nothing is packed.
struct PlacedView {
    AttentionView step;
    const std::int32_t* table;
    std::int64_t table_pages, page;
    const void *recent_k, *recent_v;
    std::int64_t key_slots, recent_key_slots, value_slots, recent_value_slots;
};

/// What a side of the view has.
struct PlacedSide {
    const void *planes, *recent;
    std::int64_t slots, recent_slots, plain_slots, width, packed;
    Format format;
    bool per_channel;

    /// Of plane number `plane`, all slots.
    SIMT_DEVICE SplitRows rows(std::int64_t plane) const {
        const Packing packing = packing_of(format);
        if (packing.residual == 0) {
            const PlaneRows plain = plane_at(planes, plane, plain_slots, width, format);
            return {plain, plain, 0, 0, 0, 0, 0, false};
        }
        const std::int64_t plane_bytes = slots * width / packing.group * packing.group_bytes();
        const std::int64_t bytes =
            per_channel ? width * packing.group_bytes() : stored_row_bytes(format, width);
        const unsigned char* const base =
            static_cast<const unsigned char*>(planes) + plane * plane_bytes;
        return {{base, width, bytes, format},
                plane_at(recent, plane, recent_slots, width, Format::f16),
                packed,
                packing.residual,
                static_cast<unsigned>(packing.bits),
                static_cast<unsigned>(packing.group_bytes()),
                packing.group == 32   ? 0u
                : packing.group == 64 ? 1u
                                      : 2u,
                per_channel};
    }

    /// The rows of one head in page number `page` of planes [pages][kv_heads][page][width].
    SIMT_DEVICE const unsigned char* page_rows(std::int32_t page, std::int64_t kv_heads,
                                               std::int64_t kv_head,
                                               std::int64_t page_slots) const {
        return plane_at(planes, page * kv_heads + kv_head, page_slots, width, format).rows;
    }
};

SIMT_DEVICE PlacedSide key_side(const PlacedView& view) {
    const AttentionView& step = view.step;
    return {step.k,
            view.recent_k,
            view.key_slots,
            view.recent_key_slots,
            step.slots,
            step.key_width,
            packed_keys(step.key_format, step.valid),
            step.key_format,
            true};
}

SIMT_DEVICE PlacedSide value_side(const PlacedView& view) {
    const AttentionView& step = view.step;
    return {step.v,
            view.recent_v,
            view.value_slots,
            view.recent_value_slots,
            step.slots,
            step.value_width,
            packed_values(step.value_format, step.valid),
            step.value_format,
            false};
}

template <unsigned Columns, unsigned Heads, unsigned Chunk>
__global__ void __launch_bounds__(kBlockThreads, 1)
    attend_placed_split(PlacedView placed, SplitShape shape, float log2_scale, float* partials) {
    SIMT_DYN_SHARED(float, shared);
    const AttentionView& view = placed.step;
    const std::int64_t group = view.heads / view.kv_heads;
    BlockPlace at;
    // A block of one query head, whatever its group: the widest rows leave no registers for more.
    at.find(Heads == 1 ? view.heads : view.kv_heads, Heads == 1 ? 1 : group, view.valid, Heads,
            shape);
    const std::int64_t kv_head = Heads == 1 ? at.kv_head / group : at.kv_head;
    const std::int64_t plane = at.sequence * view.kv_heads + kv_head;
    SplitRows keys = key_side(placed).rows(plane);
    SplitRows values = value_side(placed).rows(plane);

    float q[Heads][Columns];
    load_queries<AnyFormat>(q, view.q, view.key_width, view.element, at);
    RunningSoftmax<Columns> softmax[Heads];
    clear_all(softmax);
    for (std::int64_t slot = at.begin + warp_index() * Chunk; slot < at.end;
         slot += kBlockWarps * Chunk) {
        std::int64_t first = slot;
        if (placed.table != nullptr) {
            const std::int32_t page =
                load(placed.table + at.sequence * placed.table_pages + slot / placed.page);
            keys.others.rows =
                key_side(placed).page_rows(page, view.kv_heads, kv_head, placed.page);
            values.others.rows =
                value_side(placed).page_rows(page, view.kv_heads, kv_head, placed.page);
            first = slot % placed.page;
        }
        const std::int64_t left = at.end - slot;
        const std::int64_t stop = first + (left < Chunk ? left : Chunk);
        // Values begin to be recent anywhere; a chunk in which they do is taken in two.
        const std::int64_t cut =
            first < values.packed && values.packed < stop ? values.packed : stop;
        SIMT_UNROLL_BY(1)
        for (; first < stop; first = first < cut ? cut : stop) {
            attend_chunk<AnyFormat, Chunk>(softmax, q, keys, values, first,
                                           first < cut ? cut : stop, log2_scale);
        }
    }
    merge_block(softmax, shared, at, view.value_width, shape.splits, partials);
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
