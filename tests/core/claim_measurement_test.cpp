// SPDX-License-Identifier: Apache-2.0
// Claims judged by what a run used. The numbers of the runs are worked out by hand from the models'
// published dimensions, so that neither the runner nor a formula of core stands behind them.
#include "core/claim_measurement.h"

#include "core/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvcaliper {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Claim claim_of(const std::string& quantity, const std::string& model, const std::string& value) {
    Claim claim;
    claim.quantity = quantity;
    claim.model = model;
    claim.value = value;
    claim.unit = quantity == "per_token" || quantity == "growth" ? "KiB" : "";
    claim.k_format = claim.v_format = "auto";
    return claim;
}

ClaimBasis written(const Claim& claim) {
    return check_claim(claim, bundled_models()).bases.front();
}

/// Keys and values of GPT-2 XL: 48 layers of 25 heads of 64 in 2 bytes.
Measurement gpt2_xl(std::initializer_list<std::int64_t> contexts) {
    Measurement run;
    for (const std::int64_t context : contexts)
        for (const char* component : {"key", "value"})
            run.components.push_back(
                {context, "full_attention", component, 48, 48 * 25 * 64 * 2 * context});
    return run;
}

/// Gemma 3 27B: 52 layers that keep 1,024 tokens and 10 that keep all, 16 heads of 128.
Measurement gemma_3_27b(std::initializer_list<std::int64_t> contexts, std::int64_t window = 1024) {
    Measurement run;
    for (const std::int64_t context : contexts)
        for (const char* component : {"key", "value"}) {
            run.components.push_back({context, "sliding_attention", component, 52,
                                      52 * 16 * 128 * 2 * std::min(window, context)});
            run.components.push_back(
                {context, "full_attention", component, 10, 10 * 16 * 128 * 2 * context});
        }
    return run;
}

Measurement falcon_mamba(std::initializer_list<std::int64_t> contexts) {
    Measurement run;
    for (const std::int64_t context : contexts) {
        run.components.push_back({context, "mamba1", "conv_state", 64, 64 * 8192 * 3 * 2});
        run.components.push_back({context, "mamba1", "recurrent_state", 64, 64 * 8192 * 16 * 4});
    }
    return run;
}

TEST(ClaimMeasurement, PerTokenIsTheSlopeBelowTheWindows) {
    const Claim claim = claim_of("per_token", "gemma-3-27b", "496");
    const ClaimBasis basis = written(claim);
    EXPECT_THAT(measured_contexts(claim, basis), ElementsAre(512, 1024));
    // 62 layers × 2 × 16 × 128 × 2 bytes = 496 KiB, as the gallery prints.
    EXPECT_EQ(measured_value(claim, basis, gemma_3_27b({512, 1024}), {}), Ratio(496 * 1024));
}

TEST(ClaimMeasurement, GrowthIsTheSlopeBeyondThem) {
    const Claim claim = claim_of("growth", "gemma-3-27b", "80");
    const ClaimBasis basis = written(claim);
    EXPECT_THAT(measured_contexts(claim, basis), ElementsAre(1024, 2048));
    EXPECT_EQ(measured_value(claim, basis, gemma_3_27b({1024, 2048}), {}), Ratio(80 * 1024));
}

TEST(ClaimMeasurement, AWindowIsWhatTheRunKeptOfIt) {
    const Claim claim = claim_of("window", "gemma-3-27b", "1024");
    const ClaimBasis basis = written(claim);
    EXPECT_THAT(measured_contexts(claim, basis), ElementsAre(512, 1024, 2048));
    EXPECT_EQ(measured_value(claim, basis, gemma_3_27b({512, 1024, 2048}), {}), Ratio(1024));
    EXPECT_EQ(measured_value(claim, basis, gemma_3_27b({512, 1024, 2048}, 1000), {}),
              Ratio(1000) * Ratio(512, 488)); // it filled before the point where it should have
}

TEST(ClaimMeasurement, TheLayerRatioCountsLayersThatStoppedGrowing) {
    const Claim claim = claim_of("layer_ratio", "gemma-3-27b", "5");
    const ClaimBasis basis = written(claim);
    EXPECT_EQ(basis.value, Ratio(52, 10));
    EXPECT_EQ(measured_value(claim, basis, gemma_3_27b({1024, 2048}), {}), Ratio(52, 10));
    EXPECT_EQ(measured_value(claim, basis, gemma_3_27b({1024, 2048}, 4096), {}), Ratio(0));
}

