// SPDX-License-Identifier: Apache-2.0
#include "kernels/launch_plan.h"

#include <gtest/gtest.h>

namespace kvcaliper::kernels {
namespace {

constexpr DeviceFacts kH200{132, std::int64_t{227} * 1024};
constexpr std::int64_t kResident = std::int64_t{132} * 4;
constexpr DeviceFacts kSmall{4, std::int64_t{48} * 1024};

AttentionView attention(std::int64_t sequences, std::int64_t heads, std::int64_t kv_heads,
                        std::int64_t width, std::int64_t valid) {
    AttentionView view{};
    view.sequences = sequences;
    view.heads = heads;
    view.kv_heads = kv_heads;
    view.key_width = width;
    view.value_width = width;
    view.slots = valid;
    view.valid = valid;
    view.scale = 1.0f;
    view.element = Element::f16;
    return view;
}

LatentView latent(std::int64_t heads, std::int64_t valid) {
    LatentView view{};
    view.sequences = 1;
    view.heads = heads;
    view.rank = 512;
    view.rope_width = 64;
    view.slots = valid;
    view.valid = valid;
    view.scale = 1.0f;
    view.element = Element::bf16;
    view.format = Format::bf16;
    return view;
}

Mamba1View mamba(std::int64_t state_size) {
    Mamba1View view{};
    view.sequences = 2;
    view.inner = 8192;
    view.state_size = state_size;
    view.conv_kernel = 4;
    view.count = 1;
    view.element = Element::f16;
    return view;
}

TEST(ChooseSplits, KeepsShortContextsWhole) {
    for (const std::int64_t tokens : {1, 127, 128, 255}) {
        EXPECT_EQ(choose_splits(tokens, 1, kResident), 1) << tokens;
    }
}

TEST(ChooseSplits, NeverGoesBelow128TokensNorAbove128Splits) {
    for (std::int64_t tokens = 1; tokens < 1'000'000; tokens = tokens * 3 / 2 + 1) {
        for (const std::int64_t blocks : {1, 8, 100, 5000}) {
            const std::int64_t splits = choose_splits(tokens, blocks, kResident);
            EXPECT_GE(splits, 1);
            EXPECT_LE(splits, 128);
            EXPECT_TRUE(splits == 1 || tokens / splits >= 128) << tokens << " / " << splits;
        }
    }
}

TEST(ChooseSplits, FillsAnIdleDeviceAndLeavesABusyOneAlone) {
    EXPECT_GE(choose_splits(32768, 8, kResident), 16);  // 8 blocks would leave 124 of 132 idle
    EXPECT_EQ(choose_splits(32768, 528, kResident), 1); // one full wave already
}

TEST(LaunchPlan, CountsWhatAStepOfLlama3Moves) {
    const LaunchPlan plan = plan_attention(attention(2, 32, 8, 128, 8192), kH200);
    ASSERT_TRUE(plan.possible()) << plan.refusal;
    EXPECT_EQ(plan.cache_bytes_read, 2LL * 8192 * 4096); // 4 KiB per token and layer
    EXPECT_EQ(plan.flops, 2LL * 32 * 8192 * 4 * 128);
    EXPECT_EQ(plan.heads, 4u);
    EXPECT_EQ(plan.grid, 2 * 8 * plan.shape.splits);
    EXPECT_EQ(plan.merge_grid, 64);
    EXPECT_EQ(plan.workspace_bytes, 64 * plan.shape.splits * 130 * 4);
}

TEST(LaunchPlan, ReadsTheCacheOncePerTileOfHeads) {
    EXPECT_EQ(plan_attention(latent(4, 1000), kH200).cache_bytes_read, 1000 * 1152);
    EXPECT_EQ(plan_attention(latent(5, 1000), kH200).cache_bytes_read, 2 * 1000 * 1152);
    EXPECT_EQ(plan_attention(latent(128, 1000), kH200).cache_bytes_read, 32 * 1000 * 1152);
}

TEST(LaunchPlan, CoversEveryTokenAndLeavesNoSplitEmpty) {
    for (std::int64_t valid = 1; valid < 300'000; valid = valid * 5 / 4 + 1) {
        const LaunchPlan plan = plan_attention(attention(1, 8, 1, 64, valid), kH200);
        const SplitShape& shape = plan.shape;
        EXPECT_GE(shape.splits * shape.tokens_per_split, valid);
        EXPECT_LT((shape.splits - 1) * shape.tokens_per_split, valid);
    }
}

TEST(LaunchPlan, TakesTheSmallestKernelThatCoversBothWidths) {
    EXPECT_EQ(plan_attention(attention(1, 1, 1, 64, 9), kSmall).columns, 2u);
    EXPECT_EQ(plan_attention(attention(1, 1, 1, 65, 9), kSmall).columns, 4u);
    EXPECT_EQ(plan_attention(attention(1, 1, 1, 256, 9), kSmall).columns, 8u);
    AttentionView view = attention(1, 1, 1, 64, 9);
    view.value_width = 512;
    EXPECT_EQ(plan_attention(view, kSmall).columns, 16u);
}

TEST(LaunchPlan, StaysIn64Bits) {
    const LaunchPlan plan = plan_attention(attention(1024, 128, 128, 256, 131072), kH200);
    ASSERT_TRUE(plan.possible()) << plan.refusal;
    EXPECT_EQ(plan.cache_bytes_read, (std::int64_t{1024} * 128 * 131072) << 10);
    const AppendView append{nullptr, nullptr, 1024, 128, 256, 131072, 0, 131072, Element::f16};
    EXPECT_EQ(plan_append(append, kH200).bytes_written, (std::int64_t{1024} * 128 * 131072) << 9);
}

TEST(LaunchPlan, MambaReadsAndWritesItsState) {
    const LaunchPlan plan = plan_step(mamba(16), kH200);
    ASSERT_TRUE(plan.possible()) << plan.refusal;
    EXPECT_EQ(plan.cache_bytes_read, 2 * 8192 * (16 * 4 + 3 * 2));
    EXPECT_EQ(plan.bytes_written, plan.cache_bytes_read + 2 * 8192 * 4);
    EXPECT_EQ(plan.grid, 128);
}

TEST(LaunchPlan, CountsWhatTheStatesOfPublishedModelsTake) {
    // State bytes per layer of the rule catalogue, less what a convolution or a shift keeps.
    RwkvView rwkv7{}; // 2.9B: 665,600 with two shift vectors of 2,560 in bf16
    rwkv7.sequences = rwkv7.count = 1;
    rwkv7.heads = 40;
    rwkv7.width = 64;
    EXPECT_EQ(plan_step(rwkv7, kH200).cache_bytes_read, 665'600 - 2 * 2560 * 2);
    EXPECT_EQ(plan_step(rwkv7, kH200).grid, 40 * 2); // two tiles of 32 columns a head
    Rwkv4View rwkv4{}; // 7B: 65,536 with two shift vectors of 4,096 in bf16
    rwkv4.sequences = rwkv4.count = 1;
    rwkv4.width = 4096;
    EXPECT_EQ(plan_step(rwkv4, kH200).cache_bytes_read, 65'536 - 2 * 4096 * 2);
    RglruView rglru{}; // RecurrentGemma 2B: 25,600 with three columns of 2,560 in bf16
    rglru.sequences = rglru.count = 1;
    rglru.width = 2560;
    EXPECT_EQ(plan_step(rglru, kH200).cache_bytes_read, 25'600 - 3 * 2560 * 2);
    XlstmView xlstm{}; // 7B: 4,202,528; m of each of 8 heads is read by each of 17 blocks
    xlstm.sequences = xlstm.count = 1;
    xlstm.heads = 8;
    xlstm.key_width = 256;
    xlstm.value_width = 512;
    EXPECT_EQ(plan_step(xlstm, kH200).grid, 8 * 17);
    EXPECT_EQ(plan_step(xlstm, kH200).cache_bytes_read, 4'202'528 + 8 * 16 * 4);
}

TEST(LaunchPlan, AppendDropsWhatTheRingCannotHold) {
    const AppendView view{nullptr, nullptr, 2, 8, 128, 1024, 0, 5000, Element::bf16};
    const LaunchPlan plan = plan_append(view, kH200);
    EXPECT_EQ(plan.skip, 5000 - 1024);
    EXPECT_EQ(plan.bytes_written, 2 * 8 * 1024 * 256);
}

TEST(Refusal, NamesTheDimensionTheLimitAndWhatWasFound) {
    AttentionView view = attention(1, 8, 2, 600, 9);
    EXPECT_EQ(plan_attention(view, kH200).refusal, "expected key_width from 1 to 512, found 600");
    view = attention(1, 8, 3, 64, 9);
    EXPECT_EQ(plan_attention(view, kH200).refusal,
              "expected heads to be a multiple of the 3 kv_heads, found 8");
    view = attention(1, 8, 2, 64, 9);
    view.valid = 10;
    EXPECT_EQ(plan_attention(view, kH200).refusal, "expected valid from 1 to 9, found 10");
    view.valid = 0;
    EXPECT_EQ(plan_attention(view, kH200).refusal, "expected valid from 1 to 9, found 0");
    view.element = Element::f32;
    EXPECT_EQ(plan_attention(view, kH200).refusal, "expected f16 or bf16 attention, found f32");
    EXPECT_EQ(plan_step(mamba(257), kH200).refusal, "expected state_size from 1 to 256, found 257");
}

TEST(Refusal, NamesTheFormatThatARowDoesNotFit) {
    AttentionView view = attention(1, 8, 2, 80, 9);
    view.value_format = Format::q4_0;
    EXPECT_EQ(plan_attention(view, kH200).refusal,
              "expected value_width to be a multiple of the 32 in a block of q4_0, found 80");
    const AppendView append{nullptr, nullptr, 1, 1, 48, 4, 0, 1, Element::bf16, Format::q8_0};
    EXPECT_EQ(plan_append(append, kH200).refusal,
              "expected width to be a multiple of the 32 in a block of q8_0, found 48");
    const AppendView narrowed{nullptr, nullptr, 1, 1, 48, 4, 0, 1, Element::bf16, Format::f16};
    EXPECT_EQ(plan_append(narrowed, kH200).refusal, "expected rows of f16, found bf16");
}

TEST(Refusal, CoversWhatTheDeviceCannotHold) {
    const DeviceFacts tiny{4, 16 * 1024};
    EXPECT_TRUE(plan_attention(latent(4, 9), kSmall).possible());
    EXPECT_EQ(plan_attention(latent(4, 9), tiny).refusal,
              "expected shared bytes per block from 0 to 16384, found 32896");
    EXPECT_EQ(plan_attention(attention(1 << 20, 4096, 4096, 64, 9), kH200).refusal,
              "expected blocks from 1 to 2147483647, found 4294967296");
}

} // namespace
} // namespace kvcaliper::kernels
