// SPDX-License-Identifier: Apache-2.0
// The traps of the rule catalogue (section 8) that concern the types read here. Expected bytes are
// hand calculations: layers × 2 × KV heads × head width × 2 bytes.
#include "core/catalog.h"
#include "tests/core/test_models.h"

#include <gmock/gmock.h>
#include <set>

namespace kvcaliper {
namespace {

using testing::HasSubstr;

TEST(Architectures, Qwen2WindowIsIgnoredUnlessSwitchedOn) {
    const std::string keys = R"("model_type":"qwen2","num_hidden_layers":28,"hidden_size":3584,
        "num_attention_heads":28,"num_key_value_heads":4,"sliding_window":131072,
        "max_position_embeddings":131072)";
    const auto off = model_of("{" + keys + R"(,"use_sliding_window":false})");
    EXPECT_EQ(growth(*off), Ratio(28 * 2 * 4 * 128 * 2)); // 57,344: Qwen2.5-7B
    EXPECT_TRUE(has_note(*off, "sliding_window is ignored"));
    const auto on = model_of("{" + keys + R"(,"use_sliding_window":true,"max_window_layers":20,
        "sliding_window":4096})");
    EXPECT_EQ(growth(*on), Ratio(20 * 2048));
    EXPECT_EQ(constant(*on), Bytes(8 * 2048 * 4096));
}

/// Attention parts by kind and whether their softmax has a sink: "sliding_attention+", "mla".
std::set<std::string> sinks_of(const ModelPtr& model) {
    std::set<std::string> found;
    for (const LayerPlan& layer : model->plan.layers) {
        for (const LayerPart& part : layer.parts) {
            const auto* dims = std::get_if<AttentionDims>(&part.dims);
            found.insert(std::string(to_string(part.kind)) + (dims && dims->sinks > 0 ? "+" : ""));
        }
    }
    return found;
}

// transformers 5.24: modeling_gpt_oss.py has a sink in every layer, modeling_mimo_v2_flash.py in
// the sliding ones alone.
TEST(Architectures, SinksAreWeightsOfTheLayersThatHaveThem) {
    EXPECT_THAT(sinks_of(load_model("gpt-oss-20b")),
                testing::ElementsAre("full_attention+", "sliding_attention+"));
    EXPECT_THAT(sinks_of(load_model("mimo-v2-flash")),
                testing::ElementsAre("full_attention", "sliding_attention+"));
    EXPECT_THAT(sinks_of(load_model("gemma-3-27b")),
                testing::ElementsAre("full_attention", "sliding_attention"));
    // 24 layers of 2 × 8 heads of 64 in 2 bytes: a sink adds nothing.
    EXPECT_EQ(uncapped(*load_model("gpt-oss-20b")), Ratio(24 * 2 * 8 * 64 * 2));
}

TEST(Architectures, Qwen3MoeSlidesEverywhereWhenSwitchedOn) {
    const auto model = model_of(R"({"model_type":"qwen3_moe","num_hidden_layers":48,
        "hidden_size":2048,"num_attention_heads":32,"num_key_value_heads":4,"head_dim":128,
        "use_sliding_window":true,"sliding_window":4096})");
    EXPECT_EQ(growth(*model), Ratio(0));
    EXPECT_EQ(constant(*model), Bytes(48 * 2048 * 4096ll));
}

TEST(Architectures, Qwen3MoeHasNoHeadDimDefaultButQwen3Has) {
    const std::string keys = R"("num_hidden_layers":10,"hidden_size":2048,
        "num_attention_heads":32,"num_key_value_heads":4})";
    EXPECT_EQ(uncapped(*model_of(R"({"model_type":"qwen3_moe",)" + keys)),
              Ratio(10 * 2 * 4 * 64 * 2));
    const auto dense = model_of(R"({"model_type":"qwen3",)" + keys);
    EXPECT_EQ(uncapped(*dense), Ratio(10 * 2 * 4 * 128 * 2));
    EXPECT_TRUE(has_note(*dense, "head_dim absent: class default 128"));
}

