// SPDX-License-Identifier: Apache-2.0
// Reading logs: what is recognised, which model is meant, and input that nobody promised to be
// good.
#include "core/engine_log.h"
#include "core/logs/log_patterns.h"
#include "tests/core/test_models.h"

#include <gmock/gmock.h>
#include <random>

namespace kvcaliper {
namespace {

using testing::HasSubstr;

const char* const pool_line = "llama_kv_cache: size =  640.00 MiB (  8192 cells,  10 layers,  1/1 "
                              "seqs), K (f16):  320.00 MiB, V (f16):  320.00 MiB";

std::string log_error(const std::string& text, const LogQuestion& question = {}) {
    try {
        check_engine_log(parse_engine_log(text, "test.log"), question);
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return error.what();
    }
    return "";
}

LogQuestion about(const std::string& model) {
    LogQuestion question;
    question.model = model;
    return question;
}

std::vector<LogResult> check(const std::string& text, const std::string& model) {
    return check_engine_log(parse_engine_log(text, "test.log"), about(model));
}

// ---- patterns
// ------------------------------------------------------------------------------------

TEST(LogPatterns, Captures) {
    const auto found =
        logs::match("size = {#size} MiB ({#cells} cells), K ({k}): {>rest}",
                    "12:00 I cache: size =  10.50 MiB (   256 cells), K (q8_0): a b");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->values.at("size"), "10.50");
    EXPECT_EQ(found->values.at("cells"), "256");
    EXPECT_EQ(found->values.at("k"), "q8_0");
    EXPECT_EQ(found->values.at("rest"), "a b");
    EXPECT_EQ(found->begin, 15u);
}

TEST(LogPatterns, OrdersAndEnds) {
    EXPECT_FALSE(logs::match("size = {#size} MiB", "size = MiB"));
    EXPECT_FALSE(logs::match("size = {#size} MiB", "size = 10 GiB"));
    EXPECT_FALSE(logs::match("size = {#size} MiB", "size = 1234567890123456789 MiB")); // no int64
    EXPECT_EQ(logs::match("tokens: {#n}", "tokens: 367,404, K")->values.at("n"), "367,404");
    EXPECT_EQ(logs::match("model='{m}'", "a model='x/y z', b")->values.at("m"), "x/y z");
    EXPECT_EQ(logs::match("a{*}b{=x:on}", "a 1 2 b")->values.at("x"), "on");
    EXPECT_EQ(logs::match("a = {w}", "a = one, two")->values.at("w"), "one");
    EXPECT_TRUE(logs::match("n = {#n}", "n n = 3")) << "the second n fits";
}

TEST(LogPatterns, EveryMemoryPatternHasAFigureOfItsOwn) {
    for (const logs::MemoryPattern& pattern : logs::memory_patterns()) {
        EXPECT_NE(pattern.text.find("{#"), std::string_view::npos) << pattern.text;
        EXPECT_NE(pattern.text.front(), '{') << "a pattern begins with a word to look for";
    }
}

// ---- reading
// -------------------------------------------------------------------------------------

TEST(EngineLog, LinesKnowWhatWasSaidBefore) {
    const EngineLog log = parse_engine_log(
        "llama_context: n_ctx = 8192\r\n" + std::string(pool_line) + "\r\nnothing\n", "test.log");
    ASSERT_EQ(log.lines.size(), 1u);
    EXPECT_EQ(log.lines[0].number, 2u);
    EXPECT_EQ(log.lines[0].known.at("n_ctx"), "8192");
    EXPECT_EQ(log.lines[0].values.at("layers"), "10");
    EXPECT_EQ(log.lines[0].engine, "llama.cpp");
    EXPECT_THAT(log.lines[0].text, testing::StartsWith("size = 640.00 MiB"));
}

TEST(EngineLog, RanksThatSayTheSameAreOneLine) {
    const std::string line =
        "KV Cache is allocated. #tokens: 100, K size: 1.00 GB, V size: 1.00 GB";
    const EngineLog log =
        parse_engine_log("TP0 " + line + "\nTP1 " + line + "\nTP2 " + line, "test.log");
    ASSERT_EQ(log.lines.size(), 1u);
    EXPECT_EQ(log.lines[0].times, 3);
}

TEST(EngineLog, AnotherModelIsAnotherLoad) {
    const auto load = [](const std::string& file) {
        return "loaded meta data with 1 key-value pairs and 2 tensors from " + file +
               " (version GGUF V3)\n" + pool_line + "\n";
    };
    const EngineLog log = parse_engine_log(load("/a/one.gguf") + load("two.gguf"), "test.log");
    ASSERT_EQ(log.lines.size(), 2u) << "equal lines of two models are two lines";
    EXPECT_EQ(log.loads[log.lines[0].load].at("model_file"), "/a/one.gguf");
    EXPECT_EQ(log.loads[log.lines[1].load].at("model_file"), "two.gguf");
}

TEST(EngineLog, BuffersAddUpWhereNoSumFollows) {
    const std::string buffers = "llama_kv_cache_init: CUDA0 KV buffer size = 40.00 MiB\n"
                                "llama_kv_cache_init: CUDA1 KV buffer size = 24.00 MiB\n";
    EXPECT_EQ(parse_engine_log(buffers, "test.log").lines.front().values.at("size"),
              "40.00 + 24.00");
    const EngineLog summed = parse_engine_log(
        buffers + "KV self size = 64.00 MiB, K (f16): 32.00 MiB, V (f16): 32.00 MiB", "test.log");
    ASSERT_EQ(summed.lines.size(), 1u);
    EXPECT_EQ(summed.lines[0].kind, LogLineKind::context);
}

TEST(EngineLog, TheLeastMemoryOfAllRanksDecides) {
    const EngineLog log = parse_engine_log("Available KV cache memory: 8.20 GiB\n"
                                           "Available KV cache memory: 8.01 GiB\n"
                                           "Available KV cache memory: 8.11 GiB\n"
                                           "GPU KV cache size: 100 tokens\n"
                                           "Available KV cache memory: 9.00 GiB\n"
                                           "GPU KV cache size: 200 tokens",
                                           "test.log");
    ASSERT_EQ(log.lines.size(), 2u);
    EXPECT_EQ(log.lines[0].known.at("memory"), "8.01");
    EXPECT_EQ(log.lines[1].known.at("memory"), "9.00");
}

TEST(EngineLog, TwoFiguresOnOneLine) {
    // vLLM 0.30 writes both on one line.
    const EngineLog log = parse_engine_log("GPU KV cache size: 2,182,642 tokens, Maximum "
                                           "concurrency for 430,080 tokens per request: 5.07x",
                                           "test.log");
    ASSERT_EQ(log.lines.size(), 2u);
    EXPECT_EQ(log.lines[1].values.at("size"), "5.07");
}

// ---- models
// --------------------------------------------------------------------------------------

TEST(EngineLog, NamesOfModels) {
    const auto catalog = bundled_models();
    const std::pair<const char*, const char*> names[] = {
        {"Gemma 3 27b It", "gemma-3-27b"},
        {"/models/gemma-3-27b-it-Q4_K_M.gguf", "gemma-3-27b"},
        {"C:\\models\\Meta-Llama-3.1-8B-Instruct-IQ4_NL.gguf", "llama-3.1-8b"},
        {"meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"},
        {"/hub/models--deepseek-ai--DeepSeek-V3-0324/snapshots/0123abc", "deepseek-v3"},
        {"DeepSeek-R1-UD-IQ1_S-00001-of-00003.gguf", "deepseek-r1"},
        {"Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", "qwen3-235b-a22b"},
        {"openai/gpt-oss-120b", "gpt-oss-120b"},
        {"nvidia/Qwen3.6-27B-NVFP4", "qwen3.6-27b"},
        // What only looks like one of them is none.
        {"DeepSeek-R1-Distill-Qwen-32B-Q4_K_M.gguf", ""},
        {"NousResearch/Hermes-3-Llama-3.1-8B", ""},
        {"Mistral-7B-Instruct-v0.2", ""},
        {"Llama-3-8B-Gradient-1048k", ""},
        {"sha256-667b0c1932bc6ffc593ed1d03f895bf2dc8dc6df21db3042284a6f4416b06a29", ""},
        {"/models", ""},
        {"", ""}};
    for (const auto& [name, model] : names) {
        EXPECT_EQ(bundled_model_for(name, catalog), model) << name;
    }
}

TEST(EngineLog, WithoutAModelItSaysSo) {
    EXPECT_THAT(log_error(pool_line), HasSubstr("test.log: line 1: expected --model"));
    EXPECT_THAT(log_error(std::string("print_info: general.name = My \x01 Tune\n") + pool_line),
                HasSubstr("found \"My ? Tune\""));
    EXPECT_EQ(log_error(pool_line, about("gemma-3-27b")), "");
}

TEST(EngineLog, LinesThatAreNotKnown) {
    EXPECT_THAT(log_error("hello\n"), HasSubstr("test.log: expected a memory line of llama.cpp"));
    EXPECT_THAT(log_error(""), HasSubstr("found none"));
    EXPECT_THAT(log_error("llama_kv_cache: size = many MiB"), HasSubstr("found none"));
}

// ---- verdicts
// ------------------------------------------------------------------------------------

TEST(EngineLog, DecimalCommas) {
    // DeepSeek-V2.5, latent of 576 × 60 layers × 32,768 cells in f16, as a German locale writes it.
    const auto results =
        check("llama_new_context_with_model: n_ctx = 32768\n"
              "KV self size  = 2160,00 MiB, c^KV (f16): 2160,00 MiB, kv^T: not used",
              "deepseek-v2");
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0].verdict, LogVerdict::equal);
}

