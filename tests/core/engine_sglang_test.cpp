// SPDX-License-Identifier: Apache-2.0
// What SGLang's pools take, bf16 unless a test says otherwise; sources stand beside the figures.
#include "core/engines/engine.h"
#include "tests/core/test_engines.h"

#include <gmock/gmock.h>

namespace kvcaliper {
namespace {

using testing::Contains;
using testing::HasSubstr;

Settings asked(std::int64_t context, std::vector<EngineSetting> options = {}) {
    return asked_of("sglang", context, std::move(options));
}

Settings in_fp8(Settings settings) {
    settings.k_format = settings.v_format = "fp8_e4m3";
    return settings;
}

/// Layers of 2 KV heads of 64: 512 bytes per token in bf16.
ModelPtr tiny(const std::string& more, const char* type = "llama") {
    return model_of(R"({"model_type":")" + std::string(type) +
                    R"(","hidden_size":256,"num_attention_heads":4,"num_key_value_heads":2,)"
                    R"("head_dim":64)" +
                    more + "}");
}

/// One sliding layer and one full one.
ModelPtr tiny_pooled() {
    return tiny(R"(,"num_hidden_layers":2,"sliding_window":128)", "gpt_oss");
}

/// The bytes of the terms whose label holds a text.
std::int64_t part(const Estimate& answer, const std::string& text) {
    Ratio sum;
    for (const Term& term : answer.reserved->terms) {
        if (term.label.find(text) != std::string::npos) {
            sum = sum + term.value();
        }
    }
    return sum.to_integer();
}

/// Hundredths of a GiB, rounded half up: what SGLang prints as "43.67 GB".
std::int64_t printed(std::int64_t bytes) {
    return (bytes * 100 + (std::int64_t{1} << 29)) / (std::int64_t{1} << 30);
}

TEST(Sglang, PrintedByTheEngine) {
    // DeepSeek-V3.2, fp8: "#tokens: 975424, KV size: 43.67 GB" (issue 5); 656 + 132 bytes per token
    // of 61 layers, one page of 64 more.
    const Settings dsa = in_fp8(asked(975424));
    EXPECT_EQ(printed(reserved("deepseek-v3.2", dsa)), 4367);
    EXPECT_EQ(reserved("deepseek-v3.2", dsa), std::int64_t{61} * (975424 + 64) * (656 + 132));
    // gemma-4-26B-A4B, fp8: "swa size: 29664, full size: 37081", "mem usage: 3.18 GB" (stored
    // public file 70350793512): 25 layers of 8 heads of 256, 5 of 2 heads of 512.
    const Settings swa = in_fp8(asked(37081));
    EXPECT_EQ(printed(reserved("gemma-4-26b-a4b", swa)), 318);
    EXPECT_EQ(reserved("gemma-4-26b-a4b", swa), std::int64_t{29665} * 102400 + 37082 * 10240);
    // Qwen3.8-27B, max_running_requests 72: "max_mamba_cache_size: 360, conv_state size: 0.99GB,
    // ssm_state size: 50.77GB" and "#tokens: 228520, K size: 3.49 GB, V size: 3.49 GB" in fp8
    // (stored public file 69213517065). The dimensions are those of Qwen3.6-27B.
    Settings states = asked(1);
    states.sequences = 72;
    const Estimate hybrid = estimate(load_model("qwen3.6-27b"), states);
    EXPECT_EQ(printed(part(hybrid, "conv state")), 99);
    EXPECT_EQ(printed(part(hybrid, "recurrent state")), 5077);
    const Estimate tokens = estimate(load_model("qwen3.6-27b"), in_fp8(asked(228520)));
    EXPECT_EQ(printed(part(tokens, "full attention, key")), 349);
    EXPECT_EQ(printed(part(tokens, "full attention, value")), 349);
}

