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

TEST(Vllm, AnArchitecturesHookDecidesAboutStates) {
    // MODELS_CONFIG_MAP of model_executor/models/config.py: Qwen3_5ForConditionalGeneration takes
    // the file's mamba_ssm_dtype, a wrapper of another name does not.
    const auto state = [](const std::string& architecture, const std::string& dtype) {
        const auto model =
            model_of(R"({"model_type":"qwen3_5","text_config":{"model_type":"qwen3_5_text",
            "num_hidden_layers":4,"hidden_size":1024,"num_attention_heads":8,
            "num_key_value_heads":2,"head_dim":256,"linear_num_key_heads":16,
            "linear_num_value_heads":16,"linear_key_head_dim":128,"linear_value_head_dim":128,
            "linear_conv_kernel_dim":4,"full_attention_interval":4)" +
                     dtype + "}" + architecture + "}");
        return estimate(model, asked(8192)).reserved_formats.state->name;
    };
    const std::string float32 = R"(,"mamba_ssm_dtype":"float32")";
    EXPECT_EQ(state(R"(,"architectures":["Qwen3_5ForConditionalGeneration"])", float32), "f32");
    EXPECT_EQ(state(R"(,"architectures":["Qwen3_5ForConditionalGeneration"])", ""), "bf16");
    EXPECT_EQ(state(R"(,"architectures":["MiniCPMV4_6ForConditionalGeneration"])", float32),
              "bf16");
    EXPECT_EQ(state("", ""), "f32"); // taken to be the type's own
}

TEST(Vllm, KimiLinearKeepsLatentsBesideFloat32States) {
    // kda_state_shape and kda_state_dtype: 3 × 4,096 × 3 in bf16, 32 × 128 × 128 in fp32; blocks of
    // 16 × ceil(2,170,880 / (16 × 1,152)) = 1,888 tokens; 20 layers in three groups of seven.
    EXPECT_EQ(reserved("kimi-linear-48b", asked(8192)), std::int64_t{7} * 1888 * 1152 * (5 + 3));
}

TEST(Vllm, AnIndexKeyBesideKeysAndValuesIsACacheOfItsOwn) {
    // 0.33, models/minimax_m3: 60 layers of 4 KV heads of 128, 57 index keys of 128 in bf16, blocks
    // of 128 tokens.
    const auto m3 = model_of(R"({"model_type":"minimax_m3_vl_text","num_hidden_layers":2,
        "hidden_size":6144,"num_attention_heads":64,"num_key_value_heads":4,"head_dim":128,
        "layer_types":["full_attention","minimax_m3_sparse"],"index_head_dim":128})");
    EXPECT_EQ(reserved(m3, asked(100)), 128 * (2 * 2048 + 256));
}

TEST(Vllm, AsynchronousSchedulingKeepsABatchMoreInFlight) {
    // 0.33, VllmConfig.max_in_flight_tokens: ceil((1,023 + 16,384) / 16) + 1 blocks.
    const auto window = tiny(R"(,"num_hidden_layers":1,"sliding_window":1024)", "mistral");
    EXPECT_EQ(reserved(window, asked(131072, {{"async-scheduling", "on"}})), (1088 + 1) * 16 * 512);
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

TEST(Vllm, CompressedAttentionSharesOnePool) {
    // vllm-project/vllm issue 44376, DeepSeek-V4-Flash on vLLM 0.22 with 16,384 batched tokens (the
    // default of LLM on such a device): 30,000 tokens need "6.66 GiB KV cache", and 5.44 GiB hold
    // "13528". By hand: 22 slots of 37,440 + 8,640 + 1,728 bytes; 118 blocks of compressed entries,
    // two groups of 259 of windows, 4,099 and 2,065 of compressors.
    const auto at = [](std::int64_t context) {
        return reserved("deepseek-v4-flash", asked(context, {{"max-num-batched-tokens", "16384"}}));
    };
    EXPECT_EQ(at(30000), std::int64_t{22} * 47808 * (118 + 2 * 259 + 4099 + 2065));
    EXPECT_EQ(format_bytes(Bytes(at(30000))), "6.66 GiB");
    EXPECT_EQ(format_bytes(Bytes(at(13528))), "5.44 GiB");
    // corpus/golden.jsonl, an independent derivation (8,192 batched tokens; confidence low there).
    EXPECT_EQ(reserved("deepseek-v4-flash", asked(8192)), 3538174464);
    EXPECT_EQ(reserved("deepseek-v4-flash", asked(131072)), 4066166016);
    EXPECT_EQ(reserved("deepseek-v4-pro", asked(131072)), 5729597568);
    Settings settings = asked(8192);
    settings.k_format = settings.v_format = "bf16";
    EXPECT_THAT(refusal(load_model("deepseek-v4-flash"), settings), HasSubstr("as fp8_ds_mla"));
    EXPECT_THAT(refusal(load_model("deepseek-v4-flash"),
                        asked(8192, {{"disable-hybrid-kv-cache-manager", "on"}})),
                HasSubstr("no hybrid manager with compressed attention"));
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
