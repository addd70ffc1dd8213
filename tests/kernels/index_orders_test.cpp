// SPDX-License-Identifier: Apache-2.0
// Indexers, compressed entries and packed caches on the emulator: the same bits in every order of
// blocks, warps and lanes, and the traffic that their plans announce.
#include "kernels/backend_emulated.h"
#include "simt_steps.h"

#include <gtest/gtest.h>

namespace kvcaliper::kernels::test {
namespace {

/// Runs one step; the bytes it wrote come back.
struct ScoreStep {
    static constexpr std::int64_t sequences = 2, heads = 37, width = 96, valid = 150;
    static IndexScoreView view() {
        IndexScoreView view{};
        view.sequences = sequences;
        view.heads = heads;
        view.width = width;
        view.slots = valid + 2;
        view.valid = valid;
        view.stride = valid;
        view.element = Element::f16;
        view.format = Format::q8_0;
        return view;
    }
    static LaunchPlan plan(const DeviceFacts& facts) { return plan_score(view(), facts); }
    static std::vector<std::byte> run(Backend& backend) {
        IndexScoreView view = ScoreStep::view();
        const Memory q(backend, normal_values(sequences * heads * width, 1, Element::f16),
                       Element::f16);
        const Memory weights(backend, normal_values(sequences * heads, 2, Element::f32),
                             Element::f32);
        const Memory source(backend, normal_values(sequences * valid * width, 3, Element::f16),
                            Element::f16);
        const Memory keys(backend, sequences * view.slots * stored_row_bytes(view.format, width));
        const Memory scores(backend, sequences * valid * 4);
        backend.append({source.get(), keys.get(), sequences, 1, width, view.slots, 0, valid,
                        Element::f16, view.format});
        view.q = q.get();
        view.weights = weights.floats();
        view.keys = keys.get();
        view.scores = scores.floats();
        simt::stats() = {};
        backend.score(view);
        return scores.bytes();
    }
};

struct SelectStep {
    static constexpr std::int64_t sequences = 3, valid = 700, count = 65;
    static SelectView view() { return {nullptr, nullptr, sequences, valid, valid, count}; }
    static LaunchPlan plan(const DeviceFacts& facts) { return plan_select(view(), facts); }
    static std::vector<std::byte> run(Backend& backend) {
        SelectView view = SelectStep::view();
        const Memory scores(backend, normal_values(sequences * valid, 4, Element::bf16),
                            Element::f32);
        const Memory table(backend, sequences * count * 4);
        view.scores = scores.floats();
        view.table = static_cast<std::int32_t*>(table.get());
        simt::stats() = {};
        backend.select(view);
        return table.bytes();
    }
};

struct GatherStep {
    static constexpr std::int64_t sequences = 2, rows = 3, slots = 40, row = 36, count = 17;
    static GatherView view() {
        GatherView view{};
        view.sequences = sequences;
        view.rows = rows;
        view.slots = slots;
        view.row_bytes = row;
        view.count = count;
        view.out_slots = count + 5;
        view.out_first = 2;
        return view;
    }
    static LaunchPlan plan(const DeviceFacts& facts) {
        GatherView named = view();
        static const std::int32_t table = 0;
        named.table = &table; // that there is one is all the plan asks
        return plan_gather(named, facts);
    }
    static std::vector<std::byte> run(Backend& backend) {
        GatherView view = GatherStep::view();
        const Memory planes(backend,
                            normal_values(sequences * rows * slots * row / 4, 5, Element::f32),
                            Element::f32);
        std::vector<std::byte> numbers(sequences * count * 4);
        for (std::size_t i = 0; i < sequences * count; ++i) {
            numbers[4 * i] = static_cast<std::byte>(i * 7 % slots);
        }
        const Memory table(backend, numbers);
        const Memory out(backend, sequences * rows * view.out_slots * row);
        view.planes = planes.get();
        view.table = static_cast<const std::int32_t*>(table.get());
        view.out = out.get();
        simt::stats() = {};
        backend.gather(view);
        return out.bytes();
    }
};

struct PoolStep {
    static constexpr std::int64_t sequences = 2, slots = 20, width = 70, group = 4, count = 5;
    static PoolView view() {
        return {nullptr, nullptr, sequences, slots, width, group, 2, 0, count, Element::bf16};
    }
    static LaunchPlan plan(const DeviceFacts& facts) { return plan_pool(view(), facts); }
    static std::vector<std::byte> run(Backend& backend) {
        PoolView view = PoolStep::view();
        const Memory rows(backend, normal_values(sequences * slots * 4 * width, 6, Element::f32),
                          Element::f32);
        const Memory out(backend, sequences * count * width * 2);
        view.rows = rows.floats();
        view.out = out.get();
        simt::stats() = {};
        backend.pool(view);
        return out.bytes();
    }
};

/// Keys per channel or values per token.
template <bool per_channel> struct PackStep {
    static constexpr std::int64_t sequences = 2, rows = 3, slots = 96, first = 32, count = 64;
    static constexpr std::int64_t width = per_channel ? 70 : 96;
    static PackView view() {
        return {nullptr,      nullptr, sequences,
                rows,         width,   slots,
                first,        count,   count * rows * width,
                rows * width, width,   Format::kivi_4bit_r32,
                per_channel};
    }
    static LaunchPlan plan(const DeviceFacts& facts) { return plan_pack(view(), facts); }
    static std::vector<std::byte> run(Backend& backend) {
        PackView view = PackStep::view();
        const Memory source(backend,
                            normal_values(sequences * count * rows * width, 7, Element::f16),
                            Element::f16);
        const Memory out(backend, sequences * rows * slots * width / 32 * 20);
        view.source = source.get();
        view.plane = out.get();
        simt::stats() = {};
        backend.pack(view);
        return out.bytes();
    }
};

/// Values begin to be recent in the middle of a chunk.
struct ResidualStep {
    static constexpr std::int64_t sequences = 2, kv_heads = 2, heads = 6, width = 96, valid = 333;
    static constexpr Format format = Format::kivi_2bit_r32;
    static ResidualAttentionView view() {
        ResidualAttentionView view{};
        view.step.sequences = sequences;
        view.step.heads = heads;
        view.step.kv_heads = kv_heads;
        view.step.key_width = view.step.value_width = width;
        view.step.slots = view.step.valid = valid;
        view.step.scale = 0.1f;
        view.step.element = Element::f16;
        view.step.key_format = view.step.value_format = format;
        view.key_slots = packed_keys(format, valid);
        view.recent_key_slots = valid - view.key_slots;
        view.value_slots = packed_values(format, valid);
        view.recent_value_slots = valid - view.value_slots;
        return view;
    }
    static LaunchPlan plan(const DeviceFacts& facts) { return plan_attention(view(), facts); }
    static std::vector<std::byte> run(Backend& backend) {
        ResidualAttentionView view = ResidualStep::view();
        const auto halves = [&](std::int64_t count, unsigned seed) {
            return Memory(backend, normal_values(count, seed, Element::f16), Element::f16);
        };
        const std::int64_t planes = sequences * kv_heads, row = kv_heads * width;
        const Memory q = halves(sequences * heads * width, 1);
        const Memory source = halves(sequences * valid * row, 2);
        const Memory recent_k = halves(planes * view.recent_key_slots * width, 3);
        const Memory recent_v = halves(planes * view.recent_value_slots * width, 4);
        const Memory k(backend, planes * view.key_slots * width / 32 * 12);
        const Memory v(backend, planes * view.value_slots * width / 32 * 12);
        const Memory out(backend, sequences * heads * width * 4);
        backend.pack({source.get(), k.get(), sequences, kv_heads, width, view.key_slots, 0,
                      view.key_slots, valid * row, row, width, format, true});
        backend.pack({source.get(), v.get(), sequences, kv_heads, width, view.value_slots, 0,
                      view.value_slots, valid * row, row, width, format, false});
        view.step.q = q.get();
        view.step.k = k.get();
        view.step.v = v.get();
        view.recent_k = recent_k.get();
        view.recent_v = recent_v.get();
        view.step.out = out.floats();
        const Memory workspace(backend, backend.workspace_bytes(view));
        simt::stats() = {};
        backend.attend(view, workspace.get());
        return out.bytes();
    }
};

template <class Step> class IndexOrders : public testing::Test {};
using Steps = testing::Types<ScoreStep, SelectStep, GatherStep, PoolStep, PackStep<true>,
                             PackStep<false>, ResidualStep>;
TYPED_TEST_SUITE(IndexOrders, Steps);

TYPED_TEST(IndexOrders, GiveTheSameBits) {
    EmulatedOptions options;
    const std::vector<std::byte> first = TypeParam::run(*make_emulated_backend(options));
    options.order = simt::Order::reverse;
    EXPECT_EQ(TypeParam::run(*make_emulated_backend(options)), first);
    options.order = simt::Order::shuffled;
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
        options.seed = seed;
        EXPECT_EQ(TypeParam::run(*make_emulated_backend(options)), first) << seed;
    }
}

TYPED_TEST(IndexOrders, MakeTheTrafficThatIsPlanned) {
    const EmulatedOptions options;
    TypeParam::run(*make_emulated_backend(options));
    const simt::Stats stats = simt::stats();
    const LaunchPlan plan = TypeParam::plan(options.facts);
    EXPECT_EQ(stats.bytes_read, plan.bytes_read);
    EXPECT_EQ(stats.bytes_written, plan.bytes_written);
    EXPECT_LE(plan.cache_bytes_read, plan.bytes_read);
}

} // namespace
} // namespace kvcaliper::kernels::test
