// SPDX-License-Identifier: Apache-2.0
// What TensorRT-LLM's blocks take: "[MemUsageChange] Allocated 2.18 GiB for max tokens in paged KV
// cache (190656)." of its logs, read backwards.
#include "core/engines/engine.h"
#include "tests/core/test_engines.h"

#include <gmock/gmock.h>

namespace kvcaliper {
namespace {

using testing::HasSubstr;

Settings asked(std::int64_t context, std::vector<EngineSetting> options = {},
               const char* kv = "auto") {
    Settings settings = asked_of("tensorrt_llm", context, std::move(options));
    settings.k_format = settings.v_format = kv;
    return settings;
}

/// Hundredths of a GiB, rounded half up.
std::int64_t printed(std::int64_t bytes) {
    return (bytes * 100 + (std::int64_t{1} << 29)) / (std::int64_t{1} << 30);
}

TEST(TensorrtLlm, PublishedLogs) {
    // Qwen2.5-0.5B: "2.18 GiB for max tokens … (190656)" (stored public file 54591450631).
    const auto qwen = model_of(R"({"model_type":"qwen2","num_hidden_layers":24,"hidden_size":896,
        "num_attention_heads":14,"num_key_value_heads":2})");
    EXPECT_EQ(printed(reserved(qwen, asked(190656))), 218);
    // Llama-3.1-8B, fp8: "16.05 GiB … (263008)" (stored public file 26725295630).
    EXPECT_EQ(printed(reserved("llama-3.1-8b", asked(263008, {}, "fp8_e4m3"))), 1605);
    // "26.91 GiB … (220480)" (stored public file 29371299753), under the name of TinyLlama: its
    // max_seq_len of 131,072 and 131,072 bytes per token are Llama-3.1-8B's.
    EXPECT_EQ(printed(reserved("llama-3.1-8b", asked(220480))), 2691);
    // A multi-head model of 32 layers and 4,096 values: 69,524,783,104 bytes for 132,608 tokens
    // (NVIDIA/TensorRT-LLM issue 1400), 2,072 blocks of 64.
    EXPECT_EQ(reserved("llama-2-7b", asked(132608, {{"tokens_per_block", "64"}})), 69524783104);
}

TEST(TensorrtLlm, BlocksAreRoundedUp) {
    EXPECT_EQ(reserved("llama-3-8b", asked(1)), std::int64_t{32} * 131072);
    EXPECT_EQ(reserved("llama-3-8b", asked(33)), std::int64_t{64} * 131072);
    EXPECT_EQ(reserved("llama-3-8b", asked(33, {{"tokens-per-block", "64"}})),
              std::int64_t{64} * 131072);
    Settings settings = asked(33);
    settings.sequences = 3;
    EXPECT_EQ(reserved("llama-3-8b", settings), std::int64_t{3} * 64 * 131072);
    // nvfp4: half a byte, and a scale of one byte for 16 values.
    EXPECT_EQ(reserved("llama-3-8b", asked(32, {}, "nvfp4")),
              std::int64_t{32} * 131072 / 2 * 9 / 16);
    EXPECT_EQ(reserved("deepseek-v3", asked(8192)), 575668224); // kv_factor 1, 512 + 64
}

TEST(TensorrtLlm, WhatHasNoRuleIsRefused) {
    for (const char* name : {"mistral-7b-v0.1", "gemma-3-27b", "deepseek-v3.2", "falcon-mamba-7b",
                             "hunyuan-large", "bart-large"}) {
        EXPECT_THAT(refusal(load_model(name), asked(8192)),
                    HasSubstr("engine tensorrt_llm: no rule for"))
            << name;
    }
    EXPECT_THAT(refusal(load_model("llama-3-8b"), asked(8192, {}, "q8_0")),
                HasSubstr("no cache of type q8_0"));
    EXPECT_THAT(refusal(load_model("llama-3-8b"), asked(8192, {{"tokens-per-block", "48"}})),
                HasSubstr("expected 8|16|32|64|128"));
}

} // namespace
} // namespace kvcaliper
