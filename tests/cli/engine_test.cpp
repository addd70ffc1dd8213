// SPDX-License-Identifier: Apache-2.0
// The reserved view on the command line.
#include "tests/cli/run_cli.h"

#include <gmock/gmock.h>

namespace kvcaliper::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(EngineCommand, EstimateHasAReservedRow) {
    const Ran ran = run_cli({"estimate", "gemma-3-27b", "--engine", "llama_cpp", "--explain"});
    EXPECT_EQ(ran.code, answered);
    EXPECT_THAT(ran.out, HasSubstr("required view, engine ideal, K bf16, V bf16; reserved view, "
                                   "engine llama_cpp, K f16, V f16"));
    EXPECT_THAT(ran.out, HasSubstr("reserved by llama_cpp"));
    EXPECT_THAT(ran.out, HasSubstr("1,325,400,064"));
    EXPECT_THAT(ran.out, HasSubstr("1,536 cells = pad256(min(8,192, 1,024 + 512))"));
    EXPECT_THAT(run_cli({"estimate", "gemma-3-27b"}).out, Not(HasSubstr("reserved")));
}

TEST(EngineCommand, ReservedBelowRequiredSaysWhy) {
    const Ran ran = run_cli({"estimate", "deepseek-v3.2", "--engine", "vllm"});
    EXPECT_THAT(ran.out, HasSubstr("index dsa_index_fp8; 8,192 tokens"));
    EXPECT_THAT(ran.out, HasSubstr("note: reserved is less than required: "));
    EXPECT_THAT(ran.out, HasSubstr("index keys are fp8 with one scale per 128 values"));
}

TEST(EngineCommand, JsonKeepsBothViews) {
    const JsonValue json = run_cli({"estimate", "falcon-mamba-7b", "--engine", "llama_cpp",
                                    "--engine-opt", "parallel=2", "--json", "--explain"})
                               .json();
    EXPECT_EQ(json.integer_at("required_bytes"), 36700160);
    EXPECT_EQ(json.integer_at("reserved_bytes"), 2 * 39845888);
    const JsonValue& settings = json.at("settings");
    EXPECT_EQ(settings.string_at("engine"), "llama_cpp");
    EXPECT_EQ(settings.string_at("conv_format"), "f32");
    EXPECT_EQ(settings.at("required_formats").string_at("conv"), "bf16");
    EXPECT_EQ(settings.at("engine_options").string_at("parallel"), "2");
    EXPECT_EQ(settings.at("engine_options").string_at("ubatch-size"), "512");
    EXPECT_EQ(json.array_at("explain").size(), 5u);
    EXPECT_TRUE(run_cli({"estimate", "gpt2", "--json"}).json().at("reserved_bytes").is_null());
}

TEST(EngineCommand, CompareHasAReservedColumn) {
    const Ran ran =
        run_cli({"compare", "gpt2-xl", "gemma-3-27b", "--engine", "llama_cpp", "--csv"});
    EXPECT_EQ(ran.code, answered);
    EXPECT_THAT(ran.out, HasSubstr(",at 8K,reserved,ratio\n"));
    EXPECT_THAT(ran.out, HasSubstr(",1107296256,1325400064,"));
    EXPECT_THAT(run_cli({"compare", "gpt2-xl", "--csv"}).out, HasSubstr(",at 8K,ratio\n"));
}

TEST(EngineCommand, OptionsAreRepeatable) {
    const Ran ran = run_cli({"estimate", "gemma-3-27b", "--engine", "llama_cpp", "--engine-opt",
                             "swa-full=on", "--engine-opt", "parallel=1", "--csv"});
    EXPECT_THAT(ran.out, HasSubstr(",4160749568\n")); // 62 layers of 8,192 cells
}

TEST(EngineCommand, MistakesAreOneLine) {
    const std::vector<std::vector<std::string>> mistakes = {
        {"estimate", "gpt2", "--engine", "llama_cpp", "--engine-opt", "ubatch-size"},
        {"estimate", "gpt2", "--engine", "llama_cpp", "--engine-opt", "=5"},
        {"estimate", "gpt2", "--engine", "llama_cpp", "--engine-opt", "ubatch-size=none"},
        {"estimate", "gpt2", "--engine", "llama_cpp", "--engine-opt", "nothing=1"},
        {"estimate", "gpt2", "--engine-opt", "ubatch-size=512"},
        {"estimate", "bart-large", "--engine", "llama_cpp"},
        {"compare", "gpt2", "bart-large", "--engine", "llama_cpp"},
        {"curve", "gpt2", "--engine", "llama_cpp"},
        {"verify", "gpt2", "--engine", "llama_cpp"},
    };
    for (const auto& arguments : mistakes) {
        SCOPED_TRACE(arguments.back());
        expect_one_line_error(run_cli(arguments));
    }
}

TEST(EngineCommand, ListNamesEnginesAndTheirOptions) {
    const Ran ran = run_cli({"list", "engines", "--csv"});
    EXPECT_THAT(ran.out, HasSubstr("ideal,,,,"));
    EXPECT_THAT(ran.out, HasSubstr("llama_cpp,ubatch-size,N,512,"));
    EXPECT_THAT(ran.out, HasSubstr("vllm,block-size,1|8|16|32|64|128|256,16,"));
    EXPECT_THAT(ran.out, HasSubstr("sglang,swa-full-tokens-ratio,R,0.8,"));
}

} // namespace
} // namespace kvcaliper::cli
