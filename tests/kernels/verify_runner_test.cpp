// SPDX-License-Identifier: Apache-2.0
// Whole verifications of small models: the right prediction holds, every wrong one is refuted by
// name.
#include "kernels/verify_runner.h"

#include "core/error.h"
#include "tests/kernels/verify_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kvcaliper::kernels {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_P(VerifyTest, GroupedQueryAttentionHolds) {
    expect_equal(request_for({full_layer(), full_layer(), full_layer()}));
}

TEST_P(VerifyTest, SlidingWindowsHold) {
    expect_equal(request_for({sliding_layer(), full_layer(), sliding_layer(), sliding_layer(7)}));
}

TEST_P(VerifyTest, LatentAttentionHolds) {
    expect_equal(request_for({latent_layer(), latent_layer()}, {10, 20, 33}));
}

TEST_P(VerifyTest, Mamba1Holds) {
    expect_equal(request_for({mamba1_layer(), mamba1_layer()}));
}

TEST_P(VerifyTest, HybridsSequencesAndFormatsHold) {
    VerifyRequest request =
        request_for({full_layer(), mamba1_layer(), sliding_layer(), mamba1_layer()}, {9, 30});
    request.sequences = 3;
    request.formats.k = request.formats.v = request.formats.conv = &numeric_format("f16");
    expect_equal(request);
}

TEST_P(VerifyTest, OneStepAndOneContextAreEnough) {
    VerifyRequest request = request_for({full_layer()}, {2});
    request.steps = 1;
    expect_equal(request);
}

TEST_P(VerifyTest, TheSlopeIsThatOfTheLastSegment) {
    const VerifyResult result =
        verify_with(request_for({sliding_layer(), full_layer(), mamba1_layer()}));
    // One growing layer: K and V of 2 heads of 64 in 2 bytes.
    EXPECT_EQ(result.slope, Ratio(2 * 2 * 64 * 2));
    EXPECT_EQ(result.intercept, Ratio(2 * 2 * 64 * 2 * 24 + 96 * 3 * 2 + 96 * 16 * 4));
    EXPECT_EQ(result.predicted_slope, result.slope);
    EXPECT_EQ(result.predicted_intercept, result.intercept);
    EXPECT_EQ(result.slope_from, 40);
    EXPECT_EQ(result.slope_to, 60);
}

TEST_P(VerifyTest, AWindowThatIsOneTooLongIsRefuted) {
    VerifyRequest request = request_for({full_layer(), sliding_layer(), sliding_layer()});
    for (const std::size_t layer : {1u, 2u})
        for (const Role role : {Role::key, Role::value})
            component_of(request, layer, role).units.n = 25;
    EXPECT_THAT(refuted(request),
                ElementsAre("layers 1-2 key: 256 bytes of the predicted 6,400 bytes were never "
                            "touched (at 40 tokens)",
                            "layers 1-2 value: 256 bytes of the predicted 6,400 bytes were never "
                            "touched (at 40 tokens)",
                            "measured constant part 24576 bytes per sequence, predicted 25600"));
}

TEST_P(VerifyTest, AWindowThatIsOneTooShortIsRefuted) {
    VerifyRequest request = request_for({sliding_layer()});
    component_of(request, 0, Role::value).units.n = 23;
    EXPECT_THAT(refuted(request), Contains("layer 0 value: kernel wrote 256 bytes past the "
                                           "predicted 5,888 bytes (at 24 tokens)"));
}

TEST_P(VerifyTest, AKeyHeadLessIsRefuted) {
    VerifyRequest request = request_for({full_layer(), full_layer(), full_layer()});
    for (std::size_t layer = 0; layer < 3; ++layer)
        component_of(request, layer, Role::key).rows = 1;
    EXPECT_THAT(refuted(request), Contains("layers 0-2 key: kernel wrote 1,536 bytes past the "
                                           "predicted 1,536 bytes (at 12 tokens)"));
}

TEST_P(VerifyTest, AForgottenRotaryKeyIsRefuted) {
    VerifyRequest request = request_for({latent_layer(), latent_layer()}, {10, 20});
    for (LayerCache& layer : request.spec.layers)
        layer.components.pop_back();
    EXPECT_THAT(refuted(request), Contains("layers 0-1 rope_key: kernel wrote 1,280 bytes past the "
                                           "predicted 0 bytes (at 10 tokens)"));
}

