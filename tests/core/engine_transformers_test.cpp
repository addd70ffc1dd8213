// SPDX-License-Identifier: Apache-2.0
// What the caches of transformers keep. "Observed" figures are the sizes of all tensors of
// `output.cache` after 299 tokens and one more (or 8,999 and one) of the published config.json on
// the meta device in bfloat16, transformers 5.24.0 with torch 2.13.0, MLPs left out.
#include "core/engines/engine.h"
#include "tests/core/test_engines.h"

#include <gmock/gmock.h>

namespace kvcaliper {
namespace {

using testing::Contains;
using testing::HasSubstr;

Settings asked(std::int64_t context, std::vector<EngineSetting> options = {}) {
    return asked_of("transformers", context, std::move(options));
}

Settings in_format(Settings settings, const char* format) {
    settings.k_format = settings.v_format = format;
    return settings;
}

/// Layers of 2 KV heads of 64: 512 bytes per token in bf16.
ModelPtr tiny(const std::string& more, const char* type = "llama") {
    return model_of(R"({"model_type":")" + std::string(type) +
                    R"(","hidden_size":256,"num_attention_heads":4,"num_key_value_heads":2,)"
                    R"("head_dim":64)" +
                    more + "}");
}

struct Observed {
    const char* model;
    std::int64_t tokens;
    std::int64_t bytes;
};

TEST(Transformers, ObservedDynamicCaches) {
    const Observed rows[] = {
        {"llama-3.1-8b", 300, 39321600},
        {"gpt-oss-20b", 300, 10493952}, // 127 of the window's 128 tokens
        {"gpt-oss-20b", 9000, 224305152},
        {"gemma-3-27b", 9000, 1173061632},      // 1,023
        {"gemma-2-9b", 9000, 2252759040},       // 4,095
        {"llama-4-maverick", 9000, 1650180096}, // chunks: 8,191 of 8,192
        {"mimo-v2-flash", 300, 32471040},       // 128 of 128: a window of 129
        {"mimo-v2-flash", 9000, 232919040},
        {"deepseek-v3", 300, 21081600},      // keys of 512, values of 64
        {"deepseek-v3.2", 300, 25766400},    // and index keys of 128
        {"deepseek-v4-flash", 300, 9773824}, // one tensor for K and V of the window
        {"deepseek-v4-pro", 300, 14130688},
        {"falcon-40b", 300, 589824000},     // 128 heads of 64
        {"falcon-7b", 300, 2457600},        // one head
        {"falcon-mamba-7b", 300, 37748736}, // 4 columns in bf16, states in float32
        {"jamba-v0.1", 300, 21430272},
        {"qwen3-next-80b-a3b", 300, 85229568},
        {"kimi-linear-48b", 300, 46328320},
        {"nemotron-3-nano-30b-a3b", 300, 51208192},
        {"lfm2-1.2b", 300, 3809280}, // 3 columns
    };
    for (const Observed& row : rows) {
        EXPECT_EQ(reserved(row.model, asked(row.tokens)), row.bytes) << row.model;
    }
}

TEST(Transformers, ObservedStaticCaches) {
    const Observed rows[] = {{"gpt-oss-20b", 300, 10518528}, // all of the window
                             {"mimo-v2-flash", 300, 32670720},
                             {"deepseek-v3.2", 300, 25766400},
                             {"falcon-40b", 300, 589824000},
                             {"qwen3-next-80b-a3b", 300, 85229568}};
    const std::vector<EngineSetting> options = {{"cache_implementation", "static"}};
    for (const Observed& row : rows) {
        EXPECT_EQ(reserved(row.model, asked(row.tokens, options)), row.bytes) << row.model;
    }
    // StaticCache(max_cache_len=…) has its rows whatever is in them.
    const auto longer = asked(300, {{"cache-implementation", "static"}, {"max-cache-len", "4096"}});
    EXPECT_EQ(reserved(tiny(R"(,"num_hidden_layers":1)"), longer), 4096 * 512);
    // KeyError: 'compressed_sparse_attention'.
    EXPECT_THAT(refusal(load_model("deepseek-v4-flash"), asked(300, options)),
                HasSubstr("no rule for a static cache of model_type deepseek_v4"));
}