TEST(EngineLog, WhatIsNotSaidIsAskedFor) {
    const std::string line = "KV self size = 64.00 MiB, K (f16): 32.00 MiB, V (f16): 32.00 MiB";
    EXPECT_EQ(check(line, "llama-3.1-8b").front().verdict, LogVerdict::unchecked);
    LogQuestion question = about("llama-3.1-8b");
    question.context_given = true;
    question.settings.context = Tokens(512); // 128 KiB a token
    EXPECT_EQ(check_engine_log(parse_engine_log(line, "test.log"), question).front().verdict,
              LogVerdict::equal);
    question.settings.context = Tokens(500);
    question.settings.sequences = 1;
    const auto padded = check_engine_log(
        parse_engine_log("llama_kv_cache: size = 64.00 MiB (512 cells, 32 layers, 1/1 seqs), "
                         "K (f16): 32.00 MiB, V (f16): 32.00 MiB",
                         "test.log"),
        question);
    EXPECT_EQ(padded.front().verdict, LogVerdict::explained);
    EXPECT_THAT(padded.front().explanation.front(), HasSubstr("500 is padded to 512 cells"));
}

TEST(EngineLog, AnUnknownFormatIsUnexplained) {
    const auto results = check("llama_kv_cache: size = 64.00 MiB (512 cells, 32 layers, 1/1 seqs), "
                               "K (turbo9): 32.00 MiB, V (f16): 32.00 MiB",
                               "llama-3.1-8b");
    EXPECT_EQ(results.front().verdict, LogVerdict::unexplained);
    EXPECT_THAT(results.front().explanation.front(), HasSubstr("found \"turbo9\""));
}