TEST(Sglang, PrintedByOneOfFourRanks) {
    const auto on_four = [](const char* model, std::int64_t tokens) {
        Settings settings = asked(tokens);
        settings.parallel.tensor = 4;
        Estimate answer = estimate(load_model(model), settings);
        answer.reserved = answer.per_rank->reserved;
        return answer;
    };
    // Qwen3-235B-A22B: "K size: 8.23 GB" for 367,404 tokens (vllm-project/vllm issue 21348).
    const Estimate qwen = on_four("qwen3-235b-a22b", 367404);
    EXPECT_EQ(printed(part(qwen, "key")), 823);
    EXPECT_EQ(part(qwen, "key"), std::int64_t{94} * 367405 * 256);
    // Nemotron-H: "#tokens: 1557504, K size: 2.23 GB, V size: 2.23 GB", "max_mamba_cache_size: 8,
    // conv_state size: 0.00 GB, ssm_state size: 0.10 GB" (stored public file 56880170874): one
    // of two KV heads, the dimensions of Nemotron-3-Nano.
    const Estimate nemotron = on_four("nemotron-3-nano-30b-a3b", 1557504);
    EXPECT_EQ(printed(part(nemotron, "key")), 223);
    EXPECT_EQ(printed(part(nemotron, "value")), 223);
    EXPECT_EQ(part(nemotron, "recurrent state"), std::int64_t{23} * 6 * 16 * 64 * 128 * 4);
    // A Qwen2 of 15.54 GB on each of four ranks, 32B: "#tokens: 46611, K size: 1.42 GB, V size:
    // 1.42 GB" (stored public file 47376055009).
    const Estimate qwen2 = on_four("qwen2.5-32b", 46611);
    EXPECT_EQ(printed(part(qwen2, "key")), 142);
    EXPECT_EQ(printed(part(qwen2, "value")), 142);
    // The latent is the same on every rank.
    EXPECT_EQ(on_four("deepseek-v3", 8192).reserved->bytes().count(),
              std::int64_t{61} * 8193 * 1152);
}

TEST(Sglang, StagesOfAPipeline) {
    // get_pp_indices: of 94 layers on four ranks the last two hold 24.
    Settings settings = asked(8192);
    settings.parallel.pipeline = 4;
    const Estimate answer = estimate(load_model("qwen3-235b-a22b"), settings);
    EXPECT_EQ(answer.per_rank->reserved->bytes().count(), std::int64_t{24} * 8193 * 2048);
    EXPECT_EQ(answer.per_rank->layers.last - answer.per_rank->layers.first, 24);
    EXPECT_GE(answer.per_rank->layers.first, 46);
}

TEST(Sglang, SlotsAreWholePagesAndOneMore) {
    const auto model = tiny(R"(,"num_hidden_layers":1)");
    EXPECT_EQ(reserved(model, asked(1000)), 1001 * 512);
    EXPECT_EQ(reserved(model, asked(1000, {{"page-size", "64"}})), (1024 + 64) * 512);
    Settings settings = asked(1000, {{"page-size", "64"}});
    settings.sequences = 3;
    EXPECT_EQ(reserved(model, settings), (3 * 1024 + 64) * 512);
    EXPECT_THAT(explain(*estimate(model, settings).reserved),
                HasSubstr("3,136 slots = (3 × pad64(1,000) + 64)"));
    settings.k_format = settings.v_format = "mxfp8"; // one exponent for 32 values
    EXPECT_EQ(reserved(model, settings), (3 * 1024 + 64) * 2 * 2 * (64 + 2));
}

TEST(Sglang, SlidingLayersHaveAPoolByRatio) {
    EXPECT_EQ(reserved(tiny_pooled(), asked(1000)), (1001 + 801) * 512);
    EXPECT_EQ(reserved(tiny_pooled(), asked(1000, {{"swa-full-tokens-ratio", "0.25"}})),
              (1001 + 251) * 512);
    EXPECT_EQ(reserved(tiny_pooled(), asked(1000, {{"page-size", "16"}})),
              (1008 + 16 + 800 + 16) * 512); // floor(0.8 × 1,008) = 806, whole pages: 800
    EXPECT_EQ(reserved(tiny_pooled(), asked(1000, {{"disable-hybrid-swa-memory", "on"}})),
              2 * 1001 * 512);
}

