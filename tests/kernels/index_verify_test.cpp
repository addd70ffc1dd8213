// SPDX-License-Identifier: Apache-2.0
// Whole verifications of layers with an indexer: the right prediction holds, every wrong one is
// refuted by name.
#include "tests/kernels/verify_case.h"

namespace kvcaliper::kernels {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

using IndexVerifyTest = VerifyTest;

TEST_P(IndexVerifyTest, LatentsHoldBelowAtAndAboveTheTokensThatAreChosen) {
    expect_equal(request_for({indexed_latent_layer(24), indexed_latent_layer(24)},
                             {12, 23, 24, 25, 40, 61}));
}

TEST_P(IndexVerifyTest, KeysAndValuesHold) {
    expect_equal(request_for({indexed_layer(24), full_layer(), indexed_layer(24), indexed_layer(7)},
                             {12, 24, 40, 61}));
}

TEST_P(IndexVerifyTest, LayersThatBorrowASelectionHoldBesideThoseThatOwnOne) {
    // As in GLM-5: what a layer without an index key keeps is a latent and a rotary key.
    const VerifyRequest request =
        request_for({indexed_latent_layer(24), latent_layer(), latent_layer()}, {24, 40});
    expect_equal(request);
    EXPECT_EQ(verify_with(request).slope, Ratio(3 * (512 + 64) * 2 + 64 * 2));
}

TEST_P(IndexVerifyTest, SequencesAndFormatsOfIndexKeysHold) {
    for (const char* format : {"f16", "bf16", "f32", "fp8_e4m3", "q8_0", "q4_0"}) {
        VerifyRequest request =
            request_for({indexed_latent_layer(16), indexed_layer(16)}, {12, 37});
        request.sequences = 2;
        request.formats.index = &numeric_format(format);
        SCOPED_TRACE(format);
        expect_equal(request);
    }
}

TEST_P(IndexVerifyTest, AScalePer128CountsAsFourBytesMore) {
    // vLLM's row of an index key in fp8: 128 numbers and a scale, 132 bytes.
    VerifyRequest request = request_for({indexed_latent_layer(16, 128)}, {12, 37});
    request.formats.index = &numeric_format("fp8_e4m3_128");
    expect_equal(request);
    EXPECT_EQ(verify_with(request).slope, Ratio((512 + 64) * 2 + 132));
}

TEST_P(IndexVerifyTest, OnlyChosenRowsAreRead) {
    // 40 tokens, 24 of them attended: 24 latents and rotary keys, 40 index keys, in 2 bytes.
    const VerifyResult result = verify_with(request_for({indexed_latent_layer(24)}, {40}));
    EXPECT_EQ(result.kernels.front().bytes_read, (24 * (512 + 64) + 40 * 64) * 2);
}

TEST_P(IndexVerifyTest, AForgottenIndexKeyIsRefuted) {
    for (const LayerPlan& layer : {indexed_latent_layer(24), indexed_layer(24)}) {
        VerifyRequest request = request_for({layer, layer}, {12, 24});
        for (LayerCache& cache : request.spec.layers)
            cache.components.pop_back();
        EXPECT_THAT(refuted(request),
                    Contains("layers 0-1 index_key: kernel wrote 1,536 bytes past "
                             "the predicted 0 bytes (at 12 tokens)"));
    }
}

TEST_P(IndexVerifyTest, AnIndexKeyThatIsTooWideOrTooNarrowIsRefuted) {
    VerifyRequest request = request_for({indexed_latent_layer(24)}, {12, 24});
    component_of(request, 0, Role::index_key).width = 65;
    EXPECT_THAT(refuted(request),
                Contains("layer 0 index_key: 24 bytes of the predicted 1,560 bytes "
                         "were never touched (at 12 tokens)"));
    component_of(request, 0, Role::index_key).width = 63;
    EXPECT_THAT(refuted(request), Contains("layer 0 index_key: kernel wrote 24 bytes past the "
                                           "predicted 1,512 bytes (at 12 tokens)"));
}

TEST_P(IndexVerifyTest, AnIndexKeyPerHeadIsRefuted) {
    VerifyRequest request = request_for({indexed_layer(24)}, {12, 24});
    component_of(request, 0, Role::index_key).rows = 2;
    EXPECT_THAT(refuted(request), Contains("layer 0 index_key: 1,536 bytes of the predicted 3,072 "
                                           "bytes were never touched (at 12 tokens)"));
}

TEST_P(IndexVerifyTest, AnIndexKeyOfALayerThatBorrowsItsSelectionIsRefuted) {
    // What an engine does that allocates an indexer for every layer.
    VerifyRequest request = request_for({indexed_latent_layer(24), latent_layer()}, {12, 24});
    request.spec.layers[1].components.push_back(component_of(request, 0, Role::index_key));
    EXPECT_THAT(refuted(request), Contains("layer 1 index_key: 1,536 bytes of the predicted 1,536 "
                                           "bytes were never touched (at 12 tokens)"));
}

TEST_P(IndexVerifyTest, AnIndexKeyCountedInTheFormatOfKeysIsRefuted) {
    VerifyRequest request = request_for({indexed_latent_layer(24)}, {12, 24});
    request.formats.index = &numeric_format("fp8_e4m3");
    component_of(request, 0, Role::index_key).format_class = FormatClass::k;
    EXPECT_THAT(refuted(request),
                Contains("layer 0 index_key: 768 bytes of the predicted 1,536 bytes "
                         "were never touched (at 12 tokens)"));
}

TEST_P(IndexVerifyTest, ADamagedIndexKeyFailsTheOutput) {
    for (const LayerPlan& layer : {indexed_latent_layer(24), indexed_layer(24)}) {
        int damaged = 0;
        const VerifyRequest request = request_for({layer, layer}, {12, 40});
        const VerifyResult result = verify_with(request, damage("index_key", 2, damaged));
        EXPECT_EQ(damaged, 1);
        EXPECT_THAT(result.reasons, ElementsAre(HasSubstr("output: relative error")));
    }
}

TEST_P(IndexVerifyTest, ADamagedLatentFailsTheOutput) {
    int damaged = 0;
    const VerifyRequest request = request_for({indexed_latent_layer(40)}, {12, 40});
    const VerifyResult result = verify_with(request, damage("latent", 2, damaged));
    EXPECT_EQ(damaged, 1);
    EXPECT_THAT(result.reasons, ElementsAre(HasSubstr("output: relative error")));
}

TEST_P(IndexVerifyTest, ACartridgeAndABaselineHold) {
    VerifyRequest request = request_for({indexed_latent_layer(16), indexed_layer(16)}, {24, 40});
    request.cartridge = 9;
    expect_equal(request);
    request.cartridge = 0;
    request.baseline = 20;
    const VerifyResult result = verify_with(request);
    EXPECT_EQ(to_string(result.verdict), "equal");
    EXPECT_EQ(result.baseline.size(), 2u);
}

TEST_P(IndexVerifyTest, WhatHasNoKernelIsRefused) {
    VerifyRequest request = request_for({indexed_layer(16)}, {24});
    request.page = 16;
    EXPECT_THAT(verify_with(request).reasons, ElementsAre(HasSubstr("pages of layers with index")));
    EXPECT_THAT(verify_with(request_for({indexed_latent_layer(16, 256)}, {24})).reasons,
                ElementsAre("no kernel for index keys of 256 yet"));
}

INSTANTIATE_TEST_SUITE_P(Backends, IndexVerifyTest, testing::ValuesIn(backends),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

} // namespace
} // namespace kvcaliper::kernels
