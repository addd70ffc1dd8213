// SPDX-License-Identifier: Apache-2.0
#include "kernels/launch_limits.h"

#include <algorithm>
#include <array>

namespace kvcaliper::kernels {

namespace {

/// What a lane loads of a packed number: its word, the scale and the least of its group.
constexpr std::int64_t kPackedLoad = 4 + 2 + 2;
constexpr std::int64_t kHalf = 2;

/// The view with what is packed as if it lay in f16, which gives the shape of the step.
AttentionView plain_view(const ResidualAttentionView& view) {
    AttentionView plain = view.step;
    if (keeps_residual(plain.key_format)) {
        plain.key_format = Format::f16;
    }
    if (keeps_residual(plain.value_format)) {
        plain.value_format = Format::f16;
    }
    return plain;
}

/// Slots of one side, in its packed and in its f16 plane.
struct Side {
    Format format;
    std::int64_t packed, slots, recent, recent_slots;
};

Side key_side(const ResidualAttentionView& view) {
    const std::int64_t packed = packed_keys(view.step.key_format, view.step.valid);
    return {view.step.key_format, packed, view.key_slots, view.step.valid - packed,
            view.recent_key_slots};
}

Side value_side(const ResidualAttentionView& view) {
    const std::int64_t packed = packed_values(view.step.value_format, view.step.valid);
    return {view.step.value_format, packed, view.value_slots, view.step.valid - packed,
            view.recent_value_slots};
}

std::string side_refusal(const Side& side, const char* packed, const char* recent) {
    if (!keeps_residual(side.format)) {
        return {};
    }
    return first_refusal(std::array{Limit{packed, side.slots, side.packed, kAny},
                                    Limit{recent, side.recent_slots, side.recent, kAny}});
}

std::string refusal_of(const ResidualAttentionView& view) {
    for (const std::string& reason :
         {side_refusal(key_side(view), "key_slots", "recent_key_slots"),
          side_refusal(value_side(view), "value_slots", "recent_value_slots")}) {
        if (!reason.empty()) {
            return reason;
        }
    }
    const std::int64_t group = packing_of(view.step.key_format).group;
    if (group > 0 && view.key_slots % group != 0) {
        return "expected key_slots to be a multiple of the " + std::to_string(group) +
               " in a group, found " + std::to_string(view.key_slots);
    }
    return row_refusal(keeps_residual(view.step.value_format) ? view.step.value_format
                                                              : Format::f32,
                       view.step.value_width, "value_width");
}

/// How often all blocks of one split row together decode a chunk of packed keys.
std::int64_t packed_key_passes(const ResidualAttentionView& view, const SplitShape& shape,
                               std::int64_t chunk) {
    const std::int64_t keys = key_side(view).packed, values = value_side(view).packed;
    std::int64_t passes = 0;
    for (std::int64_t split = 0; split < shape.splits; ++split) {
        const std::int64_t begin = split * shape.tokens_per_split;
        const std::int64_t end = std::min(view.step.valid, begin + shape.tokens_per_split);
        passes += std::max(std::int64_t{0}, divide_up(std::min(end, keys) - begin, chunk));
        const bool cut = begin < values && values < end && values % chunk != 0;
        passes += cut && values < keys ? 1 : 0; // keys begin to be recent with a chunk
    }
    return passes;
}

/// What the lanes load in place of the f16 rows of plain_view().
void count_packed_loads(LaunchPlan& plan, const ResidualAttentionView& view) {
    const AttentionView& step = view.step;
    const std::int64_t blocks = plan.grid / plan.shape.splits; // that read each slot
    const Side keys = key_side(view), values = value_side(view);
    const std::int64_t passes =
        packed_key_passes(view, plan.shape, placed_chunk(plan.columns, plan.heads));
    plan.bytes_read += blocks * (passes * kPackedLoad - keys.packed * kHalf) * step.key_width +
                       blocks * values.packed * (kPackedLoad - kHalf) * step.value_width;
    const auto saved = [](const Side& side, std::int64_t width) {
        const Packing packing = packing_of(side.format);
        return packing.group == 0 ? 0
                                  : side.packed * width * kHalf -
                                        side.packed * width / packing.group * packing.group_bytes();
    };
    plan.cache_bytes_read -=
        blocks * (saved(keys, step.key_width) + saved(values, step.value_width));
}

/// By the kernel of one or a few query heads alone, whatever the device.
LaunchPlan plan_placed(AttentionView view, const DeviceFacts& device, std::int64_t splits) {
    DeviceFacts facts = device;
    facts.compute_capability = 0;
    LaunchPlan plan = plan_attention(view, facts, splits);
    if (plan.possible() && plan.columns * kWarpLanes > kMaxPlacedGroupWidth) {
        view.kv_heads = view.heads; // every query head for itself
        plan = plan_attention(view, facts, splits);
    }
    plan.columns = std::max(plan.columns, kPlacedColumns);
    plan.plain = false;
    return plan;
}

/// A split begins with a page, or with a chunk.
void begin_splits_with(LaunchPlan& plan, std::int64_t slots) {
    plan.shape.tokens_per_split = divide_up(plan.shape.tokens_per_split, slots) * slots;
}

} // namespace

LaunchPlan plan_attention(const PagedAttentionView& view, const DeviceFacts& device,
                          std::int64_t splits) {
    const std::string limits = first_refusal(std::array{
        Limit{"page", view.page, kPageStep, kAny},
        Limit{"table_pages", view.table_pages, divide_up(view.step.valid, view.page), kAny},
    });
    if (!limits.empty()) {
        return refused(limits);
    }
    if (view.page % kPageStep != 0) {
        return refused("expected page to be a multiple of " + std::to_string(kPageStep) +
                       ", found " + std::to_string(view.page));
    }
    LaunchPlan plan = plan_placed(view.step, device, splits);
    if (!plan.possible()) {
        return plan;
    }
    begin_splits_with(plan, view.page);
    // Every lane of a warp loads the number of the page that its chunk lies in.
    const std::int64_t chunks = divide_up(view.step.valid, placed_chunk(plan.columns, plan.heads));
    plan.bytes_read += plan.grid / plan.shape.splits * chunks * kWarpLanes *
                       static_cast<std::int64_t>(sizeof(std::int32_t));
    return plan;
}

LaunchPlan plan_attention(const ResidualAttentionView& view, const DeviceFacts& device,
                          std::int64_t splits) {
    LaunchPlan plan = plan_placed(plain_view(view), device, splits);
    if (!plan.possible()) {
        return plan;
    }
    if (const std::string reason = refusal_of(view); !reason.empty()) {
        return refused(reason);
    }
    begin_splits_with(plan, kPageStep);
    count_packed_loads(plan, view);
    return plan;
}

LaunchPlan plan_pack(const PackView& view, const DeviceFacts& facts) {
    const Packing packing = packing_of(view.format);
    if (packing.residual == 0) {
        return refused("expected a format with a residual, found " +
                       std::string(name_of(view.format)));
    }
    LaunchPlan plan;
    plan.refusal = first_refusal(std::array{
        Limit{"sequences", view.sequences, 1, kAny},
        Limit{"rows", view.rows, 1, kAny},
        Limit{"width", view.width, 1, kAny},
        Limit{"first", view.first, 0, kAny},
        Limit{"count", view.count, 1, kAny},
        Limit{"slots", view.slots, view.first + view.count, kAny},
    });
    if (!plan.possible()) {
        return plan;
    }
    const bool whole = view.per_channel
                           ? view.first % packing.group == 0 && view.count % packing.group == 0 &&
                                 view.slots % packing.group == 0
                           : view.width % packing.group == 0;
    if (!whole) {
        return refused("expected whole groups of " + std::to_string(packing.group) + ", found " +
                       (view.per_channel
                            ? "tokens " + std::to_string(view.first) + " + " +
                                  std::to_string(view.count) + " of " + std::to_string(view.slots)
                            : "a width of " + std::to_string(view.width)));
    }
    const std::int64_t numbers = view.sequences * view.rows * view.count * view.width;
    const std::int64_t groups = numbers / packing.group;
    plan.grid = divide_up(groups, kBlockThreads);
    plan.bytes_read = 2 * numbers * kHalf; // for the limits first, then for the codes
    plan.bytes_written = groups * packing.group_bytes();
    refuse_what_does_not_fit(plan, facts);
    return plan;
}

} // namespace kvcaliper::kernels