TEST(EngineLog, ThePoolsOfAContextAddUpToTheProfile) {
    // Sliding pools of 2,048 cells: not what ubatch 512 leads to, pad256(1,024 + 512) = 1,536.
    const std::string log =
        "llama_context: n_ctx = 8192\nllama_context: n_ubatch = 512\n" + std::string(pool_line) +
        "\nllama_kv_cache: size = 832.00 MiB (2048 cells, 52 layers, 1/1 seqs), "
        "K (f16): 416.00 MiB, V (f16): 416.00 MiB";
    const auto results = check(log, "gemma-3-27b");
    ASSERT_EQ(results.size(), 3u);
    EXPECT_EQ(results[1].verdict, LogVerdict::equal);
    EXPECT_EQ(results[2].verdict, LogVerdict::unexplained);
    EXPECT_EQ(results[2].computed_bytes, Bytes(std::int64_t{1264} << 20));
    EXPECT_THAT(results[2].difference, HasSubstr("208 MiB more"));
}

TEST(EngineLog, PipelineStagesAreNotCompared) {
    const auto results = check("ServerArgs(model_path='x', tp_size=1, pp_size=2)\n"
                               "KV Cache is allocated. #tokens: 10, K size: 1.0 GB, V size: 1.0 GB",
                               "llama-3.1-8b");
    EXPECT_EQ(results.front().verdict, LogVerdict::unchecked);
    EXPECT_THAT(results.front().explanation.front(), HasSubstr("2 pipeline stages"));
}

TEST(EngineLog, HeadsThatDoNotDivideAreSaidSo) {
    const auto results = check("ServerArgs(model_path='x', tp_size=3)\n"
                               "KV Cache is allocated. #tokens: 10, K size: 1.0 GB, V size: 1.0 GB",
                               "llama-3.1-8b");
    EXPECT_EQ(results.front().verdict, LogVerdict::unexplained);
    EXPECT_THAT(results.front().explanation.front(), HasSubstr("--tp"));
}

// ---- hostile input
// -------------------------------------------------------------------------------

