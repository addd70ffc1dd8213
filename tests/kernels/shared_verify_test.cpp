// SPDX-License-Identifier: Apache-2.0
// Layers that keep nothing and read the cache of another (Gemma 3n and 4: num_kv_shared_layers;
// Hunyuan: cla_share_factor), verified whole; and what refutes a wrong prediction of them.
#include "core/error.h"
#include "tests/kernels/verify_case.h"

namespace kvcaliper::kernels {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

LayerPlan reads(int owner) {
    return {{}, owner, "test"};
}

/// As Gemma 4 has it: the last layers read the last full or sliding layer that keeps anything.
std::vector<LayerPlan> gemma_layers() {
    return {sliding_layer(), full_layer(), sliding_layer(), full_layer(),
            reads(2),        reads(3),     reads(2)};
}

const KernelRow& shared_row(const VerifyResult& result, const std::string& kind) {
    return *std::find_if(result.kernels.begin(), result.kernels.end(),
                         [&](const KernelRow& row) { return row.shared && row.kind == kind; });
}

TEST_P(VerifyTest, LayersThatReadAnothersCacheHoldAndKeepNothing) {
    const VerifyRequest request = request_for(gemma_layers());
    expect_equal(request);
    const VerifyResult result = verify_with(request);
    // 60 tokens, two full layers of 60 rows and two sliding ones of 24: K and V, 2 heads of 64.
    EXPECT_EQ(result.samples.back().used, (2 * 60 + 2 * 24) * 2 * (2 * 64 * 2));
    EXPECT_EQ(result.slope, Ratio(2 * 2 * 2 * 64 * 2));
    EXPECT_EQ(shared_row(result, "sliding_attention").layers, 2);
    EXPECT_EQ(shared_row(result, "full_attention").layers, 1);
    EXPECT_THAT(result.notes, Contains(HasSubstr("3 layers keep nothing")));
}

TEST_P(VerifyTest, TheyAttendToAllThatTheirOwnerHolds) {
    const VerifyResult result = verify_with(request_for(gemma_layers(), {60}));
    // Rows of K and V, 2 heads of 64 in 2 bytes: all 60 of one layer, the window of 24 for two.
    EXPECT_EQ(shared_row(result, "full_attention").bytes_read, 60 * 2 * (2 * 64 * 2));
    EXPECT_EQ(shared_row(result, "sliding_attention").bytes_read, 2 * 24 * 2 * (2 * 64 * 2));
}

TEST_P(VerifyTest, ByTurnsAndOfALatentTheyHoldToo) {
    expect_equal(request_for({full_layer(), reads(0), full_layer(), reads(2)}));
    expect_equal(request_for({latent_layer(), reads(0)}, {12, 40}));
    expect_equal(request_for({chunked_layer(), with_sinks(full_layer()), reads(1), reads(0)}));
}

TEST_P(VerifyTest, TheyHoldInPagesBehindACartridgeAndForSeveralSequences) {
    VerifyRequest request = request_for(gemma_layers());
    request.page = 8;
    request.sequences = 2;
    expect_equal(request);
    request = request_for({full_layer(), full_layer(), reads(1)}, {20, 40});
    request.cartridge = 9;
    expect_equal(request);
}

/// Changes a number of one layer's keys.
Hooks damage_layer(int layer, int& damaged) {
    Hooks hooks;
    hooks.after_fill = [layer, &damaged](Backend& backend, const FilledPlane& plane) {
        if (plane.layer != layer || plane.role != "key")
            return;
        const std::uint16_t half = 0x3fa0; // 1.25 in bf16
        backend.write(static_cast<unsigned char*>(plane.memory) + plane.bytes / 2, &half, 2);
        ++damaged;
    };
    return hooks;
}

TEST_P(VerifyTest, WhatDamagesTheOwnerShowsInTheLayerThatReadsIt) {
    // Layer 0 stands for both full layers, so that only the reader's output can show layer 1.
    const VerifyRequest request = request_for({full_layer(), full_layer(), reads(1)}, {40});
    int damaged = 0;
    const VerifyResult result = verify_with(request, damage_layer(1, damaged));
    EXPECT_EQ(damaged, 1);
    EXPECT_THAT(result.reasons, ElementsAre(HasSubstr("layer 2 shared full_attention output: "
                                                      "relative error")));
    EXPECT_TRUE(result.samples.front().refuted); // the component that it reads
}

TEST_P(VerifyTest, WhatAnotherLayerHoldsIsNotRead) {
    const VerifyRequest request = request_for({full_layer(), full_layer(), reads(0)}, {40});
    int damaged = 0;
    EXPECT_THAT(verify_with(request, damage_layer(1, damaged)).reasons, IsEmpty());
    EXPECT_EQ(damaged, 1);
}

TEST_P(VerifyTest, ACacheForALayerThatReadsAnothersIsRefuted) {
    VerifyRequest request = request_for({full_layer(), reads(0), reads(0)}, {12, 24});
    for (const std::size_t layer : {1u, 2u})
        request.spec.layers[layer].components = request.spec.layers[0].components;
    const std::vector<std::string> reasons = refuted(request);
    EXPECT_THAT(reasons, Contains("layers 1-2 key: 3,072 bytes of the predicted 3,072 bytes were "
                                  "never touched (at 12 tokens)"));
    // The line through the bytes that were used is that of one layer.
    EXPECT_THAT(reasons, Contains("measured slope 512 bytes per token and sequence, predicted "
                                  "1536"));
}

TEST_P(VerifyTest, AnOwnerWithoutACacheIsRefuted) {
    VerifyRequest request = request_for({full_layer(), full_layer(), reads(1)}, {12});
    request.spec.layers[1].components.clear();
    EXPECT_THAT(refuted(request), Contains("layer 1 key: kernel wrote 3,072 bytes past the "
                                           "predicted 0 bytes (at 12 tokens)"));
}

TEST_P(VerifyTest, AnOwnerThatIsTooSmallIsRefuted) {
    VerifyRequest request = request_for({full_layer(), reads(0)}, {12});
    component_of(request, 0, Role::value).rows = 1;
    EXPECT_THAT(refuted(request), Contains("layer 0 value: kernel wrote 1,536 bytes past the "
                                           "predicted 1,536 bytes (at 12 tokens)"));
}

TEST_P(VerifyTest, WithoutAStepACacheForALayerThatReadsAnothersIsRefutedToo) {
    VerifyRequest request = request_for({full_layer(), reads(0)}, {12});
    request.depth = Depth::layout;
    EXPECT_EQ(to_string(verify_with(request).verdict), "equal");
    request.spec.layers[1].components = request.spec.layers[0].components;
    EXPECT_THAT(refuted(request),
                Contains("layer 1 key: 3,072 bytes predicted, the layer's geometry takes 0 bytes "
                         "(at 12 tokens)"));
}

TEST_P(VerifyTest, TheyHaveNoRowsToMakeWithoutACache) {
    VerifyRequest request = request_for({full_layer(), reads(0)}, {12});
    request.baseline = 12;
    const VerifyResult result = verify_with(request);
    EXPECT_EQ(to_string(result.verdict), "equal");
    ASSERT_EQ(result.baseline.size(), 1u); // of the layer that keeps rows
    EXPECT_EQ(result.baseline.front().without_cache.token_rows, 12 * 13 / 2);
}

std::string request_error(std::vector<LayerPlan> layers) {
    try {
        check_request(request_for(std::move(layers)));
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(SharedRequest, OnlyALayerBeforeItThatKeepsRowsCanBeRead) {
    const std::string wish = "/shared_with: expected a layer before it that keeps rows of tokens";
    EXPECT_EQ(request_error({full_layer(), reads(0)}), "");
    EXPECT_EQ(request_error({full_layer(), reads(1)}), "/config/layers/1" + wish + ", found 1");
    EXPECT_EQ(request_error({full_layer(), reads(-1)}), "/config/layers/1" + wish + ", found -1");
    EXPECT_EQ(request_error({full_layer(), reads(0), reads(1)}),
              "/config/layers/2" + wish + ", found 1");
    EXPECT_EQ(request_error({mamba2_layer(), reads(0)}), "/config/layers/1" + wish + ", found 0");
    LayerPlan both = full_layer();
    both.shared_with = 0;
    EXPECT_EQ(request_error({full_layer(), both}),
              "/config/layers/1/parts: expected none beside shared_with, found full_attention");
}

TEST(SharedRequest, ANumberThatIsNoLayerIsAnError) {
    const char* const text = R"({"name":"m","model_type":"t",
        "layers":[{"parts":[],"shared_with":4294967296}]})";
    EXPECT_THROW(model_plan_from_json(parse_json(text, "test").value), Error);
}

INSTANTIATE_TEST_SUITE_P(Backends, VerifyTest, testing::ValuesIn(backends),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

} // namespace
} // namespace kvcaliper::kernels
