// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/run_cli.h"

#include <gmock/gmock.h>

namespace kvcaliper::cli {
namespace {

using testing::HasSubstr;

struct Expected {
    const char* model;
    const char* uncapped;
    const char* growth;
    std::int64_t constant;
    std::int64_t total_at_128k;
};

// Hand calculations, and section 4 of the rule catalogue:
// 48·2·1600·2, 32·2·8·128·2, 61·(512+64)·2, 62·2·16·128·2 and 10 of them, 64·(8192·3·2 +
// 8192·16·4), 24·2·8·64·2 and 12 of them, 32·2·1·64·2.
constexpr Expected expected[] = {
    {"gpt2-xl", "307200", "307200", 0, 40265318400},
    {"llama-3-8b", "131072", "131072", 0, 17179869184},
    {"deepseek-v3", "70272", "70272", 0, 9210691584},
    {"gemma-3-27b", "507904", "81920", 436207616, 11173625856},
    {"falcon-mamba-7b", "0", "0", 36700160, 36700160},
    {"gpt-oss-20b", "49152", "24576", 3145728, 3224371200},
    {"falcon-7b", "8192", "8192", 0, 1073741824},
};

TEST(EstimateCommand, TheContractsFigures) {
    for (const Expected& one : expected) {
        const Ran ran = run_cli({"estimate", one.model, "-c", "128K", "--json"});
        ASSERT_EQ(ran.code, answered) << ran.err;
        const JsonValue json = ran.json();
        EXPECT_EQ(json.string_at("uncapped_bytes_per_token"), one.uncapped) << one.model;
        EXPECT_EQ(json.string_at("growth_bytes_per_token"), one.growth) << one.model;
        EXPECT_EQ(json.integer_at("constant_bytes"), one.constant) << one.model;
        EXPECT_EQ(json.integer_at("required_bytes"), one.total_at_128k) << one.model;
    }
}

TEST(EstimateCommand, OneKneeOfGemma3) {
    const auto knees = run_cli({"estimate", "gemma-3-27b", "--json"}).json().array_at("knees");
    ASSERT_EQ(knees.size(), 1u);
    EXPECT_EQ(knees[0].integer_at("tokens"), 1024);
}

TEST(EstimateCommand, KAndVApart) {
    // Catalogue 6: q8_0 keys and q4_0 values of Llama-3-8B take 53,248 B.
    const Ran ran = run_cli({"estimate", "llama-3-8b", "--k", "q8_0", "--v", "q4_0", "--json"});
    EXPECT_EQ(ran.json().string_at("uncapped_bytes_per_token"), "53248");
    const Ran both = run_cli({"estimate", "llama-3-8b", "--kv", "q8_0", "--json"});
    EXPECT_EQ(both.json().at("settings").string_at("v_format"), "q8_0");
}

TEST(EstimateCommand, ANumberUnderItsHeading) {
    const Ran ran = run_cli({"estimate", "llama-3-8b", "-c", "32K", "-n", "4"});
    EXPECT_THAT(ran.out, HasSubstr("required view, engine ideal, K bf16, V bf16; 32,768 tokens × 4 "
                                   "sequences"));
    EXPECT_THAT(ran.out, HasSubstr("17,179,869,184"));
}

TEST(EstimateCommand, LayersAndExplanations) {
    const Ran layers = run_cli({"estimate", "gpt-oss-20b", "--layers"});
    EXPECT_THAT(layers.out, HasSubstr("key 8×64 · min(T,128), value 8×64 · min(T,128)"));
    EXPECT_EQ(
        run_cli({"estimate", "gpt-oss-20b", "--layers", "--json"}).json().array_at("layers").size(),
        24u);
    const Ran csv = run_cli({"estimate", "gpt-oss-20b", "--layers", "--csv"});
    EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 25);
    const Ran explained = run_cli({"estimate", "deepseek-v3", "--explain"});
    EXPECT_THAT(explained.out, HasSubstr("mla, latent: 61 layers × 512 kv_lora_rank × 2 bytes per "
                                         "element (bf16) = 62,464 B"));
    EXPECT_EQ(run_cli({"estimate", "deepseek-v3", "--explain", "--json"})
                  .json()
                  .array_at("explain")
                  .size(),
              4u);
}

TEST(EstimateCommand, TablesForOtherPrograms) {
    EXPECT_EQ(run_cli({"estimate", "gpt2-xl", "--csv", "-c", "1000"}).out,
              "figure,size,bytes\n"
              "\"per token, uncapped\",300 KiB,307200\n"
              "\"per token, growth\",300 KiB,307200\n"
              "constant per sequence,0 B,0\n"
              "\"total at 1,000 × 1\",293 MiB,307200000\n");
    EXPECT_THAT(run_cli({"estimate", "gpt2-xl", "--markdown"}).out,
                HasSubstr("| per token, uncapped | 300 KiB | 307,200 |"));
}

TEST(CompareCommand, RatiosToTheBaseline) {
    const Ran ran = run_cli({"compare", "gpt2-xl", "llama-3-8b", "deepseek-v3", "--json"});
    const auto models = ran.json().array_at("models");
    ASSERT_EQ(models.size(), 3u);
    EXPECT_EQ(models[0].string_at("ratio_to_baseline"), "1");
    EXPECT_EQ(models[1].string_at("ratio_to_baseline"), "32/75");   // 131,072 / 307,200
    EXPECT_EQ(models[2].string_at("ratio_to_baseline"), "183/800"); // 70,272 / 307,200
    EXPECT_EQ(models[0].string_at("growth_mark"), "high");          // 300 KiB a token
    EXPECT_EQ(models[1].string_at("growth_mark"), "moderate");      // 128 KiB
    EXPECT_EQ(models[2].string_at("growth_mark"), "low");           // 68.6 KiB
    const Ran other = run_cli({"compare", "gpt2-xl", "--baseline", "llama-3-8b", "--json"});
    EXPECT_EQ(other.json().string_at("baseline"), "llama-3-8b");
    EXPECT_EQ(other.json().array_at("models").size(), 2u);
}

TEST(CurveCommand, KneesAndEnds) {
    const Ran ran =
        run_cli({"curve", "gemma-3-27b", "--from", "512", "--to", "2K", "--points", "3", "--csv"});
    EXPECT_EQ(ran.out, "tokens,gemma-3-27b,knee\n"
                       "512,260046848,\n" // 512 · 507,904
                       "1024,520093696,gemma-3-27b\n"
                       "2048,603979776,\n"); // + 1,024 · 81,920
    EXPECT_EQ(run_cli({"curve", "gpt2", "--json"}).json().array_at("models").size(), 1u);
    expect_one_line_error(run_cli({"curve", "gpt2", "--from", "9K", "--to", "8K"}));
    expect_one_line_error(run_cli({"curve", "gpt2", "--points", "1"}));
}

} // namespace
} // namespace kvcaliper::cli