TEST(EngineLog, HugeNumbersAndLongLines) {
    EXPECT_THAT(log_error("GPU KV cache size: 99999999999999999999 tokens"),
                HasSubstr("found none"));
    const auto results = check("Available KV cache memory: 1.00 GiB\n"
                               "GPU KV cache size: 999999999999999999 tokens",
                               "llama-3.1-8b");
    EXPECT_EQ(results.front().verdict, LogVerdict::unexplained);
    const std::string far(1u << 20, 'x');
    EXPECT_THAT(log_error(far + pool_line), HasSubstr("found none"))
        << "only a line's start counts";
    EXPECT_EQ(log_error(far + "\n" + pool_line, about("gemma-3-27b")), "");
}

TEST(EngineLog, NoughtsWhereNothingIsNone) {
    const std::string log = "llama_context: n_seq_max = 0\nllama_context: n_ctx = 0\n"
                            "max_seq_len=0 tensor_parallel_size=0 \nllama_context: n_ubatch = 0\n"
                            "llama_kv_cache: size = 0.00 MiB (0 cells, 32 layers, 0/0 seqs), "
                            "K (f16): 0.00 MiB, V (f16): 0.00 MiB\n"
                            "Available KV cache memory: 0.00 GiB\nGPU KV cache size: 0 tokens\n"
                            "Maximum concurrency for 0 tokens per request: 0.00x\n"
                            "KV Cache is allocated. #tokens: 0, KV size: 0.00 GB\n"
                            "Allocated 0.00 GiB for max tokens in paged KV cache (0)";
    EXPECT_EQ(log_error(log, about("llama-3.1-8b")), "");
    EXPECT_EQ(log_error(log, about("deepseek-v3")), "");
}

TEST(EngineLog, TooManyLines) {
    std::string text;
    for (std::size_t i = 0; i <= max_memory_lines; ++i) {
        text += "GPU KV cache size: " + std::to_string(i) + " tokens\n";
    }
    EXPECT_THAT(log_error(text, about("llama-3.1-8b")), HasSubstr("at most 4,096 memory lines"));
}

/// Any cut, swap or stray byte gives an answer or a one-line error, never anything else.
TEST(EngineLog, DamagedLogs) {
    const std::string logs =
        "loaded meta data with 4 key-value pairs and 9 tensors from gemma-3-27b.gguf (version 3)\n"
        "llama_context: n_seq_max = 4\nllama_context: n_ctx = 8192\n"
        "llama_context: n_ubatch = 512\nllama_context: kv_unified = false\n" +
        std::string(pool_line) +
        "\nllama_memory_recurrent: size = 1.50 MiB (4 cells, 4 layers, 4 seqs 2 rs_seq), "
        "R (f32): 0.50 MiB, S (f32): 1.00 MiB\n"
        "KV self size = 18.23 MiB, c^KV (q8_0): 18.23 MiB, kv^T (f16): 1.00 MiB\n"
        "Available KV cache memory: 24.54 GiB\nGPU KV cache size: 26,800 tokens\n"
        "Maximum concurrency for 8,192 tokens per request: 3.27x\n"
        "KV Cache is allocated. #tokens: 400, KV size: 0.10 GB\n"
        "Mamba Cache is allocated. max_mamba_cache_size: 8, conv_state size: 0.00GB, "
        "ssm_state size: 0.10GB\nSWAKVPool mem usage: 3.18 GB, swa size: 29664, full size: 37081\n"
        "Allocated 2.18 GiB for max tokens in paged KV cache (190656)\n";
    std::mt19937 random(7);
    int answers = 0;
    for (int round = 0; round < 600; ++round) {
        std::string damaged = logs;
        for (int i = 0; i < 1 + round % 8; ++i) {
            const std::size_t at = random() % damaged.size();
            const std::size_t kind = random() % 4;
            if (kind == 0) {
                damaged[at] = static_cast<char>(random() % 256);
            } else if (kind == 1) {
                damaged.erase(at, 1 + random() % 20);
            } else if (kind == 2) {
                damaged.insert(at, std::string(1 + random() % 9, "0123456789.,"[random() % 12]));
            } else {
                std::swap(damaged[at], damaged[random() % damaged.size()]);
            }
        }
        answers +=
            log_error(damaged, about(round % 2 == 0 ? "gemma-3-27b" : "deepseek-v3.2")).empty() ? 1
                                                                                                : 0;
    }
    EXPECT_GT(answers, 500);
}

} // namespace
} // namespace kvcaliper