TEST(ClaimMeasurement, FixedMeansThatNothingGrew) {
    Claim claim = claim_of("fixed", "falcon-mamba-7b", "35");
    claim.unit = "MiB";
    const ClaimBasis basis = written(claim);
    EXPECT_THAT(measured_contexts(claim, basis), ElementsAre(512, 1024));
    EXPECT_EQ(measured_value(claim, basis, falcon_mamba({512, 1024}), {}), Ratio(35 << 20));
    EXPECT_EQ(measured_value(claim, basis, gpt2_xl({512, 1024}), {}), std::nullopt);
}

TEST(ClaimMeasurement, TotalsAreReadAtTheirContext) {
    Claim claim = claim_of("total", "gpt2-xl", "1.2");
    claim.unit = "GB";
    claim.context = Tokens(4000);
    const ClaimBasis basis = written(claim);
    EXPECT_THAT(measured_contexts(claim, basis), ElementsAre(4000));
    EXPECT_EQ(measured_value(claim, basis, gpt2_xl({4000}), {}), Ratio(1'228'800'000));
    EXPECT_THROW(measured_value(claim, basis, gpt2_xl({2000}), {}), Error);
}

TEST(ClaimMeasurement, ARatioNeedsBothRuns) {
    Claim claim = claim_of("ratio", "gpt2-xl", "2.34");
    claim.against = "llama-3-8b";
    const ClaimBasis basis = written(claim);
    EXPECT_EQ(against_basis(basis).model->plan.name, "llama-3-8b");
    Measurement llama;
    for (const std::int64_t context : {512, 1024}) // 128 KiB per token: 32 layers, 8 heads of 128
        llama.components.push_back(
            {context, "full_attention", "key", 32, 32 * 2 * 8 * 128 * 2 * context});
    EXPECT_EQ(measured_value(claim, basis, gpt2_xl({512, 1024}), llama), Ratio(300, 128));
}

TEST(ClaimMeasurement, ReadingsAreMeasuredBesideWhatIsWritten) {
    Claim claim = claim_of("per_token", "gpt2", "300");
    claim.unit = "KiB";
    const ClaimResult result = check_claim(claim, bundled_models());
    ASSERT_EQ(result.bases.size(), 2U);
    EXPECT_EQ(result.bases[0].text, "as written");
    EXPECT_EQ(result.bases[0].value, Ratio(36864));
    EXPECT_EQ(result.bases[1].text, "GPT-2 XL");
    EXPECT_EQ(result.bases[1].value, Ratio(307200));
}

TEST(ClaimMeasurement, RecomputationIsWhatABaselineMadeAgain) {
    Claim claim = claim_of("recomputation", "gpt2-xl", "2001000");
    claim.context = Tokens(2000);
    const ClaimBasis basis = written(claim);
    EXPECT_EQ(unmeasurable(claim, basis), "");
    EXPECT_EQ(measured_baseline(claim), Tokens(2000));
    EXPECT_EQ(measured_baseline(claim_of("total", "gpt2-xl", "1")), Tokens(0));
    const Measurement run =
        measurement_from_result(parse_json(R"({"samples":[],"baseline":[{"tokens":2000,
                   "without_cache":{"token_rows":2001000}}]})",
                                           "result")
                                    .value);
    EXPECT_EQ(measured_value(claim, basis, run, {}), Ratio(2'001'000)); // 1 + 2 + … + 2,000
    EXPECT_THROW(measured_value(claim, basis, {}, {}), Error);
    const Claim state = claim_of("recomputation", "falcon-mamba-7b", "2001000");
    EXPECT_THAT(unmeasurable(state, written(state)), HasSubstr("nothing is kept per token"));
}

TEST(ClaimMeasurement, OnlyComponentsAreTakenFromAResult) {
    const JsonValue result =
        parse_json(R"({"samples":[{"context":8,"kind":"mla","component":"latent","layers":2,
                   "used":7},{"context":8,"kind":null,"component":"total","layers":2,"used":7}]})",
                   "result")
            .value;
    const Measurement run = measurement_from_result(result);
    ASSERT_EQ(run.components.size(), 1U);
    EXPECT_EQ(run.components[0].component, "latent");
    EXPECT_EQ(run.components[0].used, 7);
    EXPECT_THROW(measurement_from_result(JsonValue(JsonValue::Object{})), Error);
}

} // namespace
} // namespace kvcaliper
