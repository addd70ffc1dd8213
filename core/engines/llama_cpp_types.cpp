// SPDX-License-Identifier: Apache-2.0
// Rows follow llama.cpp's load_arch_hparams of each architecture (src/models/*.cpp): a window is
// honoured where swa_type is set, ignored where it is not (phi3.cpp says so in a warning). Model
// types are those its converter maps to that architecture.
#include "core/engines/llama_cpp_types.h"

#include "core/engines/profile.h"

namespace kvcaliper {

namespace {

using Row = LlamaCppType;
using enum LlamaCppType::Windows;
using Latent = LlamaCppType::Latent;

constexpr Row attends(std::string_view model_type) {
    return {model_type};
}
constexpr Row ignores_windows(std::string_view model_type) {
    return {model_type, ignored};
}
constexpr Row slides(std::string_view model_type, bool shares = false) {
    return {model_type, honoured, Latent::none, false, shares};
}
constexpr Row keeps_latent(std::string_view model_type, bool recurrent = false) {
    return {model_type, none, Latent::stored, recurrent};
}
constexpr Row recurs(std::string_view model_type) {
    return {model_type, none, Latent::none, true};
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
    attends("phi-msft"),
    attends("bitnet"),
    attends("seed_oss"),
    attends("ernie4_5"),
    attends("ernie4_5_moe"),
    attends("glm4"),
    attends("glm4_moe"),
    attends("glm4v_text"),
    attends("minimax_m2"),
    attends("minimax_m3_vl_text"),
    attends("qwen3_vl_text"),
    attends("qwen3_vl_moe_text"),
    attends("gemma"),
    attends("cohere"),
    attends("nemotron"),
    attends("deepseek"),
    attends("bailing_moe"),
    attends("arctic"),
    attends("orion"),
    attends("chameleon"),
    attends("codeshell"),
    attends("gpt2"),
    attends("gpt_neox"),
    attends("bloom"),
    attends("qwen"),
    attends("baichuan"),
    attends("gpt_bigcode"),
    attends("mpt"),
    attends("dbrx"),
    attends("falcon"),
    attends("chatglm"),
    attends("hunyuan"),
    attends("hunyuan_v1_dense"),
    attends("hunyuan_v1_moe"),
    attends("ministral3"),
    attends("smollm3"),
    attends("openelm"),
    attends("nemotron-nas"),
    attends("deci"),
    attends("exaone"),

    ignores_windows("mistral"),
    ignores_windows("mixtral"),
    ignores_windows("starcoder2"),
    ignores_windows("phi3"),
    ignores_windows("phimoe"),
    ignores_windows("qwen2"),
    ignores_windows("qwen2_moe"),
    ignores_windows("qwen2_vl_text"),
    ignores_windows("qwen2_5_vl_text"),
    ignores_windows("qwen3"),
    ignores_windows("qwen3_moe"),
    ignores_windows("dots1"),

    slides("gemma2"),
    slides("gemma3_text"),
    slides("gemma3n_text", true), // n_layer_kv_from_start is 20 whatever the file says
    slides("gemma4_text", true),
    slides("cohere2"),
    slides("cohere2_moe"),
    slides("gpt_oss"),
    slides("olmo3"), // loaded as olmo2
    slides("exaone4"),
    slides("exaone_moe"),
    slides("afmoe"),
    slides("laguna"),
    slides("mellum"),
    slides("mimo_v2_flash"),
    slides("step3p5"),
    slides("granite_swa"),
    slides("granitemoe_swa"),
    slides("muse_glimmer_text"),
    {"llama4_text", chunked},

    keeps_latent("deepseek_v2"),
    keeps_latent("deepseek_v3"),
    keeps_latent("deepseek_v32"),
    keeps_latent("glm4_moe_lite"),
    keeps_latent("glm_moe_dsa"),
    keeps_latent("mistral4"),
    keeps_latent("kimi_linear", true),
    {"minicpm3", none, Latent::expanded},
    keeps_latent("deepseek_v4"), // llama-kv-cache-dsv4: K only

    recurs("mamba"),
    recurs("falcon_mamba"),
    recurs("mamba2"),
    recurs("rwkv6"),
    recurs("rwkv7"),
    recurs("jamba"),
    recurs("bamba"), // loaded as granitehybrid
    recurs("granitemoehybrid"),
    recurs("plamo2"),
    recurs("nemotron_h"),
    recurs("falcon_h1"),
    recurs("lfm2"),
    recurs("lfm2_moe"),
    recurs("qwen3_next"),
    recurs("qwen3_5_text"),
    recurs("qwen3_5_moe_text"),
};

} // namespace

const LlamaCppType* find_llama_cpp_type(std::string_view model_type) {
    return find_type_row(table, model_type);
}

} // namespace kvcaliper
