// SPDX-License-Identifier: Apache-2.0
#include "tests/core/test_models.h"

#include "core/catalog.h"
#include "core/verify_request.h"

#include <gmock/gmock.h>

namespace kvcaliper {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Estimate, SequencesMultiplyTheTotalOnly) {
    Settings settings;
    settings.sequences = 3;
    const Estimate answer = estimate(load_model("falcon-mamba-7b"), settings);
    EXPECT_EQ(answer.constant.bytes(), Bytes(36700160));
    EXPECT_EQ(answer.required.bytes(), Bytes(3 * 36700160));
}

TEST(Estimate, BeyondTheContextIsNoted) {
    const Estimate answer = estimate(load_model("gpt2-xl"), Settings{});
    EXPECT_THAT(answer.notes, Contains(HasSubstr("beyond the model's 1,024")));
}

TEST(Estimate, ImpossibleSettingsAreRefused) {
    const ModelPtr model = load_model("gpt2");
    Settings settings;
    settings.sequences = 0;
    EXPECT_THROW(estimate(model, settings), Error);
    settings = {};
    settings.engine = "magic";
    EXPECT_THROW(estimate(model, settings), Error);
    settings = {};
    settings.sequences = std::int64_t{1} << 40;
    settings.context = Tokens(std::int64_t{1} << 40);
    EXPECT_THROW(estimate(model, settings), Error); // an overflow, not a wrapped number
}

TEST(Estimate, TheExplanationIsTheCalculation) {
    const Estimate answer = estimate(load_model("llama-3-8b"), Settings{});
    EXPECT_EQ(
        explain(answer.uncapped),
        "uncapped bytes per token = 131,072 B (128 KiB)\n"
        "  full attention, key: 32 layers × 8 KV heads × 128 head_dim × 2 bytes per element "
        "(bf16) = 65,536 B\n"
        "  full attention, value: 32 layers × 8 KV heads × 128 head_dim × 2 bytes per element "
        "(bf16) = 65,536 B\n");
}

TEST(Curve, HoldsItsEndsAndItsKnees) {
    const ModelPtr model = load_model("gemma-3-27b");
    const auto points = curve(*model, Settings{}, Tokens(1), Tokens(131072), 10);
    EXPECT_EQ(points.front().tokens, Tokens(1));
    EXPECT_EQ(points.back().tokens, Tokens(131072));
    EXPECT_EQ(points.back().required, Bytes(11173625856));
    int found = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        found += points[i].is_knee ? 1 : 0;
        EXPECT_TRUE(i == 0 || points[i - 1].tokens < points[i].tokens);
    }
    EXPECT_EQ(found, 1);
    EXPECT_THROW(curve(*model, Settings{}, Tokens(5), Tokens(4), 10), Error);
    EXPECT_THROW(curve(*model, Settings{}, Tokens(1), Tokens(4), 1), Error);
}

TEST(Curve, RecomputationIsTheTriangle) {
    EXPECT_EQ(recomputed_tokens(Tokens(1)), 1);
    EXPECT_EQ(recomputed_tokens(Tokens(4)), 10);
    EXPECT_EQ(recomputed_tokens(Tokens(2000)), 2001000);
    EXPECT_THROW(recomputed_tokens(Tokens(std::int64_t{1} << 40)), Error);
}

TEST(VerifyRequest, SamplesBothSidesOfAWindow) {
    EXPECT_THAT(verify_contexts(*load_model("gemma-3-27b"), Tokens(8192)),
                ElementsAre(512, 1024, 2048, 4096, 8192));
    EXPECT_THAT(verify_contexts(*load_model("gpt2-xl"), Tokens(1000)), ElementsAre(250, 500, 1000));
    EXPECT_THAT(verify_contexts(*load_model("gpt2-xl"), Tokens(10)), ElementsAre(10));
}

TEST(VerifyRequest, RefusesWhatHasNoSteps) {
    Settings settings;
    settings.context = Tokens(4);
    EXPECT_THROW(verify_request(*load_model("gpt2"), settings, {}), Error);
    VerifyOptions none;
    none.steps = 0;
    EXPECT_THROW(verify_request(*load_model("gpt2"), Settings{}, none), Error);
}

} // namespace
} // namespace kvcaliper
