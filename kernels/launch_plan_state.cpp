// SPDX-License-Identifier: Apache-2.0
// Plans of the steps of layers that keep a state.
#include "kernels/launch_limits.h"
#include "kernels/launch_plan.h"

namespace kvcaliper::kernels {

LaunchPlan plan_step(const Mamba1View& view, const DeviceFacts& facts) {
    if (view.element == Element::f32) {
        return refused("expected f16 or bf16 inputs, found f32");
    }
    LaunchPlan plan;
    plan.refusal = first_refusal(std::array{
        Limit{"sequences", view.sequences, 1, kAny},
        Limit{"inner", view.inner, 1, kAny},
        Limit{"state_size", view.state_size, 1, kMaxStateSize},
        Limit{"conv_kernel", view.conv_kernel, 1, kAny},
        Limit{"count", view.count, 1, kAny},
    });
    if (!plan.possible()) {
        return plan;
    }
    const std::int64_t channels = view.sequences * view.inner;
    const std::int64_t steps = channels * view.count;
    const std::int64_t element = element_bytes(view.element);
    const std::int64_t history = (view.conv_kernel - 1) * element;
    const std::int64_t state = view.state_size * kFloat;
    plan.grid = divide_up(channels, kBlockThreads);
    plan.cache_bytes_read = steps * (history + state);
    // Beside them: x, weight and bias, dt and d, and one row each of a, b and c.
    plan.bytes_read =
        plan.cache_bytes_read + steps * (element + (view.conv_kernel + 3) * kFloat + 3 * state);
    plan.bytes_written = plan.cache_bytes_read + channels * kFloat;
    plan.flops = steps * (2 * view.conv_kernel + 7 * view.state_size);
    refuse_what_does_not_fit(plan, facts);
    return plan;
}

LaunchPlan plan_step(const ConvView& view, const DeviceFacts& facts) {
    LaunchPlan plan;
    plan.refusal = first_refusal(std::array{
        Limit{"sequences", view.sequences, 1, kAny},
        Limit{"channels", view.channels, 1, kAny},
        Limit{"conv_kernel", view.conv_kernel, 1, kAny},
        Limit{"count", view.count, 1, kAny},
    });
    if (!plan.possible()) {
        return plan;
    }
    const std::int64_t steps = view.sequences * view.channels * view.count;
    const std::int64_t element = element_bytes(view.element);
    plan.grid = divide_up(view.sequences * view.channels, kBlockThreads);
    plan.cache_bytes_read = steps * (view.conv_kernel - 1) * element;
    plan.bytes_read = plan.cache_bytes_read + steps * (element + (view.conv_kernel + 1) * kFloat);
    plan.bytes_written = plan.cache_bytes_read + steps * kFloat;
    plan.flops = steps * 2 * view.conv_kernel;
    refuse_what_does_not_fit(plan, facts);
    return plan;
}

LaunchPlan plan_step(const Mamba2View& view, const DeviceFacts& facts) {
    LaunchPlan plan;
    plan.refusal = first_refusal(std::array{
        Limit{"sequences", view.sequences, 1, kAny},
        Limit{"groups", view.groups, 1, kAny},
        Limit{"heads", view.heads, view.groups, kAny},
        Limit{"head_width", view.head_width, 1, kAny},
        Limit{"state_size", view.state_size, 1, kMaxStateSize},
        Limit{"count", view.count, 1, kAny},
    });
    if (plan.possible() && view.heads % view.groups != 0) {
        return refused("expected heads to be a multiple of the " + std::to_string(view.groups) +
                       " groups, found " + std::to_string(view.heads));
    }
    if (!plan.possible()) {
        return plan;
    }
    const std::int64_t rows = view.sequences * view.heads * view.head_width;
    const std::int64_t state = view.state_size * kFloat;
    constexpr std::int64_t lanes = kWarpLanes * kFloat; // one number read by every lane
    plan.grid = divide_up(rows, kBlockWarps);
    plan.columns = columns_for(view.state_size);
    plan.cache_bytes_read = rows * state;
    // Per step dt, x and a row of b; once a, d and a row of c.
    plan.bytes_read = plan.cache_bytes_read + rows * view.count * (2 * lanes + state) +
                      rows * (lanes + kFloat + state);
    plan.bytes_written = rows * (state + kFloat);
    plan.flops = rows * view.state_size * (3 * view.count + 2);
    refuse_what_does_not_fit(plan, facts);
    return plan;
}

namespace {

std::string refusal_of(const DeltaView& view) {
    const std::string limits = first_refusal(std::array{
        Limit{"sequences", view.sequences, 1, kAny},
        Limit{"key_heads", view.key_heads, 1, kAny},
        Limit{"value_heads", view.value_heads, view.key_heads, kAny},
        Limit{"key_width", view.key_width, 1, kMaxKeyWidth},
        Limit{"value_width", view.value_width, 1, kAny},
        Limit{"count", view.count, 1, kAny},
    });
    if (limits.empty() && view.value_heads % view.key_heads != 0) {
        return "expected value_heads to be a multiple of the " + std::to_string(view.key_heads) +
               " key_heads, found " + std::to_string(view.value_heads);
    }
    if (limits.empty() && view.gate_width != 1 && view.gate_width != view.key_width) {
        return "expected gate_width 1 or " + std::to_string(view.key_width) + ", found " +
               std::to_string(view.gate_width);
    }
    return limits;
}

} // namespace

LaunchPlan plan_step(const DeltaView& view, const DeviceFacts& facts) {
    LaunchPlan plan;
    plan.refusal = refusal_of(view);
    if (!plan.possible()) {
        return plan;
    }
    const std::int64_t heads = view.sequences * view.value_heads;
    const std::int64_t columns = heads * view.value_width;
    const std::int64_t row = view.key_width * kFloat;
    plan.grid = heads * divide_up(view.value_width, kWarpLanes);
    plan.columns = view.key_width > 16 * kBlockWarps ? 32 : 16; // rows of a column per warp
    // A block's warps have all rows between them; more rows per warp would not fit into registers.
    plan.warps = divide_up(view.key_width, plan.columns * kBlockWarps) * kBlockWarps;
    plan.cache_bytes_read = columns * row;
    // Per step and block k and the decay, per warp v, per thread beta; once q.
    const std::int64_t beta = view.beta != nullptr ? plan.warps * kWarpLanes * kFloat : 0;
    plan.bytes_read = plan.cache_bytes_read + plan.grid * (view.count * (2 * row + beta) + row) +
                      view.count * columns * plan.warps * kFloat;
    plan.bytes_written = columns * (row + kFloat);
    plan.flops = columns * view.key_width * (view.count * (view.beta != nullptr ? 5 : 3) + 2);
    refuse_what_does_not_fit(plan, facts);
    return plan;
}

} // namespace kvcaliper::kernels
