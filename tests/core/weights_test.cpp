// SPDX-License-Identifier: Apache-2.0
// Parameters and bytes against figures from elsewhere: transformers' own models, published indexes
// and model cards. tests/golden/parameters.tsv names the source of each row.
#include "core/weights.h"

#include "core/architectures/architectures.h"
#include "core/catalog.h"
#include "core/module_pattern.h"
#include "tests/core/test_models.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sstream>

namespace kvcaliper {
namespace {

using testing::HasSubstr;

Weights weights_for(const std::string& json) {
    return weights_of(*model_of(json), "auto");
}

std::string weights_error(const Model& model, std::string_view asked = "auto") {
    try {
        weights_of(model, asked);
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return error.what();
    }
    return "";
}

std::int64_t bytes_of(const std::string& bundled) {
    return weights_of(*load_model(bundled), "auto").total.bytes().count();
}

std::int64_t active_bytes_of(const std::string& bundled) {
    const auto active = weights_of(*load_model(bundled), "auto").active;
    return active ? active->bytes().count() : 0;
}

bool notes_hold(const Weights& weights, const std::string& part) {
    for (const std::string& note : weights.notes) {
        if (note.find(part) != std::string::npos) {
            return true;
        }
    }
    return false;
}

// ---- parameters ---------------------------------------------------------------------------------

TEST(Weights, ParametersOfBundledModelsAgreeWithTheirSources) {
    std::ifstream file(std::string(KVCALIPER_SOURCE) + "/tests/golden/parameters.tsv");
    int rows = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#') {
            continue;
        }
        std::istringstream cells(line);
        std::string name;
        std::string parameters;
        std::string source;
        std::getline(cells, name, '\t');
        std::getline(cells, parameters, '\t');
        std::getline(cells, source, '\t');
        ASSERT_FALSE(source.empty()) << line;
        const Weights weights = weights_of(*load_model(name), "auto");
        ASSERT_TRUE(weights.parameters) << name;
        EXPECT_EQ(std::to_string(*weights.parameters), parameters) << name << ": " << source;
        EXPECT_EQ(weights.source, WeightsSource::formula) << name;
        ++rows;
    }
    EXPECT_GE(rows, 100);
}

