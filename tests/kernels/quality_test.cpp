// SPDX-License-Identifier: Apache-2.0
// What formats cost in outputs: held against what their steps let expect, worked out by hand, and
// against what is published of keys and values.
#include "kernels/quality.h"

#include "core/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace kvcaliper::kernels {
namespace {

enum Condition : std::size_t { channels_peaky, channels_flat, plain_peaky, plain_flat };

QualityRequest small_request(std::vector<Format> k, std::vector<Format> v) {
    QualityRequest request;
    request.tokens = 512;
    request.heads = 8;
    request.kv_heads = 2;
    request.k_formats = std::move(k);
    request.v_formats = std::move(v);
    return request;
}

QualityResult measured(const QualityRequest& request) {
    return measure_quality(request, *make_cpu_backend());
}

double error_of(const QualityResult& result, Format k, Format v, Condition condition) {
    for (const QualityPair& pair : result.pairs)
        if (pair.k == k && pair.v == v)
            return pair.errors[condition];
    return std::nan("");
}

TEST(Quality, AnswersForEveryPairOfFormatsThatTheWidthsAllow) {
    QualityRequest request = small_request({}, {});
    request.tokens = 32;
    request.value_width = 80; // blocks of 32 and of 128 do not divide it
    const QualityResult result = measured(request);
    EXPECT_EQ(result.request.k_formats.size(), std::size(cache_formats) + 2); // KIVI in 4, 2 bits
    EXPECT_THAT(result.request.v_formats,
                testing::ElementsAre(Format::f16, Format::bf16, Format::f32, Format::fp8_e4m3,
                                     Format::nvfp4, Format::fp8_per_token_head,
                                     Format::int8_per_token_head));
    EXPECT_EQ(result.pairs.size(), 17u * 7u);
    for (const QualityPair& pair : result.pairs)
        for (const double error : pair.errors)
            EXPECT_TRUE(error >= 0 && error < 1) << name_of(pair.k) << " " << name_of(pair.v);
}

TEST(Quality, OfPackedValuesIsTheRoundingOfThoseThatArePacked) {
    // By hand, as below: 32 numbers reach over 4.1 deviations (the mean range of 32 normal ones), d
    // is a 3rd or a 15th of that, and of 512 tokens 384 are packed: d / √12 · √(384 / 512).
    const QualityResult result =
        measured(small_request({Format::f32}, {Format::kivi_2bit, Format::kivi_4bit}));
    EXPECT_NEAR(error_of(result, Format::f32, Format::kivi_2bit, plain_flat),
                4.1 / 3 / std::sqrt(12) * std::sqrt(0.75), 0.03);
    EXPECT_NEAR(error_of(result, Format::f32, Format::kivi_4bit, plain_flat),
                4.1 / 15 / std::sqrt(12) * std::sqrt(0.75), 0.006);
}

TEST(Quality, KeysPackedPerChannelBearLargeChannels) {
    // KIVI, section 3: packed per token, a few large channels set the scale of all others; per
    // channel they set their own. Both formats take 20 bytes for 32 numbers.
    QualityRequest request = small_request({Format::kivi_4bit, Format::q4_1}, {Format::f32});
    request.tokens = 1024;
    request.heads = 32;
    request.kv_heads = 8;
    const QualityResult result = measured(request);
    EXPECT_LT(2 * error_of(result, Format::kivi_4bit, Format::f32, channels_peaky),
              error_of(result, Format::q4_1, Format::f32, channels_peaky));
    // Where no channel is large it hardly matters which way keys are packed.
    EXPECT_LT(error_of(result, Format::q4_1, Format::f32, plain_peaky),
              2 * error_of(result, Format::kivi_4bit, Format::f32, plain_peaky));
}

TEST(Quality, NothingIsPackedOfAShortSequence) {
    QualityRequest request = small_request({Format::kivi_2bit}, {Format::kivi_2bit});
    request.tokens = 100; // fewer than the 128 that stay in f16
    const QualityResult result = measured(request);
    for (const double error : result.pairs[0].errors)
        EXPECT_LT(error, 1e-3);
}

TEST(Quality, OfTheNumbersThemselvesIsTheKernelsOwnError) {
    const QualityResult result = measured(small_request({Format::f32}, {Format::f32}));
    for (const double error : result.pairs[0].errors)
        EXPECT_LT(error, 2e-5); // the bound of attention in f32, README
}

TEST(Quality, OfFlatScoresIsTheRoundingOfTheValues) {
    // Where all tokens take part, an output is a mean of values, and its error that of a mean of
    // their roundings: relatively the same as of one row. By hand, for normal numbers and a step d:
    // d / √12. The greatest of 32 is 2.4 deviations or so, of 128 2.8:
    //   q8_0 d = 2.4 / 127, q4_0 2.4 / 8, int8 per row 2.8 / 127, q5_0 2.4 / 16
    // and 3 bits behind the point, of any size: 2^-4 / √3 · 0.72 (relative to the mean square).
    const QualityResult result = measured(
        small_request({Format::f32}, {Format::q8_0, Format::q4_0, Format::int8_per_token_head,
                                      Format::q5_0, Format::fp8_per_token_head}));
    const auto values_in = [&](Format format) {
        return error_of(result, Format::f32, format, plain_flat);
    };
    EXPECT_NEAR(values_in(Format::q8_0), 2.4 / 127 / std::sqrt(12), 0.0011);
    EXPECT_NEAR(values_in(Format::q4_0), 2.4 / 8 / std::sqrt(12), 0.018);
    EXPECT_NEAR(values_in(Format::q5_0), 2.4 / 16 / std::sqrt(12), 0.009);
    EXPECT_NEAR(values_in(Format::int8_per_token_head), 2.8 / 127 / std::sqrt(12), 0.0013);
    EXPECT_NEAR(values_in(Format::fp8_per_token_head), 0.026, 0.005);
}

TEST(Quality, KeysMatterMoreThanValuesWhereTheyHaveLargeChannelsAndScoresArePeaky) {
    // KIVI, arXiv 2402.02750: quantised per token, keys lose far more than values do, for a few
    // fixed channels set the scale of all others. 8 and 4 bits take the same bytes either way.
    const QualityResult result =
        measured(small_request({Format::q8_0, Format::q4_0}, {Format::q8_0, Format::q4_0}));
    const double fine_keys = error_of(result, Format::q8_0, Format::q4_0, channels_peaky);
    const double fine_values = error_of(result, Format::q4_0, Format::q8_0, channels_peaky);
    EXPECT_GT(fine_values, 3 * fine_keys);
    const double both_fine = error_of(result, Format::q8_0, Format::q8_0, channels_peaky);
    const double both_coarse = error_of(result, Format::q4_0, Format::q4_0, channels_peaky);
    EXPECT_LT(both_fine, fine_keys);
    EXPECT_GT(both_coarse, fine_values);
}

TEST(Quality, ValuesMatterMoreThanKeysWhereScoresAreFlat) {
    const QualityResult result =
        measured(small_request({Format::q8_0, Format::q4_0}, {Format::q8_0, Format::q4_0}));
    EXPECT_GT(error_of(result, Format::q8_0, Format::q4_0, plain_flat),
              error_of(result, Format::q4_0, Format::q8_0, plain_flat));
}

TEST(Quality, PeakyScoresAttendToAFewTokensAndFlatOnesToNearlyAll) {
    const QualityResult result = measured(small_request({Format::f16}, {Format::f16}));
    // Normal scores of deviation s leave T · exp(-s²) tokens of T where those are many.
    EXPECT_NEAR(result.attended[plain_flat], 512 * std::exp(-0.25), 40);
    EXPECT_NEAR(result.attended[channels_flat], 512 * std::exp(-0.25), 40);
    EXPECT_LT(result.attended[plain_peaky], 10);
    EXPECT_LT(result.attended[channels_peaky], 10);
}

TEST(Quality, IsTheSameForTheSameSeedAndAnotherForAnother) {
    QualityRequest request = small_request({Format::q4_0}, {Format::nvfp4});
    const QualityResult once = measured(request), again = measured(request);
    EXPECT_EQ(once.pairs[0].errors, again.pairs[0].errors);
    request.seed = 2;
    EXPECT_NE(once.pairs[0].errors, measured(request).pairs[0].errors);
}

TEST(Quality, OneChannelIn32OfEachHeadIsLarger) {
    const std::vector<std::int64_t> channels = outlier_channels(1, 0, 128);
    ASSERT_EQ(channels.size(), 4u);
    for (std::size_t i = 0; i < channels.size(); ++i)
        EXPECT_EQ(channels[i] / 32, static_cast<std::int64_t>(i));
    EXPECT_NE(channels, outlier_channels(1, 1, 128));
    EXPECT_EQ(outlier_channels(1, 0, 128), channels);
}

TEST(Quality, EndsWhenItIsCancelled) {
    const std::atomic<bool> cancel{true};
    EXPECT_TRUE(measure_quality(small_request({Format::f16}, {Format::f16}), *make_cpu_backend(),
                                {}, &cancel)
                    .cancelled);
}

JsonValue request_json(const std::string& changed = "", JsonValue value = {}) {
    JsonValue quality;
    for (const auto& [key, number] :
         {std::pair{"tokens", 64}, std::pair{"heads", 4}, std::pair{"kv_heads", 2},
          std::pair{"key_width", 64}, std::pair{"value_width", 64}, std::pair{"seed", 1}})
        quality.set(key, number);
    quality.set("k_formats", JsonValue::Array{"q8_0"});
    quality.set("v_formats", JsonValue::Array{});
    if (!changed.empty())
        quality.set(changed, std::move(value));
    JsonValue json;
    json.set("schema", 1);
    json.set("quality", std::move(quality));
    return json;
}

TEST(Quality, RequestsAreReadAndAnswered) {
    EXPECT_TRUE(asks_for_quality(request_json()));
    EXPECT_FALSE(asks_for_quality(parse_json("{\"schema\": 1, \"spec\": {}}", "test").value));
    const JsonValue answer = to_json(measured(quality_request_from_json(request_json())));
    EXPECT_EQ(answer.string_at("type"), "result");
    EXPECT_EQ(answer.string_at("verdict"), "measured");
    EXPECT_EQ(answer.integer_at("tokens"), 64);
    EXPECT_EQ(answer.array_at("conditions").size(), 4u);
    EXPECT_EQ(answer.array_at("pairs").front().string_at("k"), "q8_0");
    EXPECT_EQ(answer.array_at("pairs").front().array_at("errors").size(), 4u);
}

TEST(Quality, RequestsThatMakeNoSenseAreRefusedByKey) {
    const auto problem = [](const std::string& key, JsonValue value) -> std::string {
        try {
            quality_request_from_json(request_json(key, std::move(value)));
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(problem("tokens", 0), "/quality/tokens: expected 1 to 16777216, found 0");
    EXPECT_EQ(problem("heads", 5), "/quality/heads: expected a multiple of 2, found 5");
    EXPECT_EQ(problem("tokens", 16777216), "/quality: expected at most 16777216 numbers, found "
                                           "16777216 tokens of 2 heads of 64");
    EXPECT_EQ(problem("k_formats", JsonValue::Array{"mxfp4"}),
              "/quality/k_formats: expected a format that has kernels, found string \"mxfp4\"");
    EXPECT_EQ(problem("key_width", 80), "/quality/k_formats: expected rows that blocks of 32 "
                                        "divide, found 80 in q8_0");
    EXPECT_NE(problem("seed", "one"), "");
}

} // namespace
} // namespace kvcaliper::kernels