TEST(Sglang, APoolTooSmallForAWindowIsRaised) {
    // validate_swa_pool_size wants more than 128 + 1 slots: 130 of ceil(130 / 0.8) = 163.
    const Estimate small = estimate(tiny_pooled(), asked(100));
    EXPECT_EQ(small.reserved->bytes().count(), (164 + 131) * 512);
    EXPECT_THAT(small.notes, Contains(HasSubstr("raised from 100 to 163 tokens")));
    // Ten prompts of 100 tokens want 101 slots each: 1,010 of 1,263.
    Settings ten = asked(100);
    ten.sequences = 10;
    EXPECT_EQ(reserved(tiny_pooled(), ten), (1264 + 1011) * 512);
}

TEST(Sglang, WithoutThePrefixCacheTheSlidingPoolHoldsWhatRuns) {
    // compute_swa_request_cap: (128 + 128 + 1) + 1 per request, two chunks of prefill and a page.
    Settings settings = asked(100000, {{"disable-radix-cache", "on"}});
    EXPECT_EQ(reserved(tiny_pooled(), settings), (100001 + 258 + 2 * 8192 + 1 + 1) * 512);
    settings.sequences = 4;
    settings.engine_options.push_back({"chunked-prefill-size", "2048"});
    EXPECT_EQ(reserved(tiny_pooled(), settings), (400001 + 4 * 258 + 2 * 2048 + 1 + 1) * 512);
}

TEST(Sglang, OtherWindowsReserveTheWholeContext) {
    // 62 layers of 16 heads of 128 (model_overrides/gemma2_gemma3.py switches the pool off).
    const Estimate gemma = estimate(load_model("gemma-3-27b"), asked(8192));
    EXPECT_EQ(gemma.reserved->bytes().count(), std::int64_t{62} * 8193 * 8192);
    EXPECT_THAT(gemma.notes, Contains(HasSubstr("no sliding pool for model_type gemma3_text")));
    // Gemma 3n: rows for all 35 layers, where 20 would do.
    EXPECT_EQ(reserved("gemma-3n-e4b", asked(8192)), std::int64_t{35} * 8193 * 2048);
}

TEST(Sglang, LatentAttention) {
    EXPECT_EQ(reserved("deepseek-v3", asked(8192)), std::int64_t{61} * 8193 * 1152);
    EXPECT_EQ(reserved("deepseek-v3", in_fp8(asked(8192))), std::int64_t{61} * 8193 * 576);
    Settings settings = asked(8192);
    settings.k_format = settings.v_format = "nvfp4"; // MLATokenToKVPoolFP4: 576 / 2 + 576 / 16
    EXPECT_EQ(reserved("deepseek-v3", settings), std::int64_t{61} * 8193 * 324);
    EXPECT_EQ(reserved("deepseek-v3.2", asked(8192)), std::int64_t{61} * 8256 * (1152 + 132));
    EXPECT_EQ(reserved("deepseek-v3.2", in_fp8(asked(8192, {{"dsa-decode-backend", "trtllm"}}))),
              std::int64_t{61} * 8256 * (576 + 132));
    EXPECT_THAT(refusal(load_model("deepseek-v3.2"), asked(8192, {{"page-size", "1"}})),
                HasSubstr("index keys in pages of 64"));
}

TEST(Sglang, LayersThatReuseAnIndexKeepNone) {
    const auto model = model_of(R"({"model_type":"glm_moe_dsa","num_hidden_layers":2,
        "hidden_size":256,"num_attention_heads":4,"num_key_value_heads":4,"kv_lora_rank":128,
        "qk_rope_head_dim":64,"qk_nope_head_dim":64,"v_head_dim":64,"index_head_dim":128,
        "indexer_types":["full","shared"]})");
    EXPECT_EQ(reserved(model, asked(64)), 128 * (2 * 192 * 2 + 132));
    // A rank of shared layers alone has pages of 64, too.
    Settings last = asked(64);
    last.parallel.pipeline = 2;
    const auto rank = estimate(model, last).per_rank;
    EXPECT_EQ(rank->reserved->bytes().count(), 128 * (192 * 2 + 132));
    EXPECT_EQ(rank->reserved_total->count(), 128 * (2 * 192 * 2 + 132));
}