/// Keys of 192 and values of 128, as MiMo-V2-Flash has them (v_head_dim of its config.json); and
/// the other way round.
TEST_P(VerifyTest, AValueWidthTakenFromTheKeyIsRefuted) {
    const auto with_widths = [](std::int64_t key, std::int64_t value) {
        return one_part(LayerKind::full_attention, AttentionDims{4, 2, key, value, {}});
    };
    VerifyRequest request = request_for({with_widths(192, 128), full_layer()});
    component_of(request, 0, Role::value).width = 192;
    EXPECT_THAT(refuted(request),
                Contains("layer 0 value: 3,072 bytes of the predicted 9,216 bytes were never "
                         "touched (at 12 tokens)"));
    request = request_for({with_widths(64, 96)});
    component_of(request, 0, Role::value).width = 64;
    EXPECT_THAT(refuted(request), Contains("layer 0 value: kernel wrote 1,536 bytes past the "
                                           "predicted 3,072 bytes (at 12 tokens)"));
}

TEST_P(VerifyTest, AConvolutionColumnTooManyIsRefuted) {
    VerifyRequest request = request_for({mamba1_layer(), mamba1_layer()});
    for (LayerCache& layer : request.spec.layers)
        layer.components[0].units.n = 4;
    EXPECT_THAT(refuted(request),
                Contains("layers 0-1 conv_state: 192 bytes of the predicted 768 bytes were never "
                         "touched (at 12 tokens)"));
}

TEST_P(VerifyTest, OneBufferAUnitShortIsRefuted) {
    VerifyRequest request = request_for({full_layer(), full_layer(), full_layer()});
    component_of(request, 1, Role::value).units = {Units::Kind::window, 59};
    EXPECT_THAT(refuted(request),
                Contains("layer 1 value: kernel wrote 256 bytes past the predicted "
                         "15,104 bytes (at 60 tokens)"));
}

TEST_P(VerifyTest, AComponentThatNothingUsesIsRefuted) {
    VerifyRequest request = request_for({full_layer()}, {12});
    Component extra = component_of(request, 0, Role::key);
    extra.role = Role::rope_key;
    request.spec.layers[0].components.push_back(extra);
    EXPECT_THAT(refuted(request),
                Contains(HasSubstr("layer 0 rope_key: 3,072 bytes of the predicted "
                                   "3,072 bytes were never touched")));
}

TEST_P(VerifyTest, AMissingLayerIsRefuted) {
    VerifyRequest request = request_for({full_layer(), full_layer()}, {12});
    request.spec.layers.pop_back();
    EXPECT_THAT(refuted(request),
                Contains(HasSubstr("layer 1 key: kernel wrote 3,072 bytes past")));
}

TEST_P(VerifyTest, OneDamagedElementOfTheCacheFailsTheOutput) {
    const struct {
        LayerPlan layer;
        const char* role;
        std::int64_t element_size;
    } cases[] = {{full_layer(), "key", 2},         {full_layer(), "value", 2},
                 {sliding_layer(), "value", 2},    {latent_layer(), "latent", 2},
                 {latent_layer(), "rope_key", 2},  {mamba1_layer(), "recurrent_state", 4},
                 {mamba1_layer(), "conv_state", 2}};
    for (const auto& c : cases) {
        int damaged = 0;
        const VerifyRequest request = request_for({c.layer, c.layer}, {12, 40});
        const VerifyResult result = verify_with(request, damage(c.role, c.element_size, damaged));
        EXPECT_EQ(damaged, 1) << c.role;
        EXPECT_EQ(to_string(result.verdict), "refuted") << c.role;
        EXPECT_THAT(result.reasons, ElementsAre(HasSubstr("output: relative error"))) << c.role;
        EXPECT_EQ(to_string(verify_with(request).verdict), "equal") << c.role;
    }
}

TEST_P(VerifyTest, ANanInTheCacheFailsTheOutput) {
    Hooks hooks;
    hooks.after_fill = [](Backend& backend, const FilledPlane& plane) {
        const std::uint16_t nan = 0x7fc0;
        if (plane.role == "value" && plane.layer == 0)
            backend.write(plane.memory, &nan, 2);
    };
    const VerifyResult result = verify_with(request_for({full_layer()}, {12}), hooks);
    EXPECT_THAT(result.reasons, ElementsAre(HasSubstr("relative error inf")));
}