TEST(Architectures, MistralWindowAbsentNullAndZero) {
    const std::string keys = R"("model_type":"mistral","num_hidden_layers":32,"hidden_size":4096,
        "num_attention_heads":32,"num_key_value_heads":8,"max_position_embeddings":32768)";
    const auto absent = model_of("{" + keys + "}");
    EXPECT_EQ(growth(*absent), Ratio(0));
    EXPECT_EQ(constant(*absent), Bytes(536870912)); // catalogue 4: mistral 7B v0.1
    EXPECT_TRUE(has_note(*absent, "sliding_window absent: class default 4096"));
    EXPECT_EQ(growth(*model_of("{" + keys + R"(,"sliding_window":null})")), Ratio(131072));
    EXPECT_EQ(growth(*model_of("{" + keys + R"(,"sliding_window":0})")), Ratio(131072));
}

TEST(Architectures, KvHeadsNullIsNotAbsent) {
    const std::string keys = R"("model_type":"mistral","num_hidden_layers":1,"hidden_size":4096,
        "num_attention_heads":32)";
    EXPECT_EQ(uncapped(*model_of("{" + keys + "}")), Ratio(2 * 8 * 128 * 2));
    EXPECT_EQ(uncapped(*model_of("{" + keys + R"(,"num_key_value_heads":null})")),
              Ratio(2 * 32 * 128 * 2));
}

TEST(Architectures, DeepseekIgnoresItsKvHeads) {
    const auto model = model_of(R"({"model_type":"deepseek_v3","num_hidden_layers":61,
        "num_attention_heads":128,"num_key_value_heads":128,"kv_lora_rank":512,
        "qk_rope_head_dim":64,"qk_nope_head_dim":128,"v_head_dim":128})");
    EXPECT_EQ(uncapped(*model), Ratio(70272)); // catalogue 7: 68.625 KiB
    EXPECT_TRUE(has_note(*model, "num_key_value_heads is ignored"));
}

TEST(Architectures, FalconsThreeSwitches) {
    const std::string keys = R"("model_type":"falcon","num_hidden_layers":60,"hidden_size":8192,
        "num_attention_heads":128)";
    EXPECT_EQ(uncapped(*model_of("{" + keys + R"(,"new_decoder_architecture":true,
        "num_kv_heads":8})")),
              Ratio(122880)); // catalogue 4: falcon 40B
    EXPECT_EQ(uncapped(*model_of("{" + keys + "}")), Ratio(60 * 2 * 64 * 2)); // multi_query absent
    EXPECT_EQ(uncapped(*model_of("{" + keys + R"(,"multi_query":false})")),
              Ratio(60 * 2 * 128 * 64 * 2));
    EXPECT_EQ(uncapped(*model_of(R"({"model_type":"RefinedWebModel","n_layer":32,"n_head":71,
        "hidden_size":4544,"multi_query":true})")),
              Ratio(8192)); // catalogue 4: falcon 7B
}

TEST(Architectures, Gemma3NestedConfigTakesClassDefaults) {
    // The gemma-3-4b file's text_config has no head keys (catalogue 2.1): 136 KiB uncapped.
    const auto model = model_of(R"({"model_type":"gemma3","text_config":{
        "model_type":"gemma3_text","hidden_size":2560,"num_hidden_layers":34,
        "sliding_window":1024}})");
    EXPECT_EQ(uncapped(*model), Ratio(139264));
    EXPECT_EQ(growth(*model), Ratio(20480));
    EXPECT_EQ(constant(*model), Bytes(121634816));
    EXPECT_TRUE(has_note(*model, "num_attention_heads absent: class default 8") ||
                has_note(*model, "num_key_value_heads absent: class default 4"));
}

TEST(Architectures, ANestedConfigWithoutATypeIsTheWrappers) {
    const auto model = model_of(R"({"model_type":"gemma3","text_config":{"hidden_size":2560,
        "num_hidden_layers":34,"sliding_window":1024}})");
    EXPECT_EQ(model->plan.model_type, "gemma3_text");
}