TEST(Weights, PublishedSizesInBytes) {
    // metadata.total_size of model.safetensors.index.json, as published on the hub.
    EXPECT_EQ(bytes_of("llama-3-8b"), 16'060'522'496);
    EXPECT_EQ(bytes_of("gpt-oss-20b"), 13'761'264'768); // mxfp4 experts, everything else bf16
    // Sums of all tensors in the shards' headers, published for Kimi-K2-Instruct (fp8 in blocks)
    // and Kimi-K2-Thinking (int4 experts, as in K2.5): 1,029,173,256,720 and 594,205,920,512 B.
    // What is missing are router biases in fp32 and the shapes beside packed experts.
    EXPECT_NEAR(static_cast<double>(bytes_of("kimi-k2")), 1'029'173'256'720.0, 1e5);
    EXPECT_NEAR(static_cast<double>(bytes_of("kimi-k2.5")), 594'205'920'512.0, 1e6);
}

TEST(Weights, QuantisedAndExactSizesSayHowSureTheyAre) {
    EXPECT_EQ(weights_of(*load_model("llama-3-8b"), "auto").uncertainty_permille, 0);
    EXPECT_EQ(weights_of(*load_model("gpt-oss-20b"), "auto").uncertainty_permille, 10);
}

TEST(Weights, WhatOneTokenReads) {
    // A token reads one row of an untied embedding; published active counts often hold all of it.
    // Mixtral: 46,702,792,704 less six of eight experts in 32 layers, 12.9B in the model card.
    EXPECT_EQ(active_bytes_of("mixtral-8x7b"), 2 * (12'879'925'248 - 32'000 * 4096));
    // num_params_active of public benchmark records of deepseek-moe-16b-base.
    EXPECT_EQ(active_bytes_of("deepseek-moe-16b"), 2 * (2'828'650'496 - 102'400 * 2048));
    EXPECT_EQ(active_bytes_of("llama-3-8b"), 0); // nothing is chosen: every weight is read
}

TEST(Weights, ActiveParametersOfModelCards) {
    // Parameters, from the terms without their bytes, as billions: gpt-oss' card counts without
    // the embedding, 3.61B and 5.13B; DeepSeek-V3 37B; Qwen3-30B-A3B 3.3B with the embedding.
    const auto active = [](const char* name) {
        const ModelPtr model = load_model(name);
        std::int64_t sum = 0;
        for (const TensorGroup& group : plan_weights(model->plan).tensors) {
            sum += group.read * group.rows * group.columns;
        }
        return static_cast<double>(sum) / 1e9;
    };
    EXPECT_NEAR(active("gpt-oss-20b"), 3.61, 0.005);
    EXPECT_NEAR(active("gpt-oss-120b"), 5.13, 0.005);
    EXPECT_NEAR(active("deepseek-v3"), 37, 0.5);
    EXPECT_NEAR(active("qwen3-30b-a3b") + 151'936 * 2048 / 1e9, 3.3, 0.06);
}

TEST(Weights, TheTermsAreTheNumber) {
    const Weights weights = weights_of(*load_model("llama-3-8b"), "auto");
    EXPECT_EQ(weights.source, WeightsSource::formula);
    EXPECT_THAT(explain(weights.total),
                HasSubstr("embedding: 1 tensors × 128,256 rows × 4,096 columns × 2 bytes (bf16)"));
}

// ---- what is given, and what is missing ---------------------------------------------------------

TEST(Weights, AGivenSizeIsTaken) {
    const Weights weights = weights_of(*load_model("t5-11b"), "38.5 GiB");
    EXPECT_EQ(weights.total.bytes().count(), 77 * (std::int64_t{1} << 29));
}

TEST(Weights, AGivenSizeInDecimalBytes) {
    const Weights weights = weights_of(*load_model("t5-11b"), "16GB");
    EXPECT_EQ(weights.total.bytes(), Bytes(16'000'000'000));
    EXPECT_EQ(weights.source, WeightsSource::given);
    EXPECT_FALSE(weights_error(*load_model("t5-11b"), "many").empty());
}

TEST(Weights, AFamilyWithoutAFormulaSaysWhatToGive) {
    EXPECT_EQ(weights_error(*load_model("t5-11b")),
              "t5-11b: expected weights that auto can tell, found no parameter formula for "
              "model_type t5: give their size with --weights SIZE");
}

const std::string small_llama = R"({"model_type": "llama", "num_hidden_layers": 2,
    "hidden_size": 256, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 512, "dtype": "bfloat16")";

TEST(Weights, AMissingKeyStopsTheWeightsAlone) {
    const ModelPtr model = model_of(small_llama + "}");
    EXPECT_THAT(weights_error(*model), HasSubstr("test.json: /vocab_size: expected an integer"));
    EXPECT_EQ(uncapped(*model), Ratio(2 * 2 * 2 * 64 * 2)); // the cache is as before
    EXPECT_THAT(weights_error(*model_of(small_llama + R"(, "vocab_size": "x"})")),
                HasSubstr("found string \"x\""));
}

TEST(Weights, ExpertsThatARowDoesNotKnowAreNoDenseModel) {
    EXPECT_THAT(weights_error(*model_of(small_llama + R"(, "vocab_size": 100, "num_experts": 8})")),
                HasSubstr("no parameter formula for model_type llama with num_experts"));
}

// ---- by hand ------------------------------------------------------------------------------------

// Two layers of 256: q and o 256 × 256, k and v 128 × 256, three MLP matrices of 256 × 512, two
// norms; 1,000 words in and out, and the last norm.
constexpr std::int64_t linear = 2 * (2 * 256 * 256 + 2 * 128 * 256 + 3 * 256 * 512);
constexpr std::int64_t rest = 2 * 2 * 256 + 2 * 1000 * 256 + 256;

std::string small(const std::string& more) {
    return small_llama + R"(, "vocab_size": 1000)" + more + "}";
}

TEST(Weights, ASmallModelByHand) {
    EXPECT_EQ(weights_for(small("")).total.bytes().count(), 2 * (linear + rest));
    EXPECT_EQ(weights_for(small(R"(, "tie_word_embeddings": true)")).total.bytes().count(),
              2 * (linear + rest - 1000 * 256));
    // q, k, v and o with a bias: 256 + 128 + 128 + 256 in each layer
    EXPECT_EQ(weights_for(small(R"(, "attention_bias": true)")).total.bytes().count(),
              2 * (linear + rest + 2 * 768));
}

TEST(Weights, TheTypeOfTheFileCounts) {
    std::string config = small("");
    config.replace(config.find("bfloat16"), 8, "float32");
    EXPECT_EQ(weights_for(config).total.bytes().count(), 4 * (linear + rest));
    config.replace(config.find("\"dtype\""), 7, "\"xdtype\"");
    const Weights weights = weights_for(config);
    EXPECT_EQ(weights.total.bytes().count(), 2 * (linear + rest));
    EXPECT_TRUE(notes_hold(weights, "no dtype in the file: 16 bits per parameter"));
}

/// Bytes of the small model with a quantization_config.
std::int64_t quantised(const std::string& config) {
    return weights_for(small(", \"quantization_config\": {" + config + "}")).total.bytes().count();
}

TEST(Weights, FormatsOfQuantisedLayersByHand) {
    // Seven matrices in each of two layers; blocks of 128 × 128 cover each without a rest.
    EXPECT_EQ(quantised(R"("quant_method": "fp8", "weight_block_size": [128, 128])"),
              2 * rest + linear + linear / (128 * 128) * 4);
    // GPTQ: half a byte, a 16-bit scale and a 4-bit zero per 128, and four bytes per input column:
    // q, k, v, gate and up have 256 of them, o 256, down 512.
    EXPECT_EQ(quantised(R"("quant_method": "gptq", "bits": 4, "group_size": 128)"),
              2 * rest + linear / 2 + linear / 128 * 2 + linear / 256 + 2 * 4 * (6 * 256 + 512));
    EXPECT_EQ(quantised(R"("quant_method": "awq", "bits": 4, "group_size": 128)"),
              2 * rest + linear / 2 + linear / 128 * 2 + linear / 256);
    // bitsandbytes: NF4 with fp32 absmax per 64, int8 with fp32 per row.
    EXPECT_EQ(quantised(R"("quant_method": "bitsandbytes", "load_in_4bit": true)"),
              2 * rest + linear / 2 + linear / 64 * 4 + 14 * 170);
    EXPECT_EQ(quantised(R"("quant_method": "bitsandbytes", "load_in_8bit": true)"),
              2 * rest + linear + 2 * 4 * (256 + 128 + 128 + 256 + 512 + 512 + 256));
    // ModelOpt's NVFP4: an fp8 scale per 16 and two fp32 numbers per matrix.
    EXPECT_EQ(quantised(R"("quant_algo": "NVFP4", "ignore": ["lm_head"])"),
              2 * rest + linear / 2 + linear / 16 + 14 * 8);
}

TEST(Weights, CompressedTensorsByHand) {
    const std::string start = R"("quant_method": "compressed-tensors", "ignore": ["lm_head"],
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": )";
    EXPECT_EQ(quantised(start + R"({"num_bits": 4, "type": "int", "strategy": "group",
                                    "group_size": 32, "symmetric": true}}})"),
              2 * rest + linear / 2 + linear / 32 * 2);
    EXPECT_EQ(quantised(start + R"({"num_bits": 8, "type": "float", "strategy": "channel"}}})"),
              2 * rest + linear + 2 * 2 * (256 + 128 + 128 + 256 + 512 + 512 + 256));
    EXPECT_EQ(quantised(start + R"({"num_bits": 4, "type": "float", "strategy": "tensor_group",
                                    "group_size": 16}}})"),
              2 * rest + linear / 2 + linear / 16 + 14 * 8);
}

