// SPDX-License-Identifier: Apache-2.0
// What only the emulator can show of the state layers' kernels: that results do not depend on who
// runs first, and that the traffic a plan announces is the traffic the kernels make.
#include "kernels/backend_emulated.h"
#include "state_steps.h"

#include <gtest/gtest.h>

namespace kvcaliper::kernels::test {
namespace {

std::vector<EmulatedOptions> all_orders() {
    std::vector<EmulatedOptions> orders(5);
    orders[1].order = simt::Order::reverse;
    for (const std::size_t i : {2u, 3u, 4u}) {
        orders[i].order = simt::Order::shuffled;
        orders[i].seed = i;
    }
    return orders;
}

template <class Step> void expect_same_bits(Step step) {
    const Values first = step(*make_emulated_backend());
    ASSERT_FALSE(first.empty());
    for (const EmulatedOptions& options : all_orders()) {
        EXPECT_EQ(step(*make_emulated_backend(options)), first);
    }
}

Values joined(Values values, const Values& more) {
    values.insert(values.end(), more.begin(), more.end());
    return values;
}

TEST(StateOrders, ConvolutionGivesTheSameBits) {
    const ConvView view = conv_view(2, 150, 4, 6);
    expect_same_bits([&](Backend& backend) {
        ConvData data = conv_data(view, 1);
        const Values out = run_step(backend, view, data);
        return joined(out, data.history);
    });
}

TEST(StateOrders, Mamba2GivesTheSameBits) {
    const Mamba2View view = mamba2_view(2, 4, 24, 2, 40, 4);
    expect_same_bits([&](Backend& backend) {
        Mamba2Data data = mamba2_data(view, 2);
        const Values out = run_step(backend, view, data);
        return joined(out, data.state);
    });
}

TEST(StateOrders, MatrixStateGivesTheSameBits) {
    for (const bool delta_rule : {true, false}) {
        DeltaView view = delta_view(2, 2, 4, 72, 40, 4);
        view.gate_width = delta_rule ? 1 : view.key_width;
        expect_same_bits([&](Backend& backend) {
            DeltaData data = delta_data(view, 3, delta_rule);
            const Values out = run_step(backend, view, data);
            return joined(out, data.state);
        });
    }
}

template <class View, class Data>
void expect_planned_traffic(const View& view, Data data, const LaunchPlan& plan) {
    simt::stats() = {};
    run_step(*make_emulated_backend(), view, data);
    EXPECT_GT(plan.cache_bytes_read, 0);
    EXPECT_EQ(simt::stats().bytes_read, plan.bytes_read);
    EXPECT_EQ(simt::stats().bytes_written, plan.bytes_written);
}

TEST(StateTraffic, ConvolutionMovesWhatThePlanSays) {
    const ConvView view = conv_view(2, 70, 4, 3);
    expect_planned_traffic(view, conv_data(view, 4), plan_step(view, EmulatedOptions{}.facts));
}

TEST(StateTraffic, Mamba2MovesWhatThePlanSays) {
    for (const std::int64_t state_size : {16, 100}) {
        const Mamba2View view = mamba2_view(2, 3, 7, 1, state_size, 3);
        expect_planned_traffic(view, mamba2_data(view, 5),
                               plan_step(view, EmulatedOptions{}.facts));
    }
}

TEST(StateTraffic, MatrixStateMovesWhatThePlanSays) {
    const float some_beta = 0.0f;
    for (const std::int64_t key_width : {70, 300}) {
        for (const bool delta_rule : {true, false}) {
            const bool column_gate = delta_rule == (key_width < 100);
            DeltaView view = delta_view(2, 1, 3, key_width, 40, 3);
            view.gate_width = column_gate ? view.key_width : 1;
            view.beta = delta_rule ? &some_beta : nullptr; // only whether there is one counts
            expect_planned_traffic(view, delta_data(view, 6, delta_rule),
                                   plan_step(view, EmulatedOptions{}.facts));
        }
    }
}

} // namespace
} // namespace kvcaliper::kernels::test
