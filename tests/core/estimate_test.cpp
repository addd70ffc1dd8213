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
    EXPECT_THAT(verify_contexts(*load_model("gemma-3-27b"), ideal_formats(), Tokens(8192)),
                ElementsAre(512, 1024, 2048, 4096, 8192));
    EXPECT_THAT(verify_contexts(*load_model("gpt2-xl"), ideal_formats(), Tokens(1000)),
                ElementsAre(250, 500, 1000));
    EXPECT_THAT(verify_contexts(*load_model("gpt2-xl"), ideal_formats(), Tokens(10)),
                ElementsAre(10));
}

TEST(VerifyRequest, RefusesWhatHasNoSteps) {
    Settings settings;
    settings.context = Tokens(4);
    EXPECT_THROW(verify_request(*load_model("gpt2"), settings, {}), Error);
    VerifyOptions none;
    none.steps = 0;
    EXPECT_THROW(verify_request(*load_model("gpt2"), Settings{}, none), Error);
}

TEST(VerifyRequest, SamplesBehindTheBoundaryOfAChunk) {
    // Llama 4's chunk is 8,192: with 4 steps, those at 8,194 lie on both sides of it.
    EXPECT_THAT(verify_contexts(*load_model("llama-4-scout"), ideal_formats(), Tokens(16384)),
                ElementsAre(4096, 8192, 8194, 16384));
}

TEST(VerifyRequest, EncoderTokensReachThePlan) {
    Settings settings;
    settings.encoder_tokens = Tokens(1601); // one image of Llama 3.2 Vision
    const ModelPtr model = apply_settings(load_model("llama-3.2-11b-vision"), settings);
    int crossing = 0;
    for (const LayerPlan& layer : model->plan.layers) {
        EXPECT_FALSE(needs_encoder_tokens(layer));
        crossing += layer.parts.front().kind == LayerKind::cross_attention ? 1 : 0;
    }
    EXPECT_EQ(crossing, 8);
    // 8 layers × 2 × 8 heads of 128 in 2 bytes × 1,601 rows.
    EXPECT_EQ(constant_bytes(model->spec, ideal_formats()).bytes(),
              Bytes(8 * 2 * 8 * 128 * 2 * 1601));
}

TEST(VerifyRequest, CarriesWhatWasAskedFor) {
    VerifyOptions options;
    options.repeats = 5;
    options.depth = "layout";
    options.cartridge = Tokens(100);
    options.baseline = Tokens(50);
    const JsonValue request = verify_request(*load_model("gpt2"), Settings{}, options, {64, 128});
    EXPECT_EQ(request.integer_at("repeats"), 5);
    EXPECT_EQ(request.string_at("depth"), "layout");
    EXPECT_EQ(request.integer_at("cartridge"), 100);
    EXPECT_EQ(request.integer_at("baseline"), 50);
    EXPECT_EQ(*request.array_at("contexts").back().if_integer(), 228); // behind the cartridge
    options.repeats = 0;
    EXPECT_THROW(verify_request(*load_model("gpt2"), Settings{}, options), Error);
    options.repeats = 1;
    options.page = 6;
    EXPECT_THROW(verify_request(*load_model("gpt2"), Settings{}, options), Error);
}

TEST(Estimate, TheFp8RowOfALatentKeepsItsRotaryKeyIn16Bits) {
    // vLLM's fp8_ds_mla: 512 e4m3, four fp32 scales, 64 bf16: 656 B in each of 61 layers.
    CacheFormats formats = ideal_formats();
    formats.k = &numeric_format("fp8_e4m3_128");
    const ModelPtr model = load_model("deepseek-v3");
    EXPECT_EQ(uncapped_bytes_per_token(model->spec, formats).value(), Ratio(61 * 656));
    EXPECT_FALSE(storage_problem(model->spec, formats));
    EXPECT_TRUE(storage_problem(load_model("gpt2")->spec, formats)); // heads of 64
}

} // namespace
} // namespace kvcaliper
