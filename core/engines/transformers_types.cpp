// SPDX-License-Identifier: Apache-2.0
// Rows follow transformers 5.24: configuration_auto.py (which types there are) and the
// models/*/modeling_*.py that say how a layer updates its cache.
#include "core/engines/transformers_types.h"

#include <algorithm>
#include <array>

namespace kvcaliper {

namespace {

using enum TransformersType::Windows;

/// Types whose layers use the layers of cache_utils.py as they are.
constexpr std::string_view plain_types[] = {"llama",
                                            "internlm3",
                                            "arcee",
                                            "apertus",
                                            "granite",
                                            "granitemoe",
                                            "granitemoeshared",
                                            "olmo",
                                            "olmo2",
                                            "olmoe",
                                            "flex_olmo",
                                            "stablelm",
                                            "phi",
                                            "diffllama",
                                            "doge",
                                            "nanochat",
                                            "helium",
                                            "jais2",
                                            "hyperclovax",
                                            "bitnet",
                                            "solar_open",
                                            "seed_oss",
                                            "ernie4_5",
                                            "ernie4_5_moe",
                                            "ernie4_5_vl_moe_text",
                                            "glm",
                                            "glm4",
                                            "glm4_moe",
                                            "glm4v_text",
                                            "glm4v_moe_text",
                                            "glm_ocr_text",
                                            "minimax_m2",
                                            "hy_v3",
                                            "qwen3_vl_text",
                                            "qwen3_vl_moe_text",
                                            "qwen3_omni_moe_text",
                                            "qwen3_omni_moe_talker_text",
                                            "aria_text",
                                            "csm",
                                            "chameleon",
                                            "emu3_text_model",
                                            "paddleocr_vl_text",
                                            "gemma",
                                            "cohere",
                                            "cohere_compass_text",
                                            "nemotron",
                                            "jetmoe",
                                            "persimmon",
                                            "fuyu",
                                            "gpt2",
                                            "openai-gpt",
                                            "ctrl",
                                            "gpt_neox",
                                            "gpt_neox_japanese",
                                            "gptj",
                                            "codegen",
                                            "bloom",
                                            "opt",
                                            "biogpt",
                                            "xglm",
                                            "musicgen_decoder",
                                            "gpt_bigcode",
                                            "mpt",
                                            "dbrx",
                                            "hunyuan_v1_dense",
                                            "hunyuan_v1_moe",
                                            "mistral",
                                            "mixtral",
                                            "ministral3",
                                            "starcoder2",
                                            "phi3",
                                            "phi4_multimodal",
                                            "phimoe",
                                            "moshi",
                                            "kyutai_speech_to_text",
                                            "ministral",
                                            "qwen2",
                                            "qwen3",
                                            "qwen2_vl_text",
                                            "qwen2_5_vl_text",
                                            "qwen2_5_omni_text",
                                            "qwen2_5_omni_talker",
                                            "dots1",
                                            "qwen2_moe",
                                            "qwen3_moe",
                                            "smollm3",
                                            "gemma2",
                                            "vaultgemma",
                                            "gpt_oss",
                                            "gemma3_text",
                                            "gemma3n_text",
                                            "gemma4_text",
                                            "gemma4_unified_text",
                                            "cohere2",
                                            "cohere2_moe",
                                            "olmo3",
                                            "afmoe",
                                            "exaone4",
                                            "exaone_moe",
                                            "laguna",
                                            "mellum",
                                            "cwm",
                                            "granite_swa",
                                            "granitemoe_swa",
                                            "modernbert-decoder",
                                            "muse_glimmer_text",
                                            "llama4_text",
                                            "step3p5",
                                            "step3p7",
                                            "minimax_m3_vl_text",
                                            "deepseek_v2",
                                            "deepseek_v3",
                                            "glm4_moe_lite",
                                            "youtu",
                                            "mistral4",
                                            "minicpm3",
                                            "axk1",
                                            "deepseek_v32",
                                            "glm_moe_dsa",
                                            "axk2",
                                            "longcat_flash",
                                            "deepseek_v4",
                                            "qwen3_next",
                                            "qwen3_5_text",
                                            "qwen3_5_moe_text",
                                            "olmo_hybrid",
                                            "kimi_linear",
                                            "jamba",
                                            "bamba",
                                            "granitemoehybrid",
                                            "zamba",
                                            "zamba2",
                                            "falcon_h1",
                                            "nemotron_h",
                                            "lfm2",
                                            "lfm2_moe",
                                            "mamba",
                                            "falcon_mamba",
                                            "mamba2",
                                            "t5",
                                            "mt5",
                                            "umt5",
                                            "bart",
                                            "mbart",
                                            "pegasus",
                                            "blenderbot",
                                            "m2m_100",
                                            "marian",
                                            "whisper",
                                            "mllama_text_model"};

constexpr TransformersType special_types[] = {
    {"mimo_v2_flash", one_more}, // sliding_window_size of the file, and the token itself
    {"gpt_neo", ignored},
    {"falcon", one_less, true}, // with new_decoder_architecture
    {"recurrent_gemma", one_less, false, true},
    {"minimax", one_less, false, false, true},
};

constexpr auto plain_rows = [] {
    std::array<TransformersType, std::size(plain_types)> rows{};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].model_type = plain_types[i];
    }
    return rows;
}();

} // namespace

const TransformersType* find_transformers_type(std::string_view model_type) {
    const auto is_it = [&](const TransformersType& row) { return row.model_type == model_type; };
    const auto* special = std::find_if(std::begin(special_types), std::end(special_types), is_it);
    if (special != std::end(special_types)) {
        return special;
    }
    const auto* plain = std::find_if(plain_rows.begin(), plain_rows.end(), is_it);
    return plain == plain_rows.end() ? nullptr : plain;
}

} // namespace kvcaliper
