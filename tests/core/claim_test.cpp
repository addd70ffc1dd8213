// SPDX-License-Identifier: Apache-2.0
#include "core/claim.h"

#include "core/error.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace kvcaliper {
namespace {

using testing::Contains;
using testing::HasSubstr;

Claim per_token(const std::string& model, const std::string& value, const std::string& unit) {
    Claim claim;
    claim.model = model;
    claim.quantity = "per_token";
    claim.value = value;
    claim.unit = unit;
    claim.k_format = claim.v_format = "auto";
    return claim;
}

ClaimResult check(const Claim& claim) {
    return check_claim(claim, bundled_models());
}

TEST(Claim, EveryWrittenDigitCounts) {
    // DeepSeek-V3 keeps 68.625 KiB: "68.6" allows 68.55 to 68.65, "68.7" does not hold it.
    EXPECT_EQ(check(per_token("deepseek-v3", "68.6", "KiB")).verdict, ClaimVerdict::consistent);
    EXPECT_EQ(check(per_token("deepseek-v3", "68.63", "KiB")).verdict, ClaimVerdict::consistent);
    EXPECT_EQ(check(per_token("deepseek-v3", "68.7", "KiB")).verdict, ClaimVerdict::refuted);
    EXPECT_EQ(check(per_token("deepseek-v3", "68.60", "KiB")).verdict, ClaimVerdict::refuted);
    EXPECT_EQ(check(per_token("deepseek-v3", "70.272", "KB")).verdict, ClaimVerdict::consistent);
}

TEST(Claim, AboutWidensToFivePercent) {
    Claim claim = per_token("deepseek-v3", "70", "KiB");
    EXPECT_EQ(check(claim).verdict, ClaimVerdict::only_if); // KiB as KB: 70.272
    claim.about = true;
    EXPECT_EQ(check(claim).verdict, ClaimVerdict::consistent);
}

TEST(Claim, Gpt2At300KiBIsTheXlOnly) {
    const ClaimResult result = check(per_token("gpt2", "300", "KiB"));
    EXPECT_EQ(result.verdict, ClaimVerdict::only_if);
    EXPECT_THAT(result.reading, testing::ElementsAre("true for GPT-2 XL only"));
    EXPECT_THAT(result.computed, HasSubstr("36,864 B"));
}

TEST(Claim, KbCanMeanKib) {
    const ClaimResult result = check(per_token("deepseek-v3", "69", "KB"));
    EXPECT_EQ(result.verdict, ClaimVerdict::only_if);
    EXPECT_THAT(result.reading, testing::ElementsAre("KB here means KiB"));
    const ClaimResult both = check(per_token("gpt2", "300", "KB"));
    EXPECT_THAT(both.reading, testing::ElementsAre("true for GPT-2 XL only", "KB here means KiB"));
}

TEST(Claim, AnotherFormatIsAReading) {
    // Catalogue 6: Llama-3-8B with q8_0 K and V is 68 KiB.
    const ClaimResult result = check(per_token("llama-3-8b", "68", "KiB"));
    EXPECT_EQ(result.verdict, ClaimVerdict::only_if);
    EXPECT_THAT(result.reading, Contains("with K and V in q8_0"));
}

TEST(Claim, GrowthIsAReadingOfPerToken) {
    const ClaimResult result = check(per_token("gemma-3-27b", "80", "KiB"));
    EXPECT_EQ(result.verdict, ClaimVerdict::only_if);
    EXPECT_THAT(result.reading, Contains("as growth once windows are full"));
}

TEST(Claim, WhatHoldsUnderNoReadingIsRefuted) {
    const ClaimResult result = check(per_token("llama-3-8b", "77", "KiB"));
    EXPECT_EQ(result.verdict, ClaimVerdict::refuted);
    EXPECT_TRUE(result.reading.empty());
    EXPECT_THAT(result.notes, Contains(HasSubstr("76.500 to 77.500 KiB")));
}

TEST(Claim, FixedIsRefutedByGrowth) {
    Claim claim = per_token("llama-3-8b", "", "");
    claim.quantity = "fixed";
    EXPECT_EQ(check(claim).verdict, ClaimVerdict::refuted);
    claim.model = "mamba-2.8b";
    EXPECT_EQ(check(claim).verdict, ClaimVerdict::consistent);
}

TEST(Claim, AtMostIsStrictAboutItsFactor) {
    Claim claim = per_token("llama-3-8b", "0.42", "");
    claim.quantity = "at_most";
    claim.against = "gpt2-xl";
    EXPECT_NE(check(claim).verdict, ClaimVerdict::consistent); // 131,072 / 307,200 = 0.4267
    claim.value = "0.43";
    EXPECT_EQ(check(claim).verdict, ClaimVerdict::consistent);
}

TEST(Claim, ATotalBeyondTheContextIsNoted) {
    Claim claim = per_token("gpt2-xl", "1.2288", "GB");
    claim.quantity = "total";
    claim.context = Tokens(4000);
    const ClaimResult result = check(claim);
    EXPECT_EQ(result.verdict, ClaimVerdict::consistent);
    EXPECT_THAT(result.notes, Contains(HasSubstr("ends at 1,024 tokens")));
}

TEST(Claim, RecomputationCountsTokenPositions) {
    Claim claim = per_token("gpt2-xl", "2001000", "");
    claim.quantity = "recomputation";
    claim.context = Tokens(2000);
    EXPECT_EQ(check(claim).verdict, ClaimVerdict::consistent); // 2000 · 2001 / 2
}

TEST(Claim, EverySeedClaimHoldsUnderAReading) {
    const auto catalog = bundled_models();
    const auto claims = read_claims(bundled_claims_path("seed"));
    EXPECT_GE(claims.size(), 15u);
    for (const Claim& claim : claims) {
        EXPECT_NE(check_claim(claim, catalog).verdict, ClaimVerdict::refuted) << claim.id;
        EXPECT_FALSE(claim.source.empty()) << claim.id;
    }
}

TEST(Claim, TheGallerysDifferencesAreKnownAndExplained) {
    // Catalogue 7.1: these do not equal the uncapped formula. It has 28 blocks for
    // LongCat-Flash-Lite; published files have num_layers 14.
    const std::set<std::string> differ = {"gallery-deepseek-v3.2",     "gallery-deepseek-v4-flash",
                                          "gallery-deepseek-v4-pro",   "gallery-gemma-4-26b-a4b",
                                          "gallery-gemma-4-31b",       "gallery-gemma-4-e2b",
                                          "gallery-gemma-4-e4b",       "gallery-glm-5",
                                          "gallery-glm-5.1",           "gallery-step-3.5-flash",
                                          "gallery-mimo-v2-flash",     "gallery-mimo-v2.5",
                                          "gallery-longcat-flash-lite"};
    const auto catalog = bundled_models();
    std::set<std::string> found;
    const auto claims = read_claims(bundled_claims_path("gallery"));
    EXPECT_EQ(claims.size(), 72u); // the rows of the gallery, catalogue 7.1
    for (const Claim& claim : claims) {
        const ClaimResult result = check_claim(claim, catalog);
        if (result.verdict != ClaimVerdict::consistent) {
            found.insert(claim.id);
            EXPECT_FALSE(claim.note.empty()) << claim.id;
            EXPECT_THAT(result.notes, Contains(claim.note));
        } else {
            EXPECT_TRUE(claim.note.empty()) << claim.id;
        }
    }
    EXPECT_EQ(found, differ);
}

std::string read_error(const std::string& text) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("kvcaliper-claims-" + std::to_string(::getpid()) + ".json");
    std::ofstream(path) << text;
    std::string message;
    try {
        read_claims(path.string());
    } catch (const Error& error) {
        message = error.what();
    }
    std::filesystem::remove(path);
    return message;
}

TEST(Claim, ABadFileNamesThePointer) {
    EXPECT_THAT(read_error("{}"), HasSubstr("expected an array of claims"));
    EXPECT_THAT(read_error("[1]"), HasSubstr("/0: expected a claim"));
    EXPECT_THAT(read_error(R"([{"id":"a"}])"), HasSubstr("/0/text: expected a string"));
    const std::string start = R"([{"id":"a","text":"t","model":"gpt2",)";
    EXPECT_THAT(read_error(start + R"("quantity":"size"}])"), HasSubstr("/0/quantity"));
    EXPECT_THAT(read_error(start + R"("quantity":"per_token","value":300,"unit":"KB"}])"),
                HasSubstr("/0/value: expected a string, found 300"));
    EXPECT_THAT(read_error(start + R"("quantity":"per_token","value":"abc","unit":"KB"}])"),
                HasSubstr("/0/value"));
    EXPECT_THAT(read_error(start + R"("quantity":"per_token","value":"3","unit":"potatoes"}])"),
                HasSubstr("/0/unit"));
    EXPECT_THAT(read_error(start + R"("quantity":"ratio","value":"3"}])"), HasSubstr("/0/against"));
}

} // namespace
} // namespace kvcaliper
