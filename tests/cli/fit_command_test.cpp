// SPDX-License-Identifier: Apache-2.0
// `fit`: the four questions, exit codes and what is said when it does not fit.
#include "tests/cli/run_cli.h"

#include <gmock/gmock.h>

namespace kvcaliper::cli {
namespace {

using testing::HasSubstr;

/// Llama 3 8B, 131,072 B a token, on 24 GiB with 8,030,261,248 parameters in 2 bytes.
std::vector<std::string> llama(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"fit",   "llama-3-8b", "--memory",
                                          "24GiB", "--weights",  "16060522496B"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

TEST(FitCommand, WithAContextMostSequences) {
    const Ran ran = run_cli(llama({"-c", "8K"}));
    EXPECT_EQ(ran.code, answered) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("most sequences of 8,192 tokens: 9 sequences"));
    EXPECT_THAT(ran.out, HasSubstr("9,709,281,280")); // left for the cache
    EXPECT_THAT(ran.out, HasSubstr("vllm serve MODEL --max-model-len 8192"));
    EXPECT_THAT(ran.out, HasSubstr("name an --engine or give --workspace"));
}

TEST(FitCommand, WithSequencesLongestContext) {
    const JsonValue json = run_cli(llama({"-n", "1", "--json"})).json();
    EXPECT_EQ(json.string_at("question"), "context");
    EXPECT_EQ(json.integer_at("longest_context"), 74'075);      // 9,709,281,280 / 131,072
    EXPECT_EQ(json.at("settings").integer_at("context"), 8192); // the model's own limit
}

TEST(FitCommand, WithBothYesOrNo) {
    const Ran yes = run_cli(llama({"-c", "8K", "-n", "9"}));
    EXPECT_EQ(yes.code, answered);
    EXPECT_THAT(yes.out, HasSubstr("fits: 9 sequences of 8,192 tokens"));
    const Ran no = run_cli(llama({"-c", "8K", "-n", "10"}));
    EXPECT_EQ(no.code, answered_no);
    // 10 × 1 GiB - 9,709,281,280 = 1,028,136,960 B; 9,709,281,280 / (10 × 131,072) = 7,407.
    EXPECT_THAT(no.out, HasSubstr("does not fit: 10 sequences of 8,192 tokens lack 981 MiB; at "
                                  "this context 9 sequences fit, with this many sequences 7,407 "
                                  "tokens"));
    EXPECT_THAT(no.out, HasSubstr("-c 7407"));
    EXPECT_THAT(no.out, HasSubstr("--tp 2"));
}

TEST(FitCommand, WithNeitherATable) {
    const Ran ran = run_cli(llama({"--csv"}));
    EXPECT_EQ(ran.code, answered);
    // fp8 halves: 18 sequences of 8,192; q8_0/q4_0 at 53,248 B a token: 22.
    EXPECT_THAT(ran.out, HasSubstr("context,auto,fp8_e4m3,q8_0,q8_0/q4_0,q4_0\n"));
    EXPECT_THAT(ran.out, HasSubstr("8192,9,18,17,22,32\n"));
}

TEST(FitCommand, WeightsAloneMayBeTooMuch) {
    const Ran ran = run_cli(
        {"fit", "llama-3-8b", "--memory", "8GiB", "--weights", "16GB", "-c", "1K", "-n", "1"});
    EXPECT_EQ(ran.code, answered_no);
    EXPECT_THAT(ran.out, HasSubstr("weights and workspace alone lack"));
}

TEST(FitCommand, QuestionsThatCanNotBeAsked) {
    expect_one_line_error(run_cli({"fit", "llama-3-8b"}));
    expect_one_line_error(run_cli({"fit", "llama-3-8b", "--memory", "8GiB", "--gpu", "h100-80"}));
    expect_one_line_error(run_cli({"fit", "llama-3-8b", "--gpu", "no-such-gpu"}));
    expect_one_line_error(run_cli(llama({"--utilization", "1.5"})));
    expect_one_line_error(run_cli(llama({"--cartridge", "512"})));
    expect_one_line_error(run_cli(llama({"--shared-prefix", "9K", "-c", "8K", "-n", "1"})));
    expect_one_line_error(run_cli(llama({"--workspace", "much"})));
}

TEST(FitCommand, ACartridgeInPlaceOfADocument) {
    const Ran ran =
        run_cli({"fit", "llama-3.2-3b", "--memory", "80GiB", "--weights", "6.4GB", "-c", "1K", "-n",
                 "8", "--cartridge", "2K", "--document", "128K", "--training-tokens", "100000000"});
    EXPECT_EQ(ran.code, answered) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("cartridge: 224 MiB (234,881,024 B) in place of a document"));
    EXPECT_THAT(ran.out, HasSubstr("64.0× less"));
    EXPECT_THAT(ran.out, HasSubstr("2,289 queries"));
    EXPECT_THAT(ran.out, HasSubstr("the 38.6× of the paper"));
}

TEST(FitCommand, RanksDivideWeightsAndCache) {
    // 70.6 GB over two ranks; Llama 3.3 70B keeps 327,680 B a token in bf16, half on each.
    const JsonValue json = run_cli({"fit", "llama-3.3-70b", "--memory", "80GiB", "--weights",
                                    "70.6GB", "--tp", "2", "-c", "32K", "-n", "4", "--json"})
                               .json();
    EXPECT_EQ(json.at("budget").integer_at("weights_bytes"), 35'300'000'000);
    EXPECT_EQ(json.at("budget").integer_at("cache_bytes"), 4 * 32'768 * 163'840LL);
    EXPECT_EQ(json.at("device").integer_at("devices"), 2);
}

} // namespace
} // namespace kvcaliper::cli
