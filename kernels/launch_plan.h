// SPDX-License-Identifier: Apache-2.0
// What a step will be launched as and what it will move, computed from the view and a few device
// facts alone: no device is needed to make, print or test a plan.
#pragma once

#include "kernels/launch_shape.h"
#include "kernels/views.h"
#include "kernels/views_recurrent.h"

#include <cstdint>
#include <string>

namespace kvcaliper::kernels {

struct DeviceFacts {
    std::int64_t multiprocessors = 1;
    std::int64_t shared_limit = std::int64_t{48} * 1024; ///< bytes a block may opt in to
    int compute_capability = 75; ///< major · 10 + minor; tensor cores are used from 80 on
};

struct LaunchPlan {
    std::string refusal; ///< why these kernels cannot do it: "expected …, found …"; else empty

    std::int64_t grid = 0;            ///< blocks
    std::int64_t warps = kBlockWarps; ///< per block
    std::int64_t shared_bytes = 0;
    std::int64_t merge_grid = 0; ///< 0 when there is nothing to merge
    std::int64_t merge_shared_bytes = 0;

    SplitShape shape;     ///< attention only
    bool plain = true;    ///< attention only: all numbers are of the queries' type
    unsigned columns = 0; ///< columns (or rows of a state) per lane that the kernel is built for
    unsigned heads = 1;   ///< query heads per block

    // Attention only.
    Core core = Core::simt;
    std::string core_reason; ///< why that one
    MatrixShape matrix;      ///< Core::matrix only; `columns` then counts groups of 16 per warp
    Element weights = Element::f32;             ///< what weights are rounded to
    std::int64_t blocks_per_multiprocessor = 1; ///< that can be resident, as far as known here

    std::int64_t skip = 0; ///< append only: leading tokens that would be overwritten at once
    std::int64_t workspace_bytes = 0;

    std::int64_t cache_bytes_read =
        0;                       ///< of planes, state and history, once per block that reads them
    std::int64_t bytes_read = 0; ///< every load the threads issue, cache included
    std::int64_t bytes_written = 0;
    std::int64_t flops = 0; ///< multiplications, additions and, for the state, exponentials

    bool possible() const { return refusal.empty(); }
};

LaunchPlan plan_append(const AppendView& view, const DeviceFacts& facts);

/// splits = 0 chooses the number of splits; tests force it.
LaunchPlan plan_attention(const AttentionView& view, const DeviceFacts& facts,
                          std::int64_t splits = 0);
LaunchPlan plan_attention(const LatentView& view, const DeviceFacts& facts,
                          std::int64_t splits = 0);
/// A split begins with a page.
LaunchPlan plan_attention(const PagedAttentionView& view, const DeviceFacts& facts,
                          std::int64_t splits = 0);

/// A split begins with a chunk of kPageStep slots.
LaunchPlan plan_attention(const ResidualAttentionView& view, const DeviceFacts& facts,
                          std::int64_t splits = 0);
LaunchPlan plan_pack(const PackView& view, const DeviceFacts& facts);

LaunchPlan plan_score(const IndexScoreView& view, const DeviceFacts& facts);
LaunchPlan plan_select(const SelectView& view, const DeviceFacts& facts);
LaunchPlan plan_gather(const GatherView& view, const DeviceFacts& facts);
LaunchPlan plan_pool(const PoolView& view, const DeviceFacts& facts);

LaunchPlan plan_step(const Mamba1View& view, const DeviceFacts& facts);
LaunchPlan plan_step(const ConvView& view, const DeviceFacts& facts);
LaunchPlan plan_step(const Mamba2View& view, const DeviceFacts& facts);
LaunchPlan plan_step(const DeltaView& view, const DeviceFacts& facts);
LaunchPlan plan_step(const RglruView& view, const DeviceFacts& facts);
LaunchPlan plan_step(const Rwkv4View& view, const DeviceFacts& facts);
LaunchPlan plan_step(const RwkvView& view, const DeviceFacts& facts);
/// merge_grid: blocks of the kernel that divides.
LaunchPlan plan_step(const XlstmView& view, const DeviceFacts& facts);

/// The largest relative L2 error per head that the planned attention may show.
double error_bound(const LaunchPlan& plan);

/// How many parts to cut `tokens` into when `blocks` blocks run for each part and the device holds
/// `resident` at a time. At least 128 tokens per part unless there are fewer.
std::int64_t choose_splits(std::int64_t tokens, std::int64_t blocks, std::int64_t resident);

} // namespace kvcaliper::kernels
