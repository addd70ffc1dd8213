// SPDX-License-Identifier: Apache-2.0
// Chunked attention, attention sinks and cross-attention, verified whole; and what refutes a wrong
// prediction of them.
#include "tests/kernels/verify_case.h"

namespace kvcaliper::kernels {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_P(VerifyTest, ChunksHoldBeforeAtAndBehindTheirBoundaries) {
    // A chunk of 24: not full, full, two tokens into the second, in the middle of the third.
    expect_equal(request_for({chunked_layer(), full_layer(), chunked_layer(), chunked_layer(7)},
                             {12, 24, 26, 60}));
}

TEST_P(VerifyTest, AChunkIsAttendedSinceItsBoundaryNotAsAWindow) {
    // 26 tokens in chunks of 24: the last query sees 2 rows. Taken for a window it would see 24.
    const VerifyRequest request = request_for({chunked_layer()}, {26});
    const VerifyResult result = verify_with(request);
    ASSERT_EQ(to_string(result.verdict), "equal");
    EXPECT_EQ(result.kernels.front().bytes_read, 2 * (2 * 2 * 64 * 2)); // K and V, 2 heads of 64
    VerifyRequest windowed = request_for({sliding_layer()}, {26});
    EXPECT_EQ(verify_with(windowed).kernels.front().bytes_read, 24 * (2 * 2 * 64 * 2));
}

TEST_P(VerifyTest, AChunkThatIsOneTooLongIsRefuted) {
    VerifyRequest request = request_for({chunked_layer(), chunked_layer()});
    for (const std::size_t layer : {0u, 1u})
        for (const Role role : {Role::key, Role::value})
            component_of(request, layer, role).units.n = 25;
    EXPECT_THAT(refuted(request),
                Contains("layers 0-1 key: 256 bytes of the predicted 6,400 bytes were never "
                         "touched (at 40 tokens)"));
}

TEST_P(VerifyTest, AChunkThatIsOneTooShortIsRefuted) {
    VerifyRequest request = request_for({chunked_layer()});
    component_of(request, 0, Role::value).units.n = 23;
    EXPECT_THAT(refuted(request), Contains("layer 0 value: kernel wrote 256 bytes past the "
                                           "predicted 5,888 bytes (at 24 tokens)"));
}

TEST_P(VerifyTest, AChunkThatGrowsOnIsRefuted) {
    VerifyRequest request = request_for({chunked_layer()});
    component_of(request, 0, Role::key).units = {Units::Kind::tokens, 0};
    EXPECT_THAT(refuted(request),
                Contains("layer 0 key: 4,096 bytes of the predicted 10,240 bytes were never "
                         "touched (at 40 tokens)"));
}

TEST_P(VerifyTest, SinksTakeNoCache) {
    const VerifyRequest request =
        request_for({with_sinks(full_layer()), with_sinks(sliding_layer()), full_layer()});
    expect_equal(request);
    // What a layer keeps is what it keeps without them: 2 × 2 heads of 64 in 2 bytes per token.
    EXPECT_EQ(verify_with(request).samples.front().used, 12 * 2 * 64 * 2);
}

TEST_P(VerifyTest, SinksCountedAsCacheAreRefuted) {
    VerifyRequest request = request_for({with_sinks(full_layer())}, {12});
    Component sinks = component_of(request, 0, Role::key);
    sinks.role = Role::shift;
    sinks.rows = 1;
    sinks.width = 8;
    sinks.units = {Units::Kind::constant, 1};
    request.spec.layers[0].components.push_back(sinks);
    EXPECT_THAT(refuted(request), Contains("layer 0 shift: 16 bytes of the predicted 16 bytes were "
                                           "never touched (at 12 tokens)"));
}

TEST_P(VerifyTest, CrossAttentionHoldsAndDoesNotGrow) {
    const VerifyRequest request =
        request_for({joined({full_layer(), cross_layer()}), joined({full_layer(), cross_layer()}),
                     cross_layer(33)});
    expect_equal(request);
    const VerifyResult result = verify_with(request);
    EXPECT_EQ(result.slope, Ratio(2 * 2 * 2 * 64 * 2)); // of the two growing parts
    EXPECT_EQ(result.intercept, Ratio((2 * 19 + 33) * 2 * 2 * 64 * 2));
}

TEST_P(VerifyTest, AnEncoderTokenTooManyOrTooFewIsRefuted) {
    VerifyRequest request = request_for({cross_layer(), cross_layer()}, {12, 24});
    for (const std::size_t layer : {0u, 1u})
        component_of(request, layer, Role::cross_key).units.n = 20;
    EXPECT_THAT(refuted(request),
                Contains("layers 0-1 cross_key: 256 bytes of the predicted 5,120 bytes were never "
                         "touched (at 12 tokens)"));
    for (const std::size_t layer : {0u, 1u})
        component_of(request, layer, Role::cross_key).units.n = 18;
    EXPECT_THAT(refuted(request), Contains("layers 0-1 cross_key: kernel wrote 256 bytes past the "
                                           "predicted 4,608 bytes (at 12 tokens)"));
}

TEST_P(VerifyTest, CrossAttentionThatGrowsIsRefuted) {
    VerifyRequest request = request_for({cross_layer()}, {24, 40});
    component_of(request, 0, Role::cross_value).units = {Units::Kind::tokens, 0};
    EXPECT_THAT(refuted(request),
                Contains("layer 0 cross_value: 1,280 bytes of the predicted 6,144 bytes were never "
                         "touched (at 24 tokens)"));
}

TEST_P(VerifyTest, ADamagedElementFailsTheOutputOfEachOfThem) {
    const struct {
        LayerPlan layer;
        const char* role;
    } cases[] = {{chunked_layer(22), "key"},
                 {with_sinks(full_layer()), "value"},
                 {cross_layer(), "cross_value"}};
    for (const auto& c : cases) {
        int damaged = 0;
        const VerifyRequest request = request_for({c.layer, c.layer}, {12, 40});
        const VerifyResult result = verify_with(request, damage(c.role, 2, damaged));
        EXPECT_EQ(damaged, 1) << c.role;
        EXPECT_THAT(result.reasons, ElementsAre(HasSubstr("output: relative error"))) << c.role;
    }
}

TEST_P(VerifyTest, CrossAttentionWithoutEncoderTokensIsRefused) {
    EXPECT_THAT(verify_with(request_for({cross_layer(0)})).reasons,
                ElementsAre(HasSubstr("--encoder-tokens")));
}

INSTANTIATE_TEST_SUITE_P(Backends, VerifyTest, testing::ValuesIn(backends),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

} // namespace
} // namespace kvcaliper::kernels
