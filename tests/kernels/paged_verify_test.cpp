// SPDX-License-Identifier: Apache-2.0
// Verifications of caches that lie in pages.
#include "core/error.h"
#include "tests/kernels/verify_case.h"

namespace kvcaliper::kernels {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

VerifyRequest paged_request(std::vector<LayerPlan> layers, std::vector<std::int64_t> contexts) {
    VerifyRequest request = request_for(std::move(layers), std::move(contexts));
    request.page = 16;
    return request;
}

TEST_P(VerifyTest, PagesHoldAndTheLastOneMayBeHalfEmpty) {
    for (const std::int64_t sequences : {1, 3}) {
        VerifyRequest request =
            paged_request({full_layer(), sliding_layer(), mamba1_layer(), full_layer()},
                          {15, 16, 17, 32, 40, 61});
        request.sequences = sequences;
        expect_equal(request);
    }
}

TEST_P(VerifyTest, AsManyPagesAsTokensNeedAreTaken) {
    const VerifyResult result = verify_with(paged_request({full_layer()}, {16, 17, 40}));
    // 1, 2 and 3 pages of 16 tokens, K of 2 heads of 64 in 2 bytes.
    EXPECT_EQ(result.samples[0].requested, 1 * 16 * 2 * 64 * 2);
    EXPECT_EQ(result.samples[3].requested, 2 * 16 * 2 * 64 * 2);
    EXPECT_EQ(result.samples[6].requested, 3 * 16 * 2 * 64 * 2);
    EXPECT_THAT(result.notes, Contains(HasSubstr("pages of 16 tokens")));
}

TEST_P(VerifyTest, QuantisedPagesWithSinksHold) {
    VerifyRequest request = paged_request({with_sinks(full_layer())}, {20, 50});
    request.formats.k = &numeric_format("q8_0");
    request.formats.v = &numeric_format("q4_0");
    expect_equal(request);
}

TEST_P(VerifyTest, APageThatIsMissingIsRefuted) {
    VerifyRequest request = paged_request({full_layer()}, {40});
    component_of(request, 0, Role::key).units = {Units::Kind::window, 32}; // two pages of three
    EXPECT_THAT(refuted(request), Contains(HasSubstr("past the predicted 8,192 bytes")));
}

TEST_P(VerifyTest, ATouchedSlotThatNoTokenReachedIsRefuted) {
    Hooks hooks;
    hooks.after_fill = [](Backend& backend, const FilledPlane& plane) {
        const std::vector<unsigned char> zeros(static_cast<std::size_t>(plane.bytes), 0);
        if (plane.role == "value")
            backend.write(plane.memory, zeros.data(), plane.bytes);
    };
    // 8 of 48 slots are free: 2 heads of 64 in 2 bytes each.
    EXPECT_THAT(verify_with(paged_request({full_layer()}, {40}), hooks).reasons,
                Contains("layer 0 value: kernel wrote 2,048 bytes of slots that no token has "
                         "reached (at 40 tokens)"));
}

TEST_P(VerifyTest, ADamagedRowInAPageFailsTheOutput) {
    int damaged = 0;
    VerifyRequest request = paged_request({full_layer()}, {40, 48});
    request.contexts = {48}; // every slot of every page is a token's
    Hooks hooks;
    hooks.after_fill = [&](Backend& backend, const FilledPlane& plane) {
        const std::uint16_t other = 0x3fa0;
        if (plane.role == "key" && ++damaged == 1)
            backend.write(static_cast<unsigned char*>(plane.memory) + plane.bytes / 2, &other, 2);
    };
    EXPECT_THAT(verify_with(request, hooks).reasons,
                ElementsAre(HasSubstr("output: relative error")));
}

TEST_P(VerifyTest, PagesOfLatentsAndPagesBesideACartridgeAreRefused) {
    EXPECT_THAT(verify_with(paged_request({latent_layer()}, {20})).reasons,
                ElementsAre("no kernel for pages of mla layers yet"));
    VerifyRequest request = paged_request({full_layer()}, {40});
    request.cartridge = 8;
    EXPECT_THROW(check_request(request), Error);
    request.cartridge = 0;
    request.page = 6;
    EXPECT_THROW(check_request(request), Error);
    request.page = 8;
    EXPECT_EQ(verify_request_from_json(to_json(request)).page, 8);
}

INSTANTIATE_TEST_SUITE_P(Backends, VerifyTest, testing::ValuesIn(backends),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

} // namespace
} // namespace kvcaliper::kernels