TEST(Sglang, StatesByRequest) {
    // LFM2-1.2B: ten layers of 2 × 2,048 values, three states for a sequence and one more.
    EXPECT_EQ(part(estimate(load_model("lfm2-1.2b"), asked(8192)), "conv state"),
              std::int64_t{10} * 4 * 2 * 2048 * 2);
    const std::int64_t one_state = std::int64_t{36} * (3 * 8192 * 2 + 32 * 128 * 128 * 4);
    const auto states = [](std::vector<EngineSetting> options) {
        const Estimate answer =
            estimate(load_model("qwen3-next-80b-a3b"), asked(8192, std::move(options)));
        return part(answer, "state");
    };
    EXPECT_EQ(states({}), 6 * one_state); // extra_buffer: 3 + 2, and one that padding writes to
    EXPECT_EQ(states({{"mamba-radix-cache-strategy", "no_buffer"}}), 4 * one_state);
    EXPECT_EQ(states({{"mamba-radix-cache-strategy", "extra_buffer_lazy"}}), 5 * one_state);
    EXPECT_EQ(states({{"disable-radix-cache", "on"}}), 2 * one_state);
    EXPECT_EQ(states({{"max-mamba-cache-size", "99"}}), 100 * one_state);
    EXPECT_EQ(states({{"mamba-ssm-dtype", "bfloat16"}}),
              std::int64_t{6} * 36 * (3 * 8192 * 2 + 32 * 128 * 128 * 2));
    EXPECT_THAT(
        refusal(load_model("qwen3-next-80b-a3b"), asked(8192, {{"max-mamba-cache-size", "4"}})),
        HasSubstr("expected at least 5 (5 states for each sequence), found 4"));
}

TEST(Sglang, FormatsItDoesNotHaveAreRefused) {
    const auto model = tiny(R"(,"num_hidden_layers":1)");
    Settings settings = asked(8192);
    settings.k_format = "fp8_e4m3";
    EXPECT_THAT(refusal(model, settings), HasSubstr("one type for K and V"));
    settings.k_format = settings.v_format = "nvfp4";
    EXPECT_THAT(refusal(model, settings), HasSubstr("no rule for a cache of type nvfp4"));
    settings = asked(8192);
    settings.index_format = "bf16";
    EXPECT_THAT(refusal(load_model("deepseek-v3.2"), settings), HasSubstr("as dsa_index_fp8"));
    settings = asked(8192);
    settings.state_format = "q8_0";
    EXPECT_THAT(refusal(load_model("qwen3-next-80b-a3b"), settings),
                HasSubstr("--state: engine sglang expects bf16, f16 or f32"));
    settings.state_format = "f32";
    settings.engine_options = {{"mamba-ssm-dtype", "float16"}};
    EXPECT_THAT(refusal(load_model("qwen3-next-80b-a3b"), settings),
                HasSubstr("expected auto beside --state f32"));
}

TEST(Sglang, WhatHasNoRuleIsRefused) {
    for (const char* name : {"deepseek-v4-flash", "recurrentgemma-2b", "jamba-v0.1", "bart-large",
                             "openelm-270m", "falcon-40b"}) {
        EXPECT_THAT(refusal(load_model(name), asked(8192)), HasSubstr("engine sglang: no rule for"))
            << name;
    }
    EXPECT_THAT(
        refusal(load_model("gemma-4-26b-a4b"), asked(8192, {{"disable-hybrid-swa-memory", "on"}})),
        HasSubstr("layers of several widths in one pool"));
}

TEST(Sglang, OptionsAreChecked) {
    const auto text = [](const char* name, const char* value) {
        return refusal(tiny(R"(,"num_hidden_layers":1)"), asked(8192, {{name, value}}));
    };
    for (const char* ratio : {"0", "1.1", "-0.5", "half", ""}) {
        EXPECT_THAT(text("swa-full-tokens-ratio", ratio),
                    HasSubstr("expected a number above 0, at most 1"));
    }
    EXPECT_THAT(text("dsa-decode-backend", "tilelang"), HasSubstr("flashmla_kv"));
    EXPECT_THAT(text("block-size", "16"), HasSubstr("expected an option of sglang"));
}

} // namespace
} // namespace kvcaliper
