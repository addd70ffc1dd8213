// SPDX-License-Identifier: Apache-2.0
// Whole verifications of layers that keep a state: the right prediction holds, every wrong one is
// refuted by name.
#include "kernels/layout.h"
#include "tests/kernels/verify_case.h"

namespace kvcaliper::kernels {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

using StateVerifyTest = VerifyTest;

constexpr LayerKind delta_kinds[] = {LayerKind::gated_delta, LayerKind::kda, LayerKind::lightning,
                                     LayerKind::gla};

TEST_P(StateVerifyTest, Mamba2Holds) {
    expect_equal(request_for({mamba2_layer(), mamba2_layer()}));
    expect_equal(request_for({one_part(LayerKind::mamba2, Mamba2Dims{72, 3, 24, 1, 64, 2})}));
    expect_equal(request_for({one_part(LayerKind::mamba2, Mamba2Dims{64, 1, 64, 1, 128, 1})}));
}

TEST_P(StateVerifyTest, Mamba2HoldsWhereBAndCAreNotConvolved) {
    expect_equal(request_for({mamba2_layer(0), mamba2_layer(0)}));
}

TEST_P(StateVerifyTest, EveryMatrixStateHolds) {
    for (const LayerKind kind : delta_kinds) {
        SCOPED_TRACE(to_string(kind));
        expect_equal(request_for({delta_layer(kind), delta_layer(kind)}));
    }
    expect_equal(request_for({one_part(LayerKind::gla, DeltaDims{1, 1, 64, 128, 4})}, {9, 30}));
}

TEST_P(StateVerifyTest, ShortConvolutionsHold) {
    expect_equal(request_for({short_conv_layer(), full_layer(), short_conv_layer()}));
    expect_equal(request_for({one_part(LayerKind::short_conv, ConvDims{33, 1, 0})}));
}

TEST_P(StateVerifyTest, ContextsCloserToEachOtherThanTheirStepsHold) {
    expect_equal(request_for({mamba1_layer(), mamba2_layer(), delta_layer(LayerKind::gated_delta),
                              delta_layer(LayerKind::lightning), short_conv_layer()},
                             {15, 16, 17, 30, 31}));
}

TEST_P(StateVerifyTest, SequencesAndFormatsHold) {
    VerifyRequest request =
        request_for({mamba2_layer(), delta_layer(LayerKind::gated_delta), short_conv_layer(),
                     delta_layer(LayerKind::kda), mamba2_layer(0)},
                    {9, 30});
    request.sequences = 3;
    request.formats.conv = &numeric_format("f16");
    expect_equal(request);
}

TEST_P(StateVerifyTest, AHistoryLongerThanOneCallHolds) {
    // 4,096 tokens at most go into one call.
    expect_equal(request_for({one_part(LayerKind::short_conv, ConvDims{8, 3, 0})}, {4200, 4300}));
}

TEST_P(StateVerifyTest, LayersOfSeveralPartsHold) {
    const LayerPlan hybrid = joined({full_layer(), mamba2_layer()});
    expect_equal(request_for({hybrid, mamba2_layer(), hybrid, full_layer()}));
    expect_equal(request_for({joined({mamba2_layer(), short_conv_layer(), sliding_layer()})}));
    expect_equal(request_for({joined({mamba2_layer(), mamba2_layer()})}));
}

TEST_P(StateVerifyTest, EveryPartIsAGroupOfItsOwn) {
    const LayerPlan hybrid = joined({full_layer(), mamba2_layer()});
    const auto groups = layer_groups(request_for({hybrid, mamba2_layer(), hybrid}).plan);
    ASSERT_EQ(groups.size(), 2u);
    EXPECT_THAT(groups[0].layers, ElementsAre(0, 2));
    EXPECT_THAT(groups[0].parts, ElementsAre(0, 0));
    EXPECT_THAT(groups[1].layers, ElementsAre(0, 1, 2));
    EXPECT_THAT(groups[1].parts, ElementsAre(1, 0, 1));
}

/// Every kind with a convolution in front, and how it is named.
std::vector<LayerPlan> convolving_layers() {
    return {mamba2_layer(), mamba2_layer(0), delta_layer(LayerKind::gated_delta),
            delta_layer(LayerKind::kda), short_conv_layer()};
}

TEST_P(StateVerifyTest, KColumnsInsteadOfOneLessAreRefuted) {
    for (const LayerPlan& layer : convolving_layers()) {
        VerifyRequest request = request_for({layer, layer}, {12});
        std::int64_t column = 0;
        for (std::size_t i = 0; i < 2; ++i) {
            Component& history = component_of(request, i, Role::conv_state);
            history.units.n += 1;
            column = history.width * 2;
        }
        EXPECT_THAT(refuted(request), Contains(HasSubstr("layers 0-1 conv_state: " +
                                                         format_integer(column) + " bytes of the")))
            << kind_text(layer);
    }
}

TEST_P(StateVerifyTest, AColumnTooFewIsRefuted) {
    for (const LayerPlan& layer : convolving_layers()) {
        VerifyRequest request = request_for({layer}, {12});
        component_of(request, 0, Role::conv_state).units.n -= 1;
        EXPECT_THAT(refuted(request), Contains(HasSubstr("layer 0 conv_state: kernel wrote ")))
            << kind_text(layer);
    }
}

TEST_P(StateVerifyTest, AStateOneRowShortIsRefuted) {
    std::vector<LayerPlan> layers{mamba2_layer(), mamba2_layer(0)};
    for (const LayerKind kind : delta_kinds)
        layers.push_back(delta_layer(kind));
    for (const LayerPlan& layer : layers) {
        VerifyRequest request = request_for({layer}, {12});
        Component& state = component_of(request, 0, Role::recurrent_state);
        state.rows -= 1;
        const std::string row = format_integer(state.width * 4);
        EXPECT_THAT(refuted(request), Contains(HasSubstr("layer 0 recurrent_state: kernel wrote " +
                                                         row + " bytes past the predicted")))
            << kind_text(layer);
    }
}

TEST_P(StateVerifyTest, AStateOneRowTooLongIsRefuted) {
    VerifyRequest request = request_for({delta_layer(LayerKind::lightning)}, {12});
    component_of(request, 0, Role::recurrent_state).rows += 1;
    EXPECT_THAT(refuted(request),
                Contains(HasSubstr("layer 0 recurrent_state: 96 bytes of the predicted")));
}

TEST_P(StateVerifyTest, TheForgottenBAndCPartOfTheConvolutionIsRefuted) {
    VerifyRequest request = request_for({mamba2_layer()}, {12});
    component_of(request, 0, Role::conv_state).width = 96; // inner alone
    EXPECT_THAT(refuted(request), Contains("layer 0 conv_state: kernel wrote 384 bytes past the "
                                           "predicted 576 bytes (at 12 tokens)"));
}

TEST_P(StateVerifyTest, AConvolutionOverBAndCThatTheModelDoesNotHaveIsRefuted) {
    VerifyRequest request = request_for({mamba2_layer(0)}, {12});
    component_of(request, 0, Role::conv_state).width = 96 + 2 * 16;
    EXPECT_THAT(refuted(request), Contains("layer 0 conv_state: 192 bytes of the predicted 768 "
                                           "bytes were never touched (at 12 tokens)"));
}

TEST_P(StateVerifyTest, AConvolutionOverVAloneIsRefuted) {
    for (const LayerKind kind : {LayerKind::gated_delta, LayerKind::kda}) {
        VerifyRequest request = request_for({delta_layer(kind)}, {12});
        const auto& dims = std::get<DeltaDims>(request.plan.layers[0].parts[0].dims);
        component_of(request, 0, Role::conv_state).width = dims.value_heads * dims.value_width;
        const std::int64_t past = 2 * dims.key_heads * dims.key_width * 3 * 2;
        EXPECT_THAT(refuted(request), Contains(HasSubstr("layer 0 conv_state: kernel wrote " +
                                                         format_integer(past) + " bytes past")));
    }
}

TEST_P(StateVerifyTest, AStateOfTheKeyHeadsAloneIsRefuted) {
    VerifyRequest request = request_for({delta_layer(LayerKind::gated_delta)}, {12});
    component_of(request, 0, Role::recurrent_state).rows = 2 * 16;
    EXPECT_THAT(refuted(request),
                Contains(HasSubstr("layer 0 recurrent_state: kernel wrote 3,072 bytes past")));
}

TEST_P(StateVerifyTest, AHistoryThatLightningAttentionDoesNotHaveIsRefuted) {
    VerifyRequest request = request_for({delta_layer(LayerKind::lightning)}, {12});
    Component extra = component_of(request, 0, Role::recurrent_state);
    extra.role = Role::conv_state;
    request.spec.layers[0].components.push_back(extra);
    EXPECT_THAT(refuted(request), Contains(HasSubstr("layer 0 conv_state: 6,912 bytes of the "
                                                     "predicted 6,912 bytes were never touched")));
}

TEST_P(StateVerifyTest, AWrongPartOfAHybridIsRefutedByItsName) {
    const LayerPlan hybrid = joined({mamba2_layer(), short_conv_layer(), full_layer()});
    VerifyRequest request = request_for({hybrid, hybrid}, {12});
    for (LayerCache& layer : request.spec.layers)
        for (Component& component : layer.components)
            if (component.kind == LayerKind::short_conv)
                component.units.n = 3;
    EXPECT_THAT(refuted(request),
                Contains("layers 0-1 short_conv conv_state: 160 bytes of the "
                         "predicted 480 bytes were never touched (at 12 tokens)"));
}

TEST_P(StateVerifyTest, AForgottenPartOfAHybridIsRefuted) {
    VerifyRequest request = request_for({joined({full_layer(), mamba2_layer()})}, {12});
    auto& components = request.spec.layers[0].components;
    components.erase(components.begin() + 2, components.end());
    EXPECT_THAT(refuted(request),
                Contains(HasSubstr("layer 0 mamba2 recurrent_state: kernel wrote 6,144 bytes past "
                                   "the predicted 0 bytes")));
}

TEST_P(StateVerifyTest, OneDamagedElementFailsTheOutput) {
    struct Case {
        LayerPlan layer;
        const char* role;
    };
    std::vector<Case> cases{{mamba2_layer(), "recurrent_state"}};
    for (const LayerPlan& layer : convolving_layers())
        cases.push_back({layer, "conv_state"});
    for (const LayerKind kind : delta_kinds)
        cases.push_back({delta_layer(kind), "recurrent_state"});
    for (const Case& c : cases) {
        SCOPED_TRACE(kind_text(c.layer) + " " + c.role);
        int damaged = 0;
        const VerifyRequest request = request_for({c.layer, c.layer}, {12, 40});
        const bool state = std::string(c.role) == "recurrent_state";
        const VerifyResult result = verify_with(request, damage(c.role, state ? 4 : 2, damaged));
        EXPECT_EQ(damaged, 1);
        EXPECT_EQ(to_string(result.verdict), "refuted");
        EXPECT_THAT(result.reasons, ElementsAre(HasSubstr("output: relative error")));
    }
}

TEST_P(StateVerifyTest, DamageInOnePartOfAHybridFailsThatPartAlone) {
    const LayerPlan hybrid = joined({full_layer(), mamba2_layer(), short_conv_layer()});
    for (const std::string kind : {"mamba2", "short_conv"}) {
        Hooks hooks;
        hooks.after_fill = [&](Backend& backend, const FilledPlane& plane) {
            const std::uint16_t half = 0x3fa0; // 1.25 in bf16
            if (plane.kind == kind && plane.role == "conv_state" && plane.layer == 0)
                backend.write(plane.memory, &half, 2);
        };
        EXPECT_THAT(verify_with(request_for({hybrid, hybrid}, {12}), hooks).reasons,
                    ElementsAre(HasSubstr("layer 0 " + kind + " output: relative error")));
    }
}

TEST_P(StateVerifyTest, RefusesShapesThatNoKernelTakes) {
    const VerifyRequest groups =
        request_for({one_part(LayerKind::mamba2, Mamba2Dims{96, 4, 24, 3, 16, 4})});
    EXPECT_THAT(verify_with(groups).reasons, ElementsAre(HasSubstr("groups do not divide")));
    const VerifyRequest inner =
        request_for({one_part(LayerKind::mamba2, Mamba2Dims{100, 4, 24, 2, 16, 4})});
    EXPECT_THAT(verify_with(inner).reasons, ElementsAre(HasSubstr("inner width")));
    const VerifyRequest keys =
        request_for({one_part(LayerKind::gated_delta, DeltaDims{3, 4, 16, 16, 4})});
    EXPECT_THAT(verify_with(keys).reasons, ElementsAre(HasSubstr("key heads do not divide")));
    const VerifyRequest wide = request_for({one_part(LayerKind::gla, DeltaDims{1, 1, 385, 8, 1})});
    EXPECT_THAT(verify_with(wide).reasons, ElementsAre(HasSubstr("more than 384 rows")));
}

INSTANTIATE_TEST_SUITE_P(Backends, StateVerifyTest, testing::ValuesIn(backends),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

} // namespace
} // namespace kvcaliper::kernels
