// SPDX-License-Identifier: Apache-2.0
// What vLLM admits one request with: blocks of 16 tokens, 8,192 batched tokens, bf16, unless a test
// says otherwise; sources stand beside the figures.
#include "core/engines/engine.h"
#include "tests/core/test_engines.h"

#include <gmock/gmock.h>

namespace kvcaliper {
namespace {

using testing::Contains;
using testing::HasSubstr;

Settings asked(std::int64_t context, std::vector<EngineSetting> options = {}) {
    return asked_of("vllm", context, std::move(options));
}

/// Layers of 2 KV heads of 64: 512 bytes per token in bf16.
ModelPtr tiny(const std::string& more, const char* type = "llama") {
    return model_of(R"({"model_type":")" + std::string(type) +
                    R"(","hidden_size":256,"num_attention_heads":4,"num_key_value_heads":2,)"
                    R"("head_dim":64)" +
                    more + "}");
}

/// Five sliding layers and one full one.
ModelPtr tiny_gemma() {
    return tiny(R"(,"num_hidden_layers":6,"sliding_window":1024)", "gemma3_text");
}

TEST(Vllm, WorkedFigures) {
    // g = 10: one full group and six sliding ones, 52 layers in 60 slots, pages of 131,072 bytes;
    // 512 + 6 × 513 and 8,192 + 6 × 577 blocks.
    EXPECT_EQ(reserved("gemma-3-27b", asked(8192)), 4705484800);
    EXPECT_EQ(reserved("gemma-3-27b", asked(131072)), 15275130880);
    EXPECT_EQ(reserved("gpt-oss-20b", asked(8192)), 403046400);
    EXPECT_EQ(reserved("gpt-oss-20b", asked(131072)), 3426091008);
    EXPECT_EQ(reserved("llama-3-8b", asked(8192)), 1073741824);
    // DeepSeek-V3.2: 1,152 bytes of latent and 132 of index key per token and layer.
    EXPECT_EQ(reserved("deepseek-v3.2", asked(8192)), std::int64_t{61} * 8192 * (1152 + 132));
}

TEST(Vllm, BlocksAreRoundedUp) {
    const auto model = tiny(R"(,"num_hidden_layers":1)");
    EXPECT_EQ(reserved(model, asked(1)), 16 * 512);
    EXPECT_EQ(reserved(model, asked(16)), 16 * 512);
    EXPECT_EQ(reserved(model, asked(17)), 32 * 512);
    EXPECT_EQ(reserved(model, asked(17, {{"block-size", "64"}})), 64 * 512);
    Settings settings = asked(17);
    settings.sequences = 3;
    EXPECT_EQ(reserved(model, settings), 3 * 32 * 512);
    settings.k_format = settings.v_format = "fp8_per_token_head"; // 4 bytes more for each row
    EXPECT_EQ(reserved(model, settings), 3 * 32 * (2 * 2 * (64 + 4)));
}

TEST(Vllm, AWindowHoldsWhatIsInFlightAndOneBlockMore) {
    const auto window = tiny(R"(,"num_hidden_layers":1,"sliding_window":1024)", "mistral");
    EXPECT_EQ(reserved(window, asked(8192)), (512 + 1) * 16 * 512);
    EXPECT_EQ(reserved(window, asked(131072)), (576 + 1) * 16 * 512); // ceil(9,215 / 16)
    EXPECT_EQ(reserved(window, asked(131072, {{"max-num-batched-tokens", "1024"}})),
              (128 + 1) * 16 * 512); // ceil(2,047 / 16)
    EXPECT_EQ(reserved(window, asked(8192, {{"disable-hybrid-kv-cache-manager", "on"}})),
              (512 + 1) * 16 * 512); // windows alone stay windows
}

TEST(Vllm, WithoutTheHybridManagerWindowsAreFull) {
    // One full layer and five sliding ones: groups of one.
    EXPECT_EQ(reserved(tiny_gemma(), asked(131072)), (8192 + 5 * 577) * 16 * 512);
    EXPECT_EQ(reserved(tiny_gemma(), asked(131072, {{"disable-hybrid-kv-cache-manager", "true"}})),
              6 * 8192 * 16 * 512);
}