TEST_P(VerifyTest, StopsWhenAskedTo) {
    std::atomic<bool> cancel{false};
    Hooks hooks;
    hooks.cancel = &cancel;
    int samples = 0;
    hooks.event = [&](const JsonValue& event) {
        if (event.string_at("type") == "sample") {
            ++samples;
            cancel = true;
        }
    };
    const VerifyResult result = verify_with(request_for({full_layer()}), hooks);
    EXPECT_EQ(to_string(result.verdict), "cancelled");
    EXPECT_EQ(exit_code(result.verdict), 3);
    EXPECT_LE(samples, 3); // those of the first context
}

TEST_P(VerifyTest, RefusesWhatDoesNotFitBeforeAllocating) {
    VerifyRequest request = request_for({full_layer()});
    request.memory_limit = 10'000;
    std::vector<std::string> events;
    Hooks hooks;
    hooks.event = [&](const JsonValue& event) { events.push_back(event.string_at("type")); };
    const VerifyResult result = verify_with(request, hooks);
    EXPECT_EQ(to_string(result.verdict), "refused");
    EXPECT_EQ(exit_code(result.verdict), 3);
    EXPECT_GT(result.bytes_needed, result.limit);
    EXPECT_EQ(result.limit, 10'000);
    EXPECT_THAT(result.reasons, ElementsAre(HasSubstr("offers 9.77 KiB (10,000 B)")));
    EXPECT_THAT(events, ElementsAre("plan"));
}

TEST_P(VerifyTest, RefusesFormatsAndLayersWithoutKernels) {
    VerifyRequest request = request_for({full_layer()});
    request.formats.k = request.formats.v = &numeric_format("mxfp4");
    VerifyResult result = verify_with(request);
    EXPECT_EQ(to_string(result.verdict), "refused");
    EXPECT_THAT(result.reasons, Contains("no kernel for mxfp4 yet (keys)"));
    request = request_for({one_part(LayerKind::rwkv, RwkvDims{64, 0, 32, 0})});
    EXPECT_THAT(verify_with(request).reasons,
                ElementsAre("no kernel for rwkv layers of version 0"));
}

TEST_P(VerifyTest, TheOrderOfEventsIsPlanThenSamplesAndEveryContextHasATotal) {
    std::vector<std::string> types;
    std::int64_t done = 0;
    Hooks hooks;
    hooks.event = [&](const JsonValue& event) {
        types.push_back(event.string_at("type"));
        if (types.back() == "progress") {
            EXPECT_GE(event.integer_at("done"), done);
            done = event.integer_at("done");
            EXPECT_LE(done, event.integer_at("total"));
        }
    };
    const VerifyResult result = verify_with(request_for({full_layer(), sliding_layer()}), hooks);
    EXPECT_EQ(types.front(), "plan");
    EXPECT_EQ(std::count(types.begin(), types.end(), "sample"), 4 * 5);
    EXPECT_EQ(result.samples.size(), 4u * 5u);
    EXPECT_EQ(result.samples.back().component, "total");
    EXPECT_EQ(result.memory.cache, result.samples.back().requested);
}

TEST_P(VerifyTest, TooManyFlopsLetOneLayerAttendAndSaySo) {
    // 12 layers of 4,000 tokens: beyond the emulator's budget, within the CPU's.
    if (std::string(GetParam().name) != "emulated")
        GTEST_SKIP() << "the CPU's budget takes a large model";
    std::vector<LayerPlan> layers(12, full_layer());
    const VerifyResult result = verify_with(request_for(std::move(layers), {4000}));
    EXPECT_EQ(to_string(result.verdict), "equal");
    EXPECT_EQ(result.kernels.front().attended_layers, 1);
    EXPECT_THAT(result.notes, Contains(HasSubstr("one layer of each shape attends")));
}

INSTANTIATE_TEST_SUITE_P(Backends, VerifyTest, testing::ValuesIn(backends),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

} // namespace
} // namespace kvcaliper::kernels
