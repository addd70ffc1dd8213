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
    EXPECT_THAT(ran.out, HasSubstr(",at 8K,reserved,ratio,mark\n"));
    EXPECT_THAT(ran.out, HasSubstr(",1107296256,1325400064,"));
    EXPECT_THAT(run_cli({"compare", "gpt2-xl", "--csv"}).out, HasSubstr(",at 8K,ratio,mark\n"));
}

TEST(EngineCommand, OptionsAreRepeatable) {
    const Ran ran = run_cli({"estimate", "gemma-3-27b", "--engine", "llama_cpp", "--engine-opt",
                             "swa-full=on", "--engine-opt", "parallel=1", "--csv"});
    EXPECT_THAT(ran.out, HasSubstr(",4160749568\n")); // 62 layers of 8,192 cells
}

TEST(Ranks, EstimateAndCompareShowTheFullestOne) {
    // 61 layers × 1,152 bytes × 8,192 tokens, whole on each of eight ranks.
    const Ran ran = run_cli({"estimate", "deepseek-v3", "--tp", "8"});
    EXPECT_EQ(ran.code, answered);
    EXPECT_THAT(ran.out, HasSubstr("8,192 tokens × 1 sequence; TP 8\n"));
    EXPECT_THAT(ran.out, HasSubstr("required, all 8 ranks  4.29 GiB  4,605,345,792\n"));
    EXPECT_THAT(ran.out, HasSubstr("latents and index keys are whole on every tensor rank"));
    EXPECT_THAT(run_cli({"estimate", "gpt2"}).out, Not(HasSubstr("rank")));
    const Ran table = run_cli({"compare", "gpt2-medium", "llama-3-8b", "--tp", "4", "--csv"});
    EXPECT_THAT(table.out, HasSubstr(",at 8K,per rank,ratio,mark\n"));
    EXPECT_THAT(table.out, HasSubstr(",1073741824,268435456,"));
}

TEST(Ranks, JsonHasThemUnderTheContract) {
    const JsonValue json = run_cli({"estimate", "llama-3-70b", "--tp", "16", "--pp", "2",
                                    "--engine", "vllm", "--json", "--explain"})
                               .json();
    const JsonValue& settings = json.at("settings");
    EXPECT_EQ(settings.integer_at("tp"), 16);
    EXPECT_EQ(settings.integer_at("pp"), 2);
    EXPECT_EQ(settings.integer_at("cp"), 1);
    EXPECT_EQ(settings.integer_at("dp"), 1);
    const JsonValue& rank = json.at("per_rank");
    EXPECT_EQ(rank.integer_at("required_bytes"), 40960 / 2 * 8192);
    EXPECT_EQ(rank.integer_at("reserved_bytes"), 40960 / 2 * 8192);
    EXPECT_EQ(rank.integer_at("ranks"), 32);
    EXPECT_EQ(rank.integer_at("required_total_bytes"), std::int64_t{32} * 40960 / 2 * 8192);
    EXPECT_EQ(json.integer_at("required_bytes"), 2684354560); // of the whole, as before
    EXPECT_EQ(json.array_at("explain").size(), 7u);
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
        {"curve", "gpt2", "--tp", "2"},
        {"chart", "gpt2", "-o", "x.svg", "--tp", "2"},
        {"verify", "gpt2", "--tp", "2"},
        {"estimate", "gpt2", "--tp", "5"},
        {"estimate", "gpt2", "--tp", "0"},
        {"estimate", "gpt2", "--pp", "13"},
        {"estimate", "llama-3-8b", "--engine", "llama_cpp", "--tp", "2"},
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
    EXPECT_THAT(ran.out, HasSubstr("transformers,cache-implementation,"));
    EXPECT_THAT(ran.out, HasSubstr("mlx,quantized-kv-start,N,5000,"));
    EXPECT_THAT(ran.out, HasSubstr("ik_llama,mla-use,0|1|2|3,3,"));
    EXPECT_THAT(ran.out, HasSubstr("tensorrt_llm,tokens-per-block,8|16|32|64|128,32,"));
}

} // namespace
} // namespace kvcaliper::cli
