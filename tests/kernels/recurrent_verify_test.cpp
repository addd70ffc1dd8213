// SPDX-License-Identifier: Apache-2.0
// Whole verifications of RG-LRU, RWKV, xLSTM and convolutions beside attention: the right
// prediction holds, every wrong one is refuted by name; and the models of these kinds hold.
#include "core/catalog.h"
#include "tests/core/test_models.h"
#include "tests/kernels/verify_case.h"

namespace kvcaliper::kernels {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

using RecurrentVerifyTest = VerifyTest;

/// Every kind of this file once.
std::vector<LayerPlan> all_layers() {
    return {rglru_layer(), rwkv4_layer(), rwkv_layer(5),   rwkv_layer(6),
            rwkv_layer(7), xlstm_layer(), kv_conv_layer(), kv_conv_layer(1)};
}

TEST_P(RecurrentVerifyTest, EveryKindHolds) {
    for (const LayerPlan& layer : all_layers()) {
        SCOPED_TRACE(kind_text(layer));
        expect_equal(request_for({layer, full_layer(), layer}));
    }
}

TEST_P(RecurrentVerifyTest, ContextsCloserToEachOtherThanTheirStepsHold) {
    expect_equal(request_for(all_layers(), {15, 16, 17, 30, 31}));
}

TEST_P(RecurrentVerifyTest, SequencesAndFormatsHold) {
    VerifyRequest request = request_for(all_layers(), {9, 30});
    request.sequences = 3;
    request.formats.conv = &numeric_format("f16");
    expect_equal(request);
}

TEST_P(RecurrentVerifyTest, AHistoryOfManyChunksHolds) {
    // 72 channels: 4,096 tokens go into one call, and the reference takes 64 at a time.
    expect_equal(request_for({kv_conv_layer(), kv_conv_layer(1)}, {4200, 4300}));
    expect_equal(request_for({one_part(LayerKind::rwkv, RwkvDims{16, 0, 8, 7}),
                              one_part(LayerKind::rwkv4, RwkvDims{16, 16, 0, 0}),
                              one_part(LayerKind::rglru, RglruDims{16, 2}),
                              one_part(LayerKind::xlstm, XlstmDims{2, 8, 8})},
                             {200, 300}));
}

TEST_P(RecurrentVerifyTest, OddWidthsHold) {
    expect_equal(request_for({one_part(LayerKind::rglru, RglruDims{33, 1}),
                              one_part(LayerKind::rwkv4, RwkvDims{30, 42, 0, 0}),
                              one_part(LayerKind::rwkv, RwkvDims{66, 0, 33, 6}),
                              one_part(LayerKind::rwkv, RwkvDims{130, 0, 65, 7}),
                              one_part(LayerKind::xlstm, XlstmDims{1, 33, 31}),
                              one_part(LayerKind::kv_conv, ConvDims{1, 1, 0})},
                             {9, 30}));
}

TEST_P(RecurrentVerifyTest, ConvolutionsBesideAttentionAreReadAndShiftedByEveryStep) {
    // Zaya keeps two of them in a layer, Inkling one in the state's format.
    const LayerPlan zaya =
        joined({full_layer(), kv_conv_layer(), one_part(LayerKind::kv_conv, ConvDims{24, 1, 0})});
    const LayerPlan inkling = joined({sliding_layer(), kv_conv_layer(1)});
    const VerifyRequest request = request_for({zaya, inkling, zaya});
    expect_equal(request);
    const VerifyResult result = verify_with(request);
    const auto reads = [&](std::int64_t bytes) {
        return std::any_of(result.kernels.begin(), result.kernels.end(), [&](const KernelRow& row) {
            return row.kind == "kv_conv" && row.bytes_read == bytes;
        });
    };
    EXPECT_TRUE(reads(2 * 72 * 3 * 2)); // both layers, bf16
    EXPECT_TRUE(reads(2 * 24 * 1 * 2));
    EXPECT_TRUE(reads(1 * 72 * 3 * 4)); // f32
}

TEST_P(RecurrentVerifyTest, AForgottenShiftVectorIsRefuted) {
    for (const LayerPlan& layer : {rwkv4_layer(), rwkv_layer(6), rwkv_layer(7)}) {
        VerifyRequest request = request_for({layer, layer}, {12});
        for (const std::size_t i : {0u, 1u})
            component_of(request, i, Role::shift).units.n = 1;
        EXPECT_THAT(refuted(request),
                    Contains("layers 0-1 shift: kernel wrote 96 bytes past the predicted 96 bytes "
                             "(at 12 tokens)"))
            << kind_text(layer);
    }
}

TEST_P(RecurrentVerifyTest, NoShiftVectorsAtAllAreRefuted) {
    VerifyRequest request = request_for({rwkv_layer(7)}, {12});
    auto& components = request.spec.layers[0].components;
    components.erase(components.begin());
    EXPECT_THAT(refuted(request), Contains(HasSubstr("layer 0 shift: kernel wrote 192 bytes past "
                                                     "the predicted 0 bytes")));
}

TEST_P(RecurrentVerifyTest, AShiftVectorTooManyIsRefuted) {
    VerifyRequest request = request_for({rwkv4_layer()}, {12});
    component_of(request, 0, Role::shift).units.n = 3;
    EXPECT_THAT(refuted(request), Contains("layer 0 shift: 96 bytes of the predicted 288 bytes "
                                           "were never touched (at 12 tokens)"));
}

TEST_P(RecurrentVerifyTest, ShiftVectorsInTheFormatOfTheStateAreRefuted) {
    VerifyRequest request = request_for({rwkv_layer(6)}, {12}); // as llama.cpp keeps them
    component_of(request, 0, Role::shift).format_class = FormatClass::state;
    EXPECT_THAT(refuted(request), Contains("layer 0 shift: 192 bytes of the predicted 384 bytes "
                                           "were never touched (at 12 tokens)"));
}

TEST_P(RecurrentVerifyTest, KColumnsInsteadOfOneLessAreRefuted) {
    struct Case {
        LayerPlan layer;
        const char* column; ///< bytes
    };
    for (const Case& c : {Case{rglru_layer(), "160"}, Case{kv_conv_layer(), "144"},
                          Case{kv_conv_layer(1), "288"}}) {
        VerifyRequest request = request_for({c.layer, c.layer}, {12});
        for (const std::size_t i : {0u, 1u})
            component_of(request, i, Role::conv_state).units.n += 1;
        EXPECT_THAT(refuted(request),
                    Contains(HasSubstr("layers 0-1 conv_state: " + std::string(c.column) +
                                       " bytes of the predicted")))
            << kind_text(c.layer);
    }
}

TEST_P(RecurrentVerifyTest, AColumnTooFewIsRefuted) {
    for (const LayerPlan& layer : {rglru_layer(), kv_conv_layer(), kv_conv_layer(1)}) {
        VerifyRequest request = request_for({layer}, {12});
        component_of(request, 0, Role::conv_state).units.n -= 1;
        EXPECT_THAT(refuted(request), Contains(HasSubstr("layer 0 conv_state: kernel wrote ")))
            << kind_text(layer);
    }
}

TEST_P(RecurrentVerifyTest, AHistoryInAnotherFormatThanItsOwnIsRefuted) {
    VerifyRequest request = request_for({kv_conv_layer(1)}, {12}); // Inkling's in 16 bits
    component_of(request, 0, Role::conv_state).format_class = FormatClass::conv;
    EXPECT_THAT(refuted(request), Contains("layer 0 conv_state: kernel wrote 432 bytes past the "
                                           "predicted 432 bytes (at 12 tokens)"));
    request = request_for({kv_conv_layer()}, {12});
    component_of(request, 0, Role::conv_state).format_class = FormatClass::state;
    EXPECT_THAT(refuted(request), Contains("layer 0 conv_state: 432 bytes of the predicted 864 "
                                           "bytes were never touched (at 12 tokens)"));
}

TEST_P(RecurrentVerifyTest, AStateOfAnotherSizeIsRefuted) {
    struct Case {
        LayerPlan layer;
        std::int64_t rows, width; ///< of the wrong prediction
        const char* finding;
    };
    const Case cases[] = {
        // The residual width instead of lru_width.
        {rglru_layer(), 1, 64, "kernel wrote 64 bytes past the predicted 256 bytes"},
        // Numerator and denominator without the largest exponent.
        {rwkv4_layer(), 2, 72, "kernel wrote 288 bytes past the predicted 576 bytes"},
        // hidden_size where there is an attention_hidden_size.
        {rwkv4_layer(), 3, 48, "kernel wrote 288 bytes past the predicted 576 bytes"},
        {rwkv_layer(6), 48, 16, "kernel wrote 1,536 bytes past the predicted 3,072 bytes"},
        {rwkv_layer(7), 48, 48, "4,608 bytes of the predicted 9,216 bytes were never touched"},
        // Three vectors as version 4 keeps them.
        {rwkv_layer(7), 3, 48, "kernel wrote 4,032 bytes past the predicted 576 bytes"},
        // C alone; C and n without m; keys as wide as values.
        {xlstm_layer(), 3, 16 * 40, "kernel wrote 204 bytes past the predicted 7,680 bytes"},
        {xlstm_layer(), 3, 16 * 41, "kernel wrote 12 bytes past the predicted 7,872 bytes"},
        {xlstm_layer(), 3, 40 * 41 + 1,
         "11,808 bytes of the predicted 19,692 bytes were never touched"},
    };
    for (const Case& c : cases) {
        VerifyRequest request = request_for({c.layer}, {12});
        Component& state = component_of(request, 0, Role::recurrent_state);
        state.rows = c.rows;
        state.width = c.width;
        EXPECT_THAT(refuted(request), Contains(HasSubstr(c.finding))) << kind_text(c.layer);
    }
}

TEST_P(RecurrentVerifyTest, OneDamagedElementFailsTheOutput) {
    struct Case {
        LayerPlan layer;
        const char* role;
        std::int64_t element_size;
    };
    std::vector<Case> cases{{rglru_layer(), "conv_state", 2},
                            {rwkv4_layer(), "shift", 2},
                            {rwkv_layer(7), "shift", 2},
                            {kv_conv_layer(), "conv_state", 2},
                            {kv_conv_layer(1), "conv_state", 4}};
    for (const LayerPlan& layer :
         {rglru_layer(), rwkv4_layer(), rwkv_layer(5), rwkv_layer(6), rwkv_layer(7), xlstm_layer()})
        cases.push_back({layer, "recurrent_state", 4});
    for (const Case& c : cases) {
        SCOPED_TRACE(kind_text(c.layer) + " " + c.role);
        int damaged = 0;
        const VerifyRequest request = request_for({c.layer, c.layer}, {12, 40});
        const VerifyResult result = verify_with(request, damage(c.role, c.element_size, damaged));
        EXPECT_EQ(damaged, 1);
        EXPECT_EQ(to_string(result.verdict), "refuted");
        EXPECT_THAT(result.reasons, ElementsAre(HasSubstr("output: relative error")));
    }
}

TEST_P(RecurrentVerifyTest, RefusesShapesThatNoKernelTakes) {
    const auto reasons = [&](LayerPlan layer) {
        return verify_with(request_for({std::move(layer)})).reasons;
    };
    EXPECT_THAT(reasons(rwkv_layer(4)), ElementsAre("no kernel for rwkv layers of version 4"));
    EXPECT_THAT(reasons(one_part(LayerKind::rwkv, RwkvDims{50, 0, 24, 7})),
                ElementsAre(HasSubstr("heads do not make up their width")));
    EXPECT_THAT(reasons(one_part(LayerKind::rwkv, RwkvDims{258, 0, 129, 7})),
                ElementsAre(HasSubstr("more than 128 channels")));
    EXPECT_THAT(reasons(one_part(LayerKind::rwkv4, RwkvDims{50, 0, 0, 0})),
                ElementsAre(HasSubstr("without channels")));
    EXPECT_THAT(reasons(one_part(LayerKind::xlstm, XlstmDims{1, 257, 8})),
                ElementsAre(HasSubstr("more than 256 rows")));
    EXPECT_THAT(reasons(one_part(LayerKind::rglru, RglruDims{64, 17})),
                ElementsAre(HasSubstr("more than 16 columns")));
    EXPECT_THAT(reasons(one_part(LayerKind::kv_conv, ConvDims{64, 0, 0})),
                ElementsAre(HasSubstr("without columns")));
    VerifyRequest request = request_for({kv_conv_layer(1)});
    request.formats.state = &numeric_format("bf16");
    EXPECT_THAT(verify_with(request).reasons,
                ElementsAre("no kernel for bf16 yet (convolution history)"));
}

INSTANTIATE_TEST_SUITE_P(Backends, RecurrentVerifyTest, testing::ValuesIn(backends),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

/// A model at one small context on the CPU backend, and the bytes that it kept.
std::int64_t measured(const Model& model) {
    VerifyRequest request;
    request.plan = model.plan;
    request.spec = model.spec;
    request.contexts = {6};
    request.steps = 2;
    Hooks hooks;
    hooks.measure_bandwidth = false;
    const VerifyResult result = verify(request, *make_cpu_backend(), hooks);
    EXPECT_EQ(to_string(result.verdict), "equal");
    EXPECT_THAT(result.reasons, testing::IsEmpty());
    return result.samples.back().used.value_or(-1);
}

// The bytes are the catalogue's of a state; a context of 6 tokens adds K and V where there are any.
TEST(RecurrentModels, BundledOnesHold) {
    // 8 windows of one head of 256; 18 states of 25,600.
    EXPECT_EQ(measured(*load_model("recurrentgemma-2b")), 18 * 25'600 + 8 * 6 * 1024);
    EXPECT_EQ(measured(*load_model("rwkv4-7b")), 2'097'152);
    EXPECT_EQ(measured(*load_model("rwkv7-2.9b")), 21'299'200);
    EXPECT_EQ(measured(*load_model("zaya1-8b")), 215'040 + 6 * 40'960);
}

TEST(RecurrentModels, TheLargestStateHolds) {
    EXPECT_EQ(measured(*load_model("xlstm-7b")), 134'480'896);
}

TEST(RecurrentModels, BaichuanM1Holds) {
    const ModelPtr model = model_of(R"({"model_type": "baichuan_m1", "hidden_size": 256,
        "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
        "num_swa_key_value_heads": 1, "num_swa_attention_heads": 4, "sliding_window": 4,
        "sliding_window_layers": [1], "conv_window": 2})");
    // K and V of 64: 6 tokens in two layers of two heads, 4 of one; one raw K and V row in each.
    EXPECT_EQ(measured(*model),
              2 * (2 * (6 * 2 * 64) * 2 + 2 * (2 * 64) * 2) + 2 * (4 * 64) * 2 + 2 * 64 * 2);
}

TEST(RecurrentModels, InklingHolds) {
    const ModelPtr model = model_of(R"({"model_type": "inkling_text", "hidden_size": 96,
        "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
        "head_dim": 32, "swa_num_attention_heads": 4, "swa_num_key_value_heads": 2,
        "swa_head_dim": 32, "sliding_window_size": 8, "conv_kernel_size": 4})");
    // Per layer K and V of 6 tokens, and 3 columns over k, v and twice the width in f32.
    EXPECT_EQ(measured(*model), 2 * (6 * 2 * (2 * 32) * 2 + 3 * (2 * 2 * 32 + 2 * 96) * 4));
}

TEST(RecurrentModels, EveryVersionOfRwkvRunsAsItself) {
    for (const std::int64_t version : {5, 6, 7}) {
        const ModelPtr model =
            model_of(R"({"model_type": "rwkv)" + std::to_string(version) +
                     R"(", "hidden_size": 128, "num_hidden_layers": 2, "head_dim": 64})");
        const LayerPart& part = model->plan.layers.front().parts.front();
        EXPECT_EQ(std::get<RwkvDims>(part.dims).version, version);
        EXPECT_EQ(measured(*model), 2 * (2 * 128 * 2 + 128 * 64 * 4)); // the same for all
    }
}

} // namespace
} // namespace kvcaliper::kernels