TEST(Weights, LayersThatAreNotQuantisedStayAsTheyAre) {
    const std::string fp8 = R"("quant_method": "fp8", "weight_block_size": [128, 128], )";
    const std::int64_t all = quantised(fp8 + R"("modules_to_not_convert": [])");
    const std::int64_t attention = 2 * 256 * 256 + 2 * 128 * 256; // of one layer
    const std::int64_t saved = attention - attention / (128 * 128) * 4;
    EXPECT_EQ(quantised(fp8 + R"("modules_to_not_convert": ["self_attn"])"), all + 2 * saved);
    EXPECT_EQ(quantised(fp8 + R"("modules_to_not_convert": ["model.layers.1.self_attn"])"),
              all + saved);
    EXPECT_EQ(quantised(fp8 + R"("modules_to_not_convert": ["re:.*self_attn.*"])"),
              all + 2 * saved);
    const Weights unsure = weights_for(
        small(R"(, "quantization_config": {"quant_method": "fp8", "ignore": ["re:.*[qk]_proj"]})"));
    EXPECT_EQ(unsure.uncertainty_permille, 50);
    EXPECT_TRUE(notes_hold(unsure, "re:.*[qk]_proj is not understood"));
}

TEST(Weights, AnUnknownQuantisationIsNotGuessed) {
    const auto error = [](const std::string& config) {
        return weights_error(*model_of(small(", \"quantization_config\": {" + config + "}")));
    };
    EXPECT_THAT(error(R"("quant_method": "aqlm")"),
                HasSubstr("/quantization_config/quant_method: expected a method whose bits are "
                          "known, found string \"aqlm\""));
    EXPECT_THAT(error(R"("quant_method": "gptq")"), HasSubstr("/quantization_config/bits"));
    EXPECT_THAT(error(R"("quant_method": "fp8", "weight_block_size": [0, 1])"),
                HasSubstr("two integers from 1 on"));
    EXPECT_THAT(error(R"("quant_algo": "W2")"), HasSubstr("/quantization_config/quant_algo"));
    EXPECT_THAT(error(R"("quant_method": "compressed-tensors")"), HasSubstr("config_groups"));
}