TEST(Transformers, AFullWindowIsOneTokenLessThanRequired) {
    const Estimate answer = estimate(load_model("mistral-7b-v0.1"), asked(8192));
    EXPECT_EQ(answer.reserved->bytes().count(), std::int64_t{4095} * 131072);
    EXPECT_EQ(answer.required.bytes().count(), std::int64_t{4096} * 131072);
    EXPECT_THAT(answer.notes, Contains(HasSubstr("a full window keeps one token less")));
    EXPECT_EQ(reserved("mistral-7b-v0.1", asked(4095)), std::int64_t{4095} * 131072);
    // gpt_neo's local layers keep every token.
    const auto neo = model_of(R"({"model_type":"gpt_neo","num_layers":2,"hidden_size":64,
        "num_heads":4,"window_size":256,"attention_types":[[["global","local"],1]]})");
    EXPECT_EQ(reserved(neo, asked(1000)), 2 * 1000 * 2 * 64 * 2);
}

TEST(Transformers, EarlierVersionsExpandTheLatent) {
    // Rule catalogue, section 4: 4,997,120 bytes per token of DeepSeek-V3 up to 5.14.
    EXPECT_EQ(reserved("deepseek-v3", asked(8192, {{"version", "5.14"}})),
              std::int64_t{8192} * 4997120);
    // minicpm3: K of 96 and V of 64 for 40 heads on 62 layers, 793,600; 35,712 since.
    EXPECT_EQ(reserved("minicpm3-4b", asked(8192, {{"version", "5.14"}})), 6501171200);
    EXPECT_EQ(reserved("minicpm3-4b", asked(8192)), 292552704);
}

TEST(Transformers, QuantisedCachesKeepTheLatestTokens) {
    const auto model = tiny(R"(,"num_hidden_layers":3)");
    // Quanto 0.2.7 gives 16,384 values 8,192 bytes in 4 bits and 256 pairs of 2-byte scale and
    // shift: 36 for 64. residual_length 128: up to 127 tokens are not quantised yet.
    EXPECT_EQ(reserved(model, in_format(asked(1000), "quanto_4bit")),
              3 * (873 * 4 * 36 + 127 * 512));
    EXPECT_EQ(reserved(model, asked(1000, {{"cache-implementation", "quantized"}})),
              3 * (873 * 4 * 36 + 127 * 512));
    EXPECT_EQ(reserved(model, in_format(asked(1000, {{"residual_length", "1"}}), "quanto_2bit")),
              3 * 1000 * 4 * 20);
    EXPECT_EQ(reserved(model, in_format(asked(50), "hqq_8bit")), 3 * (4 * 68 + 49 * 512));
    // Fp8QuantizedLayer: a byte for each value, a float for each tensor.
    EXPECT_EQ(reserved(model, in_format(asked(1000), "fp8_e4m3")), 3 * (1000 * 256 + 2 * 4));
    // "QuantizedCache is only supported for models with only full attention layers".
    EXPECT_THAT(refusal(load_model("gpt-oss-20b"), in_format(asked(1000), "quanto_4bit")),
                HasSubstr("quantises caches of full attention alone, found sliding attention"));
    EXPECT_THAT(refusal(model, in_format(asked(1000), "hqq_3bit")), HasSubstr("hqq_3bit"));
}

TEST(Transformers, SettingsThatContradictAreRefused) {
    const auto model = tiny(R"(,"num_hidden_layers":1)");
    EXPECT_THAT(
        refusal(model, in_format(asked(1000, {{"cache-implementation", "static"}}), "quanto_4bit")),
        HasSubstr("expects bf16, f16 or f32 for this cache, found quanto_4bit"));
    EXPECT_THAT(refusal(model, in_format(asked(1000), "q8_0")), HasSubstr("found q8_0"));
    EXPECT_THAT(refusal(model, asked(1000, {{"max-cache-len", "4096"}})),
                HasSubstr("expected auto without cache-implementation=static"));
    EXPECT_THAT(
        refusal(model, asked(1000, {{"cache-implementation", "static"}, {"max-cache-len", "999"}})),
        HasSubstr("expected at least --context 1000, found 999"));
    for (const char* name : {"chatglm3-6b", "openelm-270m", "rwkv7-2.9b", "zaya1-8b"}) {
        EXPECT_THAT(refusal(load_model(name), asked(8192)),
                    HasSubstr("engine transformers: no rule for"))
            << name;
    }
}

TEST(Transformers, EncoderDecoderCachesHoldBothSides) {
    // whisper-large-v3: 163,840 bytes per token, and 245,760,000 for 1,500 frames (rule catalogue).
    EXPECT_EQ(reserved("whisper-large-v3", asked(448)), std::int64_t{448} * 163840 + 245760000);
}

} // namespace
} // namespace kvcaliper
