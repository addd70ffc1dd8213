// SPDX-License-Identifier: Apache-2.0
// The no-cache baseline, whose rows are counted, and the cartridge.
#include "core/error.h"
#include "kernels/baseline.h"
#include "tests/kernels/verify_case.h"

namespace kvcaliper::kernels {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_P(VerifyTest, WithoutACacheEveryStepMakesAllRowsAgain) {
    VerifyRequest request = request_for(
        {full_layer(), sliding_layer(), mamba1_layer(), latent_layer(), chunked_layer(7)},
        {12, 40});
    request.sequences = 2;
    request.baseline = 60;
    const VerifyResult result = verify_with(request);
    EXPECT_EQ(to_string(result.verdict), "equal");
    std::vector<std::string> kinds;
    for (const BaselineRow& row : result.baseline) {
        kinds.push_back(row.kind);
        EXPECT_EQ(row.tokens, 60);
        EXPECT_EQ(row.with_cache.token_rows, 60);
        EXPECT_EQ(row.without_cache.token_rows, 60 * 61 / 2);
        EXPECT_EQ(row.with_cache.bytes_read, row.without_cache.bytes_read); // both attend alike
        EXPECT_GT(row.with_cache.seconds, 0);
        EXPECT_LE(row.max_error, row.bound);
        EXPECT_GT(row.max_error, 0);
    }
    EXPECT_THAT(kinds,
                ElementsAre("full_attention", "sliding_attention", "mla", "chunked_attention"));
    // K and V of 2 heads of 64 in 2 bytes.
    EXPECT_EQ(result.baseline[0].without_cache.bytes_written, 1830 * 2 * 2 * 64 * 2);
}

TEST_P(VerifyTest, ABaselineInAQuantisedCacheHolds) {
    VerifyRequest request = request_for({full_layer()}, {12});
    request.formats.k = &numeric_format("q8_0");
    request.formats.v = &numeric_format("q4_0");
    request.baseline = 40;
    const VerifyResult result = verify_with(request);
    EXPECT_EQ(to_string(result.verdict), "equal");
    EXPECT_EQ(result.baseline.at(0).without_cache.token_rows, 820);
}

TEST(Baseline, TakesOnlyAsManyTokensAsEndInTime) {
    DeviceInfo device;
    device.backend = "cpu";
    device.multiprocessors = 2;
    const LayerPart layer = full_layer().parts.front(); // 512 bytes per token
    // 20 GB of rows: 20e9 / 512 = 39,062,500 rows, which is n(n+1)/2 of about 8,838 tokens.
    EXPECT_EQ(baseline_tokens(layer, {}, 100'000, device), 8838);
    EXPECT_EQ(baseline_tokens(layer, {}, 2000, device), 2000);
}

TEST_P(VerifyTest, WithoutABaselineThereIsNone) {
    EXPECT_THAT(verify_with(request_for({full_layer()}, {12})).baseline, IsEmpty());
    VerifyRequest request = request_for({mamba1_layer()}, {12});
    request.baseline = 10;
    EXPECT_THAT(verify_with(request).baseline, IsEmpty());
}

// ---- cartridges ---------------------------------------------------------------------------------

VerifyRequest cartridge_request() {
    VerifyRequest request = request_for({full_layer(), latent_layer(), full_layer()}, {20, 40});
    request.cartridge = 10;
    return request;
}

TEST_P(VerifyTest, ACartridgeHoldsForEverySequence) {
    VerifyRequest request = cartridge_request();
    request.sequences = 3;
    expect_equal(request);
    // It takes what so many tokens take: the layers' total at 40 is that of 40 tokens.
    const std::int64_t bytes = 3 * 40 * (2 * (2 * 2 * 64 * 2) + 576 * 2);
    EXPECT_EQ(verify_with(request).samples.back().used, bytes);
    EXPECT_THAT(verify_with(request).notes, Contains(HasSubstr("the first 10 tokens")));
}

TEST_P(VerifyTest, ATrainedSlotThatIsRewrittenIsFoundInAnyLayer) {
    Hooks hooks;
    hooks.after_fill = [](Backend& backend, const FilledPlane& plane) {
        const std::uint16_t other = 0x3fa0; // the last of the ten slots of head 0 in layer 2
        if (plane.layer == 2 && plane.role == "value" && plane.context == 20)
            backend.write(static_cast<unsigned char*>(plane.memory) + 9 * 128, &other, 2);
    };
    // Layer 2 is like layer 0, whose output is the one that is compared: only the sum tells.
    EXPECT_THAT(verify_with(cartridge_request(), hooks).reasons,
                ElementsAre("layer 2 value: a trained slot changed after it was filled (at 20 "
                            "tokens)"));
}

TEST_P(VerifyTest, AnAppendedSlotMayChangeWithoutTouchingTheCartridge) {
    Hooks hooks;
    hooks.after_fill = [](Backend& backend, const FilledPlane& plane) {
        const std::uint16_t other = 0x3fa0;
        if (plane.layer == 2 && plane.role == "value" && plane.context == 20)
            backend.write(static_cast<unsigned char*>(plane.memory) + 10 * 128, &other, 2);
    };
    EXPECT_EQ(to_string(verify_with(cartridge_request(), hooks).verdict), "equal");
}

TEST_P(VerifyTest, TheCartridgeIsAttended) {
    int damaged = 0;
    VerifyRequest request = cartridge_request();
    Hooks hooks;
    hooks.after_fill = [&](Backend& backend, const FilledPlane& plane) {
        const std::uint16_t other = 0x3fa0;
        if (plane.layer == 0 && plane.role == "key" && plane.context == 20 && ++damaged == 1)
            backend.write(plane.memory, &other, 2);
    };
    EXPECT_THAT(verify_with(request, hooks).reasons, Contains(HasSubstr("output: relative error")));
}

TEST_P(VerifyTest, ACartridgeThatIsNotCountedIsRefuted) {
    VerifyRequest request = cartridge_request();
    request.contexts = {40};
    component_of(request, 0, Role::key).units = {Units::Kind::window, 30}; // 40 less 10
    EXPECT_THAT(refuted(request), Contains("layer 0 key: kernel wrote 2,560 bytes past the "
                                           "predicted 7,680 bytes (at 40 tokens)"));
}

TEST_P(VerifyTest, NoCartridgeWhereTheFirstTokensAreOverwritten) {
    VerifyRequest request = request_for({full_layer(), sliding_layer(), mamba1_layer()}, {20});
    request.cartridge = 5;
    const VerifyResult result = verify_with(request);
    EXPECT_EQ(to_string(result.verdict), "refused");
    EXPECT_THAT(result.reasons, ElementsAre(HasSubstr("no cartridge in mamba1 layers"),
                                            HasSubstr("no cartridge in sliding_attention layers")));
}

TEST(Cartridge, AndBaselineAreReadFromTheRequest) {
    VerifyRequest request = request_for({full_layer()}, {20, 40});
    request.cartridge = 10;
    request.baseline = 30;
    const VerifyRequest read = verify_request_from_json(to_json(request));
    EXPECT_EQ(read.cartridge, 10);
    EXPECT_EQ(read.baseline, 30);
    request.cartridge = 18; // and three steps do not fit into 20
    EXPECT_THROW(check_request(request), Error);
    request.cartridge = 0;
    request.baseline = 1;
    EXPECT_THROW(check_request(request), Error);
}

INSTANTIATE_TEST_SUITE_P(Backends, VerifyTest, testing::ValuesIn(backends),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

} // namespace
} // namespace kvcaliper::kernels
