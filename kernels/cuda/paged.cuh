// SPDX-License-Identifier: Apache-2.0
// Split decode attention over pages that a table names. The rows of a chunk lie in one page,
// because splits begin with a page and a page holds a whole number of chunks.
#pragma once

#include "kernels/cuda/attention.cuh"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

/// The rows of one head in page number `page` of planes [pages][kv_heads][slots][width].
SIMT_DEVICE PlaneRows page_at(const void* planes, std::int32_t page, std::int64_t kv_heads,
                              std::int64_t kv_head, std::int64_t slots, std::int64_t width,
                              Format format) {
    return plane_at(planes, page * kv_heads + kv_head, slots, width, format);
}

template <unsigned Columns, unsigned Heads, unsigned Chunk>
__global__ void __launch_bounds__(kBlockThreads, 1)
    attend_paged_split(PagedAttentionView paged, SplitShape shape, float log2_scale,
                       float* partials) {
    SIMT_DYN_SHARED(float, shared);
    const AttentionView& view = paged.step;
    const std::int64_t group = view.heads / view.kv_heads;
    BlockPlace at;
    // A block of one query head, whatever its group: the widest rows leave no registers for more.
    at.find(Heads == 1 ? view.heads : view.kv_heads, Heads == 1 ? 1 : group, view.valid, Heads,
            shape);
    const std::int64_t kv_head = Heads == 1 ? at.kv_head / group : at.kv_head;
    const std::int32_t* const table = paged.table + at.sequence * paged.table_pages;

    float q[Heads][Columns];
    load_queries<AnyFormat>(q, view.q, view.key_width, view.element, at);
    RunningSoftmax<Columns> softmax[Heads];
    clear_all(softmax);
    for (std::int64_t slot = at.begin + warp_index() * Chunk; slot < at.end;
         slot += kBlockWarps * Chunk) {
        const std::int32_t page = load(table + slot / paged.page);
        const std::int64_t first = slot % paged.page;
        const std::int64_t end = first + (at.end - slot);
        attend_chunk<AnyFormat, Chunk>(softmax, q,
                                       page_at(view.k, page, view.kv_heads, kv_head, paged.page,
                                               view.key_width, view.key_format),
                                       page_at(view.v, page, view.kv_heads, kv_head, paged.page,
                                               view.value_width, view.value_format),
                                       first, end, log2_scale);
    }
    merge_block(softmax, shared, at, view.value_width, shape.splits, partials);
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
