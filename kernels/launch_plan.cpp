// SPDX-License-Identifier: Apache-2.0
#include "kernels/launch_plan.h"

#include "kernels/attention_core.h"
#include "kernels/launch_limits.h"

#include <algorithm>
#include <array>

namespace kvcaliper::kernels {

namespace {

constexpr std::int64_t kMinSplitTokens = 128;
constexpr std::int64_t kMaxSplits = 128;
constexpr std::int64_t kTileTokens = 16;        // what the warps of a block take per turn
constexpr std::int64_t kMostResidentBlocks = 4; // counted on; each one more is one more to merge
// Starting constants of the wave model, in tiles: the fixed cost of a block, and the merge per
// split.
constexpr double kBlockCost = 10.0;
constexpr double kSplitCost = 0.2;

/// The dimensions of a step of either kind of attention.
struct SplitStep {
    std::int64_t sequences, kv_heads, valid;
    AttentionKind kind;
    std::int64_t row_bytes; ///< cache bytes read per slot and kv head
    bool sinks = false;
};

} // namespace

std::int64_t row_load_bytes(Format format, std::int64_t width) {
    switch (format) {
    case Format::q8_0:
    case Format::q4_0:
    case Format::iq4_nl:
        return width * (1 + 2);
    case Format::q5_0:
        return width * (1 + 2 + 1);
    case Format::q4_1:
        return width * (1 + 2 + 2);
    case Format::q5_1:
        return width * (1 + 2 + 2 + 1);
    case Format::nvfp4:
    case Format::mxfp8:
        return width * (1 + 1);
    case Format::fp8_e4m3_128:
    case Format::fp8_per_token_head:
    case Format::int8_per_token_head:
        return width * (1 + 4);
    default:
        return stored_row_bytes(format, width);
    }
}

std::string row_refusal(Format format, std::int64_t width, const char* name) {
    if (divides(format, width)) {
        return {};
    }
    return "expected " + std::string(name) + " to be a multiple of the " +
           std::to_string(block_of(format).elements) + " in a block of " + name_of(format) +
           ", found " + std::to_string(width);
}

namespace {

/// One plane has no place for the recent rows of such a format.
std::string residual_refusal(Format format) {
    return keeps_residual(format)
               ? "expected a format that stores every row, found " + std::string(name_of(format))
               : std::string();
}

void shape_splits(LaunchPlan& plan, const SplitStep& step, const DeviceFacts& facts,
                  std::int64_t splits) {
    const std::int64_t threads = plan.warps * kWarpLanes;
    const std::int64_t most_threads = plan.core == Core::matrix
                                          ? matrix_threads(converts(step.kind))
                                          : kMostResidentBlocks * threads;
    plan.blocks_per_multiprocessor =
        resident_blocks(threads, most_threads, plan.shared_bytes, facts);
    plan.shape.head_tiles = divide_up(step.kind.group, plan.heads);
    const std::int64_t blocks = step.sequences * step.kv_heads * plan.shape.head_tiles;
    const std::int64_t resident = facts.multiprocessors * plan.blocks_per_multiprocessor;
    plan.shape.splits = splits > 0 ? splits : choose_splits(step.valid, blocks, resident);
    plan.shape.tokens_per_split = divide_up(step.valid, plan.shape.splits);
    plan.grid = blocks * plan.shape.splits;
    plan.merge_grid = step.sequences * step.kv_heads * step.kind.group;
    plan.merge_shared_bytes = 2 * plan.shape.splits * kFloat;
}

/// Bytes of one slot's rows with every lane's loads counted.
std::int64_t load_bytes(const LaunchPlan& plan, const AttentionKind& kind) {
    const auto bytes = plan.core == Core::matrix ? tile_row_load_bytes : row_load_bytes;
    if (kind.shared_values) {
        return bytes(kind.key_format, kind.key_width - kind.rope_width) +
               bytes(rope_format(kind.key_format), kind.rope_width);
    }
    return bytes(kind.key_format, kind.key_width) + bytes(kind.value_format, kind.value_width);
}

void count_split_traffic(LaunchPlan& plan, const SplitStep& step) {
    const std::int64_t heads = step.sequences * step.kv_heads * step.kind.group;
    const std::int64_t partials =
        heads * plan.shape.splits * (step.kind.value_width + kPartialTail) * kFloat;
    // Each warp reads the query rows it needs; the tensor cores' block shares them.
    const std::int64_t readers = plan.core == Core::matrix ? 1 : kBlockWarps;
    const std::int64_t queries = heads * plan.shape.splits * readers * step.kind.key_width *
                                 element_bytes(step.kind.element);
    const std::int64_t rows = step.sequences * step.kv_heads * plan.shape.head_tiles * step.valid;
    plan.workspace_bytes = partials;
    plan.cache_bytes_read = rows * step.row_bytes;
    // Every thread of a merging block loads its head's sink.
    const std::int64_t sinks = step.sinks ? heads * kBlockThreads * kFloat : 0;
    plan.bytes_read = rows * load_bytes(plan, step.kind) + queries + partials + sinks;
    plan.bytes_written = partials + heads * step.kind.value_width * kFloat;
    plan.flops = 2 * heads * step.valid * (step.kind.key_width + step.kind.value_width);
}

/// The smallest tensor cores' kernel: groups of 16 value columns for each of the four parts.
unsigned column_groups_for(std::int64_t value_width) {
    unsigned groups = 1;
    while (groups * kMatrixParts * kMatrixRows < value_width) {
        groups *= 2;
    }
    return groups;
}

void use_matrix_core(LaunchPlan& plan, const CoreChoice& choice) {
    plan.matrix = choice.matrix;
    plan.heads = static_cast<unsigned>(choice.matrix.rows());
    plan.warps = choice.matrix.row_tiles * kMatrixParts;
    plan.columns = column_groups_for(choice.matrix.value_width);
    plan.shared_bytes = choice.matrix.shared_bytes();
}

void use_simt_core(LaunchPlan& plan, const AttentionKind& kind) {
    plan.heads = kind.group == 1 && !kind.shared_values ? 1 : kGroupedHeads;
    plan.columns = kind.shared_values ? kLatentColumns
                                      : columns_for(std::max(kind.key_width, kind.value_width));
    plan.shared_bytes = kBlockWarps * plan.heads * (kind.value_width + kPartialTail) * kFloat;
}

LaunchPlan plan_split(LaunchPlan plan, const SplitStep& step, const DeviceFacts& facts,
                      std::int64_t splits) {
    const CoreChoice choice = choose_core(step.kind, facts);
    plan.core = choice.core;
    plan.core_reason = choice.reason;
    plan.weights = choice.weights;
    if (choice.core == Core::matrix) {
        use_matrix_core(plan, choice);
    } else {
        use_simt_core(plan, step.kind);
    }
    shape_splits(plan, step, facts, splits);
    count_split_traffic(plan, step);
    refuse_what_does_not_fit(plan, facts);
    return plan;
}

} // namespace

double error_bound(const LaunchPlan& plan) {
    switch (plan.weights) {
    case Element::f16:
        return kF16WeightBound;
    case Element::bf16:
        return kBf16WeightBound;
    default:
        return kAttentionBound;
    }
}

std::int64_t choose_splits(std::int64_t tokens, std::int64_t blocks, std::int64_t resident) {
    const std::int64_t most = std::clamp(tokens / kMinSplitTokens, std::int64_t{1}, kMaxSplits);
    resident = std::max(resident, std::int64_t{1}); // where nothing fits, the plan is refused
    std::int64_t best = 1;
    double least = 0.0;
    for (std::int64_t splits = 1; splits <= most; ++splits) {
        const std::int64_t waves = divide_up(blocks * splits, resident);
        const std::int64_t tiles = divide_up(divide_up(tokens, splits), kTileTokens);
        const double cost = static_cast<double>(waves) * (static_cast<double>(tiles) + kBlockCost) +
                            kSplitCost * static_cast<double>(splits);
        if (splits == 1 || cost < least) {
            best = splits;
            least = cost;
        }
    }
    return best;
}

LaunchPlan plan_append(const AppendView& view, const DeviceFacts& facts) {
    LaunchPlan plan;
    plan.refusal = first_refusal(std::array{
        Limit{"sequences", view.sequences, 1, kAny},
        Limit{"rows", view.rows, 1, kAny},
        Limit{"width", view.width, 1, kAny},
        Limit{"slots", view.slots, 1, kAny},
        Limit{"first", view.first, 0, kAny},
        Limit{"count", view.count, 1, kAny},
    });
    if (!plan.possible()) {
        return plan;
    }
    if (!can_store(view.format, view.element)) {
        return refused("expected rows of " + std::string(name_of(view.format)) + ", found " +
                       name_of(format_of(view.element)));
    }
    if (const std::string reason = row_refusal(view.format, view.width, "width"); !reason.empty()) {
        return refused(reason);
    }
    plan.skip = std::max(std::int64_t{0}, view.count - view.slots);
    const std::int64_t rows = view.sequences * (view.count - plan.skip) * view.rows;
    // Enough blocks to fill the device several times over; each takes rows in turn.
    plan.grid = std::min(divide_up(rows, kBlockWarps), facts.multiprocessors * 32);
    // Where a row has one scale, all of it is looked at before any of it is stored.
    const std::int64_t looks = block_of(view.format).row_bytes > 0 ? 2 : 1;
    plan.bytes_read = looks * rows * view.width * element_bytes(view.element);
    plan.bytes_written = rows * stored_row_bytes(view.format, view.width);
    refuse_what_does_not_fit(plan, facts);
    return plan;
}

LaunchPlan plan_attention(const AttentionView& view, const DeviceFacts& facts,
                          std::int64_t splits) {
    if (view.element == Element::f32) {
        return refused("expected f16 or bf16 attention, found f32");
    }
    LaunchPlan plan;
    plan.refusal = first_refusal(std::array{
        Limit{"sequences", view.sequences, 1, kAny},
        Limit{"kv_heads", view.kv_heads, 1, kAny},
        Limit{"heads", view.heads, view.kv_heads, kAny},
        Limit{"key_width", view.key_width, 1, kMaxHeadWidth},
        Limit{"value_width", view.value_width, 1, kMaxHeadWidth},
        Limit{"slots", view.slots, 1, kAny},
        Limit{"valid", view.valid, 1, view.slots},
    });
    if (plan.possible() && view.heads % view.kv_heads != 0) {
        return refused("expected heads to be a multiple of the " + std::to_string(view.kv_heads) +
                       " kv_heads, found " + std::to_string(view.heads));
    }
    if (!plan.possible()) {
        return plan;
    }
    for (const std::string& reason :
         {row_refusal(view.key_format, view.key_width, "key_width"),
          row_refusal(view.value_format, view.value_width, "value_width"),
          residual_refusal(view.key_format), residual_refusal(view.value_format)}) {
        if (!reason.empty()) {
            return refused(reason);
        }
    }
    const Format plain = format_of(view.element);
    plan.plain = view.key_format == plain && view.value_format == plain;
    const AttentionKind kind{view.heads / view.kv_heads,
                             view.key_width,
                             view.value_width,
                             0,
                             false,
                             view.element,
                             view.key_format,
                             view.value_format};
    const std::int64_t row_bytes = stored_row_bytes(view.key_format, view.key_width) +
                                   stored_row_bytes(view.value_format, view.value_width);
    return plan_split(
        plan, {view.sequences, view.kv_heads, view.valid, kind, row_bytes, view.sinks != nullptr},
        facts, splits);
}

LaunchPlan plan_attention(const LatentView& view, const DeviceFacts& facts, std::int64_t splits) {
    if (view.element == Element::f32) {
        return refused("expected f16 or bf16 attention, found f32");
    }
    LaunchPlan plan;
    plan.refusal = first_refusal(std::array{
        Limit{"sequences", view.sequences, 1, kAny},
        Limit{"heads", view.heads, 1, kAny},
        Limit{"rank", view.rank, 1, kMaxLatentRank},
        Limit{"rope_width", view.rope_width, 0, kMaxRopeWidth},
        Limit{"slots", view.slots, 1, kAny},
        Limit{"valid", view.valid, 1, view.slots},
    });
    if (!plan.possible()) {
        return plan;
    }
    for (const std::string& reason :
         {residual_refusal(view.format), row_refusal(view.format, view.rank, "rank"),
          row_refusal(rope_format(view.format), view.rope_width, "rope_width")}) {
        if (!reason.empty()) {
            return refused(reason);
        }
    }
    const std::int64_t width = view.rank + view.rope_width;
    plan.plain = view.format == format_of(view.element);
    const AttentionKind kind{view.heads, width,        view.rank,   view.rope_width,
                             true,       view.element, view.format, view.format};
    return plan_split(plan,
                      {view.sequences, 1, view.valid, kind,
                       stored_row_bytes(view.format, view.rank) +
                           stored_row_bytes(rope_format(view.format), view.rope_width),
                       view.sinks != nullptr},
                      facts, splits);
}

} // namespace kvcaliper::kernels
