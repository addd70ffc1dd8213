// SPDX-License-Identifier: Apache-2.0
// Plans of what an indexer and compressed entries need beside attention.
#include "kernels/launch_limits.h"
#include "kernels/launch_plan.h"

namespace kvcaliper::kernels {

namespace {

/// A block loads all queries, so it should score at least this many keys.
constexpr std::int64_t kLeastBlockKeys = 64;
constexpr std::int64_t kBlocksPerMultiprocessor = 4;

/// Blocks that score one sequence's keys.
std::int64_t score_blocks(const IndexScoreView& view, const DeviceFacts& facts) {
    const std::int64_t wanted =
        divide_up(facts.multiprocessors * kBlocksPerMultiprocessor, view.sequences);
    return std::clamp(divide_up(view.valid, kLeastBlockKeys), std::int64_t{1}, wanted);
}

} // namespace

LaunchPlan plan_score(const IndexScoreView& view, const DeviceFacts& facts) {
    if (view.element == Element::f32) {
        return refused("expected f16 or bf16 index queries, found f32");
    }
    LaunchPlan plan;
    plan.refusal = first_refusal(std::array{
        Limit{"sequences", view.sequences, 1, kAny},
        Limit{"heads", view.heads, 1, kAny},
        Limit{"index width", view.width, 1, kMaxIndexWidth},
        Limit{"slots", view.slots, 1, kAny},
        Limit{"valid", view.valid, 1, view.slots},
        Limit{"stride", view.stride, view.valid, kAny},
    });
    if (!plan.possible()) {
        return plan;
    }
    if (const std::string reason = row_refusal(view.format, view.width, "index width");
        !reason.empty()) {
        return refused(reason);
    }
    const std::int64_t keys = view.sequences * view.valid;
    plan.grid = view.sequences * score_blocks(view, facts);
    plan.shared_bytes = (view.heads * view.width + kBlockWarps * kMaxIndexWidth) * kFloat;
    plan.cache_bytes_read = keys * stored_row_bytes(view.format, view.width);
    plan.bytes_read = keys * (row_load_bytes(view.format, view.width) + view.heads * kFloat) +
                      plan.grid * view.heads * view.width * element_bytes(view.element);
    plan.bytes_written = keys * kFloat;
    plan.flops = 2 * keys * view.heads * (view.width + 1);
    refuse_what_does_not_fit(plan, facts);
    return plan;
}

LaunchPlan plan_select(const SelectView& view, const DeviceFacts& facts) {
    LaunchPlan plan;
    plan.refusal = first_refusal(std::array{
        Limit{"sequences", view.sequences, 1, kAny},
        Limit{"valid", view.valid, 1, 0x7fffffff},
        Limit{"stride", view.stride, view.valid, kAny},
        Limit{"count", view.count, 1, view.valid},
    });
    if (!plan.possible()) {
        return plan;
    }
    plan.grid = view.sequences;
    plan.warps = kSelectThreads / kWarpLanes;
    plan.bytes_read = kSelectPasses * view.sequences * view.valid * kFloat;
    plan.bytes_written =
        view.sequences * view.count * static_cast<std::int64_t>(sizeof(std::int32_t));
    refuse_what_does_not_fit(plan, facts);
    return plan;
}

LaunchPlan plan_gather(const GatherView& view, const DeviceFacts& facts) {
    LaunchPlan plan;
    plan.refusal = first_refusal(std::array{
        Limit{"sequences", view.sequences, 1, kAny},
        Limit{"rows", view.rows, 1, kAny},
        Limit{"slots", view.slots, 1, kAny},
        Limit{"row bytes", view.row_bytes, 1, kAny},
        Limit{"count", view.count, 1, view.slots},
        Limit{"first output slot", view.out_first, 0, view.out_slots - view.count},
    });
    if (!plan.possible()) {
        return plan;
    }
    const std::int64_t rows = view.sequences * view.rows * view.count;
    plan.grid = std::min(divide_up(rows, kBlockWarps), facts.multiprocessors * 32);
    plan.cache_bytes_read = rows * view.row_bytes;
    const std::int64_t names = view.table == nullptr ? 0 : rows * kWarpLanes * kFloat;
    plan.bytes_read = plan.cache_bytes_read + names;
    plan.bytes_written = rows * view.row_bytes;
    refuse_what_does_not_fit(plan, facts);
    return plan;
}

LaunchPlan plan_pool(const PoolView& view, const DeviceFacts& facts) {
    if (view.element == Element::f32) {
        return refused("expected f16 or bf16 entries, found f32");
    }
    LaunchPlan plan;
    plan.refusal = first_refusal(std::array{
        Limit{"sequences", view.sequences, 1, kAny},
        Limit{"width", view.width, 1, kAny},
        Limit{"group", view.group, 1, kAny},
        Limit{"parts", view.parts, 1, 2},
        Limit{"first", view.first, 0, kAny},
        Limit{"count", view.count, 1, kAny},
    });
    if (!plan.possible()) {
        return plan;
    }
    // The group before the first one takes part with its first half, if there is one.
    const std::int64_t before = view.parts == 2 && view.first > 0 ? 1 : 0;
    plan.refusal = first_refusal(
        std::array{Limit{"slots", view.slots, (view.count + before) * view.group, kAny}});
    if (!plan.possible()) {
        return plan;
    }
    const std::int64_t groups = view.parts == 1 ? view.count : 2 * view.count - 1 + before;
    const std::int64_t tokens = groups * view.group;
    const std::int64_t entries = view.sequences * view.count * view.width;
    plan.grid = divide_up(entries, kBlockThreads);
    plan.cache_bytes_read = view.sequences * tokens * view.width * 2 * kFloat;
    // Gates are read for their maximum first.
    plan.bytes_read = view.sequences * tokens * view.width * 3 * kFloat;
    plan.bytes_written = entries * element_bytes(view.element);
    plan.flops = view.sequences * tokens * view.width * 5 + entries;
    refuse_what_does_not_fit(plan, facts);
    return plan;
}

} // namespace kvcaliper::kernels
