// SPDX-License-Identifier: Apache-2.0
// What only the emulator can show of the tensor cores' kernel: that its result does not depend on
// who runs first, that it moves the bytes its plan announces, and that its offsets are 64-bit.
#include "kernels/backend_emulated.h"
#include "matrix_steps.h"
#include "sparse_memory.h"

#include <gtest/gtest.h>

namespace kvcaliper::kernels::test {
namespace {

constexpr DeviceFacts kHopper{132, std::int64_t{227} * 1024, 90};
constexpr DeviceFacts kAda{4, std::int64_t{99} * 1024, 89};

/// Empty splits included where there are more than tokens.
EmulatedOptions options(const DeviceFacts& facts, std::int64_t splits) {
    EmulatedOptions result;
    result.facts = facts;
    result.splits = splits;
    return result;
}

std::vector<EmulatedOptions> all_orders(const DeviceFacts& facts, std::int64_t splits) {
    const EmulatedOptions forward = options(facts, splits);
    EmulatedOptions reverse = forward;
    reverse.order = simt::Order::reverse;
    std::vector<EmulatedOptions> orders{forward, reverse};
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
        EmulatedOptions shuffled = forward;
        shuffled.order = simt::Order::shuffled;
        shuffled.seed = seed;
        orders.push_back(shuffled);
    }
    return orders;
}

template <class View, class Data> void expect_same_bits(const View& view, const Data& data) {
    for (const DeviceFacts& facts : {kHopper, kAda}) {
        const std::vector<EmulatedOptions> orders = all_orders(facts, 3);
        ASSERT_EQ(plan_attention(view, facts).core, Core::matrix);
        const Values first = run_step(*make_emulated_backend(orders.front()), view, data);
        ASSERT_FALSE(first.empty());
        for (const EmulatedOptions& order : orders) {
            EXPECT_EQ(run_step(*make_emulated_backend(order), view, data), first);
        }
    }
}

TEST(MatrixOrders, AttentionGivesTheSameBits) {
    const AttentionView view = attention_view(40, 2, 80, 300);
    expect_same_bits(view, attention_data(view, 1));
    const AttentionView narrow = attention_view(6, 1, 256, 200, Element::bf16);
    expect_same_bits(narrow, attention_data(narrow, 2));
}

TEST(MatrixOrders, LatentAttentionGivesTheSameBits) {
    const LatentView view = latent_view(20, 512, 64, 150);
    expect_same_bits(view, latent_data(view, 3));
}

TEST(MatrixOrders, QuantisedAttentionGivesTheSameBits) {
    const AttentionView view =
        in_formats(attention_view(12, 2, 64, 300), Format::q8_0, Format::q4_0);
    expect_same_bits(view, stored_attention(*make_emulated_backend(), view, 300, 4));
}

/// Twice the gate of a single result: both may be off.
constexpr double kSplitGate = 2e-3;

TEST(MatrixSplits, AttentionAgreesForEveryNumberOfSplitsEvenWithEmptyOnes) {
    for (const std::int64_t valid : {1, 5, 127, 300}) { // 64 splits of 5 tokens: most are empty
        const AttentionView view = attention_view(6, 2, 64, valid);
        const AttentionData data = attention_data(view, 5);
        const Values exact = reference(view, data);
        for (const std::int64_t splits : {1, 2, 3, 7, 64, 128}) {
            SCOPED_TRACE(splits);
            const auto backend = make_emulated_backend(options(kAda, splits));
            EXPECT_LE(worst_error(run_step(*backend, view, data), exact, 64), kSplitGate / 2);
        }
    }
}

TEST(MatrixSplits, LatentAttentionAgreesForEveryNumberOfSplits) {
    for (const std::int64_t valid : {3, 200}) {
        const LatentView view = latent_view(5, 128, 64, valid);
        const LatentData data = latent_data(view, 6);
        const Values exact = reference(view, data);
        for (const std::int64_t splits : {1, 2, 3, 7, 64}) {
            SCOPED_TRACE(splits);
            const auto backend = make_emulated_backend(options(kHopper, splits));
            EXPECT_LE(worst_error(run_step(*backend, view, data), exact, 128), kSplitGate / 2);
        }
    }
}

TEST(MatrixSplits, TheLaunchOfALargeDeviceAgreesToo) {
    const AttentionView view = attention_view(8, 1, 64, 1500);
    ASSERT_GT(plan_attention(view, kHopper).shape.splits, 1);
    const AttentionData data = attention_data(view, 10);
    const Values found = run_step(*make_emulated_backend(options(kHopper, 0)), view, data);
    EXPECT_LE(worst_error(found, reference(view, data), 64), kSplitGate / 2);
}

/// Keys of 512 quantised numbers, each kept as two, only fit into a large shared memory.
TEST(MatrixSplits, TheWidestQuantisedKeysAgreeWhereThereIsRoom) {
    for (const Format format : {Format::q8_0, Format::q4_1, Format::nvfp4}) {
        const AttentionView view = in_formats(attention_view(7, 1, 512, 70), format, format);
        const auto backend = make_emulated_backend(options(kHopper, 2));
        ASSERT_EQ(plan_attention(view, kHopper).core, Core::matrix);
        const StoredAttention data = stored_attention(*backend, view, 70, 11);
        EXPECT_LE(worst_error(run_step(*backend, view, data), reference(view, data.numbers), 512),
                  kSplitGate / 2);
    }
}

/// What a step moved, counted load by load.
template <class View, class Data>
void expect_traffic(const View& view, const Data& data, const DeviceFacts& facts,
                    std::int64_t splits) {
    const LaunchPlan plan = plan_attention(view, facts, splits);
    ASSERT_EQ(plan.core, Core::matrix) << plan.core_reason;
    simt::stats() = {};
    run_step(*make_emulated_backend(options(facts, splits)), view, data);
    EXPECT_EQ(simt::stats().bytes_read, plan.bytes_read);
    EXPECT_EQ(simt::stats().bytes_written, plan.bytes_written);
}

TEST(MatrixTraffic, AttentionMovesWhatThePlanSays) {
    for (const std::int64_t splits : {0, 1, 5}) {
        for (const std::int64_t group : {3, 16, 20, 100}) {
            AttentionView view = attention_view(2 * group, 2, 96, 150);
            view.value_width = 64;
            view.sequences = 2;
            view.slots = 200;
            for (const DeviceFacts& facts : {kHopper, kAda}) {
                expect_traffic(view, attention_data(view, 7), facts, splits);
            }
        }
    }
}

/// The same by hand: with 16 heads on one kv head every key and value is read once.
TEST(MatrixTraffic, ReadsEachRowOnce) {
    const LaunchPlan plan = plan_attention(attention_view(16, 1, 128, 1000), kAda, 1);
    EXPECT_EQ(plan.cache_bytes_read, 1000 * 2 * 256);
    EXPECT_EQ(plan.bytes_read, 1000 * 2 * 256 + 16 * 256 + 16 * (128 + 2) * 4);
}

TEST(MatrixTraffic, LatentAttentionMovesWhatThePlanSays) {
    for (const std::int64_t heads : {10, 128}) {
        const LatentView view = latent_view(heads, 512, 64, 140);
        for (const DeviceFacts& facts : {kHopper, kAda}) {
            expect_traffic(view, latent_data(view, 8), facts, 0);
        }
    }
}

TEST(MatrixTraffic, QuantisedCachesMoveWhatThePlanSays) {
    for (const Format key :
         {Format::f16, Format::fp8_e4m3, Format::q8_0, Format::q5_0, Format::q5_1, Format::nvfp4}) {
        for (const Format value : {Format::f16, Format::fp8_e4m3, Format::q4_0, Format::q4_1,
                                   Format::iq4_nl, Format::nvfp4}) {
            const AttentionView view = in_formats(attention_view(6, 2, 96, 50), key, value);
            expect_traffic(view, stored_attention(*make_emulated_backend(), view, 50, 9), kAda, 0);
        }
    }
}

constexpr std::int64_t kSlots = std::int64_t{1} << 25;

/// Planes of 2^32 and more elements; the second head starts at element 2^31.
TEST(MatrixOffsets, AttentionReadsPlanesBeyond2To31Elements) {
    AttentionView view = attention_view(6, 2, 64, 5);
    const AttentionData data = attention_data(view, 1);
    const Values expected = reference(view, data);
    view.slots = kSlots;
    SparseMemory k(2 * kSlots * 64 * 2);
    SparseMemory v(2 * kSlots * 64 * 2);
    if (!k.reserved() || !v.reserved()) {
        GTEST_SKIP() << "this system reserves no address space without memory";
    }
    for (std::int64_t head = 0; head < 2; ++head) {
        k.put(head * kSlots * 64, data.k, static_cast<std::size_t>(head) * 320, 320);
        v.put(head * kSlots * 64, data.v, static_cast<std::size_t>(head) * 320, 320);
    }
    const auto backend = make_emulated_backend(options(kAda, 0));
    const Memory q(*backend, data.q, view.element);
    const Memory out(*backend, 6 * 64 * 4);
    const Memory workspace(*backend, backend->workspace_bytes(view));
    view.q = q.get();
    view.k = k.get();
    view.v = v.get();
    view.out = out.floats();
    backend->attend(view, workspace.get());
    EXPECT_LE(worst_error(out.values(Element::f32), expected, 64), 1e-3);
}

TEST(MatrixOffsets, LatentAttentionReadsPlanesBeyond2To31Elements) {
    LatentView view = latent_view(4, 128, 64, 5);
    view.sequences = 2;
    const LatentData data = latent_data(view, 2);
    const Values expected = reference(view, data);
    view.slots = kSlots;
    SparseMemory latent(2 * kSlots * 128 * 2);
    SparseMemory rope(2 * kSlots * 64 * 2);
    if (!latent.reserved() || !rope.reserved()) {
        GTEST_SKIP() << "this system reserves no address space without memory";
    }
    for (std::int64_t sequence = 0; sequence < 2; ++sequence) {
        const auto row = static_cast<std::size_t>(sequence) * 5;
        latent.put(sequence * kSlots * 128, data.latent, row * 128, std::size_t{5} * 128);
        rope.put(sequence * kSlots * 64, data.rope, row * 64, std::size_t{5} * 64);
    }
    const auto backend = make_emulated_backend(options(kHopper, 0));
    const Memory q_latent(*backend, data.q_latent, view.element);
    const Memory q_rope(*backend, data.q_rope, view.element);
    const Memory out(*backend, 2 * 4 * 128 * 4);
    const Memory workspace(*backend, backend->workspace_bytes(view));
    view.q_latent = q_latent.get();
    view.q_rope = q_rope.get();
    view.latent = latent.get();
    view.rope = rope.get();
    view.out = out.floats();
    backend->attend(view, workspace.get());
    EXPECT_LE(worst_error(out.values(Element::f32), expected, 128), 1e-3);
}

} // namespace
} // namespace kvcaliper::kernels::test