TEST(Vllm, ShortGroupsArePadded) {
    const Estimate answer = estimate(load_model("gemma-3-27b"), asked(8192));
    EXPECT_THAT(answer.notes, Contains(HasSubstr("groups of 10: 8 layer slots are padding")));
    EXPECT_THAT(explain(*answer.reserved),
                HasSubstr("6 groups × 10 layer slots per group × 513 blocks = ceil(min(1,024 - 1 + "
                          "8,192, 8,192) / 16) + 1 × 131,072 bytes per page of 16 tokens"));
    // gpt-oss has as many of one kind as of the other: one group each, nothing unused.
    for (const std::string& note : estimate(load_model("gpt-oss-20b"), asked(8192)).notes) {
        EXPECT_EQ(note.find("padding"), std::string::npos);
    }
}

TEST(Vllm, PagesOfSeveralSizesAreUnified) {
    // gemma-4-26B-A4B: 8,192 bytes per token on 25 sliding layers, 4,096 on 5 full ones, whose
    // blocks grow to 32 tokens. 256 + 5 × 513 blocks.
    EXPECT_EQ(reserved("gemma-4-26b-a4b", asked(8192)), std::int64_t{5} * 131072 * (256 + 5 * 513));
}

TEST(Vllm, BlocksOfHybridsAreRaisedToHoldAState) {
    const Estimate next = estimate(load_model("qwen3-next-80b-a3b"), asked(8192));
    // State of 1,097,728 bytes in bf16: blocks of 544 tokens, pages of 1,114,112; 16 + 3 blocks.
    EXPECT_EQ(next.reserved->bytes().count(), std::int64_t{12} * 1114112 * (16 + 3));
    EXPECT_THAT(next.notes, Contains(HasSubstr("from 16 to 544 tokens")));
    EXPECT_THAT(next.notes, Contains(HasSubstr("reserved is less than required")));
    EXPECT_THAT(next.notes, Contains(HasSubstr("states are bf16 (mamba-ssm-cache-dtype auto)")));
    // In float32 2,146,304 bytes: blocks of 1,056 tokens.
    const std::int64_t float32 = std::int64_t{12} * 1056 * 2048 * (8 + 3);
    EXPECT_EQ(reserved("qwen3-next-80b-a3b", asked(8192, {{"mamba-ssm-cache-dtype", "float32"}})),
              float32);
    Settings settings = asked(8192);
    settings.state_format = "f32";
    EXPECT_EQ(reserved("qwen3-next-80b-a3b", settings), float32);
    settings.engine_options = {{"mamba-ssm-cache-dtype", "float16"}};
    EXPECT_THAT(refusal(load_model("qwen3-next-80b-a3b"), settings),
                HasSubstr("expected auto beside"));
    EXPECT_THAT(refusal(load_model("qwen3-next-80b-a3b"),
                        asked(8192, {{"disable-hybrid-kv-cache-manager", "on"}})),
                HasSubstr("can not treat states and attention alike"));
}

TEST(Vllm, StatesAreTheModelsTypeUnlessTheFileSaysOtherwise) {
    // 64 layers of 8,192 × (3 + 16) values.
    EXPECT_EQ(reserved("falcon-mamba-7b", asked(8192)), std::int64_t{64} * 8192 * 19 * 2);
    EXPECT_EQ(reserved("falcon-mamba-7b", asked(8192, {{"mamba-cache-dtype", "float32"}})),
              std::int64_t{64} * 8192 * 19 * 4);
    // Prefix caching aligned to blocks keeps two pages of each state.
    EXPECT_EQ(reserved("falcon-mamba-7b", asked(8192, {{"mamba-cache-mode", "align"}})),
              std::int64_t{2} * 64 * 8192 * 19 * 2);
    // Nemotron-3-Nano: float32, blocks of 2,096 tokens; 23 layers in four groups of six.
    EXPECT_EQ(reserved("nemotron-3-nano-30b-a3b", asked(8192)),
              std::int64_t{6} * 2146304 * (4 + 4));
}

