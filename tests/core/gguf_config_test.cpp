// SPDX-License-Identifier: Apache-2.0
// GGUF metadata in config.json's words. Where core knows the model_type, gguf_test has its bytes.
#include "core/gguf_config.h"

#include "tests/core/gguf_writer.h"
#include "tests/core/test_models.h"

#include <gmock/gmock.h>

namespace kvcaliper {
namespace {

using testing::HasSubstr;
using Layers = std::vector<std::int64_t>;

ConfigFile config_of(const GgufFile& file) {
    return gguf_config(header_of(file.bytes()), "folder/test.gguf");
}

std::string error_of(const GgufFile& file) {
    try {
        plan_model(config_of(file));
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return error.what();
    }
    return "";
}

/// The value of a key as one line of JSON, "" when absent.
std::string at(const ConfigFile& config, const std::string& key) {
    const JsonValue* value = config.value.find(key);
    return value ? dump_json(*value, -1) : "";
}

bool noted(const ConfigFile& config, const std::string& part) {
    return testing::Value(config.warnings, testing::Contains(HasSubstr(part)));
}

GgufFile sized(const std::string& architecture, std::int64_t layers) {
    return GgufFile(architecture)
        .set("block_count", layers)
        .set("context_length", 4096)
        .set("embedding_length", 1024);
}

GgufFile attending(const std::string& architecture, std::int64_t layers) {
    return sized(architecture, layers).set("attention.head_count", 16);
}

GgufFile with_ssm(GgufFile file, std::int64_t inner, std::int64_t state, std::int64_t heads) {
    return file.set("ssm.conv_kernel", 4)
        .set("ssm.inner_size", inner)
        .set("ssm.state_size", state)
        .set("ssm.time_step_rank", heads)
        .set("ssm.group_count", 8);
}

// ---- common keys --------------------------------------------------------------------------------

TEST(GgufConfig, EveryCommonKeyIsStated) {
    const auto config = config_of(attending("llama", 2).raw_text("general.name", "A\nName"));
    EXPECT_EQ(dump_json(config.value, -1),
              R"({"model_type":"llama","_name":"A Name","_source":"folder/test.gguf",)"
              R"("num_hidden_layers":2,"max_position_embeddings":4096,"hidden_size":1024,)"
              R"("num_attention_heads":16,"num_key_value_heads":16,"head_dim":64,)"
              R"("sliding_window":null})");
    EXPECT_EQ(config.name, "test");
    EXPECT_TRUE(noted(config, "attention.head_count_kv absent"));
    EXPECT_TRUE(noted(config, "attention.key_length absent: embedding_length / "
                              "attention.head_count = 64"));
}

TEST(GgufConfig, AnAbsentKeyTakesNoDefaultOfTransformers) { // whose Qwen3 has 128 wide heads
    EXPECT_EQ(at(config_of(attending("qwen3", 2)), "head_dim"), "64");
    EXPECT_EQ(at(config_of(attending("gemma3", 6)), "sliding_window"), "null");
    EXPECT_EQ(at(config_of(attending("gemma3", 6)), "layer_types"), "");
    EXPECT_EQ(at(config_of(attending("gemma2", 2)), "sliding_window"), "4096"); // llama.cpp's
}

TEST(GgufConfig, MissingKeysAreNamed) {
    EXPECT_EQ(error_of(GgufFile("llama")),
              "folder/test.gguf: metadata key llama.block_count: expected an integer from 1 to "
              "100000, found nothing");
    EXPECT_THAT(error_of(GgufFile("llama").set("block_count", 1)), HasSubstr("embedding_length"));
    EXPECT_THAT(error_of(sized("llama", 1)), HasSubstr("attention.head_count: expected"));
    EXPECT_THAT(error_of(GgufFile("").set("block_count", 1)), HasSubstr("general.architecture"));
    EXPECT_THAT(error_of(sized("llama", 1).raw_text("llama.attention.head_count", "8")),
                HasSubstr("found string \"8\""));
}

TEST(GgufConfig, LayersAreLimited) {
    EXPECT_THAT(error_of(sized("llama", 100'001)), HasSubstr("from 0 to 100000, found 100001"));
    EXPECT_THAT(error_of(GgufFile("llama").raw_number("llama.block_count", 1ull << 40)),
                HasSubstr("block_count"));
}

TEST(GgufConfig, BlocksForMultiTokenPredictionAreNotLayers) { // GLM-4.5-Air: 46 and one
    const auto config = config_of(attending("glm4moe", 47).set("nextn_predict_layers", 1));
    EXPECT_EQ(at(config, "model_type"), R"("glm4_moe")");
    EXPECT_EQ(at(config, "num_hidden_layers"), "46");
    EXPECT_EQ(at(config, "num_nextn_predict_layers"), "1");
    EXPECT_TRUE(noted(config, "block_count 47 includes 1 for multi-token prediction"));
    EXPECT_THAT(error_of(attending("glm4moe", 2).set("nextn_predict_layers", 2)),
                HasSubstr("fewer than block_count (2), found 2"));
}

TEST(GgufConfig, ArraysThatSayTheSameAreOneNumber) {
    const auto same = attending("llama", 3).set("attention.head_count_kv", Layers{4, 4, 4});
    EXPECT_EQ(at(config_of(same), "num_key_value_heads"), "4");
    const auto other = attending("llama", 3).set("attention.head_count_kv", Layers{4, 0, 2});
    EXPECT_EQ(at(config_of(other), "num_key_value_heads"), "[4,0,2]");
    const ModelPlan plan = plan_model(config_of(other));
    EXPECT_EQ(std::get<AttentionDims>(plan.layers.at(0).parts.at(0).dims).kv_heads, 4);
    EXPECT_TRUE(plan.layers.at(1).parts.empty());
    EXPECT_EQ(std::get<AttentionDims>(plan.layers.at(2).parts.at(0).dims).kv_heads, 2);
    EXPECT_THAT(error_of(attending("llama", 3).set("attention.head_count_kv", Layers{4, 4})),
                HasSubstr("a value for each of 3 layers, found 2"));
    EXPECT_THAT(error_of(attending("llama", 2).set("attention.key_length", Layers{64, 32})),
                HasSubstr("the same for every layer"));
}

TEST(GgufConfig, ValuesOfAnotherWidthAreStated) {
    const auto config = config_of(
        attending("llama", 1).set("attention.key_length", 96).set("attention.value_length", 64));
    EXPECT_EQ(at(config, "head_dim"), "96");
    EXPECT_EQ(at(config, "v_head_dim"), "64");
}

// ---- what is no model that we can read ----------------------------------------------------------

TEST(GgufConfig, FilesThatAreNoLanguageModelAreRefused) {
    EXPECT_THAT(error_of(sized("clip", 1)), HasSubstr("a model that keeps a cache as it writes"));
    EXPECT_THAT(error_of(attending("bert", 1)), HasSubstr("\"bert\", which does not"));
    EXPECT_THAT(error_of(attending("llama", 1).raw_text("general.type", "adapter")),
                HasSubstr("general.type: expected \"model\", found string \"adapter\""));
}

TEST(GgufConfig, OnlyTheFirstPartOfASplitFileHasMetadata) {
    const std::string second = GgufBytes()
                                   .start(2)
                                   .key("split.no", Gguf::u16)
                                   .number(1, 2)
                                   .key("split.count", Gguf::u16)
                                   .number(3, 2)
                                   .bytes();
    try {
        gguf_config(header_of(second), "m-00002-of-00003.gguf");
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "m-00002-of-00003.gguf: metadata key split.no: expected the first part of a "
                     "split file, which has the metadata, found part 2 of 3");
    }
    EXPECT_TRUE(noted(
        config_of(attending("llama", 1).raw_number("split.no", 0).raw_number("split.count", 3)),
        "split into 3"));
}

TEST(GgufConfig, UnknownArchitecturesKeepTheirNameOrAreRefused) {
    const auto config = config_of(attending("somenew", 2));
    EXPECT_EQ(at(config, "model_type"), R"("somenew")");
    EXPECT_EQ(plan_model(config).confidence, Confidence::generic);
    EXPECT_THAT(error_of(attending("newssm", 2).set("ssm.state_size", 8)),
                HasSubstr("newssm.ssm.: expected a known architecture with such a key"));
    EXPECT_THAT(error_of(attending("newswa", 2).set("attention.sliding_window", 8)),
                HasSubstr("a list of the layers that have a window"));
    const auto listed =
        attending("newswa", 2)
            .set("attention.sliding_window", 8)
            .set("attention.sliding_window_pattern", std::vector<bool>{true, false});
    EXPECT_EQ(at(config_of(listed), "layer_types"), R"(["sliding_attention","full_attention"])");
}

// ---- windows ------------------------------------------------------------------------------------

std::string types(const GgufFile& file) {
    std::string result;
    const ConfigFile config = config_of(file);
    for (const JsonValue& word : config.value.array_at("layer_types")) {
        result += word.if_string()->front();
    }
    return result;
}

TEST(GgufConfig, WindowsByTheFilesListItsPeriodOrLlamaCpps) {
    const auto gemma = [] { return attending("gemma3", 8).set("attention.sliding_window", 512); };
    const std::string key = "attention.sliding_window_pattern";
    EXPECT_EQ(types(gemma()), "sssssfss");
    EXPECT_EQ(types(gemma().set(key, 2)), "sfsfsfsf");
    EXPECT_EQ(types(gemma().set(key, 1)), "ffffffff");
    EXPECT_EQ(types(gemma().set(key, 0)), "ssssssss");
    EXPECT_EQ(types(gemma().set(key, std::vector<bool>{1, 0, 0, 0, 1, 0, 0, 1})), "sfffsffs");
    EXPECT_EQ(types(gemma().set(key, Layers{0, 1, 1, 1, 1, 1, 1, 1, 1})), "fsssssss");
    EXPECT_EQ(types(attending("cohere2", 5).set("attention.sliding_window", 8)), "sssfs");
    EXPECT_EQ(types(attending("smallthinker", 5).set("attention.sliding_window", 8)), "fsssf");
}

TEST(GgufConfig, Llama4HasChunksUnlessSwitchedOff) {
    EXPECT_EQ(types(attending("llama4", 5)), "cccfc");
    EXPECT_EQ(at(config_of(attending("llama4", 5)), "attention_chunk_size"), "8192");
    const auto off = attending("llama4", 2).set("attention.sliding_window", 0);
    EXPECT_EQ(types(off), "ff");
    EXPECT_EQ(at(config_of(off), "attention_chunk_size"), "null");
}

TEST(GgufConfig, OlmoWithAWindowIsOlmo3) {
    EXPECT_EQ(at(config_of(attending("olmo2", 4)), "model_type"), R"("olmo2")");
    EXPECT_EQ(
        at(config_of(attending("olmo2", 4).set("attention.sliding_window", 4096)), "model_type"),
        R"("olmo3")");
}

TEST(GgufConfig, Gemma4HasTwoKindsOfHeads) { // 26B-A4B: kv 8 of 256, globally 2 of 512
    const auto config =
        config_of(attending("gemma4", 3)
                      .set("attention.sliding_window", 1024)
                      .set("attention.sliding_window_pattern", std::vector<bool>{true, true, false})
                      .set("attention.head_count_kv", Layers{8, 8, 2})
                      .set("attention.key_length", 512)
                      .set("attention.value_length", 512)
                      .set("attention.key_length_swa", 256)
                      .set("attention.value_length_swa", 256)
                      .set("attention.shared_kv_layers", 1));
    EXPECT_EQ(at(config, "head_dim"), "256");
    EXPECT_EQ(at(config, "global_head_dim"), "512");
    EXPECT_EQ(at(config, "num_key_value_heads"), "8");
    EXPECT_EQ(at(config, "num_global_key_value_heads"), "2");
    EXPECT_EQ(at(config, "attention_k_eq_v"), "true");
    EXPECT_EQ(at(config, "num_kv_shared_layers"), "1");
    EXPECT_THAT(error_of(attending("gemma4", 1).set("attention.key_length_swa", 8)),
                HasSubstr("gemma4.attention.sliding_window_pattern"));
}

TEST(GgufConfig, Gemma3nSharesTheLastLayers) {
    EXPECT_EQ(at(config_of(attending("gemma3n", 35)), "num_kv_shared_layers"), "15");
    EXPECT_EQ(at(config_of(attending("gemma3n", 30).set("attention.shared_kv_layers", 10)),
                 "num_kv_shared_layers"),
              "10");
}

// ---- other attention ----------------------------------------------------------------------------

TEST(GgufConfig, FalconsKvHeadsDecideWhichFalconItIs) {
    const auto falcon = [](std::int64_t kv) {
        return config_of(attending("falcon", 1).set("attention.head_count_kv", kv));
    };
    EXPECT_EQ(at(falcon(1), "multi_query"), "true");
    EXPECT_EQ(at(falcon(8), "new_decoder_architecture"), "true");
    EXPECT_EQ(at(falcon(8), "num_kv_heads"), "8");
    for (const std::int64_t kv : {1, 8, 16}) { // 64 wide heads, 16-bit
        const auto spec = build_cache_spec(plan_model(falcon(kv)));
        EXPECT_EQ(uncapped_bytes_per_token(spec, ideal_formats()).value(), Ratio(kv * 256));
    }
}

TEST(GgufConfig, LatentsOfNewAndOldFiles) {
    const auto file = [] {
        return attending("deepseek2", 1)
            .set("attention.kv_lora_rank", 512)
            .set("rope.dimension_count", 64);
    };
    const auto latest = config_of(file()
                                      .set("attention.key_length", 576)
                                      .set("attention.value_length", 512)
                                      .set("attention.key_length_mla", 192)
                                      .set("attention.value_length_mla", 128));
    const auto old =
        config_of(file().set("attention.key_length", 192).set("attention.value_length", 128));
    for (const auto& config : {latest, old}) {
        EXPECT_EQ(at(config, "qk_nope_head_dim"), "128");
        EXPECT_EQ(at(config, "v_head_dim"), "128");
        EXPECT_EQ(at(config, "head_dim"), "");
    }
    EXPECT_TRUE(noted(old, "key_length_mla absent"));
    EXPECT_THAT(error_of(file().set("attention.key_length", 64)),
                HasSubstr("more than rope.dimension_count (64), found 64"));
}

TEST(GgufConfig, IndexersByWordOrByFlag) {
    const auto file = [] {
        return attending("glm-dsa", 3)
            .set("nextn_predict_layers", 1)
            .set("attention.kv_lora_rank", 512)
            .set("rope.dimension_count", 64)
            .set("attention.key_length_mla", 256)
            .set("attention.indexer.key_length", 128);
    };
    EXPECT_EQ(at(config_of(file()), "index_head_dim"), "128");
    EXPECT_EQ(at(config_of(file()), "indexer_types"), "");
    EXPECT_EQ(
        at(config_of(file().set("attention.indexer.types", Layers{1, 0, 1})), "indexer_types"),
        R"(["full","shared"])");
}

TEST(GgufConfig, LayersWithoutAttention) { // Llama-Nemotron
    const auto config = config_of(sized("deci", 2)
                                      .set("attention.head_count", Layers{16, 0})
                                      .set("attention.head_count_kv", Layers{4, 0}));
    EXPECT_EQ(at(config, "block_configs"),
              R"([{"attention":{"no_op":false,"n_heads_in_group":4}},)"
              R"({"attention":{"no_op":true,"n_heads_in_group":null}}])");
    EXPECT_THAT(error_of(sized("deci", 1)
                             .set("attention.head_count", Layers{16})
                             .set("attention.head_count_kv", Layers{5})),
                HasSubstr("a divisor of attention.head_count, 16 in layer 0, found 5"));
}

TEST(GgufConfig, EncoderAndDecoder) {
    const auto config = config_of(attending("t5", 6).set("decoder_block_count", 4));
    EXPECT_EQ(at(config, "num_layers"), "6");
    EXPECT_EQ(at(config, "num_decoder_layers"), "4");
    EXPECT_EQ(at(config, "is_encoder_decoder"), "true");
}

// ---- states -------------------------------------------------------------------------------------

TEST(GgufConfig, Mamba2IsWhatItsConfigSays) { // the hub's mamba2 sizes: expand 2, heads of 64
    const auto config = config_of(with_ssm(sized("mamba2", 2), 2048, 128, 32));
    EXPECT_EQ(at(config, "expand"), "2");
    EXPECT_EQ(at(config, "head_dim"), "64");
    EXPECT_EQ(at(config, "n_groups"), "8");
    const auto spec = build_cache_spec(plan_model(config));
    EXPECT_GT(constant_bytes(spec, ideal_formats()).bytes().count(), 0);
    EXPECT_THAT(error_of(with_ssm(sized("mamba2", 2), 2000, 128, 25)),
                HasSubstr("ssm.inner_size: expected a multiple of embedding_length (1024)"));
}

TEST(GgufConfig, HybridsListTheirLayers) {
    const Layers kv{0, 4, 0};
    const auto hybrid = [&](const std::string& architecture) {
        return with_ssm(attending(architecture, 3), 2048, 16, 32)
            .set("attention.head_count_kv", kv);
    };
    EXPECT_EQ(at(config_of(hybrid("jamba")), "layer_types"), R"(["mamba","attention","mamba"])");
    EXPECT_EQ(at(config_of(hybrid("jamba")), "mamba_expand"), "2");
    EXPECT_EQ(at(config_of(hybrid("granitehybrid")), "mamba_n_heads"), "32");
    EXPECT_EQ(at(config_of(hybrid("granitehybrid")), "num_key_value_heads"), "4");
    EXPECT_EQ(at(config_of(hybrid("plamo2")), "hidden_size_per_head"), "64");
    const auto nemotron = hybrid("nemotron_h").set("feed_forward_length", Layers{0, 0, 512});
    EXPECT_EQ(at(config_of(nemotron), "hybrid_override_pattern"), R"("M*-")");
    EXPECT_EQ(at(config_of(nemotron), "mamba_head_dim"), "64");
    const auto lfm =
        attending("lfm2", 3).set("attention.head_count_kv", kv).set("shortconv.l_cache", 3);
    EXPECT_EQ(at(config_of(lfm), "layer_types"), R"(["conv","full_attention","conv"])");
    EXPECT_EQ(at(config_of(lfm), "conv_L_cache"), "3");
    const auto falcon = config_of(with_ssm(attending("falcon-h1", 1), 1536, 256, 24));
    EXPECT_EQ(at(falcon, "mamba_d_ssm"), "1536");
    EXPECT_EQ(at(falcon, "mamba_d_head"), "64");
}

TEST(GgufConfig, GatedDeltaNetworksUseTheStateKeys) {
    const auto file = [] { return with_ssm(attending("qwen35", 5), 4096, 128, 32); };
    const auto config = config_of(file().set("nextn_predict_layers", 1));
    EXPECT_EQ(at(config, "model_type"), R"("qwen3_5_text")");
    EXPECT_EQ(at(config, "linear_num_key_heads"), "8");
    EXPECT_EQ(at(config, "linear_num_value_heads"), "32");
    EXPECT_EQ(at(config, "linear_value_head_dim"), "128");
    EXPECT_EQ(types(file().set("nextn_predict_layers", 1)), "lllf");
    EXPECT_EQ(types(file().set("full_attention_interval", 2)), "lflfl");
    EXPECT_EQ(types(file().set("attention.recurrent_layers", Layers{0, 1, 0, 1, 1})), "flfll");
    EXPECT_THAT(error_of(file().set("full_attention_interval", 0)),
                HasSubstr("full_attention_interval: expected an integer from 1 on, found 0"));
}

TEST(GgufConfig, KimiLinearCountsItsLayersFromOne) {
    const auto config = config_of(attending("kimi-linear", 4)
                                      .set("attention.head_count_kv", Layers{0, 0, 0, 1})
                                      .set("attention.kv_lora_rank", 512)
                                      .set("rope.dimension_count", 64)
                                      .set("attention.key_length_mla", 192)
                                      .set("attention.value_length_mla", 128)
                                      .set("ssm.conv_kernel", 4)
                                      .set("kda.head_dim", 128));
    EXPECT_EQ(at(config, "linear_attn_config"),
              R"({"full_attn_layers":[4],"kda_layers":[1,2,3],"num_heads":16,"head_dim":128,)"
              R"("short_conv_kernel_size":4})");
    EXPECT_EQ(at(config, "qk_nope_head_dim"), "128");
}

TEST(GgufConfig, RwkvHasNoHeads) {
    const auto config =
        config_of(sized("rwkv7", 2).set("attention.head_count", 0).set("wkv.head_size", 64));
    EXPECT_EQ(at(config, "head_size"), "64");
    EXPECT_EQ(at(config, "token_shift_count"), "2");
    EXPECT_EQ(at(config, "num_attention_heads"), "");
}

} // namespace
} // namespace kvcaliper
