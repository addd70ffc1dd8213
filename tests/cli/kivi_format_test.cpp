// SPDX-License-Identifier: Apache-2.0
// KIVI's formats on the command line. Bytes of Llama 3 8B by hand: tests/core/kivi_test.cpp and
// kivi_way_test.cpp.
#include "tests/cli/run_cli.h"

#include <gmock/gmock.h>

#include <regex>

namespace kvcaliper::cli {
namespace {

using testing::HasSubstr;

TEST(KiviCommands, AnEstimateShowsPackedAndRecentTokens) {
    const Ran ran = run_cli({"estimate", "llama-3-8b", "--kv", "kivi_2bit", "-c", "8191"});
    EXPECT_EQ(ran.code, answered) << ran.err;
    const auto has = [&](const std::string& component, const std::string& rest) {
        const std::regex row("\n" + component + " +full_attention +32 +" + rest + "\n");
        EXPECT_TRUE(std::regex_search(ran.out, row)) << component << "\n" << ran.out;
    };
    has("key", R"(131072 +floor\(T/128\) +kivi_2bit +94.5 MiB +99,090,432)");
    has("key_residual", R"(1024 +T mod 128 +f16 +7.94 MiB +8,323,072)");
    has("value", R"(1024 +max\(T-128,0\) +kivi_2bit +94.5 MiB +99,078,144)");
    has("value_residual", R"(1024 +min\(T,128\) +f16 +8 MiB +8,388,608)");
    EXPECT_THAT(ran.out, HasSubstr("214,880,256"));
}

TEST(KiviCommands, LayersAddUpToTheTotal) {
    const JsonValue json =
        run_cli({"estimate", "llama-3-8b", "--kv", "kivi_2bit", "--layers", "--json"}).json();
    std::int64_t sum = 0;
    for (const JsonValue& layer : json.array_at("layers")) {
        for (const JsonValue& component : layer.array_at("components")) {
            sum += component.integer_at("bytes_at_context");
        }
    }
    EXPECT_EQ(sum, 208'142'336);
    EXPECT_EQ(json.integer_at("required_bytes"), 208'142'336);
    EXPECT_EQ(json.string_at("growth_bytes_per_token"), "24576");
    EXPECT_EQ(json.integer_at("constant_bytes"), 6'815'744);
    const Ran table = run_cli({"estimate", "llama-3-8b", "--kv", "kivi_2bit", "--layers", "--csv"});
    EXPECT_THAT(table.out, HasSubstr(",6504448,")); // of one layer: 208,142,336 / 32
}

TEST(KiviCommands, ACurveFallsWhereAGroupIsPacked) {
    const Ran ran = run_cli({"curve", "llama-3-8b", "--kv", "kivi_2bit", "--from", "8191", "--to",
                             "8192", "--points", "2", "--csv"});
    EXPECT_THAT(ran.out, HasSubstr("8191,214880256,\n8192,208142336,\n"));
    EXPECT_THAT(run_cli({"curve", "llama-3-8b", "--kv", "kivi_2bit"}).out,
                HasSubstr("note: kivi_2bit keeps up to 127 recent tokens of K as f16: between two "
                          "counts a cache may be larger than at both\n"));
}

TEST(KiviCommands, ACurveOfStatesHasNoTeeth) {
    const Ran ran = run_cli({"curve", "falcon-mamba-7b", "--kv", "kivi_2bit"});
    EXPECT_EQ(ran.code, answered) << ran.err;
    EXPECT_THAT(ran.out, testing::Not(HasSubstr("larger than at both")));
    // One of several is enough.
    EXPECT_THAT(run_cli({"curve", "falcon-mamba-7b", "gpt2", "--kv", "kivi_2bit"}).out,
                HasSubstr("larger than at both"));
}

TEST(KiviCommands, FitCountsTheMostOnTheWay) {
    const std::vector<std::string> question = {"fit",       "llama-3-8b", "--memory", "1GiB",
                                               "--weights", "1B",         "--kv",     "kivi_2bit",
                                               "-c",        "8192"};
    const Ran ran = run_cli(question);
    EXPECT_EQ(ran.code, answered) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("most sequences of 8,192 tokens: 4 sequences"));
    EXPECT_THAT(ran.out, HasSubstr("859,521,024")); // 4 × 214,880,256
    EXPECT_THAT(ran.out + ran.err,
                HasSubstr("the cache is counted at 8,191 tokens, where kivi_2bit takes the most"));
    EXPECT_THAT(ran.out, HasSubstr("engine vllm has no cache of type kivi_2bit"));
}

TEST(KiviCommands, AreListedAndRefusedInOneLine) {
    const std::string list = run_cli({"list", "formats", "--csv"}).out;
    for (const char* row : {"kivi_2bit,32,12,0,KIVI,", "kivi_4bit,32,20,0,KIVI,",
                            "kivi_2bit_r32,32,12,0,KIVI,", "kivi_4bit_r32,32,20,0,KIVI,",
                            "kivi_2bit_g64,64,20,0,KIVI,", "kivi_4bit_g64,64,36,0,KIVI,",
                            "kivi_2bit_g128,128,36,0,KIVI,", "kivi_4bit_g128,128,68,0,KIVI,"}) {
        EXPECT_THAT(list, HasSubstr(row));
    }
    expect_one_line_error(run_cli({"estimate", "mistral-7b-v0.1", "--kv", "kivi_2bit"}));
    expect_one_line_error(run_cli({"estimate", "deepseek-v3", "--kv", "kivi_4bit"}));
    expect_one_line_error(
        run_cli({"estimate", "llama-3-8b", "--kv", "kivi_2bit", "--engine", "vllm"}));
    expect_one_line_error(run_cli({"estimate", "llama-3-8b", "--kv", "kivi_2bit", "--cp", "2"}));
}

} // namespace
} // namespace kvcaliper::cli
