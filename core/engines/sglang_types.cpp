// SPDX-License-Identifier: Apache-2.0
// Rows follow the model classes of python/sglang/srt/models (EntryClass). Pooled are the types of
// configs/model_config.py's is_hybrid_swa_model; the overrides of Gemma 2 and 3, OLMo and EXAONE
// switch that pool off. Latent is its AttentionArch.MLA. Types of states are those of
// configs/hybrid_arch.py, and extra_buffer those of arg_groups/overrides.py that have it by
// default.
#include "core/engines/sglang_types.h"

#include "core/engines/profile.h"

namespace kvcaliper {

namespace {

using Row = SglangType;
using enum SglangType::Windows;

constexpr Row attends(std::string_view model_type) {
    return {model_type};
}
constexpr Row ignores_windows(std::string_view model_type) {
    return {model_type, ignored};
}
constexpr Row pools_windows(std::string_view model_type) {
    return {model_type, pooled};
}
constexpr Row keeps_latent(std::string_view model_type, bool sparse = false) {
    return {model_type, none, true, sparse};
}
constexpr Row keeps_states(std::string_view model_type, bool extra_buffer, bool latent = false) {
    return {model_type, none, latent, false, true, extra_buffer};
}

constexpr Row table[] = {
    attends("llama"),
    attends("yi"),
    attends("xverse"),
    attends("internlm2"),
    attends("internlm3"),
    attends("minicpm"),
    attends("arcee"),
    attends("apertus"),
    attends("granite"),
    attends("granitemoe"),
    attends("granitemoeshared"),
    attends("olmo"),
    attends("olmo2"),
    attends("olmoe"),
    attends("stablelm"),
    attends("phi"),
    attends("persimmon"),
    attends("opt"),
    attends("orion"),
    attends("deepseek"),
    attends("bailing_moe"),
    attends("ernie4_5"),
    attends("ernie4_5_moe"),
    attends("glm4"),
    attends("glm4_moe"),
    attends("glm4v_text"),
    attends("glm4v_moe_text"),
    attends("minimax_m2"),
    attends("hy_v3"),
    attends("hunyuan_v1_dense"),
    attends("hunyuan_v1_moe"),
    attends("qwen3_vl_text"),
    attends("qwen3_vl_moe_text"),
    attends("paddleocr_vl_text"),
    attends("gemma"),
    attends("cohere"),
    attends("gpt2"),
    attends("gptj"),
    attends("gpt_bigcode"),
    attends("qwen"),
    attends("baichuan"),
    attends("dbrx"),
    attends("chatglm"),
    attends("exaone"),
    attends("step3_text"),

    ignores_windows("mistral"),
    ignores_windows("mixtral"),
    ignores_windows("ministral3"),
    ignores_windows("phi3"),
    ignores_windows("phimoe"),
    ignores_windows("starcoder2"),
    ignores_windows("qwen2"),
    ignores_windows("qwen2_moe"),
    ignores_windows("qwen2_vl_text"),
    ignores_windows("qwen2_5_vl_text"),
    ignores_windows("qwen3"),
    ignores_windows("qwen3_moe"),
    ignores_windows("gemma2"),
    ignores_windows("gemma3_text"),
    ignores_windows("gemma3n_text"),
    ignores_windows("cohere2"),
    ignores_windows("cohere2_moe"),
    ignores_windows("olmo3"), // loaded as olmo2
    ignores_windows("exaone4"),
    ignores_windows("exaone_moe"),
    ignores_windows("afmoe"),

    pools_windows("llama4_text"),
    pools_windows("gpt_oss"),
    pools_windows("granite_swa"),
    pools_windows("granitemoe_swa"),
    pools_windows("mimo_v2_flash"),
    pools_windows("mimo_v2"),
    pools_windows("step3p5"),
    pools_windows("step3p7"),
    pools_windows("gemma4_text"),
    pools_windows("laguna"),
    pools_windows("mellum"),
    pools_windows("muse_glimmer_text"),

    keeps_latent("deepseek_v2"),
    keeps_latent("deepseek_v3"),
    keeps_latent("deepseek_v32", true),
    keeps_latent("glm4_moe_lite"),
    keeps_latent("glm_moe_dsa", true),
    keeps_latent("longcat_flash"),
    keeps_latent("minicpm3"),

    keeps_states("mamba", false),
    keeps_states("falcon_mamba", false),
    keeps_states("mamba2", false),
    keeps_states("lfm2", false),
    keeps_states("lfm2_moe", false),
    keeps_states("granitemoehybrid", true),
    keeps_states("falcon_h1", true),
    keeps_states("nemotron_h", true),
    keeps_states("qwen3_next", true),
    keeps_states("qwen3_5_text", true),
    keeps_states("qwen3_5_moe_text", true),
    keeps_states("kimi_linear", true, true),
};

} // namespace

const SglangType* find_sglang_type(std::string_view model_type) {
    return find_type_row(table, model_type);
}

} // namespace kvcaliper