TEST(Architectures, BidirectionalGemma3HalvesItsWindow) {
    const auto model = model_of(R"({"model_type":"gemma3_text","hidden_size":2560,
        "num_hidden_layers":6,"sliding_window":1024,"use_bidirectional_attention":true})");
    EXPECT_EQ(knees(model->spec, ideal_formats()).at(0).tokens, Tokens(513));
}

TEST(Architectures, LayerTypesWinOverTheRule) {
    const std::string keys = R"("model_type":"gpt_oss","hidden_size":2880,"num_hidden_layers":2,
        "num_attention_heads":64,"sliding_window":128,"layer_types":)";
    const auto swapped = model_of("{" + keys + R"(["full_attention","sliding_attention"]})");
    EXPECT_EQ(kind_text(swapped->plan.layers[0]), "full_attention");
    const auto longer =
        model_of("{" + keys + R"(["full_attention","full_attention","sliding_attention"]})");
    EXPECT_EQ(constant(*longer), Bytes(0));
    EXPECT_TRUE(has_note(*longer, "the first 2 are used"));
    EXPECT_THAT(model_error("{" + keys + R"(["full_attention"]})"), HasSubstr("/layer_types"));
    EXPECT_THAT(model_error("{" + keys + R"(["full_attention","linear_attention"]})"),
                HasSubstr("/layer_types/1: expected full_attention, sliding_attention or "
                          "chunked_attention, found "
                          "\"linear_attention\""));
    EXPECT_THAT(model_error("{" + keys + R"(["full_attention",3]})"), HasSubstr("/layer_types/1"));
    EXPECT_THAT(model_error("{" + keys + R"("full"})"), HasSubstr("/layer_types: expected a list"));
}

TEST(Architectures, SlidingLayersWithoutAWindowAreFull) {
    const auto model = model_of(R"({"model_type":"gpt_oss","hidden_size":2880,
        "num_hidden_layers":2,"num_attention_heads":64,"sliding_window":null,
        "layer_types":["sliding_attention","full_attention"]})");
    EXPECT_EQ(growth(*model), Ratio(2 * 2048));
    EXPECT_THAT(model->plan.layers[0].decided_by, HasSubstr("no window is set"));
}

TEST(Architectures, FalconMambaUsesItsIntermediateSize) {
    const auto model = model_of(R"({"model_type":"falcon_mamba","hidden_size":4096,"expand":16,
        "intermediate_size":8192,"num_hidden_layers":64,"state_size":16,"conv_kernel":4})");
    EXPECT_EQ(constant(*model), Bytes(36700160)); // catalogue 4: 35 MiB
    EXPECT_EQ(growth(*model), Ratio(0));
    EXPECT_EQ(uncapped(*model), Ratio(0));
    EXPECT_EQ(total(*model, 1), total(*model, 1 << 30));
}

TEST(Architectures, Mamba2ConvolutionRunsOverBAndCToo) {
    const std::string keys = R"("model_type":"mamba2","hidden_size":4096,"num_hidden_layers":64,
        "state_size":128,"conv_kernel":4,"expand":2,"n_groups":8,"head_dim":64,"num_heads":)";
    EXPECT_EQ(constant(*model_of("{" + keys + "128}")), Bytes(272367616)); // codestral-mamba
    EXPECT_THAT(model_error("{" + keys + "100}"), HasSubstr("num_heads × head_dim"));
}

TEST(Architectures, AConvolutionOfOneKeepsNothing) {
    const auto model = model_of(R"({"model_type":"mamba","hidden_size":64,"num_hidden_layers":1,
        "conv_kernel":1})");
    EXPECT_EQ(constant(*model), Bytes(128 * 16 * 4));
}

TEST(Architectures, KimiAndItsWrapper) {
    const auto model = model_of(R"({"model_type":"kimi_k25","text_config":{
        "model_type":"kimi_k2","num_hidden_layers":61,"num_attention_heads":64}})");
    EXPECT_EQ(uncapped(*model), Ratio(70272)); // gallery: Kimi K2.5, 68.6 KiB
}

