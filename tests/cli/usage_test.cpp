// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/run_cli.h"

#include <gmock/gmock.h>

namespace kvcaliper::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Usage, MistakesAreOneLineAndExitTwo) {
    const std::vector<std::vector<std::string>> mistakes = {
        {},
        {"estmate", "gpt2"},
        {"estimate"},
        {"estimate", "gpt2", "gpt2-xl"},
        {"estimate", "gpt2", "--foo"},
        {"estimate", "gpt2", "-c", "0"},
        {"estimate", "gpt2", "-c", "-5"},
        {"estimate", "gpt2", "-c", "many"},
        {"estimate", "gpt2", "-n", "0"},
        {"estimate", "gpt2", "-n", "x"},
        {"estimate", "gpt2", "--kv", "q9"},
        {"estimate", "gpt2", "--engine", "magic"},
        {"estimate", "gpt2", "--json", "--csv"},
        {"estimate", "gpt2xl"},
        {"list", "everything"},
        {"chart", "gpt2", "-o", "x.jpg"},
        {"chart", "gpt2"},
        {"verify", "gpt2", "--backend", "tpu"},
        {"--frobnicate"},
    };
    for (const auto& arguments : mistakes) {
        SCOPED_TRACE(arguments.empty() ? "nothing" : arguments.back());
        expect_one_line_error(run_cli(arguments));
    }
}

TEST(Usage, TheNearWordIsSuggested) {
    EXPECT_THAT(run_cli({"estmate", "gpt2"}).err, HasSubstr("did you mean estimate?"));
    EXPECT_THAT(run_cli({"estimate", "gpt2xl"}).err, HasSubstr("did you mean gpt2-xl?"));
    EXPECT_THAT(run_cli({"estimate", "gpt2", "--kv", "q8_o"}).err, HasSubstr("did you mean q8_0?"));
}

TEST(Usage, HelpAndVersionAreAnswers) {
    for (const char* command :
         {"estimate", "compare", "curve", "claims", "verify", "chart", "list"}) {
        const Ran ran = run_cli({command, "--help"});
        EXPECT_EQ(ran.code, answered) << command;
        EXPECT_THAT(ran.out, HasSubstr("Usage: kvcaliper " + std::string(command)));
        EXPECT_EQ(ran.err, "");
    }
    EXPECT_THAT(run_cli({"--help"}).out, HasSubstr("Examples:"));
    EXPECT_EQ(run_cli({"--version"}).out, "kvcaliper 0.1.0\n");
}

TEST(Usage, Lists) {
    EXPECT_THAT(run_cli({"list", "models"}).out, HasSubstr("gpt2-xl"));
    EXPECT_THAT(run_cli({"list", "formats", "--csv"}).out, HasSubstr("q8_0,32,34,0,llama.cpp,"));
    EXPECT_THAT(run_cli({"list", "engines"}).out, HasSubstr("ideal"));
    EXPECT_THAT(run_cli({"list", "architectures"}).out, HasSubstr("gpt_oss"));
    EXPECT_THAT(run_cli({"list", "kinds", "--csv"}).out,
                HasSubstr("\nmla,\"latent.cuh, mma.cuh\","));
    // 81,559 MiB, as nvidia-smi shows them (modal-client pull request 2797).
    EXPECT_THAT(run_cli({"list", "gpus", "--csv"}).out,
                HasSubstr("h100-80,NVIDIA H100 SXM 80 GB,NVIDIA,gpu,79.6 GiB,85520809984,"
                          "85520809984,driver,3350000000000,"));
    EXPECT_THAT(run_cli({"list", "gpus", "--markdown"}).out, HasSubstr("| h100-80 "));
    EXPECT_GE(run_cli({"list", "gpus", "--json"}).json().array_at("gpus").size(), 60u);
    const auto models = run_cli({"list", "models", "--json"}).json().array_at("models");
    EXPECT_GE(models.size(), 50u);
}

TEST(Usage, AnArchitectureIsListedWithItsProof) {
    const JsonValue listed = run_cli({"list", "architectures", "--json"}).json();
    for (const JsonValue& row : listed.array_at("architectures")) {
        EXPECT_NE(row.string_at("keeps"), "");
        EXPECT_NE(row.string_at("proof"), "");
        if (row.string_at("model_type") == "gemma3n_text") {
            EXPECT_EQ(row.string_at("keeps"), "full_attention, sliding_attention, shared_cache");
            EXPECT_EQ(row.string_at("proof"),
                      "cpu, emulated; executed by emulation only, never on a GPU");
        }
    }
}

} // namespace
} // namespace kvcaliper::cli
