// SPDX-License-Identifier: Apache-2.0
// Which kernel an attention step gets, why, and how it is cut to a device.
#include "kernels/attention_core.h"

#include <gtest/gtest.h>

namespace kvcaliper::kernels {
namespace {

constexpr DeviceFacts kH200{132, std::int64_t{227} * 1024, 90};
constexpr DeviceFacts kAda{76, std::int64_t{99} * 1024, 89};
constexpr DeviceFacts kTuring{40, std::int64_t{64} * 1024, 75};

AttentionView attention(std::int64_t heads, std::int64_t kv_heads, std::int64_t width,
                        Element element = Element::f16) {
    AttentionView view{};
    view.sequences = 1;
    view.heads = heads;
    view.kv_heads = kv_heads;
    view.key_width = view.value_width = width;
    view.slots = view.valid = 1000;
    view.scale = 1.0f;
    view.element = element;
    view.key_format = view.value_format = format_of(element);
    return view;
}

LatentView latent(std::int64_t heads, Element element = Element::bf16) {
    LatentView view{};
    view.sequences = 1;
    view.heads = heads;
    view.rank = 512;
    view.rope_width = 64;
    view.slots = view.valid = 1000;
    view.scale = 1.0f;
    view.element = element;
    view.format = format_of(element);
    return view;
}

template <class View> Core core_of(const View& view, const DeviceFacts& facts = kH200) {
    return plan_attention(view, facts).core;
}

TEST(AttentionCore, TensorCoresServeGroupsFromThreeOn) {
    for (const std::int64_t group : {1, 2}) {
        EXPECT_EQ(core_of(attention(2 * group, 2, 128)), Core::simt) << group;
        EXPECT_EQ(core_of(latent(group)), Core::simt) << group;
    }
    for (const std::int64_t group : {3, 4, 5, 7, 8, 16, 17, 71, 128}) {
        EXPECT_EQ(core_of(attention(2 * group, 2, 128)), Core::matrix) << group;
        EXPECT_EQ(core_of(latent(group)), Core::matrix) << group;
    }
    EXPECT_EQ(plan_attention(attention(4, 2, 128), kH200).core_reason,
              "few query heads per kv head: 2");
    EXPECT_EQ(plan_attention(attention(32, 8, 128), kH200).core_reason,
              "several query heads per kv head: 4");
}

TEST(AttentionCore, OlderTensorCoresAreNotUsed) {
    EXPECT_EQ(core_of(attention(32, 8, 128), kTuring), Core::simt);
    EXPECT_EQ(plan_attention(latent(16), kTuring).core_reason,
              "tensor cores older than compute capability 80: 75");
}

TEST(AttentionCore, EveryWidthOfTheModelsIsCovered) {
    for (const std::int64_t width : {64, 80, 96, 112, 128, 192, 256, 512}) {
        EXPECT_EQ(core_of(attention(8, 1, width)), Core::matrix) << width;
        EXPECT_EQ(core_of(attention(8, 1, width), kAda), Core::matrix) << width;
    }
    AttentionView mimo = attention(64, 4, 192); // MiMo-V2-Flash: keys of 192, values of 128
    mimo.value_width = 128;
    EXPECT_EQ(core_of(mimo), Core::matrix);
    EXPECT_EQ(core_of(attention(8, 1, 72)), Core::simt);
    EXPECT_EQ(plan_attention(attention(8, 1, 72), kH200).core_reason,
              "a width that is no multiple of 16, 72");
}

TEST(AttentionCore, WeightsTakeTheTypeOfTheCache) {
    const auto weights = [](Format key, Format value, Element element) {
        AttentionView view = attention(8, 1, 128, element);
        view.key_format = key;
        view.value_format = value;
        return plan_attention(view, kH200).weights;
    };
    EXPECT_EQ(weights(Format::f16, Format::f16, Element::f16), Element::f16);
    EXPECT_EQ(weights(Format::bf16, Format::bf16, Element::bf16), Element::bf16);
    for (const Element queries : {Element::f16, Element::bf16}) {
        EXPECT_EQ(weights(Format::q8_0, Format::q4_0, queries), Element::f16);
        EXPECT_EQ(weights(Format::fp8_e4m3, Format::fp8_e4m3, queries), Element::f16);
    }
}

/// Each quantised number of a key takes two places, in which 99 KiB do not hold 32 rows of 512.
TEST(AttentionCore, QuantisedKeysTakeTwiceTheRoom) {
    AttentionView view = attention(8, 1, 512);
    view.key_format = view.value_format = Format::q8_0;
    EXPECT_EQ(core_of(view), Core::matrix);
    EXPECT_EQ(plan_attention(view, kAda).core_reason,
              "too little shared memory for a tile: 101376");
    LatentView mla = latent(16);
    mla.format = Format::q8_0;
    const MatrixShape keys = plan_attention(mla, kAda).matrix;
    EXPECT_EQ(keys.key_stride(), 2 * 576 + 8);
    EXPECT_EQ(keys.shared_bytes(), 16 * 584 * 2 + 32 * 1160 * 2 + 16 * 40 * 2 + 16 * 4 * 4);
}

/// f16 ends at 65504 and bf16 has eight bits: neither holds the other's numbers.
TEST(AttentionCore, MixturesThatNo16BitTypeHoldsGoToTheOtherKernel) {
    AttentionView view = attention(8, 1, 128);
    for (const auto& [key, value] :
         {std::pair{Format::f16, Format::bf16}, std::pair{Format::bf16, Format::q8_0},
          std::pair{Format::f32, Format::f16}, std::pair{Format::mxfp8, Format::f16},
          std::pair{Format::f16, Format::int8_per_token_head},
          std::pair{Format::fp8_per_token_head, Format::f16},
          std::pair{Format::bf16, Format::bf16}}) {
        view.key_format = key; // under f16 queries
        view.value_format = value;
        EXPECT_EQ(core_of(view), Core::simt) << name_of(key) << " " << name_of(value);
    }
    EXPECT_EQ(plan_attention(view, kH200).core_reason,
              "no 16-bit type holds queries and a cache of bf16 and bf16");
}

/// Numbers of two bits under scales of four: f16 holds their products, so that one place will do.
TEST(AttentionCore, Nvfp4KeysTakeOnePlaceWhereTheirRowsAreEven) {
    AttentionView view = attention(8, 1, 512);
    view.key_format = view.value_format = Format::nvfp4;
    EXPECT_EQ(plan_attention(view, kAda).core, Core::matrix);
    EXPECT_EQ(plan_attention(view, kAda).matrix.key_stride(), 512 + 8);
    view = attention(8, 1, 48); // 24 + 3 bytes: the tile loader reads two at once
    view.key_format = view.value_format = Format::nvfp4;
    EXPECT_EQ(plan_attention(view, kH200).core_reason, "rows of an odd number of bytes, 27");
}

TEST(AttentionCore, BoundsFollowTheKernel) {
    EXPECT_EQ(error_bound(plan_attention(attention(8, 8, 128), kH200)), 2e-5);
    EXPECT_EQ(error_bound(plan_attention(attention(8, 1, 128), kH200)), 1e-3);
    EXPECT_EQ(error_bound(plan_attention(attention(8, 1, 128, Element::bf16), kH200)), 5e-5);
    EXPECT_EQ(error_bound(plan_attention(latent(16), kH200)), 5e-5);
    EXPECT_EQ(error_bound(plan_attention(latent(16), kTuring)), 2e-5);
}

MatrixShape shape(std::int32_t row_tiles, std::int32_t tokens, std::int32_t stages,
                  std::int32_t key_width, std::int32_t value_width, bool shared) {
    return {row_tiles, tokens, stages, key_width, value_width, shared, 1, 1};
}

/// The prototypes' figures, which were rounded to KiB: kernels.md, table of section 4.3.
TEST(MatrixShape, TakesTheSharedMemoryOfThePrototypes) {
    const auto kib = [](const MatrixShape& of) { return (of.shared_bytes() + 512) / 1024; };
    EXPECT_EQ(kib(shape(1, 64, 2, 128, 128, false)), 75);
    EXPECT_EQ(kib(shape(1, 32, 2, 576, 512, true)), 93);
    EXPECT_EQ(kib(shape(4, 32, 2, 576, 512, true)), 152);
}

/// By hand: 16·136·2 + 2·2·64·136·2 + 16·72·2 + 16·4·4.
TEST(MatrixShape, CountsEveryTile) {
    EXPECT_EQ(shape(1, 64, 2, 128, 128, false).shared_bytes(), 4352 + 69632 + 2304 + 256);
    EXPECT_EQ(shape(1, 32, 1, 80, 80, false).key_stride(), 96 + 8);
    EXPECT_EQ(shape(1, 32, 1, 80, 80, false).value_stride(), 80 + 8);
    const MatrixShape bf16 = plan_attention(latent(16), kAda).matrix;
    EXPECT_EQ(bf16.weight_stride(), 2 * 32 + 8); // each weight takes two numbers
    EXPECT_EQ(bf16.shared_bytes(), 16 * 584 * 2 + 2 * 32 * 584 * 2 + 16 * 72 * 2 + 16 * 4 * 4);
}

TEST(MatrixShape, LeavesRoomForASecondBlockWhereItCan) {
    const MatrixShape roomy = plan_attention(attention(32, 8, 128), kH200).matrix;
    EXPECT_EQ(roomy.tile_tokens, 64);
    EXPECT_EQ(roomy.stages, 2);
    const MatrixShape tight = plan_attention(attention(32, 8, 128), kAda).matrix;
    EXPECT_EQ(tight.tile_tokens, 32);
    EXPECT_EQ(tight.stages, 2);
    for (const DeviceFacts& facts : {kH200, kAda}) {
        const LaunchPlan plan = plan_attention(attention(32, 8, 128), facts);
        EXPECT_LE(2 * (plan.shared_bytes + 1024), facts.shared_limit + 1024);
    }
}

TEST(MatrixShape, DealsWideGroupsOutEvenly) {
    const auto tiles = [](std::int64_t group) {
        const LaunchPlan plan = plan_attention(attention(group, 1, 64), kH200);
        return std::pair{std::int64_t{plan.matrix.row_tiles}, plan.shape.head_tiles};
    };
    EXPECT_EQ(tiles(16), (std::pair<std::int64_t, std::int64_t>{1, 1}));
    EXPECT_EQ(tiles(17), (std::pair<std::int64_t, std::int64_t>{2, 1}));
    EXPECT_EQ(tiles(64), (std::pair<std::int64_t, std::int64_t>{4, 1}));
    EXPECT_EQ(tiles(71), (std::pair<std::int64_t, std::int64_t>{3, 2})); // Falcon-7B's heads
    EXPECT_EQ(tiles(128), (std::pair<std::int64_t, std::int64_t>{4, 2}));
}

TEST(MatrixShape, ReadsTheLatentOncePer64HeadsWhereSharedMemoryAllows) {
    EXPECT_EQ(plan_attention(latent(16), kH200).cache_bytes_read, 1000 * 1152);
    EXPECT_EQ(plan_attention(latent(128), kH200).cache_bytes_read, 2 * 1000 * 1152);
    EXPECT_GT(plan_attention(latent(128), kAda).cache_bytes_read, 2 * 1000 * 1152);
    for (const DeviceFacts& facts : {kH200, kAda}) {
        const LaunchPlan plan = plan_attention(latent(128), facts);
        EXPECT_TRUE(plan.possible()) << plan.refusal;
        EXPECT_LE(plan.shared_bytes, facts.shared_limit);
    }
}

TEST(MatrixShape, ADeviceWithoutRoomForATileUsesTheOtherKernel) {
    const DeviceFacts little{4, std::int64_t{24} * 1024, 90};
    const LaunchPlan plan = plan_attention(attention(8, 1, 256), little);
    EXPECT_EQ(plan.core, Core::simt);
    EXPECT_EQ(plan.core_reason, "too little shared memory for a tile: 24576");
    EXPECT_TRUE(plan.possible()) << plan.refusal;
}

/// A multiprocessor has 228 or 100 KiB; each block takes one more than it asks for.
TEST(ResidentBlocks, CountsRegistersAndSharedMemory) {
    EXPECT_EQ(resident_blocks(128, 512, 1024, kH200), 4);
    EXPECT_EQ(resident_blocks(128, 384, 1024, kH200), 3);
    EXPECT_EQ(resident_blocks(512, 512, 1024, kH200), 1);
    EXPECT_EQ(resident_blocks(128, 512, 75 * 1024, kH200), 3); // 3 · 76 of 228
    EXPECT_EQ(resident_blocks(128, 512, 76 * 1024, kH200), 2);
    EXPECT_EQ(resident_blocks(128, 512, 99 * 1024, kAda), 1);
    EXPECT_EQ(resident_blocks(128, 512, 100 * 1024, kAda), 0);
}

TEST(ResidentBlocks, DecideHowManySplitsFillADevice) {
    AttentionView view = attention(32, 8, 128);
    view.slots = view.valid = 32768;
    const LaunchPlan plan = plan_attention(view, kH200);
    EXPECT_EQ(plan.blocks_per_multiprocessor, 3);
    EXPECT_LE(plan.grid, 132 * 3); // one wave
    EXPECT_GT(plan.grid, 132 * 2);
}

/// A row of 96: three blocks of a q8_0 scale and 32 quants, read as two units with the scale each.
TEST(TileLoads, CountAScaleOncePerUnit) {
    EXPECT_EQ(tile_row_load_bytes(Format::f16, 96), 192);
    EXPECT_EQ(tile_row_load_bytes(Format::fp8_e4m3, 80), 80);
    EXPECT_EQ(tile_row_load_bytes(Format::q8_0, 96), 3 * 2 * (2 + 16));
    EXPECT_EQ(tile_row_load_bytes(Format::q4_0, 96), 3 * 2 * (2 + 8));
    EXPECT_EQ(tile_row_load_bytes(Format::q5_0, 96), 3 * 2 * (2 + 2 + 8));
    EXPECT_EQ(tile_row_load_bytes(Format::q4_1, 96), 3 * 2 * (4 + 8));
    EXPECT_EQ(tile_row_load_bytes(Format::q5_1, 96), 3 * 2 * (4 + 2 + 8));
    EXPECT_EQ(tile_row_load_bytes(Format::iq4_nl, 96), 3 * 2 * (2 + 8));
    EXPECT_EQ(tile_row_load_bytes(Format::nvfp4, 96), 6 * (1 + 8));
}

} // namespace
} // namespace kvcaliper::kernels
