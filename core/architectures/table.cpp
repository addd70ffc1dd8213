// SPDX-License-Identifier: Apache-2.0
#include "core/architectures/table.h"

#include "core/architectures/architectures.h"

#include <string>

namespace kvcaliper {

namespace {

// Class defaults: configuration_*.py of transformers 5.24.
const Architecture table[] = {
    {"gpt2",
     PlanRule::attention,
     Layout::full,
     KvHeads::all,
     0,
     {{"max_position_embeddings", 1024}, {"num_attention_heads", 12}}},
    {"llama",
     PlanRule::attention,
     Layout::full,
     KvHeads::standard,
     0,
     {{"max_position_embeddings", 2048}, {"num_attention_heads", 32}}},
    {"mistral",
     PlanRule::attention,
     Layout::window_if_set,
     KvHeads::standard,
     0,
     {{"max_position_embeddings", 131072},
      {"num_attention_heads", 32},
      {"num_key_value_heads", 8},
      {"sliding_window", 4096}}},
    {"mixtral",
     PlanRule::attention,
     Layout::window_if_set,
     KvHeads::standard,
     0,
     {{"max_position_embeddings", 131072},
      {"num_attention_heads", 32},
      {"num_key_value_heads", 8}}},
    {"qwen2",
     PlanRule::attention,
     Layout::use_sliding_window,
     KvHeads::standard,
     0,
     {{"max_position_embeddings", 32768},
      {"num_attention_heads", 32},
      {"num_key_value_heads", 32},
      {"sliding_window", 4096},
      {"max_window_layers", 28}}},
    {"qwen3",
     PlanRule::attention,
     Layout::use_sliding_window,
     KvHeads::standard,
     0,
     {{"max_position_embeddings", 32768},
      {"num_attention_heads", 32},
      {"num_key_value_heads", 32},
      {"head_dim", 128},
      {"sliding_window", 4096},
      {"max_window_layers", 28}}},
    // No head_dim default here, unlike the dense qwen3.
    {"qwen3_moe",
     PlanRule::attention,
     Layout::use_sliding_window_all,
     KvHeads::standard,
     0,
     {{"max_position_embeddings", 32768},
      {"num_attention_heads", 32},
      {"num_key_value_heads", 4},
      {"sliding_window", 4096}}},
    {"gemma2",
     PlanRule::attention,
     Layout::period,
     KvHeads::standard,
     2,
     {{"max_position_embeddings", 8192},
      {"num_attention_heads", 8},
      {"num_key_value_heads", 4},
      {"head_dim", 256},
      {"sliding_window", 4096}}},
    {"gemma3_text",
     PlanRule::attention,
     Layout::period,
     KvHeads::standard,
     6,
     {{"max_position_embeddings", 131072},
      {"num_attention_heads", 8},
      {"num_key_value_heads", 4},
      {"head_dim", 256},
      {"sliding_window", 4096}}},
    {"deepseek_v2",
     PlanRule::mla,
     Layout::full,
     KvHeads::all,
     0,
     {{"max_position_embeddings", 2048},
      {"num_attention_heads", 32},
      {"kv_lora_rank", 512},
      {"qk_rope_head_dim", 64},
      {"qk_nope_head_dim", 128},
      {"v_head_dim", 128}}},
    {"deepseek_v3",
     PlanRule::mla,
     Layout::full,
     KvHeads::all,
     0,
     {{"max_position_embeddings", 4096},
      {"num_attention_heads", 128},
      {"kv_lora_rank", 512},
      {"qk_rope_head_dim", 64},
      {"qk_nope_head_dim", 128},
      {"v_head_dim", 128}}},
    {"gpt_oss",
     PlanRule::attention,
     Layout::period,
     KvHeads::standard,
     2,
     {{"max_position_embeddings", 131072},
      {"num_attention_heads", 64},
      {"num_key_value_heads", 8},
      {"head_dim", 64},
      {"sliding_window", 128}}},
    {"falcon",
     PlanRule::attention,
     Layout::full,
     KvHeads::falcon,
     0,
     {{"max_position_embeddings", 2048}, {"num_attention_heads", 71}}},
    {"mamba",
     PlanRule::mamba1,
     Layout::full,
     KvHeads::all,
     0,
     {{"state_size", 16}, {"conv_kernel", 4}, {"expand", 2}}},
    {"falcon_mamba",
     PlanRule::mamba1,
     Layout::full,
     KvHeads::all,
     0,
     {{"state_size", 16}, {"conv_kernel", 4}, {"expand", 2}}},
    {"mamba2",
     PlanRule::mamba2,
     Layout::full,
     KvHeads::all,
     0,
     {{"state_size", 128},
      {"conv_kernel", 4},
      {"expand", 2},
      {"n_groups", 8},
      {"num_heads", 128},
      {"head_dim", 64}}},
};

// The plain transformer an unknown type is read as: transformers' own order of decisions.
const Architecture generic{"", PlanRule::attention, Layout::window_if_set, KvHeads::standard, 0,
                           {}};

struct Word {
    std::string_view from;
    std::string_view to;
};

// Kimi K2's hub config is DeepSeek-V3 under its own name; Falcon's first files said RefinedWeb.
constexpr Word type_names[] = {
    {"kimi_k2", "deepseek_v3"}, {"RefinedWeb", "falcon"}, {"RefinedWebModel", "falcon"}};

constexpr Word wrappers[] = {{"gemma3", "gemma3_text"}, {"mistral3", "mistral"},
                             {"llava", "llama"},        {"llava_next", "llama"},
                             {"kimi_k25", "kimi_k2"},   {"kimi_vl", "deepseek_v3"}};

constexpr std::string_view layer_aliases[] = {"n_layer", "n_layers", "num_layers"};
constexpr std::string_view hidden_aliases[] = {"n_embd", "d_model"};
constexpr std::string_view head_aliases[] = {"n_head", "n_heads"};
constexpr std::string_view kv_aliases[] = {"num_kv_heads", "n_head_kv"};
constexpr std::string_view context_aliases[] = {"n_positions", "n_ctx", "max_seq_len",
                                                "seq_length"};
constexpr std::string_view inner_aliases[] = {"d_inner"};
constexpr std::string_view state_aliases[] = {"d_state"};
constexpr std::string_view conv_aliases[] = {"d_conv"};

struct Aliases {
    std::string_view key;
    std::span<const std::string_view> others;
};

constexpr Aliases alias_table[] = {{"num_hidden_layers", layer_aliases},
                                   {"hidden_size", hidden_aliases},
                                   {"num_attention_heads", head_aliases},
                                   {"num_key_value_heads", kv_aliases},
                                   {"max_position_embeddings", context_aliases},
                                   {"intermediate_size", inner_aliases},
                                   {"state_size", state_aliases},
                                   {"conv_kernel", conv_aliases}};

std::string_view rule_text(const Architecture& row) {
    switch (row.rule) {
    case PlanRule::mla:
        return "multi-head latent attention on every layer";
    case PlanRule::mamba1:
        return "Mamba-1 state on every layer";
    case PlanRule::mamba2:
        return "Mamba-2 state on every layer";
    case PlanRule::attention:
        break;
    }
    switch (row.layout) {
    case Layout::full:
        return "full attention on every layer";
    case Layout::window_if_set:
        return "sliding window on every layer when one is set, else full attention";
    case Layout::use_sliding_window:
        return "full attention; from max_window_layers on sliding when use_sliding_window";
    case Layout::use_sliding_window_all:
        return "full attention; every layer sliding when use_sliding_window";
    case Layout::period:
        return row.period == 2 ? "every 2nd layer full attention, the others sliding"
                               : "every 6th layer full attention, the others sliding";
    }
    return "";
}

std::string keys_text(const Architecture& row) {
    std::string keys = "num_hidden_layers, max_position_embeddings";
    if (row.rule == PlanRule::mla) {
        return keys + ", num_attention_heads, kv_lora_rank, qk_rope_head_dim, qk_nope_head_dim, "
                      "v_head_dim";
    }
    if (row.rule == PlanRule::mamba1) {
        return "num_hidden_layers, intermediate_size, hidden_size, expand, state_size, conv_kernel";
    }
    if (row.rule == PlanRule::mamba2) {
        return "num_hidden_layers, hidden_size, expand, num_heads, head_dim, n_groups, "
               "state_size, conv_kernel";
    }
    keys += ", hidden_size, num_attention_heads, head_dim";
    keys += row.kv_heads == KvHeads::standard ? ", num_key_value_heads" : "";
    keys += row.kv_heads == KvHeads::falcon
                ? ", new_decoder_architecture, multi_query, num_kv_heads"
                : ", layer_types";
    keys += row.layout != Layout::full ? ", sliding_window" : "";
    keys += row.layout == Layout::use_sliding_window ? ", use_sliding_window, max_window_layers"
            : row.layout == Layout::use_sliding_window_all ? ", use_sliding_window"
            : row.layout == Layout::period                 ? ", sliding_window_pattern"
                                                           : "";
    return keys;
}

} // namespace

std::span<const Architecture> architecture_table() {
    return table;
}

const Architecture* find_architecture(std::string_view model_type) {
    for (const Word& name : type_names) {
        if (name.from == model_type) {
            model_type = name.to;
            break;
        }
    }
    for (const Architecture& row : table) {
        if (row.model_type == model_type) {
            return &row;
        }
    }
    return nullptr;
}

const Architecture& generic_architecture() {
    return generic;
}

std::string_view wrapped_model_type(std::string_view wrapper) {
    for (const Word& known : wrappers) {
        if (known.from == wrapper) {
            return known.to;
        }
    }
    return "";
}

std::span<const std::string_view> key_aliases(std::string_view key) {
    for (const Aliases& aliases : alias_table) {
        if (aliases.key == key) {
            return aliases.others;
        }
    }
    return {};
}

std::vector<ArchitectureInfo> known_architectures() {
    std::vector<ArchitectureInfo> infos;
    for (const Architecture& row : table) {
        infos.push_back({std::string(row.model_type), std::string(rule_text(row)), keys_text(row)});
    }
    for (const Word& name : type_names) {
        infos.push_back(
            {std::string(name.from), "as " + std::string(name.to), "as " + std::string(name.to)});
    }
    for (const Word& wrapper : wrappers) {
        infos.push_back({std::string(wrapper.from),
                         "text_config, read as its own model_type, else " + std::string(wrapper.to),
                         "text_config"});
    }
    return infos;
}

} // namespace kvcaliper
