// SPDX-License-Identifier: Apache-2.0
// What llama.cpp reserves. Figures are f16, one sequence, ubatch 512, flash attention on, unless a
// test says otherwise; sources stand beside them.
#include "core/engines/engine.h"
#include "tests/core/test_engines.h"

#include <gmock/gmock.h>

namespace kvcaliper {
namespace {

using testing::Contains;
using testing::HasSubstr;

Settings asked(std::int64_t context, std::vector<EngineSetting> options = {}) {
    return asked_of("llama_cpp", context, std::move(options));
}

/// One layer of each kind, so that a figure can be recomputed by hand: 2 KV heads of 64.
ModelPtr tiny(const std::string& more, const char* type = "llama") {
    return model_of(R"({"model_type":")" + std::string(type) +
                    R"(","num_hidden_layers":1,"hidden_size":256,"num_attention_heads":4,)"
                    R"("num_key_value_heads":2,"head_dim":64)" +
                    more + "}");
}

constexpr std::int64_t tiny_row = 2 * 2 * 64 * 2; ///< K and V of one cell, f16

ModelPtr tiny_window(const char* type = "gemma3_text") {
    return tiny(R"(,"layer_types":["sliding_attention"],"sliding_window":1024)", type);
}

TEST(LlamaCpp, WorkedFigures) {
    // 52 layers of 1,536 cells and 10 of the context, 8 KiB a cell: 1,264 MiB and 10.609375 GiB.
    EXPECT_EQ(reserved("gemma-3-27b", asked(8192)), std::int64_t{1264} << 20);
    EXPECT_EQ(reserved("gemma-3-27b", asked(131072)), 11391729664);
    // 12 layers of 768 cells and 12 of the context, 2 KiB a cell.
    EXPECT_EQ(reserved("gpt-oss-20b", asked(8192)), 220200960);
    EXPECT_EQ(reserved("gpt-oss-20b", asked(131072)), 3240099840);
    // DeepSeek-V4: raw cells 768, compressed caches, F32 compressor states.
    EXPECT_EQ(reserved("deepseek-v4-flash", asked(131072)), 947798016);
    EXPECT_EQ(reserved("deepseek-v3", asked(8192)), 575668224);
}

TEST(LlamaCpp, ContextsAndWindowsArePaddedTo256Cells) {
    EXPECT_EQ(reserved(tiny(""), asked(1000)), 1024 * tiny_row);
    EXPECT_EQ(reserved(tiny(""), asked(1)), 256 * tiny_row);
    EXPECT_EQ(reserved(tiny(""), asked(1024)), 1024 * tiny_row);
    EXPECT_EQ(reserved(tiny(""), asked(1025)), 1280 * tiny_row);
    EXPECT_EQ(reserved(tiny_window(), asked(8192)), 1536 * tiny_row); // 1,024 + 512
    EXPECT_EQ(reserved(tiny_window(), asked(1000)), 1024 * tiny_row); // never more than the context
}

TEST(LlamaCpp, OptionsChangeWhatTheySay) {
    const auto bytes = [](std::vector<EngineSetting> options) {
        return reserved(tiny_window(), asked(8192, std::move(options))) / tiny_row;
    };
    EXPECT_EQ(bytes({{"ubatch-size", "100"}}), 1280); // pad256(1,124)
    EXPECT_EQ(bytes({{"ubatch", "100"}}), 1280);
    EXPECT_EQ(bytes({{"ubatch-size", "4096"}}), 3072); // capped by the batch of 2,048
    EXPECT_EQ(bytes({{"ubatch-size", "4096"}, {"batch-size", "4096"}}), 5120);
    EXPECT_EQ(bytes({{"swa-full", "on"}}), 8192);
    EXPECT_EQ(bytes({{"parallel", "3"}}), 3 * 1536);
    EXPECT_EQ(bytes({{"parallel", "3"}, {"kv-unified", "true"}}), 3584); // pad256(3,072 + 512)
}

