// SPDX-License-Identifier: Apache-2.0
// Read off the modules that transformers 5.24 builds for each type; tests hold the counts against
// those of its models on the meta device and against published ones.
#include "core/architectures/weight_table.h"

#include "core/architectures/table.h"

namespace kvcaliper {

namespace {

constexpr BiasRule never{"", false};
constexpr BiasRule always{"", true};
constexpr BiasRule attention_bias{"attention_bias", false};
constexpr BiasRule mlp_bias{"mlp_bias", false};

// clang-format off
constexpr Experts mixtral_experts{.count_key = "num_local_experts", .width_key = "intermediate_size"};
constexpr Experts qwen2_experts{.count_key = "num_experts", .layers = SparseLayers::step, .shared = SharedExperts::width,
                                .shared_key = "shared_expert_intermediate_size", .shared_gate = true};
constexpr Experts qwen3_experts{.count_key = "num_experts", .layers = SparseLayers::step};
constexpr Experts deepseek_v2_experts{.count_key = "n_routed_experts", .layers = SparseLayers::after_first,
                                      .shared = SharedExperts::count};
constexpr Experts deepseek_experts{.count_key = "n_routed_experts", .layers = SparseLayers::after_first,
                                   .shared = SharedExperts::count, .correction = true};
constexpr Experts kimi_experts{.count_key = "num_experts", .chosen_key = "num_experts_per_token",
                               .layers = SparseLayers::after_first, .shared = SharedExperts::count,
                               .shared_key = "num_shared_experts", .correction = true};
constexpr Experts oss_experts{.count_key = "num_local_experts", .width_key = "intermediate_size", .biases = true};
constexpr Experts minimax_experts{.count_key = "num_local_experts", .width_key = "intermediate_size", .correction = true};
constexpr Experts olmoe_experts{.count_key = "num_experts", .width_key = "intermediate_size"};
constexpr Experts llama4_experts{.count_key = "num_local_experts", .width_key = "intermediate_size",
                                 .layers = SparseLayers::interleave, .shared = SharedExperts::as_dense};
constexpr Experts jamba_experts{.count_key = "num_experts", .width_key = "intermediate_size", .layers = SparseLayers::period};
constexpr Experts ernie_experts{.count_key = "moe_num_experts", .chosen_key = "moe_k", .layers = SparseLayers::range,
                                .shared = SharedExperts::count, .shared_key = "moe_num_shared_experts", .correction = true};
constexpr Experts granite_experts{.count_key = "num_local_experts", .width_key = "intermediate_size",
                                  .shared = SharedExperts::width, .shared_key = "shared_intermediate_size", .shared_alone = true};
constexpr Experts gemma4_experts{.count_key = "num_experts", .chosen_key = "top_k_experts", .beside_dense = true};
constexpr Experts mimo_experts{.count_key = "n_routed_experts", .layers = SparseLayers::freq_list, .correction = true};
constexpr Experts afmoe_experts{.count_key = "num_experts", .layers = SparseLayers::after_dense,
                                .shared = SharedExperts::count, .shared_key = "num_shared_experts", .correction = true};
constexpr Experts nemotron_experts{.count_key = "n_routed_experts", .shared = SharedExperts::width,
                                   .shared_key = "moe_shared_expert_intermediate_size", .correction = true, .plain = true,
                                   .latent_key = "moe_latent_size"};

constexpr Experts laguna_experts{.count_key = "num_experts", .layers = SparseLayers::step, .shared = SharedExperts::width,
                                 .shared_key = "shared_expert_intermediate_size", .correction = true};

constexpr WeightRow table[] = {
    {.model_type = "llama", .qkv = attention_bias, .out = attention_bias, .mlp = mlp_bias},
    {.model_type = "yi"},
    {.model_type = "internlm2", .qkv = {"bias", false}, .out = {"bias", false}},
    {.model_type = "baichuan"},
    {.model_type = "mistral"},
    {.model_type = "ministral3"},
    {.model_type = "mixtral", .experts = &mixtral_experts},
    {.model_type = "granite", .qkv = attention_bias, .out = attention_bias, .mlp = mlp_bias},
    {.model_type = "granitemoehybrid", .qkv = attention_bias, .out = attention_bias, .tied = true, .experts = &granite_experts},
    {.model_type = "olmo", .qkv = attention_bias, .out = attention_bias, .norm = NormKind::bare},
    {.model_type = "olmo2", .qkv = attention_bias, .out = attention_bias, .qk_norm = QkNorm::full},
    {.model_type = "olmo3", .qkv = attention_bias, .out = attention_bias, .qk_norm = QkNorm::full},
    {.model_type = "olmoe", .qkv = attention_bias, .out = attention_bias, .qk_norm = QkNorm::full, .experts = &olmoe_experts},
    {.model_type = "qwen", .qkv = always, .inner_divisor = 2},
    {.model_type = "qwen2", .qkv = always},
    {.model_type = "qwen2_vl_text", .qkv = always},
    {.model_type = "qwen2_5_vl_text", .qkv = always},
    {.model_type = "qwen3", .qkv = attention_bias, .out = attention_bias, .qk_norm = QkNorm::head},
    {.model_type = "qwen3_vl_text", .qkv = attention_bias, .out = attention_bias, .qk_norm = QkNorm::head, .tied = true},
    {.model_type = "qwen2_moe", .qkv = {"qkv_bias", true}, .experts = &qwen2_experts},
    {.model_type = "qwen3_moe", .qkv = attention_bias, .out = attention_bias, .qk_norm = QkNorm::head, .experts = &qwen3_experts},
    {.model_type = "qwen3_vl_moe_text", .qkv = attention_bias, .out = attention_bias, .qk_norm = QkNorm::head, .experts = &qwen3_experts},
    {.model_type = "qwen3_next", .qk_norm = QkNorm::head, .experts = &qwen2_experts, .extra = AttentionExtra::gated_query},
    {.model_type = "qwen3_5_text", .qk_norm = QkNorm::head, .extra = AttentionExtra::gated_query},
    {.model_type = "qwen3_5_moe_text", .qk_norm = QkNorm::head, .experts = &qwen2_experts, .extra = AttentionExtra::gated_query},
    {.model_type = "seed_oss", .qkv = {"attention_bias", true}, .out = {"attention_out_bias", false}, .mlp = mlp_bias},
    {.model_type = "exaone4", .qk_norm = QkNorm::head},
    {.model_type = "smollm3", .qkv = attention_bias, .out = attention_bias, .mlp = mlp_bias, .tied = true},
    {.model_type = "minimax_m2", .qk_norm = QkNorm::full, .experts = &minimax_experts},
    {.model_type = "gpt_oss", .qkv = {"attention_bias", true}, .out = {"attention_bias", true}, .experts = &oss_experts, .extra = AttentionExtra::sinks},
    {.model_type = "mimo_v2_flash", .experts = &mimo_experts, .extra = AttentionExtra::sliding_sinks},
    {.model_type = "laguna", .qkv = attention_bias, .out = attention_bias, .qk_norm = QkNorm::head, .experts = &laguna_experts, .extra = AttentionExtra::head_gate},
    {.model_type = "afmoe", .norms = 4, .qk_norm = QkNorm::head, .experts = &afmoe_experts, .extra = AttentionExtra::gate},
    {.model_type = "glm", .qkv = {"attention_bias", true}},
    {.model_type = "glm4", .qkv = {"attention_bias", true}, .norms = 4},
    {.model_type = "glm4v_text", .qkv = {"attention_bias", true}, .norms = 4},
    {.model_type = "chatglm", .qkv = {"add_qkv_bias", false}, .inner_key = "ffn_hidden_size"},
    {.model_type = "glm4_moe", .qkv = {"attention_bias", false}, .experts = &deepseek_experts},
    {.model_type = "dots1", .qkv = attention_bias, .out = attention_bias, .qk_norm = QkNorm::head, .experts = &deepseek_experts},
    {.model_type = "ernie4_5_moe", .qkv = {"use_bias", false}, .out = {"use_bias", false}, .mlp = {"use_bias", false}, .tied = true, .experts = &ernie_experts},
    {.model_type = "llama4_text", .qkv = attention_bias, .out = attention_bias, .inner_key = "intermediate_size_mlp", .experts = &llama4_experts},
    {.model_type = "deepseek", .experts = &deepseek_v2_experts},
    {.model_type = "deepseek_v2", .experts = &deepseek_v2_experts},
    {.model_type = "deepseek_v3", .experts = &deepseek_experts},
    {.model_type = "deepseek_v32", .experts = &deepseek_experts},
    {.model_type = "mistral4", .experts = &deepseek_v2_experts},
    {.model_type = "glm_moe_dsa", .experts = &deepseek_experts},
    {.model_type = "glm4_moe_lite", .experts = &deepseek_experts},
    {.model_type = "kimi_linear", .experts = &kimi_experts},
    {.model_type = "minicpm3", .tied = true},
    {.model_type = "minicpm", .tied = true},
    {.model_type = "gemma", .qkv = attention_bias, .out = attention_bias, .tied = true},
    {.model_type = "gemma2", .qkv = attention_bias, .out = attention_bias, .norms = 4, .tied = true},
    {.model_type = "gemma3_text", .qkv = attention_bias, .out = attention_bias, .norms = 4, .qk_norm = QkNorm::head, .tied = true},
    {.model_type = "gemma4_text", .qkv = attention_bias, .out = attention_bias, .norms = 4, .qk_norm = QkNorm::head, .tied = true, .experts = &gemma4_experts, .without = "hidden_size_per_layer_input"},
    {.model_type = "phi3", .qkv = never},
    {.model_type = "phi", .qkv = always, .out = always, .mlp = always, .norm = NormKind::layer, .norms = 1, .plain_mlp = true, .output_bias = true, .without = "qk_layernorm"},
    {.model_type = "phimoe", .qkv = attention_bias, .out = attention_bias, .norm = NormKind::layer, .experts = &mixtral_experts, .output_bias = true},
    {.model_type = "cohere", .qkv = attention_bias, .out = attention_bias, .norms = 1, .tied = true, .without = "use_qk_norm"},
    {.model_type = "cohere2", .qkv = attention_bias, .out = attention_bias, .norms = 1, .tied = true},
    {.model_type = "stablelm", .qkv = {"use_qkv_bias", false}, .norm = NormKind::layer, .without = "qk_layernorm"},
    {.model_type = "starcoder2", .qkv = {"use_bias", true}, .out = {"use_bias", true}, .mlp = {"use_bias", true}, .norm = NormKind::layer, .plain_mlp = true, .tied = true},
    {.model_type = "gpt2", .qkv = always, .out = always, .mlp = always, .norm = NormKind::layer, .plain_mlp = true, .inner_key = "n_inner", .inner_absent = 4, .tied = true, .positions_key = "max_position_embeddings"},
    {.model_type = "gpt_bigcode", .qkv = always, .out = always, .mlp = always, .norm = NormKind::layer, .plain_mlp = true, .inner_key = "n_inner", .inner_absent = 4, .tied = true, .positions_key = "max_position_embeddings"},
    {.model_type = "gptj", .mlp = always, .norm = NormKind::layer, .norms = 1, .plain_mlp = true, .inner_key = "n_inner", .inner_absent = 4, .output_bias = true},
    {.model_type = "gpt_neo", .out = always, .mlp = always, .norm = NormKind::layer, .plain_mlp = true, .inner_absent = 4, .tied = true, .positions_key = "max_position_embeddings"},
    {.model_type = "gpt_neox", .qkv = {"attention_bias", true}, .out = {"attention_bias", true}, .mlp = always, .norm = NormKind::layer, .plain_mlp = true},
    {.model_type = "bloom", .qkv = always, .out = always, .mlp = always, .norm = NormKind::layer, .plain_mlp = true, .inner_key = "n_inner", .inner_absent = 4, .tied = true, .embedding_norm = true},
    {.model_type = "opt", .qkv = {"enable_bias", true}, .out = {"enable_bias", true}, .mlp = {"enable_bias", true}, .norm = NormKind::layer, .plain_mlp = true, .inner_key = "ffn_dim", .tied = true, .positions_key = "max_position_embeddings", .more_positions = 2},
    {.model_type = "mpt", .plain_mlp = true, .inner_absent = 4, .tied = true},
    {.model_type = "falcon", .qkv = {"bias", false}, .out = {"bias", false}, .mlp = {"bias", false}, .norm = NormKind::layer, .plain_mlp = true, .inner_key = "ffn_hidden_size", .inner_absent = 4, .tied = true},
    {.model_type = "mamba", .norms = 1, .mlp_in_layers = false, .tied = true},
    {.model_type = "falcon_mamba", .norms = 1, .mlp_in_layers = false, .tied = true},
    {.model_type = "mamba2", .norms = 1, .mlp_in_layers = false},
    {.model_type = "bamba", .qkv = attention_bias, .out = attention_bias, .mlp = mlp_bias},
    {.model_type = "jamba", .experts = &jamba_experts},
    {.model_type = "nemotron_h", .qkv = attention_bias, .out = attention_bias, .mlp = mlp_bias, .norms = 1, .plain_mlp = true, .experts = &nemotron_experts},
};
// clang-format on

} // namespace

std::span<const WeightRow> weight_table() {
    return table;
}

const WeightRow* find_weight_row(std::string_view model_type) {
    const Architecture* architecture = find_architecture(model_type);
    const std::string_view name = architecture ? architecture->model_type : model_type;
    for (const WeightRow& row : table) {
        if (row.model_type == name) {
            return &row;
        }
    }
    return nullptr;
}

} // namespace kvcaliper