TEST(Weights, AnUnknownTypeIsAPlainTransformerWithinFivePercent) {
    std::string config = small("");
    config.replace(config.find("llama"), 5, "newer");
    const Weights weights = weights_for(config);
    EXPECT_EQ(weights.total.bytes().count(), 2 * (linear + rest));
    EXPECT_EQ(weights.uncertainty_permille, 50);
}

// ---- names of modules ---------------------------------------------------------------------------

TEST(ModulePatterns, WholeNamesPartsAndGlobs) {
    const auto matches = [](const std::string& pattern, const std::string& name) {
        ModuleSet set;
        EXPECT_TRUE(set.add(pattern)) << pattern;
        return set.contains(name);
    };
    EXPECT_TRUE(matches("lm_head", "lm_head"));
    EXPECT_TRUE(matches("gate", "layers.0.mlp.gate"));
    EXPECT_FALSE(matches("gate", "layers.0.mlp.gate_proj"));
    EXPECT_TRUE(matches("model.layers.1.self_attn", "layers.1.self_attn.q_proj"));
    EXPECT_FALSE(matches("model.layers.1.self_attn", "layers.11.self_attn.q_proj"));
    EXPECT_TRUE(matches("model.layers.0*", "layers.0.mlp.up_proj"));
    EXPECT_FALSE(matches("model.layers.0*", "layers.10.mlp.up_proj"));
    EXPECT_TRUE(matches("model.layers.*.self_attn", "layers.7.self_attn.o_proj"));
    EXPECT_TRUE(matches("re:.*mlp\\.(gate|up)_proj.*", "layers.7.mlp.up_proj"));
    EXPECT_FALSE(matches("re:.*mlp\\.(gate|up)_proj.*", "layers.7.mlp.experts.0.up_proj"));
    EXPECT_TRUE(matches("re:.*\\.self_attn\\.q_proj$", "layers.7.self_attn.q_proj"));
    EXPECT_FALSE(matches("re:.*\\.q_proj$", "layers.7.self_attn.q_proj.more"));
    EXPECT_FALSE(ModuleSet().add("re:.*[0-9]+x"));
    EXPECT_FALSE(ModuleSet().add("re:(a"));
    EXPECT_FALSE(ModuleSet().add("re:((a|b)|c)"));
}

// ---- real files ---------------------------------------------------------------------------------

std::filesystem::path corpus() {
    const char* set = std::getenv("KVCALIPER_CORPUS");
    return set && *set
               ? std::filesystem::path(set)
               : std::filesystem::path(KVCALIPER_SOURCE).parent_path() / "shared" / "corpus";
}

TEST(Weights, RealFilesAreEitherCountedOrSayWhatIsMissing) {
    if (!std::filesystem::exists(corpus() / "hf")) {
        GTEST_SKIP() << "not available here: no corpus at " << corpus();
    }
    int counted = 0;
    for (const auto& file : std::filesystem::directory_iterator(corpus() / "hf")) {
        ModelPtr model;
        try {
            model = load_model(file.path().string());
        } catch (const Error&) {
            continue; // corpus_test.cpp says which and why
        }
        const WeightPlan plan = plan_weights(model->plan);
        const bool known = !plan.tensors.empty();
        EXPECT_NE(known, !plan.missing.empty()) << file.path();
        counted += known ? 1 : 0;
        if (known) {
            EXPECT_GT(weights_of(*model, "auto").total.bytes().count(), 0) << file.path();
        }
    }
    EXPECT_GE(counted, 150);
}

} // namespace
} // namespace kvcaliper
