// SPDX-License-Identifier: Apache-2.0
// Whole verifications of compressed attention: windows, entries of whole groups, index keys of
// entries and the rings they are pooled from.
#include "tests/kernels/verify_case.h"

namespace kvcaliper::kernels {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

using CompressedVerifyTest = VerifyTest;

/// As DeepSeek-V4's heavily compressed layers, narrow: one entry per 16 tokens.
LayerPlan heavy_layer(std::int64_t group = 16) {
    return one_part(LayerKind::compressed_attention, CompressedDims{4, 64, 24, group});
}
/// As its sparse layers: one entry per 4 tokens, five of them attended.
LayerPlan sparse_layer() {
    return one_part(LayerKind::compressed_attention, CompressedDims{4, 64, 24, 4, 32, 3, 5});
}
LayerPlan window_layer() {
    return one_part(LayerKind::compressed_attention, CompressedDims{4, 64, 24});
}

/// With the rings that core leaves out of what is required.
VerifyRequest compressed_request(std::vector<LayerPlan> layers,
                                 std::vector<std::int64_t> contexts = {12, 24, 32, 48}) {
    VerifyRequest request = request_for(std::move(layers), std::move(contexts));
    add_compressor_buffers(request.spec, request.plan);
    return request;
}

TEST_P(CompressedVerifyTest, LayersOfEachKindHold) {
    expect_equal(compressed_request({window_layer(), sparse_layer(), heavy_layer(), sparse_layer(),
                                     heavy_layer(), window_layer()}));
}

TEST_P(CompressedVerifyTest, ContextsAroundTheEndOfAGroupHold) {
    expect_equal(compressed_request({sparse_layer(), heavy_layer()}, {15, 16, 17, 31, 32, 33}));
    expect_equal(compressed_request({sparse_layer()}, {4, 5, 7, 8, 9, 11, 12, 13}));
    expect_equal(compressed_request({heavy_layer(128)}, {127, 128, 129, 257}));
}

TEST_P(CompressedVerifyTest, SequencesAndFormatsHold) {
    for (const char* format : {"f16", "fp8_e4m3", "q8_0"}) {
        VerifyRequest request = compressed_request({sparse_layer(), heavy_layer()}, {14, 37});
        request.sequences = 2;
        request.formats.k = request.formats.index = &numeric_format(format);
        SCOPED_TRACE(format);
        expect_equal(request);
    }
}

TEST_P(CompressedVerifyTest, BytesOfOneSequenceCountedByHand) {
    // 48 tokens, sparse: window 24 · 64 · 2; 12 entries · (64 + 32) · 2; rings of 8 tokens with 2
    // values and 2 gates per column in f32.
    const VerifyResult result = verify_with(compressed_request({sparse_layer()}, {48}));
    ASSERT_EQ(to_string(result.verdict), "equal");
    EXPECT_EQ(result.samples.back().used, 24 * 64 * 2 + 12 * (64 + 32) * 2 + 8 * 4 * (64 + 32) * 4);
    // Heavy: 3 entries; a ring of 16 tokens with a value and a gate.
    EXPECT_EQ(verify_with(compressed_request({heavy_layer()}, {48})).samples.back().used,
              24 * 64 * 2 + 3 * 64 * 2 + 16 * 2 * 64 * 4);
}

TEST_P(CompressedVerifyTest, GrowthIsAFractionOfAnEntry) {
    const VerifyResult result =
        verify_with(compressed_request({sparse_layer(), heavy_layer()}, {32, 48}));
    EXPECT_EQ(result.slope, Ratio((64 + 32) * 2, 4) + Ratio(64 * 2, 16));
    EXPECT_EQ(result.slope, result.predicted_slope);
    // Between contexts in the middle of groups the line is that of whole entries.
    const VerifyResult within = verify_with(compressed_request({heavy_layer()}, {33, 47}));
    EXPECT_EQ(to_string(within.verdict), "equal");
    EXPECT_EQ(within.slope, Ratio(0));
}

TEST_P(CompressedVerifyTest, AForgottenRingIsRefuted) {
    VerifyRequest request = request_for({sparse_layer(), sparse_layer()}, {12, 24});
    const auto reasons = refuted(request);
    EXPECT_THAT(reasons, Contains("layers 0-1 tail: kernel wrote 8,192 bytes past the predicted 0 "
                                  "bytes (at 12 tokens)"));
    EXPECT_THAT(reasons, Contains("layers 0-1 index_tail: kernel wrote 4,096 bytes past the "
                                  "predicted 0 bytes (at 12 tokens)"));
}

TEST_P(CompressedVerifyTest, ARingOfOneGroupWhereTwoArePooledIsRefuted) {
    VerifyRequest request = compressed_request({sparse_layer()}, {12});
    component_of(request, 0, Role::tail).units.n = 4;
    EXPECT_THAT(refuted(request), Contains("layer 0 tail: kernel wrote 4,096 bytes past the "
                                           "predicted 4,096 bytes (at 12 tokens)"));
}

TEST_P(CompressedVerifyTest, ForgottenGatesAreRefuted) {
    VerifyRequest request = compressed_request({heavy_layer()}, {24});
    component_of(request, 0, Role::tail).width = 64;
    EXPECT_THAT(refuted(request), Contains("layer 0 tail: kernel wrote 4,096 bytes past the "
                                           "predicted 4,096 bytes (at 24 tokens)"));
}

TEST_P(CompressedVerifyTest, AnEntryOfAnUnfinishedGroupIsRefuted) {
    // floor(24 / 16) + 1
    VerifyRequest request = compressed_request({heavy_layer()}, {24});
    component_of(request, 0, Role::compressed).units = {Units::Kind::constant, 2};
    EXPECT_THAT(refuted(request),
                Contains("layer 0 compressed: 128 bytes of the predicted 256 bytes "
                         "were never touched (at 24 tokens)"));
}

TEST_P(CompressedVerifyTest, AnEntryTooFewIsRefuted) {
    VerifyRequest request = compressed_request({sparse_layer()}, {24});
    component_of(request, 0, Role::compressed).units = {Units::Kind::constant, 5};
    EXPECT_THAT(refuted(request), Contains("layer 0 compressed: kernel wrote 128 bytes past the "
                                           "predicted 640 bytes (at 24 tokens)"));
}

TEST_P(CompressedVerifyTest, AnIndexKeyOfEveryTokenIsRefuted) {
    VerifyRequest request = compressed_request({sparse_layer()}, {24});
    component_of(request, 0, Role::index_key).units = {Units::Kind::tokens, 0};
    EXPECT_THAT(refuted(request), Contains("layer 0 index_key: 1,152 bytes of the predicted 1,536 "
                                           "bytes were never touched (at 24 tokens)"));
}

TEST_P(CompressedVerifyTest, AForgottenIndexKeyIsRefuted) {
    VerifyRequest request = compressed_request({sparse_layer()}, {24});
    std::erase_if(request.spec.layers[0].components,
                  [](const Component& c) { return c.role == Role::index_key; });
    EXPECT_THAT(refuted(request), Contains("layer 0 index_key: kernel wrote 384 bytes past the "
                                           "predicted 0 bytes (at 24 tokens)"));
}

TEST_P(CompressedVerifyTest, ValuesCountedBesideKeysAreRefuted) {
    VerifyRequest request = compressed_request({window_layer()}, {48});
    component_of(request, 0, Role::key_value).rows = 2;
    EXPECT_THAT(refuted(request), Contains("layer 0 key_value: 3,072 bytes of the predicted 6,144 "
                                           "bytes were never touched (at 48 tokens)"));
}

TEST_P(CompressedVerifyTest, AWindowThatIsOneTooLongIsRefuted) {
    VerifyRequest request = compressed_request({heavy_layer()}, {48});
    component_of(request, 0, Role::key_value).units.n = 25;
    EXPECT_THAT(refuted(request), Contains("layer 0 key_value: 128 bytes of the predicted 3,200 "
                                           "bytes were never touched (at 48 tokens)"));
}

/// Changes the values of half of the ring's rows, or one element of another plane.
TEST_P(CompressedVerifyTest, ADamagedPlaneFailsTheOutput) {
    for (const char* role : {"key_value", "compressed", "index_key", "tail", "index_tail"}) {
        int damaged = 0;
        Hooks hooks;
        hooks.after_fill = [&](Backend& backend, const FilledPlane& plane) {
            if (plane.layer != 0 || plane.role != role)
                return;
            const bool ring = plane.role == "tail" || plane.role == "index_tail";
            const std::vector<float> some(static_cast<std::size_t>(ring ? plane.bytes / 8 : 1),
                                          1.25f);
            const std::uint16_t half = 0x3fa0; // 1.25 in bf16
            if (ring)
                backend.write(plane.memory, some.data(), plane.bytes / 2);
            else
                backend.write(static_cast<unsigned char*>(plane.memory) + plane.bytes / 2, &half,
                              2);
            ++damaged;
        };
        // All entries are attended, and a group ends in the last step.
        const LayerPlan layer =
            one_part(LayerKind::compressed_attention, CompressedDims{4, 64, 24, 4, 32, 3, 100});
        const VerifyResult result = verify_with(compressed_request({layer}, {48}), hooks);
        EXPECT_EQ(damaged, 1) << role;
        EXPECT_THAT(result.reasons, ElementsAre(HasSubstr("output: relative error"))) << role;
    }
}

TEST_P(CompressedVerifyTest, WhatHasNoKernelIsRefused) {
    EXPECT_THAT(verify_with(compressed_request({heavy_layer(1)}, {24})).reasons,
                ElementsAre("no kernel for compressed entries of every token yet"));
    VerifyRequest request = compressed_request({heavy_layer()}, {24});
    request.formats.state = &numeric_format("bf16");
    EXPECT_THAT(verify_with(request).reasons,
                ElementsAre("no kernel for bf16 yet (rows to be compressed)"));
    request = compressed_request({heavy_layer()}, {24});
    request.cartridge = 4;
    EXPECT_THAT(verify_with(request).reasons, ElementsAre(HasSubstr("no cartridge")));
}

INSTANTIATE_TEST_SUITE_P(Backends, CompressedVerifyTest, testing::ValuesIn(backends),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

} // namespace
} // namespace kvcaliper::kernels