TEST(Architectures, OnlyTheLingThatStatesAConvolutionHasKda) {
    const std::string start = R"({"model_type":"bailing_hybrid","num_hidden_layers":42,
        "hidden_size":2560,"num_attention_heads":32,"head_dim":128,"kv_lora_rank":512,
        "qk_rope_head_dim":64,"layer_group_size":6)";
    // Ling 3.0 Flash (class defaults of transformers 5.24): 7 latents of 1,152 B; 35 states of
    // 32 · 128 · 128 · 4 B, each with 3 columns of 3 · 4,096 in 16 bits.
    const auto three = model_of(start + R"(,"short_conv_kernel_size":4})");
    EXPECT_EQ(growth(*three), Ratio(7 * 1152));
    EXPECT_EQ(constant(*three), Bytes(35 * (2097152 + 73728)));
    // Ling 2.5's layers keep no convolution (sglang-jax bailing_moe_linear.py).
    const auto before = model_of(start + "}");
    EXPECT_EQ(growth(*before), Ratio(7 * 1152));
    EXPECT_EQ(constant(*before), Bytes(35 * 2097152));
}

TEST(Architectures, InklingsConvolutionIsReadUnderTheNameItsFilesHave) {
    const std::string start = R"({"model_type":"inkling_text","num_hidden_layers":2,
        "hidden_size":96,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":32,
        "swa_num_attention_heads":4,"swa_num_key_value_heads":2,"swa_head_dim":32,
        "sliding_window_size":8)";
    const auto constant_with = [&](const std::string& rest) {
        return constant(*model_of(start + rest + "}")).count();
    };
    // Two layers, a column more of k, v and twice the width each: 2 · 2 · 32 + 2 · 96 in f32.
    constexpr std::int64_t column = 2 * (2 * 2 * 32 + 2 * 96) * 4;
    const std::int64_t usual = constant_with(""); // a kernel of 4
    EXPECT_EQ(constant_with(R"(,"sconv_kernel_size":4)"), usual);
    EXPECT_EQ(constant_with(R"(,"sconv_kernel_size":6)"), usual + 2 * column);
    EXPECT_EQ(constant_with(R"(,"conv_kernel_size":3)"), usual - column);
}

TEST(Architectures, SarvamsClassDefaultsAreItsCheckpoints) {
    // Gallery: Sarvam 30B, 19 KiB, and 105B, 36 KiB.
    EXPECT_EQ(uncapped(*model_of(R"({"model_type":"sarvam_moe","num_hidden_layers":19})")),
              Ratio(19 * 1024));
    EXPECT_EQ(uncapped(*model_of(R"({"model_type":"sarvam_mla","num_hidden_layers":32})")),
              Ratio(36 * 1024));
}

TEST(Architectures, UnknownTypesAreGenericOrAnHonestNo) {
    const auto model = model_of(R"({"model_type":"somebodys_llama","num_hidden_layers":32,
        "hidden_size":4096,"num_attention_heads":32,"num_key_value_heads":8})");
    EXPECT_EQ(model->plan.confidence, Confidence::generic);
    EXPECT_EQ(uncapped(*model), Ratio(131072));
    EXPECT_TRUE(has_note(*model, "is not known"));
    EXPECT_THAT(model_error(R"({"model_type":"new","hidden_size":4})"),
                HasSubstr("without num_hidden_layers, num_attention_heads"));
    EXPECT_THAT(model_error(R"({"model_type":"new","num_hidden_layers":32,"hidden_size":4096,
        "num_attention_heads":32,"kv_lora_rank":512})"),
                HasSubstr("kv_lora_rank"));
    EXPECT_THAT(model_error(R"({})"), HasSubstr("no model_type"));
    EXPECT_THAT(model_error(R"({"model_type":7})"), HasSubstr("/model_type: expected a word"));
}

TEST(Architectures, EveryTypeOfTheTableIsListedOnce) {
    std::set<std::string> types;
    for (const ArchitectureInfo& info : known_architectures()) {
        EXPECT_TRUE(types.insert(info.model_type).second) << info.model_type;
        EXPECT_FALSE(info.rule.empty());
        EXPECT_FALSE(info.keys.empty());
    }
    EXPECT_TRUE(types.contains("gpt_oss"));
}

} // namespace
} // namespace kvcaliper