TEST(LlamaCpp, SequencesAreStreamsUnlessTheCacheIsUnified) {
    Settings settings = asked(1000);
    settings.sequences = 3;
    EXPECT_EQ(reserved(tiny(""), settings), 3 * 1024 * tiny_row);
    settings.engine_options = {{"kv-unified", "on"}};
    EXPECT_EQ(reserved(tiny(""), settings), 3072 * tiny_row); // pad256(3,000)
    settings.engine_options = {{"parallel", "2"}};
    EXPECT_THAT(refusal(tiny(""), settings), HasSubstr("expected at least --sequences 3"));
}

TEST(LlamaCpp, WindowsOfSomeTypesAreIgnored) {
    const auto phi3 = tiny(R"(,"sliding_window":1024)", "phi3");
    const Estimate answer = estimate(phi3, asked(8192));
    EXPECT_EQ(answer.reserved->bytes().count(), 8192 * tiny_row);
    EXPECT_EQ(answer.required.bytes().count(), 1024 * tiny_row);
    EXPECT_THAT(answer.notes, Contains(HasSubstr("does not use the window of model_type phi3")));
}

TEST(LlamaCpp, QuantisedCachesTakeTheirOwnTypesAndBlocks) {
    Settings settings = asked(1024);
    settings.k_format = "q8_0";
    settings.v_format = "q4_0";
    EXPECT_EQ(reserved(tiny(""), settings), 1024 * 2 * (68 + 36));
    settings.engine_options = {{"flash-attn", "off"}};
    EXPECT_THAT(refusal(tiny(""), settings), HasSubstr("needs flash attention"));
    settings = asked(1024);
    settings.k_format = "fp8_e4m3";
    EXPECT_THAT(refusal(tiny(""), settings), HasSubstr("no cache of type fp8_e4m3"));
    settings.k_format = "q8_0";
    EXPECT_THAT(refusal(model_of(R"({"model_type":"llama","num_hidden_layers":1,"hidden_size":320,
        "num_attention_heads":4,"num_key_value_heads":2})"),
                        settings),
                HasSubstr("32 does not divide 80"));
    EXPECT_THAT(refusal(load_model("deepseek-v3"), settings), HasSubstr("one tensor for K and V"));
    settings.v_format = "q8_0";
    EXPECT_EQ(reserved("deepseek-v3", settings), std::int64_t{61} * 1024 * 576 / 32 * 34);
}

TEST(LlamaCpp, WithoutFlashAttentionEveryValueRowIsAsWideAsTheWidest) {
    // gemma-4-26B-A4B: V of 2,048 on 25 sliding layers, of 1,024 on 5 full ones.
    const std::int64_t on = reserved("gemma-4-26b-a4b", asked(8192));
    const std::int64_t off = reserved("gemma-4-26b-a4b", asked(8192, {{"flash-attn", "off"}}));
    EXPECT_EQ(off - on, std::int64_t{5} * 8192 * 1024 * 2);
    EXPECT_EQ(reserved(tiny(""), asked(1000, {{"flash-attn", "off"}})), 1024 * tiny_row);
}

TEST(LlamaCpp, LatentAttentionIsExpandedForMiniCpm3) {
    // K of 64 + 32 and V of 64 for 40 heads: 775 KiB per token.
    const auto model = model_of(R"({"model_type":"minicpm3","num_hidden_layers":62,
        "hidden_size":2560,"num_attention_heads":40,"num_key_value_heads":40,"kv_lora_rank":256,
        "qk_rope_head_dim":32,"qk_nope_head_dim":64})");
    const Estimate answer = estimate(model, asked(8192));
    EXPECT_EQ(answer.reserved->bytes().count(), 6501171200);
    EXPECT_THAT(answer.notes, Contains(HasSubstr("K and V of every head of model_type minicpm3")));
}

TEST(LlamaCpp, StatesAreF32) {
    // 64 layers of 8,192 × (3 + 16) values.
    EXPECT_EQ(reserved("falcon-mamba-7b", asked(8192)), std::int64_t{64} * 8192 * 19 * 4);
    Settings settings = asked(8192);
    settings.sequences = 4;
    settings.state_format = "bf16";
    const Estimate answer = estimate(load_model("falcon-mamba-7b"), settings);
    EXPECT_EQ(answer.reserved->bytes().count(), std::int64_t{4} * 64 * 8192 * 19 * 4);
    EXPECT_EQ(answer.reserved_formats.state->name, "f32");
    EXPECT_THAT(answer.notes, Contains(HasSubstr("in F32 whatever")));
}

