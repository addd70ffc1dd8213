// SPDX-License-Identifier: Apache-2.0
// What only the emulator can show: that results do not depend on who runs first, and that the
// traffic a plan announces is the traffic the kernels make.
#include "kernels/backend_emulated.h"
#include "simt_steps.h"

#include <gtest/gtest.h>

namespace kvcaliper::kernels::test {
namespace {

std::vector<EmulatedOptions> all_orders(std::int64_t splits) {
    EmulatedOptions forward;
    forward.splits = splits;
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

/// Runs `step(backend)` in every order and expects the bits of the forward order each time.
template <class Step> void expect_same_bits(std::int64_t splits, Step step) {
    const std::vector<EmulatedOptions> orders = all_orders(splits);
    const Values first = step(*make_emulated_backend(orders.front()));
    ASSERT_FALSE(first.empty());
    for (const EmulatedOptions& options : orders) {
        EXPECT_EQ(step(*make_emulated_backend(options)), first);
    }
}

TEST(SimtOrders, AttentionGivesTheSameBits) {
    const AttentionView view = attention_view(10, 2, 80, 300);
    const AttentionData data = attention_data(view, 1);
    expect_same_bits(3, [&](Backend& backend) { return run_step(backend, view, data); });
}

TEST(SimtOrders, LatentAttentionGivesTheSameBits) {
    const LatentView view = latent_view(6, 512, 64, 100);
    const LatentData data = latent_data(view, 2);
    expect_same_bits(3, [&](Backend& backend) { return run_step(backend, view, data); });
}

TEST(SimtOrders, MambaGivesTheSameBits) {
    const Mamba1View view = mamba_view(2, 150, 16, 4, 6);
    expect_same_bits(0, [&](Backend& backend) {
        MambaData data = mamba_data(view, 3);
        Values all = run_step(backend, view, data);
        all.insert(all.end(), data.state.begin(), data.state.end());
        all.insert(all.end(), data.history.begin(), data.history.end());
        return all;
    });
}

TEST(SimtOrders, AppendGivesTheSameBitsWhenTheRingIsOverrun) {
    const AppendView view{nullptr, nullptr, 2, 3, 40, 6, 5, 33, Element::bf16};
    const Values source = normal_values(2 * 33 * 3 * 40, 4, view.element);
    expect_same_bits(0, [&](Backend& backend) {
        Values plane(std::size_t{2} * 3 * 6 * 40, 0.0);
        run_append(backend, view, source, plane);
        return plane;
    });
}

TEST(SimtOrders, QuantisingAppendsGiveTheSameBits) {
    for (const Format format :
         {Format::q8_0, Format::q4_0, Format::q5_0, Format::q4_1, Format::q5_1, Format::iq4_nl,
          Format::nvfp4, Format::mxfp8, Format::int8_per_token_head}) {
        const Values source = normal_values(2 * 33 * 3 * 64, 4, Element::f16);
        expect_same_bits(0, [&](Backend& backend) {
            const Memory from(backend, source, Element::f16);
            const Memory to(backend, 2 * 3 * 6 * stored_row_bytes(format, 64));
            backend.append({from.get(), to.get(), 2, 3, 64, 6, 5, 33, Element::f16, format});
            Values bytes;
            for (const std::byte byte : to.bytes()) {
                bytes.push_back(static_cast<double>(byte));
            }
            return bytes;
        });
    }
}

/// Twice the gate of a single result: both may be off.
constexpr double kSplitGate = 4e-6;

template <class View, class Data>
void expect_splits_agree(const View& view, const Data& data, std::int64_t width) {
    const Values whole = run_step(*make_emulated_backend(all_orders(1).front()), view, data);
    for (const std::int64_t splits : {2, 3, 7, 64, 128}) {
        SCOPED_TRACE(splits);
        const auto backend = make_emulated_backend(all_orders(splits).front());
        EXPECT_LE(worst_error(run_step(*backend, view, data), whole, width), kSplitGate);
    }
}

TEST(SimtSplits, AttentionAgreesForEveryNumberOfSplitsEvenWithEmptyOnes) {
    for (const std::int64_t valid : {1, 5, 127, 300}) { // 64 splits of 5 tokens: most are empty
        const AttentionView view = attention_view(6, 2, 64, valid);
        expect_splits_agree(view, attention_data(view, 5), view.value_width);
    }
}

TEST(SimtSplits, LatentAttentionAgreesForEveryNumberOfSplits) {
    for (const std::int64_t valid : {3, 200}) {
        const LatentView view = latent_view(5, 128, 64, valid);
        expect_splits_agree(view, latent_data(view, 6), view.rank);
    }
}

TEST(SimtSplits, TheLaunchOfALargeDeviceAgreesToo) {
    EmulatedOptions h200;
    h200.facts = {132, std::int64_t{227} * 1024};
    const AttentionView view = attention_view(4, 1, 64, 1500);
    ASSERT_GT(plan_attention(view, h200.facts).shape.splits, 1);
    const AttentionData data = attention_data(view, 10);
    const Values found = run_step(*make_emulated_backend(h200), view, data);
    EXPECT_LE(worst_error(found, reference(view, data), view.value_width), 2e-6);
}

/// The step over pages of 16 in reverse order, of one sequence and one kv head.
Values run_paged(Backend& backend, AttentionView view, const AttentionData& data) {
    constexpr std::int64_t page = 16;
    const std::int64_t pages = view.slots / page, row = page * view.key_width;
    const auto reversed = [&](const Values& rows) {
        Values out;
        for (std::int64_t p = pages - 1; p >= 0; --p) {
            out.insert(out.end(), rows.begin() + p * row, rows.begin() + (p + 1) * row);
        }
        return out;
    };
    std::vector<std::byte> table;
    for (std::int64_t p = pages - 1; p >= 0; --p) {
        table.push_back(static_cast<std::byte>(p));
        table.resize(table.size() + 3);
    }
    const Memory q(backend, data.q, view.element), k(backend, reversed(data.k), view.element),
        v(backend, reversed(data.v), view.element), numbers(backend, table),
        out(backend, view.heads * view.value_width * 4);
    view.q = q.get();
    view.k = k.get();
    view.v = v.get();
    view.out = out.floats();
    const PagedAttentionView paged{view, static_cast<const std::int32_t*>(numbers.get()), pages,
                                   page};
    const Memory workspace(backend, backend.workspace_bytes(paged));
    backend.attend(paged, workspace.get());
    backend.synchronize();
    return out.values(Element::f32);
}

AttentionView paged_view(std::int64_t heads, std::int64_t width) {
    AttentionView view = attention_view(heads, 1, width, 300);
    view.slots = 19 * 16; // the last page is not full: what no token reached is NaN
    return view;
}

TEST(SimtOrders, PagesGiveTheSameBits) {
    const AttentionView view = paged_view(5, 80);
    const AttentionData data = attention_data(view, 11);
    expect_same_bits(3, [&](Backend& backend) { return run_paged(backend, view, data); });
}

TEST(SimtSplits, PagesAgreeWithTheReferenceForEveryNumberOfSplits) {
    for (const std::int64_t width : {64, 320}) {
        const AttentionView view = paged_view(3, width);
        const AttentionData data = attention_data(view, 12);
        for (const std::int64_t splits : {1, 2, 3, 7, 64, 128}) {
            const auto backend = make_emulated_backend(all_orders(splits).front());
            EXPECT_LE(worst_error(run_paged(*backend, view, data), reference(view, data), width),
                      2e-6)
                << width << " in " << splits;
        }
    }
}

/// What `step(backend)` moved, counted load by load.
template <class Step> simt::Stats traffic(const EmulatedOptions& options, Step step) {
    simt::stats() = {};
    step(*make_emulated_backend(options));
    return simt::stats();
}

void expect_traffic(const simt::Stats& counted, const LaunchPlan& plan) {
    EXPECT_GT(plan.cache_bytes_read, 0);
    EXPECT_EQ(counted.bytes_read, plan.bytes_read);
    EXPECT_EQ(counted.bytes_written, plan.bytes_written);
}

TEST(SimtTraffic, AttentionMovesWhatThePlanSays) {
    for (const std::int64_t splits : {0, 1, 5}) {
        EmulatedOptions options;
        options.splits = splits;
        for (const std::int64_t group : {1, 3, 4, 9}) {
            AttentionView view = attention_view(2 * group, 2, 96, 150);
            view.value_width = 64;
            view.sequences = 2;
            view.slots = 200;
            const AttentionData data = attention_data(view, 7);
            expect_traffic(traffic(options, [&](Backend& b) { run_step(b, view, data); }),
                           plan_attention(view, options.facts, splits));
        }
    }
}

TEST(SimtTraffic, LatentAttentionMovesWhatThePlanSays) {
    const EmulatedOptions options;
    const LatentView view = latent_view(10, 512, 64, 140);
    const LatentData data = latent_data(view, 8);
    expect_traffic(traffic(options, [&](Backend& b) { run_step(b, view, data); }),
                   plan_attention(view, options.facts));
}

TEST(SimtTraffic, QuantisedCachesMoveWhatThePlanSays) {
    const EmulatedOptions options;
    const auto backend = make_emulated_backend();
    for (const Format key : cache_formats) {
        for (const Format value : cache_formats) {
            if (!divides(key, 96) || !divides(value, 96)) {
                continue;
            }
            AttentionView view = attention_view(6, 2, 96, 50);
            view.key_format = key;
            view.value_format = value;
            const Memory q(*backend, std::vector<std::byte>(6 * 96 * 2));
            const Memory k(*backend, std::vector<std::byte>(2 * 50 * 96 * 4));
            const Memory out(*backend, 6 * 96 * 4);
            const Memory workspace(*backend, backend->workspace_bytes(view));
            view.q = q.get();
            view.k = view.v = k.get();
            view.out = out.floats();
            const LaunchPlan plan = plan_attention(view, options.facts);
            EXPECT_EQ(plan.plain, key == Format::f16 && value == Format::f16);
            EXPECT_EQ(plan.cache_bytes_read,
                      2 * 50 * (stored_row_bytes(key, 96) + stored_row_bytes(value, 96)));
            expect_traffic(traffic(options, [&](Backend& b) { b.attend(view, workspace.get()); }),
                           plan);
        }
    }
}

TEST(SimtTraffic, LatentsWithARotaryKeyOfAnotherFormatMoveWhatThePlanSays) {
    const EmulatedOptions options;
    const auto backend = make_emulated_backend();
    LatentView view = latent_view(6, 512, 64, 50);
    view.format = Format::fp8_e4m3_128;
    const Memory q(*backend, std::vector<std::byte>(6 * 512 * 2));
    const Memory rows(*backend, std::vector<std::byte>(50 * 656));
    const Memory out(*backend, 6 * 512 * 4);
    const Memory workspace(*backend, backend->workspace_bytes(view));
    view.q_latent = view.q_rope = q.get();
    view.latent = view.rope = rows.get();
    view.out = out.floats();
    const LaunchPlan plan = plan_attention(view, options.facts);
    EXPECT_EQ(plan.cache_bytes_read, 2 * 50 * 656); // two tiles of four heads
    expect_traffic(traffic(options, [&](Backend& b) { b.attend(view, workspace.get()); }), plan);
}

TEST(SimtTraffic, SinksMoveWhatThePlanSays) {
    const EmulatedOptions options;
    const auto backend = make_emulated_backend();
    const AttentionData data = attention_data(attention_view(6, 2, 64, 50), 13);
    const Memory q(*backend, data.q, Element::f16), k(*backend, data.k, Element::f16);
    const Memory sinks(*backend, Values(6, 1.0), Element::f32), out(*backend, 6 * 64 * 4);
    AttentionView view = attention_view(6, 2, 64, 50);
    const std::int64_t without = plan_attention(view, options.facts).bytes_read;
    view.sinks = sinks.floats();
    const Memory workspace(*backend, backend->workspace_bytes(view));
    view.q = q.get();
    view.k = view.v = k.get();
    view.out = out.floats();
    const LaunchPlan plan = plan_attention(view, options.facts);
    EXPECT_EQ(plan.bytes_read - without, 6 * 128 * 4); // every thread of a head's block loads one
    expect_traffic(traffic(options, [&](Backend& b) { b.attend(view, workspace.get()); }), plan);
}

TEST(SimtTraffic, PagesMoveWhatThePlanSays) {
    const EmulatedOptions options;
    const auto backend = make_emulated_backend();
    for (const std::int64_t width : {64, 128, 256, 320}) {
        for (const std::int64_t heads : {2, 6}) {
            AttentionView step = attention_view(heads, 2, width, 50);
            step.slots = 4 * 16;
            const Memory q(*backend,
                           std::vector<std::byte>(static_cast<std::size_t>(heads * width * 2)));
            const Memory k(
                *backend, std::vector<std::byte>(static_cast<std::size_t>(4 * 2 * 16 * width * 2)));
            const Memory table(*backend, std::vector<std::byte>(4 * 4)); // page 0 four times
            const Memory out(*backend, heads * width * 4);
            step.q = q.get();
            step.k = step.v = k.get();
            step.out = out.floats();
            const PagedAttentionView view{step, static_cast<const std::int32_t*>(table.get()), 4,
                                          16};
            const Memory workspace(*backend, backend->workspace_bytes(view));
            const LaunchPlan plan = plan_attention(view, options.facts);
            const std::int64_t readers = width > kMaxPlacedGroupWidth ? heads / 2 : 1;
            EXPECT_EQ(plan.cache_bytes_read, readers * 2 * 50 * 2 * width * 2);
            expect_traffic(traffic(options, [&](Backend& b) { b.attend(view, workspace.get()); }),
                           plan);
        }
    }
}

TEST(SimtTraffic, QuantisingAppendsMoveWhatThePlanSays) {
    const EmulatedOptions options;
    const auto backend = make_emulated_backend();
    for (const Format format : cache_formats) {
        if (!can_store(format, Element::f16)) {
            continue;
        }
        const std::int64_t width = divides(format, 64) ? 64 : 128;
        const Memory source(*backend, 2 * 33 * 3 * width * 2);
        const Memory plane(*backend, 2 * 3 * 6 * stored_row_bytes(format, width));
        const AppendView view{source.get(), plane.get(),  2,     3, width, 6, 5,
                              33,           Element::f16, format};
        const simt::Stats counted = traffic(options, [&](Backend& b) { b.append(view); });
        EXPECT_EQ(counted.bytes_written, 2 * 3 * 6 * stored_row_bytes(format, width));
        EXPECT_EQ(counted.bytes_written, plan_append(view, options.facts).bytes_written);
        EXPECT_EQ(counted.bytes_read, plan_append(view, options.facts).bytes_read);
    }
}

TEST(SimtTraffic, MambaMovesWhatThePlanSays) {
    const EmulatedOptions options;
    for (const std::int64_t conv_kernel : {1, 4}) {
        const Mamba1View view = mamba_view(2, 70, 16, conv_kernel, 3);
        MambaData data = mamba_data(view, 9);
        expect_traffic(traffic(options, [&](Backend& b) { run_step(b, view, data); }),
                       plan_step(view, options.facts));
    }
}

TEST(SimtTraffic, AppendMovesWhatThePlanSays) {
    const EmulatedOptions options;
    const AppendView view{nullptr, nullptr, 2, 3, 40, 6, 5, 33, Element::bf16};
    const Values source = normal_values(2 * 33 * 3 * 40, 4, view.element);
    Values plane(std::size_t{2} * 3 * 6 * 40, 0.0);
    const simt::Stats counted =
        traffic(options, [&](Backend& b) { run_append(b, view, source, plane); });
    EXPECT_EQ(counted.bytes_written, 2 * 3 * 6 * 40 * 2); // six slots, not 33
    EXPECT_EQ(counted.bytes_written, plan_append(view, options.facts).bytes_written);
    EXPECT_EQ(counted.bytes_read, plan_append(view, options.facts).bytes_read);
}

} // namespace
} // namespace kvcaliper::kernels::test
