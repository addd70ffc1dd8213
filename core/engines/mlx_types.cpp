// SPDX-License-Identifier: Apache-2.0
// Rows follow mlx_lm/models/*.py: the caches of make_cache, or KVCache for every layer where there
// is none, and the names of utils.py's MODEL_REMAPPING.
#include "core/engines/mlx_types.h"

#include "core/engines/profile.h"

namespace kvcaliper {

namespace {

using Row = MlxType;
using enum MlxType::Windows;
using Latent = MlxType::Latent;

constexpr Row attends(std::string_view model_type) {
    return {model_type};
}
constexpr Row ignores_windows(std::string_view model_type) {
    return {model_type, ignored};
}
constexpr Row rotating(std::string_view model_type, bool shares = false) {
    return {model_type, rotates, Latent::none, false, false, shares};
}
constexpr Row keeps_latent(std::string_view model_type, bool states = false) {
    return {model_type, none, Latent::stored, states};
}
constexpr Row expands_latent(std::string_view model_type) {
    return {model_type, none, Latent::expanded};
}
constexpr Row keeps_states(std::string_view model_type, bool plain = false) {
    return {model_type, none, Latent::none, true, plain};
}

constexpr Row table[] = {
    attends("llama"),
    attends("xverse"),
    attends("internlm2"),
    attends("internlm3"),
    attends("minicpm"),
    attends("apertus"),
    attends("granite"),
    attends("granitemoe"),
    attends("olmo2"),
    attends("olmoe"),
    attends("stablelm"),
    attends("phi"),
    attends("helium"),
    attends("nanochat"),
    attends("bitnet"),
    attends("solar_open"),
    attends("seed_oss"),
    attends("ernie4_5"),
    attends("ernie4_5_moe"),
    attends("glm"),
    attends("glm4"),
    attends("glm4_moe"),
    attends("minimax_m2"),
    attends("qwen3_vl_text"),
    attends("qwen3_vl_moe_text"),
    attends("gemma"),
    attends("cohere"),
    attends("nemotron"),
    attends("deepseek"),
    attends("bailing_moe"),
    attends("gpt2"),
    attends("gpt_neox"),
    attends("gptj"),
    attends("gpt_bigcode"),
    attends("qwen"),
    attends("dbrx"),
    attends("exaone"),
    attends("hunyuan_v1_dense"),
    attends("openelm"),

    ignores_windows("mistral"), // loaded as llama, which rotates by layer_types alone
    ignores_windows("mixtral"),
    ignores_windows("phi3"),
    ignores_windows("phimoe"),
    ignores_windows("starcoder2"),
    ignores_windows("qwen2"),
    ignores_windows("qwen2_moe"),
    ignores_windows("qwen2_vl_text"),
    ignores_windows("qwen3"),
    ignores_windows("qwen3_moe"),
    ignores_windows("gemma2"),
    ignores_windows("smollm3"),
    ignores_windows("dots1"),

    rotating("afmoe"),
    rotating("cohere2"),
    rotating("exaone4"),
    rotating("exaone_moe"),
    rotating("gemma3_text"),
    rotating("gemma3n_text", true),
    rotating("gemma4_text", true),
    rotating("gpt_oss"),
    rotating("laguna"),
    rotating("mellum"),
    rotating("mimo_v2_flash"),
    rotating("ministral3"),
    rotating("muse_glimmer_text"),
    rotating("olmo3"),
    rotating("step3p5"),
    {"llama4_text", chunks},

    keeps_latent("deepseek_v3"),
    keeps_latent("deepseek_v32"),
    keeps_latent("glm4_moe_lite"),
    keeps_latent("longcat_flash"),
    keeps_latent("mistral4"),
    keeps_latent("kimi_linear", true),
    expands_latent("deepseek_v2"),
    expands_latent("minicpm3"),

    keeps_states("mamba", true),
    keeps_states("falcon_mamba", true), // loaded as mamba
    keeps_states("jamba", true),
    keeps_states("mamba2"),
    keeps_states("granitemoehybrid"),
    keeps_states("falcon_h1"),
    keeps_states("nemotron_h"),
    keeps_states("lfm2"),
    keeps_states("lfm2_moe"),
    keeps_states("qwen3_next"),
    keeps_states("qwen3_5_text"),
    keeps_states("qwen3_5_moe_text"),
    keeps_states("olmo_hybrid"),
};

} // namespace

const MlxType* find_mlx_type(std::string_view model_type) {
    return find_type_row(table, model_type);
}

} // namespace kvcaliper
