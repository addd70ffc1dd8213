// SPDX-License-Identifier: Apache-2.0
// Plans of the steps of RG-LRU, RWKV and xLSTM.
#include "kernels/launch_limits.h"
#include "kernels/launch_plan.h"

namespace kvcaliper::kernels {
namespace {

/// A plan of a thread for every channel, if there are any.
template <class View> LaunchPlan plan_channels(const View& view) {
    LaunchPlan plan;
    plan.refusal = first_refusal(std::array{
        Limit{"sequences", view.sequences, 1, kAny},
        Limit{"width", view.width, 1, kAny},
        Limit{"count", view.count, 1, kAny},
    });
    if (plan.possible()) {
        plan.grid = divide_up(view.sequences * view.width, kBlockThreads);
    }
    return plan;
}

} // namespace

LaunchPlan plan_step(const RglruView& view, const DeviceFacts& facts) {
    LaunchPlan plan = plan_channels(view);
    if (!plan.possible()) {
        return plan;
    }
    const std::int64_t channels = view.sequences * view.width;
    plan.cache_bytes_read = channels * kFloat;
    // Once the decay, per step x, r and i.
    plan.bytes_read = plan.cache_bytes_read + channels * (1 + 3 * view.count) * kFloat;
    plan.bytes_written = channels * 2 * kFloat;
    plan.flops = channels * view.count * 9; // the exponential and the root count as one each
    refuse_what_does_not_fit(plan, facts);
    return plan;
}

LaunchPlan plan_step(const Rwkv4View& view, const DeviceFacts& facts) {
    LaunchPlan plan = plan_channels(view);
    if (!plan.possible()) {
        return plan;
    }
    const std::int64_t channels = view.sequences * view.width;
    plan.cache_bytes_read = channels * 3 * kFloat;
    // Once decay and bonus, per step k and v.
    plan.bytes_read = plan.cache_bytes_read + channels * (2 + 2 * view.count) * kFloat;
    plan.bytes_written = channels * 4 * kFloat;
    plan.flops = channels * 11 * (view.count + 1); // of the last step both sums
    refuse_what_does_not_fit(plan, facts);
    return plan;
}

LaunchPlan plan_step(const RwkvView& view, const DeviceFacts& facts) {
    LaunchPlan plan;
    plan.refusal = first_refusal(std::array{
        Limit{"sequences", view.sequences, 1, kAny},
        Limit{"heads", view.heads, 1, kAny},
        Limit{"width", view.width, 1, kMaxRwkvWidth},
        Limit{"count", view.count, 1, kAny},
    });
    if (!plan.possible()) {
        return plan;
    }
    const bool bonus = view.bonus != nullptr;
    const std::int64_t columns = view.sequences * view.heads * view.width;
    const std::int64_t row = view.width * kFloat;
    plan.grid = view.sequences * view.heads * divide_up(view.width, kWarpLanes);
    plan.cache_bytes_read = columns * row;
    // Per step and block k, the decay and, without a bonus, a and b, per warp v; once r and, where
    // there is one, the bonus.
    plan.bytes_read = plan.cache_bytes_read +
                      plan.grid * row * (view.count * (bonus ? 2 : 4) + (bonus ? 2 : 1)) +
                      view.count * columns * kBlockWarps * kFloat;
    plan.bytes_written = columns * (row + kFloat);
    plan.flops = columns * view.width * (view.count * (bonus ? 3 : 7) + 2);
    refuse_what_does_not_fit(plan, facts);
    return plan;
}

LaunchPlan plan_step(const XlstmView& view, const DeviceFacts& facts) {
    LaunchPlan plan;
    plan.refusal = first_refusal(std::array{
        Limit{"sequences", view.sequences, 1, kAny},
        Limit{"heads", view.heads, 1, kAny},
        Limit{"key_width", view.key_width, 1, kMaxXlstmKeyWidth},
        Limit{"value_width", view.value_width, 1, kAny},
        Limit{"count", view.count, 1, kAny},
    });
    if (!plan.possible()) {
        return plan;
    }
    const std::int64_t heads = view.sequences * view.heads;
    const std::int64_t matrix = heads * (view.value_width + 1) * view.key_width * kFloat;
    const std::int64_t row = view.key_width * kFloat;
    const std::int64_t gates = view.count * 2 * kFloat;
    plan.grid = heads * divide_up(view.value_width + 1, kWarpLanes);
    plan.warps = kXlstmWarps;
    plan.merge_grid = heads;
    plan.cache_bytes_read = matrix + plan.grid * kFloat; // m in every block
    // Per step and block k and the gates, per warp v; once q. Then the gates, m and the output.
    plan.bytes_read = plan.cache_bytes_read + plan.grid * (view.count * row + gates + row) +
                      view.count * heads * view.value_width * plan.warps * kFloat +
                      heads * (gates + kFloat + (view.value_width + 1) * kFloat);
    plan.bytes_written = matrix + heads * (kFloat + 2 * (view.value_width + 1) * kFloat);
    plan.flops = heads * (view.value_width + 1) * view.key_width * (view.count * 3 + 2);
    refuse_what_does_not_fit(plan, facts);
    return plan;
}

} // namespace kvcaliper::kernels
