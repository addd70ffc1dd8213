// SPDX-License-Identifier: Apache-2.0
// What only the emulator can show of the kernels of RG-LRU, RWKV and xLSTM: that results do not
// depend on who runs first, that the traffic a plan announces is the traffic the kernels make, and
// that offsets beyond 32 bits are right.
#include "kernels/backend_emulated.h"
#include "recurrent_steps.h"
#include "sparse_memory.h"

#include <gtest/gtest.h>

namespace kvcaliper::kernels::test {
namespace {

/// Output and state of a step, in every order.
template <class View, class Data> void expect_same_bits(const View& view, const Data& start) {
    const auto step = [&](const EmulatedOptions& options) {
        Data data = start;
        Values all = run_step(*make_emulated_backend(options), view, data);
        all.insert(all.end(), data.state.begin(), data.state.end());
        return all;
    };
    const Values first = step({});
    EmulatedOptions options;
    options.order = simt::Order::reverse;
    EXPECT_EQ(step(options), first);
    options.order = simt::Order::shuffled;
    for (options.seed = 2; options.seed < 5; ++options.seed) {
        EXPECT_EQ(step(options), first);
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

TEST(SimtRecurrentOrders, GiveTheSameBits) {
    const RglruView rglru = rglru_view(2, 150, 4);
    expect_same_bits(rglru, rglru_data(rglru, 1));
    const Rwkv4View rwkv4 = rwkv4_view(2, 150, 4);
    expect_same_bits(rwkv4, rwkv4_data(rwkv4, 2));
    const RwkvView rwkv = rwkv_view(2, 2, 72, 3);
    for (const bool bonus : {true, false}) {
        expect_same_bits(rwkv, rwkv_data(rwkv, 3, bonus));
    }
    const XlstmView xlstm = xlstm_view(2, 2, 72, 40, 3);
    expect_same_bits(xlstm, xlstm_data(xlstm, 4));
}

TEST(SimtRecurrentTraffic, IsWhatThePlanSays) {
    const DeviceFacts facts = EmulatedOptions{}.facts;
    const RglruView rglru = rglru_view(2, 70, 3);
    expect_planned_traffic(rglru, rglru_data(rglru, 1), plan_step(rglru, facts));
    const Rwkv4View rwkv4 = rwkv4_view(2, 70, 3);
    expect_planned_traffic(rwkv4, rwkv4_data(rwkv4, 2), plan_step(rwkv4, facts));
    const float some_bonus = 0.0f;
    for (const std::int64_t width : {40, 100}) {
        RwkvView rwkv = rwkv_view(2, 2, width, 3);
        expect_planned_traffic(rwkv, rwkv_data(rwkv, 3, false), plan_step(rwkv, facts));
        rwkv.bonus = &some_bonus; // only whether there is one counts
        expect_planned_traffic(rwkv, rwkv_data(rwkv, 3, true), plan_step(rwkv, facts));
    }
    for (const std::int64_t key_width : {40, 200, 256}) {
        const XlstmView xlstm = xlstm_view(2, 2, key_width, 40, 3);
        expect_planned_traffic(xlstm, xlstm_data(xlstm, 4), plan_step(xlstm, facts));
    }
    ConvView conv = conv_view(2, 70, 4, 3, false, Element::f32);
    ConvData data = conv_data(conv, 5);
    simt::stats() = {};
    run_step(*make_emulated_backend(), conv, data);
    EXPECT_EQ(simt::stats().bytes_read, plan_step(conv, facts).bytes_read);
    EXPECT_EQ(simt::stats().bytes_written, plan_step(conv, facts).bytes_written);
}

TEST(SimtRecurrentOffsets, XlstmReadsRowsBeyond2To31Floats) {
    constexpr std::int64_t stride = (std::int64_t{1} << 31) + 8;
    XlstmView view = xlstm_view(1, 1, 16, 24, 2);
    XlstmData data = xlstm_data(view, 6);
    SparseMemory q((stride + 16) * 4), k((stride + 16) * 4), v((stride + 24) * 4);
    if (!q.reserved() || !k.reserved() || !v.reserved()) {
        GTEST_SKIP() << "this system reserves no address space without memory";
    }
    for (std::int64_t row = 0; row < 2; ++row) {
        const auto from = static_cast<std::size_t>(row * view.stride);
        q.put(row * stride, data.q, from, 16, Element::f32);
        k.put(row * stride, data.k, from, 16, Element::f32);
        v.put(row * stride, data.v, from, 24, Element::f32);
    }
    const auto backend = make_emulated_backend();
    const Memory gates(*backend, data.gates, Element::f32);
    const Memory state(*backend, data.state, Element::f32);
    const Memory out(*backend, 25 * 4);
    const Values expected = reference(view, data);
    view.q = static_cast<const float*>(q.get());
    view.k = static_cast<const float*>(k.get());
    view.v = static_cast<const float*>(v.get());
    view.gates = gates.floats();
    view.state = state.floats();
    view.out = out.floats();
    view.stride = stride;
    backend->step(view);
    EXPECT_LE(worst_error(out.values(Element::f32), expected, 25), 2e-6);
}

} // namespace
} // namespace kvcaliper::kernels::test