TEST(Vllm, LatentAttention) {
    EXPECT_EQ(reserved("deepseek-v3", asked(8192)), 575668224);
    Settings settings = asked(8192);
    settings.k_format = settings.v_format = "fp8_e4m3";
    EXPECT_EQ(reserved("deepseek-v3", settings), 575668224 / 2);
    EXPECT_EQ(reserved("deepseek-v3.2", settings), std::int64_t{61} * 8192 * (656 + 132));
    EXPECT_EQ(reserved("deepseek-v3.2", asked(65)), std::int64_t{61} * 128 * (1152 + 132));
    settings.k_format = settings.v_format = "nvfp4";
    EXPECT_THAT(refusal(load_model("deepseek-v3"), settings), HasSubstr("no rule for latent"));
    // minicpm3: K of 96 and V padded to 96 for 40 heads, 930 KiB per token.
    const auto minicpm3 = model_of(R"({"model_type":"minicpm3","num_hidden_layers":62,
        "hidden_size":2560,"num_attention_heads":40,"num_key_value_heads":40,"kv_lora_rank":256,
        "qk_rope_head_dim":32,"qk_nope_head_dim":64})");
    EXPECT_EQ(reserved(minicpm3, asked(8192)), 7801405440);
}

TEST(Vllm, LayersThatReadAnotherCacheGetNoneOrOneOfTheirOwn) {
    // Hunyuan-Large: all 64 layers, where 32 would do. Gemma 3n: 20 of 35.
    EXPECT_EQ(reserved("hunyuan-large", asked(8192)), 1342177280);
    EXPECT_EQ(reserved("gemma-3n-e4b", asked(8192)),
              std::int64_t{4} * 16 * 2048 * (512 + 4 * 513)); // 4 full, 16 sliding: groups of 4
}

TEST(Vllm, FormatsItDoesNotHaveAreRefused) {
    const auto model = tiny(R"(,"num_hidden_layers":1)");
    Settings settings = asked(8192);
    settings.k_format = "fp8_e4m3";
    EXPECT_THAT(refusal(model, settings), HasSubstr("one type for K and V"));
    settings.k_format = settings.v_format = "q8_0";
    EXPECT_THAT(refusal(model, settings), HasSubstr("no cache of type q8_0"));
    settings = asked(8192);
    settings.index_format = "bf16";
    EXPECT_THAT(refusal(load_model("deepseek-v3.2"), settings), HasSubstr("as dsa_index_fp8"));
}

TEST(Vllm, WhatHasNoRuleIsRefused) {
    EXPECT_THAT(refusal(load_model("deepseek-v4-flash"), asked(8192)),
                HasSubstr("engine vllm: no rule for compressed_attention layers of model_type "
                          "deepseek_v4 yet"));
    EXPECT_THAT(
        refusal(tiny(R"(,"num_hidden_layers":2,"sliding_window":1024)", "cwm"), asked(8192)),
        HasSubstr("no rule for the window of model_type cwm yet"));
    EXPECT_THAT(refusal(load_model("recurrentgemma-2b"), asked(8192)),
                HasSubstr("no rule for rglru layers"));
    EXPECT_THAT(refusal(load_model("bart-large"), asked(8192)), HasSubstr("cross_attention"));
    EXPECT_THAT(refusal(tiny(R"(,"num_hidden_layers":4,"use_sliding_window":true,
        "sliding_window":1024,"max_window_layers":2)",
                             "qwen2"),
                        asked(8192)),
                HasSubstr("no rule for windows on some layers of model_type qwen2"));
}

TEST(Vllm, OptionsAreChecked) {
    const auto text = [](const char* name, const char* value) {
        return refusal(tiny(R"(,"num_hidden_layers":1)"), asked(8192, {{name, value}}));
    };
    EXPECT_THAT(text("block-size", "17"), HasSubstr("expected 1|8|16|32|64|128|256, found \"17\""));
    EXPECT_THAT(text("max-num-batched-tokens", "auto"), HasSubstr("a whole number from 1"));
    EXPECT_THAT(text("mamba-cache-dtype", "fp8"), HasSubstr("auto|bfloat16|float16|float32"));
    EXPECT_THAT(text("ubatch-size", "512"), HasSubstr("expected an option of vllm"));
}

} // namespace
} // namespace kvcaliper
