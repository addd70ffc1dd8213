// SPDX-License-Identifier: Apache-2.0
// llama.cpp's own names (src/llama-arch.cpp) and the models converted to each (conversion/).
// Periods and windows are what src/models/ sets before it reads a file.
#include "core/gguf_kinds.h"

#include "core/gguf_rules.h"

namespace kvcaliper {

namespace {

using enum GgufAttention;
using enum GgufWindows;
using Row = GgufArchitecture;

constexpr Row attends(std::string_view name, std::string_view model_type,
                      void (*more)(GgufTranslation&) = nullptr) {
    return {name, model_type, plain, as_stated, 0, 0, more};
}

constexpr Row slides(std::string_view name, std::string_view model_type, std::int64_t every,
                     std::int64_t window = 0, void (*more)(GgufTranslation&) = nullptr) {
    return {name, model_type, plain, period, every, window, more};
}

constexpr Row keeps_latent(std::string_view name, std::string_view model_type,
                           void (*more)(GgufTranslation&)) {
    return {name, model_type, latent, as_stated, 0, 0, more};
}

constexpr Row recurs(std::string_view name, std::string_view model_type,
                     void (*more)(GgufTranslation&)) {
    return {name, model_type, none, as_stated, 0, 0, more};
}

constexpr Row table[] = {
    // Mistral and Mixtral are converted as llama, without their window.
    attends("llama", "llama"),
    {"llama4", "llama4_text", plain, chunked, 4, 0, nullptr},
    attends("mistral3", "ministral3"),
    attends("deci", "nemotron-nas", gguf_rules::deci),
    attends("falcon", "falcon", gguf_rules::falcon),
    attends("baichuan", "baichuan"),
    attends("gpt2", "gpt2"),
    attends("gptj", "gptj"),
    attends("gptneox", "gpt_neox"),
    attends("bloom", "bloom"),
    attends("mpt", "mpt", gguf_rules::mpt),
    attends("starcoder", "gpt_bigcode", gguf_rules::gpt_bigcode),
    attends("starcoder2", "starcoder2"),
    attends("stablelm", "stablelm"),
    attends("qwen", "qwen", gguf_rules::kv_channels),
    attends("qwen2", "qwen2"),
    attends("qwen2moe", "qwen2_moe"),
    attends("qwen2vl", "qwen2_vl"),
    attends("qwen3", "qwen3"),
    attends("qwen3moe", "qwen3_moe"),
    attends("qwen3vl", "qwen3_vl_text"),
    attends("qwen3vlmoe", "qwen3_vl_moe_text"),
    attends("phi2", "phi"),
    attends("phi3", "phi3"),
    attends("phimoe", "phimoe"),
    attends("internlm2", "internlm2"),
    attends("minicpm", "minicpm"),
    attends("gemma", "gemma"),
    slides("gemma2", "gemma2", 2, 4096),
    slides("gemma3", "gemma3_text", 6),
    slides("gemma3n", "gemma3n_text", 5, 0, gguf_rules::gemma3n),
    attends("gemma4", "gemma4_text", gguf_rules::gemma4),
    attends("command-r", "cohere"),
    slides("cohere2", "cohere2", 4),
    attends("dbrx", "dbrx"),
    attends("olmo", "olmo"),
    slides("olmo2", "olmo2", 4, 0, gguf_rules::olmo2),
    attends("olmoe", "olmoe"),
    attends("openelm", "openelm", gguf_rules::openelm),
    attends("chatglm", "chatglm", gguf_rules::chatglm),
    attends("glm4", "glm4"),
    attends("glm4moe", "glm4_moe"),
    attends("bitnet", "bitnet"),
    attends("nemotron", "nemotron"),
    attends("exaone", "exaone"),
    slides("exaone4", "exaone4", 4),
    slides("exaone-moe", "exaone_moe", 4, 128),
    attends("granite", "granite"),
    attends("granitemoe", "granitemoe"),
    attends("bailingmoe", "bailing_moe"),
    attends("bailingmoe2", "bailing_moe_v2"),
    attends("dots1", "dots1"),
    attends("arcee", "arcee"),
    slides("afmoe", "afmoe", 4),
    attends("ernie4_5", "ernie4_5"),
    attends("ernie4_5-moe", "ernie4_5_moe"),
    attends("hunyuan-moe", "hunyuan_v1_moe"),
    attends("hunyuan-dense", "hunyuan_v1_dense"),
    attends("smollm3", "smollm3"),
    slides("gpt-oss", "gpt_oss", 2),
    {"smallthinker", "smallthinker", plain, dense_first, 4, 0, nullptr},
    attends("seed_oss", "seed_oss"),
    attends("apertus", "apertus"),
    attends("minimax-m2", "minimax_m2"),
    attends("mimo2", "mimo_v2_flash", gguf_rules::mimo2),
    attends("step35", "step3p5", gguf_rules::step35),
    attends("t5", "t5", gguf_rules::t5),

    keeps_latent("deepseek2", "deepseek_v2", gguf_rules::latent),
    keeps_latent("mistral4", "mistral4", gguf_rules::latent),
    keeps_latent("minicpm3", "minicpm3", gguf_rules::latent),
    keeps_latent("deepseek32", "deepseek_v32", gguf_rules::latent_indexed),
    keeps_latent("glm-dsa", "glm_moe_dsa", gguf_rules::latent_indexed),
    keeps_latent("kimi-linear", "kimi_linear", gguf_rules::kimi_linear),

    recurs("mamba", "mamba", gguf_rules::mamba1),
    recurs("mamba2", "mamba2", gguf_rules::mamba2),
    recurs("rwkv6", "rwkv6", gguf_rules::rwkv),
    recurs("rwkv6qwen2", "rwkv6qwen2", gguf_rules::rwkv),
    recurs("rwkv7", "rwkv7", gguf_rules::rwkv),
    recurs("arwkv7", "arwkv7", gguf_rules::rwkv),
    attends("jamba", "jamba", gguf_rules::jamba),
    attends("granitehybrid", "granitemoehybrid", gguf_rules::granite_hybrid),
    attends("plamo2", "plamo2", gguf_rules::plamo2),
    attends("nemotron_h", "nemotron_h", gguf_rules::nemotron_h),
    attends("nemotron_h_moe", "nemotron_h", gguf_rules::nemotron_h),
    attends("falcon-h1", "falcon_h1", gguf_rules::falcon_h1),
    attends("lfm2", "lfm2", gguf_rules::lfm2),
    attends("lfm2moe", "lfm2_moe", gguf_rules::lfm2),
    attends("qwen3next", "qwen3_next", gguf_rules::gated_delta),
    attends("qwen35", "qwen3_5_text", gguf_rules::gated_delta),
    attends("qwen35moe", "qwen3_5_moe_text", gguf_rules::gated_delta),
};

} // namespace

const GgufArchitecture* find_gguf_architecture(std::string_view name) {
    for (const Row& row : table) {
        if (row.name == name) {
            return &row;
        }
    }
    return nullptr;
}

} // namespace kvcaliper
