// SPDX-License-Identifier: Apache-2.0
// Caches that pack older tokens (KIVI), verified whole; and predictions of them that are wrong.
#include "core/stored_components.h"
#include "tests/kernels/verify_case.h"

namespace kvcaliper::kernels {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// The layers' spec as these formats store it.
VerifyRequest packed_request(const char* k, const char* v, std::vector<std::int64_t> contexts,
                             std::vector<LayerPlan> layers = {full_layer(), full_layer()}) {
    VerifyRequest request = request_for(std::move(layers), std::move(contexts));
    request.formats.k = &numeric_format(k);
    request.formats.v = &numeric_format(v);
    request.spec = stored_spec(request.spec, request.formats);
    return request;
}

class ResidualVerify : public VerifyTest {
  protected:
    static std::int64_t predicted(const VerifyResult& result, std::int64_t context,
                                  const std::string& component) {
        for (const Sample& sample : result.samples)
            if (sample.context == context && sample.component == component)
                return sample.predicted;
        return -1;
    }
};

TEST_P(ResidualVerify, BothSidesOfEveryFlush) {
    expect_equal(packed_request("kivi_2bit_r32", "kivi_2bit_r32",
                                {8, 31, 32, 33, 34, 35, 36, 63, 64, 65, 95, 96, 97, 100}));
    expect_equal(packed_request("kivi_4bit", "kivi_2bit", {127, 128, 130, 257}));
}

TEST_P(ResidualVerify, BesideOtherFormats) {
    expect_equal(packed_request("kivi_2bit_r32", "f16", {20, 40, 64, 70}));
    expect_equal(packed_request("kivi_4bit_r32", "bf16", {20, 40, 64, 70}));
    expect_equal(packed_request("bf16", "kivi_4bit_r32", {20, 40, 64, 70}));
    expect_equal(packed_request("q8_0", "kivi_2bit_r32", {20, 40, 64, 70}));
    expect_equal(packed_request("kivi_2bit_r32", "q4_0", {20, 40, 64, 70}));
    expect_equal(packed_request("kivi_4bit_g64", "kivi_2bit_g64", {20, 128, 130, 150}));
}

TEST_P(ResidualVerify, KeysOfAnyWidthSinksAndSequences) {
    VerifyRequest request = packed_request(
        "kivi_2bit_r32", "kivi_4bit_r32", {20, 40, 64, 70},
        {with_sinks(one_part(LayerKind::full_attention, AttentionDims{6, 2, 80, 96, {}})),
         mamba1_layer()});
    request.sequences = 3;
    expect_equal(request);
}

TEST_P(ResidualVerify, LayersThatReadAnothers) {
    LayerPlan reader;
    reader.shared_with = 0;
    expect_equal(
        packed_request("kivi_2bit_r32", "kivi_2bit_r32", {20, 40, 64, 70}, {full_layer(), reader}));
}

TEST_P(ResidualVerify, BytesByHand) {
    // Two heads of 64. At 70 tokens keys of 64 tokens are packed: 2 · 64 channels of two stretches
    // of 12 bytes; six rows of 128 bytes are not. Values: 38 tokens of 2 · 2 groups of 20 bytes, 32
    // rows of 128 bytes. Two layers.
    const VerifyResult result = verify_with(packed_request("kivi_2bit_r32", "kivi_4bit_r32", {70}));
    EXPECT_EQ(predicted(result, 70, "key"), 2 * (2 * 64 * 2 * 12));
    EXPECT_EQ(predicted(result, 70, "key_residual"), 2 * (6 * 2 * 128));
    EXPECT_EQ(predicted(result, 70, "value"), 2 * (38 * 2 * 2 * 20));
    EXPECT_EQ(predicted(result, 70, "value_residual"), 2 * (32 * 2 * 128));
    EXPECT_EQ(to_string(result.verdict), "equal");
}

TEST_P(ResidualVerify, TheLineIsThatOfWholeStretches) {
    const VerifyResult result =
        verify_with(packed_request("kivi_2bit_r32", "kivi_2bit_r32", {32, 64, 96, 99}));
    EXPECT_EQ(result.slope_from, 64);
    EXPECT_EQ(result.slope_to, 96);
    // Two layers, K and V of 2 · 64 numbers in 3 bits: 192 bytes a token. The rest is 32 values of
    // 2 · 64 numbers in each layer, in 16 bits instead of 3.
    EXPECT_EQ(result.slope->to_string(), "192");
    EXPECT_EQ(result.intercept->to_string(), std::to_string(2 * 32 * 128 * 13 / 8));
}

TEST_P(ResidualVerify, StepsBeginWithTheFlush) {
    VerifyRequest request = packed_request("kivi_2bit_r32", "f16", {64});
    const auto notes = verify_with(request).notes;
    EXPECT_THAT(notes, Contains(HasSubstr("begin with the one after which kivi_2bit_r32 packs")));
    request.contexts = {70};
    EXPECT_THAT(verify_with(request).notes, Not(Contains(HasSubstr("packs keys"))));
    // States have no keys.
    request = packed_request("kivi_2bit_r32", "f16", {64}, {mamba1_layer()});
    EXPECT_THAT(verify_with(request).notes, Not(Contains(HasSubstr("packs keys"))));
}

TEST_P(ResidualVerify, SaysWhatIsNoGrowthAndWhatIsNotThere) {
    VerifyRequest request = packed_request("kivi_2bit_r32", "kivi_2bit_r32", {20, 34});
    const VerifyResult result = verify_with(request);
    EXPECT_THAT(result.notes,
                Contains(HasSubstr("fewer than two contexts are multiples of the 32")));
    for (const Sample& sample : result.samples) // at 20 tokens nothing is packed
        if (sample.component == "key" || sample.component == "value") {
            EXPECT_EQ(sample.quantisation_error.has_value(), sample.context == 34);
        }
    request.contexts = {64};
    request.depth = Depth::layout;
    EXPECT_THAT(verify_with(request).notes, Not(Contains(HasSubstr("packs keys"))));
}

TEST_P(ResidualVerify, WrongPredictionsAreRefuted) {
    const auto changed = [&](const std::function<void(VerifyRequest&)>& change) {
        VerifyRequest request = packed_request("kivi_2bit_r32", "kivi_2bit_r32", {70});
        change(request);
        return refuted(request);
    };
    // The residual of K forgotten altogether, or taken for V's window.
    EXPECT_THAT(changed([](VerifyRequest& r) {
                    component_of(r, 1, Role::key_residual).units = {Units::Kind::constant, 0};
                }),
                Contains(HasSubstr("past the predicted")));
    EXPECT_THAT(changed([](VerifyRequest& r) {
                    component_of(r, 1, Role::key_residual).units = {Units::Kind::window, 32};
                }),
                Contains(HasSubstr("never touched")));
    // Every token packed, none kept.
    EXPECT_THAT(changed([](VerifyRequest& r) {
                    component_of(r, 1, Role::value).units = {Units::Kind::tokens, 0};
                }),
                Contains(HasSubstr("never touched")));
    // A value more in f16, a stretch of keys less.
    EXPECT_THAT(changed([](VerifyRequest& r) {
                    component_of(r, 1, Role::value_residual).units = {Units::Kind::window, 33};
                }),
                Contains(HasSubstr("never touched")));
    EXPECT_THAT(changed([](VerifyRequest& r) {
                    component_of(r, 1, Role::key).units = {Units::Kind::groups, 64};
                }),
                Contains(HasSubstr("past the predicted")));
    // Scales forgotten: two bits a number are 8 bytes of 12.
    EXPECT_THAT(changed([](VerifyRequest& r) {
                    Component& key = component_of(r, 1, Role::key);
                    key.rows = key.rows * 2 / 3;
                }),
                Contains(HasSubstr("past the predicted")));
}

TEST_P(ResidualVerify, WhatNoKernelPacksIsRefused) {
    const auto reasons = [&](VerifyRequest request) { return unsupported(request); };
    VerifyRequest request = packed_request("kivi_2bit_r32", "kivi_2bit_r32", {40});
    EXPECT_THAT(reasons(request), testing::IsEmpty());
    request.page = 16;
    EXPECT_THAT(reasons(request), Contains("no kernel for pages of kivi_2bit_r32 yet"));
    request.page = 0;
    request.cartridge = 4;
    EXPECT_THAT(reasons(request), Contains(HasSubstr("no cartridge in kivi_2bit_r32")));
    request.cartridge = 0;
    request.baseline = 20;
    EXPECT_THAT(reasons(request), Contains("no baseline in kivi_2bit_r32 yet"));
    request.baseline = 0;
    request.plan.layers = {sliding_layer()};
    EXPECT_THAT(reasons(request),
                Contains("no kernel for kivi_2bit_r32 in sliding_attention layers"));
    request.plan.layers = {latent_layer()};
    EXPECT_THAT(reasons(request), Contains("no kernel for kivi_2bit_r32 in mla layers"));
    request.plan.layers = {indexed_layer(8)};
    EXPECT_THAT(reasons(request),
                Contains("no kernel for kivi_2bit_r32 in layers with index keys yet"));
    request.plan.layers = {one_part(LayerKind::full_attention, AttentionDims{4, 2, 64, 80, {}})};
    EXPECT_THAT(reasons(request),
                Contains("no kernel for values of 80 in kivi_2bit_r32: blocks of 32"));
    request.plan.layers = {one_part(LayerKind::full_attention, AttentionDims{4, 2, 80, 64, {}})};
    EXPECT_THAT(reasons(request), testing::IsEmpty()); // keys are packed per channel
}

// No tensor cores: the kernel is the same whatever the device.
INSTANTIATE_TEST_SUITE_P(Backends, ResidualVerify,
                         testing::ValuesIn(std::begin(backends),
                                           std::begin(backends) +
                                               std::min<std::ptrdiff_t>(2, std::ssize(backends))),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

} // namespace
} // namespace kvcaliper::kernels