TEST(LlamaCpp, ReservedBelowRequiredNamesTheRule) {
    Settings settings = asked(8192);
    settings.index_format = "f32";
    EXPECT_THAT(estimate(load_model("deepseek-v3.2"), settings).notes,
                Contains("reserved is less than required: index keys have the type of K whatever "
                         "--index says"));
    const auto llama4 =
        tiny(R"(,"attention_chunk_size":65536,"no_rope_layers":[1])", "llama4_text");
    EXPECT_EQ(reserved(llama4, asked(65536)), (8192 + 512) * tiny_row);
    EXPECT_THAT(estimate(llama4, asked(65536)).notes,
                Contains(HasSubstr("the chunk of llama4 is 8,192 whatever the file says")));
}

TEST(LlamaCpp, WhatHasNoRuleIsRefused) {
    EXPECT_THAT(refusal(tiny_window("llama"), asked(8192)),
                HasSubstr("no rule for the window of model_type llama yet"));
    EXPECT_THAT(refusal(load_model("bart-large"), asked(8192)),
                HasSubstr("engine llama_cpp: no rule for model_type bart yet"));
    EXPECT_THAT(refusal(load_model("recurrentgemma-2b"), asked(8192)), HasSubstr("no rule for"));
    EXPECT_THAT(refusal(tiny("", "gptj"), asked(8192)), HasSubstr("no rule for model_type gptj"));
}

TEST(LlamaCpp, TheExplanationIsTheCalculation) {
    EXPECT_EQ(explain(*estimate(tiny(""), asked(1000)).reserved),
              "reserved by llama.cpp at 1,000 tokens × 1 = 524,288 B (512 KiB)\n"
              "  full attention, key: 1 layers × 1,024 cells = pad256(1,000) × 2 KV heads × 128 "
              "bytes per row of 64 head_dim (f16) = 262,144 B\n"
              "  full attention, value: 1 layers × 1,024 cells = pad256(1,000) × 2 KV heads × 128 "
              "bytes per row of 64 head_dim (f16) = 262,144 B\n");
}

TEST(Engines, OptionsAreChecked) {
    const auto text = [](const char* name, const char* value) {
        return refusal(tiny(""), asked(8192, {{name, value}}));
    };
    EXPECT_THAT(text("ubatch-sise", "1"), HasSubstr("did you mean ubatch-size?"));
    EXPECT_THAT(text("block-size", "16"), HasSubstr("expected an option of llama_cpp"));
    EXPECT_THAT(text("ubatch-size", "0"), HasSubstr("expected a whole number from 1, found \"0\""));
    EXPECT_THAT(text("ubatch-size", "12x"), HasSubstr("found \"12x\""));
    EXPECT_THAT(text("swa-full", "maybe"), HasSubstr("expected on|off, found \"maybe\""));
    EXPECT_THAT(text("flash-attn", ""), HasSubstr("expected auto|on|off"));
    EXPECT_THAT(text("flash-attn", "on|off"), HasSubstr("expected auto|on|off"));
    Settings settings;
    settings.engine_options = {{"ubatch-size", "1"}};
    EXPECT_THAT(refusal(tiny(""), settings), HasSubstr("expected an option of ideal"));
    settings.engine = "magic";
    EXPECT_THAT(refusal(tiny(""), settings), HasSubstr("expected one of ideal, llama_cpp"));
}

TEST(Engines, TheRequiredViewKeepsTheFormatsOfTheArchitecture) {
    const Estimate ideal = estimate(load_model("falcon-mamba-7b"), Settings{});
    const Estimate beside = estimate(load_model("falcon-mamba-7b"), asked(8192));
    EXPECT_EQ(ideal.required.bytes(), beside.required.bytes());
    EXPECT_FALSE(ideal.reserved.has_value());
    EXPECT_EQ(beside.formats.conv->name, "bf16");
    EXPECT_EQ(beside.reserved_formats.conv->name, "f32");
    EXPECT_THROW(resolve_formats(asked(8192), ideal.model->plan), Error); // curves, verify
}

} // namespace
} // namespace kvcaliper
