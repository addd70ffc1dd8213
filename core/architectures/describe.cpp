// SPDX-License-Identifier: Apache-2.0
// `list architectures`: each row of the table in words, with the keys its rule reads.
#include "core/architectures/architectures.h"
#include "core/architectures/table.h"

namespace kvcaliper {

namespace {

std::string_view layout_text(Layout layout) {
    switch (layout) {
    case Layout::full:
        return "full attention on every layer";
    case Layout::window_if_set:
        return "sliding window on every layer when one is set, else full attention";
    case Layout::use_sliding_window:
        return "full attention; from max_window_layers on sliding when use_sliding_window";
    case Layout::use_sliding_window_all:
        return "full attention; every layer sliding when use_sliding_window";
    case Layout::use_sliding_window_even:
        return "full attention; even layers sliding when use_sliding_window";
    case Layout::period:
        return "sliding, every p-th layer full";
    case Layout::start_period:
        return "sliding, the first and every p-th layer after it full";
    case Layout::end_period:
        return "sliding, the last and every p-th layer before it full";
    case Layout::list_only:
        return "full or sliding as layer_types says";
    case Layout::prefix_period:
        return "dense layers full, then sliding with every p-th layer full";
    case Layout::pattern_word:
        return "full or sliding as sliding_window_pattern says";
    case Layout::no_rope_chunked:
        return "chunked where no_rope_layers is not 0, else full";
    case Layout::no_rope_sliding:
        return "full attention; layers without RoPE sliding when use_sliding_window";
    case Layout::local_list:
        return "full or local as attention_types says";
    case Layout::hybrid_layer_pattern:
        return "full or sliding as hybrid_layer_pattern says";
    case Layout::local_layer_ids:
        return "sliding on local_layer_ids, else full";
    case Layout::sliding_window_layers:
        return "sliding on sliding_window_layers, else full";
    }
    return "";
}

std::string_view layout_keys(Layout layout) {
    switch (layout) {
    case Layout::full:
    case Layout::window_if_set:
    case Layout::list_only:
        return "";
    case Layout::use_sliding_window:
    case Layout::use_sliding_window_even:
        return ", use_sliding_window, max_window_layers";
    case Layout::use_sliding_window_all:
        return ", use_sliding_window";
    case Layout::period:
    case Layout::start_period:
    case Layout::pattern_word:
        return ", sliding_window_pattern";
    case Layout::end_period:
        return "";
    case Layout::prefix_period:
        return ", sliding_window_pattern, first_k_dense_replace, "
               "prefix_dense_sliding_window_pattern";
    case Layout::no_rope_chunked:
        return ", no_rope_layers, no_rope_layer_interval";
    case Layout::no_rope_sliding:
        return ", use_sliding_window, no_rope_layers, no_rope_layer_interval";
    case Layout::local_list:
        return ", attention_types";
    case Layout::hybrid_layer_pattern:
        return ", hybrid_layer_pattern";
    case Layout::local_layer_ids:
        return ", local_layer_ids";
    case Layout::sliding_window_layers:
        return ", sliding_window_layers";
    }
    return "";
}

std::string_view kv_keys(KvHeads rule) {
    switch (rule) {
    case KvHeads::standard:
        return ", num_key_value_heads";
    case KvHeads::all:
        return "";
    case KvHeads::falcon:
        return ", new_decoder_architecture, multi_query, num_kv_heads";
    case KvHeads::multi_query:
        return ", multi_query";
    case KvHeads::query_groups:
        return ", multi_query_attention, multi_query_group_num";
    case KvHeads::attn_config:
    case KvHeads::attn_config_all:
        return ", attn_config.kv_n_heads";
    }
    return "";
}

std::string_view state_text(State state) {
    switch (state) {
    case State::none:
        return "";
    case State::mamba1:
    case State::mamba1_prefix:
        return "Mamba-1 state";
    case State::mamba2:
    case State::mamba2_prefix:
    case State::mamba2_zamba:
    case State::mamba2_nemotron:
    case State::mamba2_plamo:
        return "Mamba-2 state";
    case State::gated_delta:
    case State::gated_delta_fla:
        return "gated delta rule state";
    case State::kda:
        return "Kimi delta attention state";
    case State::lightning:
        return "lightning attention state";
    case State::bailing:
        return "lightning or Kimi delta attention state";
    case State::gla_fla:
        return "gated linear attention state";
    case State::rglru:
        return "RG-LRU state";
    case State::short_conv:
        return "short convolution history";
    case State::rwkv4:
        return "RWKV-4 state";
    case State::rwkv:
        return "RWKV state";
    case State::xlstm:
        return "mLSTM state";
    }
    return "";
}

std::string_view state_keys(State state) {
    switch (state) {
    case State::none:
        return "";
    case State::mamba1:
        return ", intermediate_size, hidden_size, expand, state_size, conv_kernel";
    case State::mamba1_prefix:
        return ", hidden_size, mamba_expand, mamba_d_state, mamba_d_conv";
    case State::mamba2:
        return ", hidden_size, expand, num_heads, head_dim, n_groups, state_size, conv_kernel";
    case State::mamba2_prefix:
        return ", mamba_n_heads, mamba_d_head, mamba_d_ssm, mamba_expand, mamba_n_groups, "
               "mamba_d_state, mamba_d_conv";
    case State::mamba2_zamba:
        return ", mamba_expand, n_mamba_heads, mamba_headdim, mamba_ngroups, mamba_d_state, "
               "mamba_d_conv";
    case State::mamba2_nemotron:
        return ", mamba_num_heads, mamba_head_dim, ssm_state_size, n_groups, conv_kernel";
    case State::mamba2_plamo:
        return ", mamba_num_heads, hidden_size_per_head, mamba_d_state, mamba_d_conv";
    case State::gated_delta:
        return ", linear_num_key_heads, linear_num_value_heads, linear_key_head_dim, "
               "linear_value_head_dim, linear_conv_kernel_dim";
    case State::gated_delta_fla:
        return ", num_heads, head_dim, expand_v, use_short_conv, conv_size";
    case State::kda:
        return ", linear_attn_config";
    case State::lightning:
        return "";
    case State::bailing:
        return ", short_conv_kernel_size";
    case State::gla_fla:
        return ", num_heads, hidden_size, expand_k, expand_v, use_short_conv, conv_size";
    case State::rglru:
        return ", lru_width, conv1d_width";
    case State::short_conv:
        return ", conv_L_cache";
    case State::rwkv4:
        return ", hidden_size, attention_hidden_size";
    case State::rwkv:
        return ", hidden_size, head_dim";
    case State::xlstm:
        return ", hidden_size, num_heads, qk_dim_factor, v_dim_factor";
    }
    return "";
}

std::string_view attends_keys(Attends attends) {
    switch (attends) {
    case Attends::interval:
        return ", layer_types, full_attention_interval";
    case Attends::every_fourth:
    case Attends::layer_words:
        return ", layer_types, layers_block_type";
    case Attends::kimi_list:
        return ", layer_types, linear_attn_config.full_attn_layers";
    case Attends::layer_group:
        return ", layer_types, layer_group_size";
    case Attends::attn_type_list:
        return ", layer_types, attn_type_list";
    case Attends::period_offset:
        return ", layers_block_type, attn_layer_period, attn_layer_offset";
    case Attends::indices:
        return ", attn_layer_indices";
    case Attends::zamba_words:
        return ", layers_block_type";
    case Attends::always:
        return "";
    case Attends::override_pattern:
        return "hybrid_override_pattern, layers_block_type";
    case Attends::mamba_step:
        return ", mamba_step";
    case Attends::full_attention_ids:
        return ", layer_types, full_attn_idxs";
    case Attends::block_types:
        return ", block_types";
    case Attends::attn_layers:
        return ", attn.layers, attn.num_heads, attn.num_kv_heads, attn.window_size";
    }
    return "";
}

constexpr std::string_view latent_keys =
    ", num_attention_heads, kv_lora_rank, qk_rope_head_dim, qk_nope_head_dim, v_head_dim";

std::string attention_keys(const Architecture& row) {
    std::string keys = ", hidden_size, num_attention_heads";
    keys += row.head_width == HeadWidth::standard ? ", head_dim" : "";
    keys += kv_keys(row.kv_heads);
    keys += row.layout == Layout::full ? ", layer_types"
                                       : ", layer_types, " + std::string(row.window_key);
    return keys + std::string(layout_keys(row.layout));
}

std::string attention_text(const Architecture& row) {
    std::string text(layout_text(row.layout));
    text += row.split == Split::none ? "" : ", sliding and full layers with heads of their own";
    text += row.sharing == Sharing::none ? "" : ", some layers share";
    text += row.beside == Beside::cross ? ", cross-attention" : "";
    text += row.beside == Beside::index_key ? ", index key on sparse layers" : "";
    const bool conv = row.beside == Beside::baichuan_conv || row.beside == Beside::zaya_conv ||
                      row.beside == Beside::inkling_conv;
    return text + (conv ? ", convolution history" : "");
}

ArchitectureInfo describe_row(const Architecture& row) {
    const std::string type(row.model_type);
    const std::string layers(row.layers_key);
    if (row.plan == plan_hybrid) {
        const std::string attention = row.latent ? "latent or plain attention" : "attention";
        return {type, attention + " and " + std::string(state_text(row.state)) + " by layer",
                layers + std::string(attends_keys(row.attends)) +
                    std::string(state_keys(row.state)) +
                    (row.latent ? std::string(latent_keys) : attention_keys(row))};
    }
    if (row.plan == plan_recurrent) {
        return {type, std::string(state_text(row.state)) + " on every layer",
                layers + std::string(state_keys(row.state))};
    }
    if (row.plan == plan_mla || row.plan == plan_mla_twice) {
        const bool index = row.beside == Beside::index_key;
        return {type,
                std::string("latent attention (MLA)") +
                    (row.plan == plan_mla_twice ? ", two per block" : "") +
                    (index ? ", index key" : ""),
                layers + std::string(latent_keys) +
                    (index ? ", index_head_dim, indexer_types, index_topk_pattern, index_topk_freq"
                           : "")};
    }
    if (row.plan == plan_compressed || row.plan == plan_compressed_shared) {
        return {type, "window and compressed entries of K = V vectors",
                layers +
                    ", head_dim, sliding_window, index_head_dim, layer_types, compress_ratios" +
                    (row.plan == plan_compressed ? "" : ", kv_source_layer_ids")};
    }
    if (row.plan == plan_lists) {
        return {type, "full attention, heads per layer",
                layers + ", num_kv_heads, num_query_heads, head_dim"};
    }
    if (row.plan == plan_blocks) {
        return {type, "full attention or none, block by block",
                layers + ", num_attention_heads, hidden_size, block_configs"};
    }
    if (row.plan == plan_decoder) {
        return {type, "decoder: self-attention and cross-attention",
                layers + ", num_attention_heads, hidden_size, d_kv, max_source_positions"};
    }
    if (row.plan == plan_cross_list) {
        return {type, "full attention, cross-attention on listed layers",
                layers + attention_keys(row) + ", cross_attention_layers"};
    }
    const std::string cycles = row.plan == plan_recursion ? ", H_cycles, L_cycles" : "";
    return {type, attention_text(row), layers + cycles + attention_keys(row)};
}

} // namespace

std::vector<ArchitectureInfo> known_architectures() {
    std::vector<ArchitectureInfo> infos;
    for (const Architecture& row : architecture_table()) {
        infos.push_back(describe_row(row));
        infos.back().keeps = keeps_of(row);
    }
    for (const TypeName& name : other_type_names()) {
        infos.push_back(
            {std::string(name.from), "as " + std::string(name.to), "as " + std::string(name.to)});
        infos.back().keeps = keeps_of(*find_architecture(name.to));
    }
    for (const TypeName& wrapper : wrapper_types()) {
        infos.push_back(
            {std::string(wrapper.from),
             "a wrapper: its text config by that one's model_type, else " + std::string(wrapper.to),
             "text_config, llm_config, language_config"});
        infos.back().keeps = keeps_of(*find_architecture(wrapper.to));
    }
    infos.push_back({"(any other)",
                     "plain attention when all standard keys are there and none speaks of another "
                     "kind of cache, else refused",
                     "num_hidden_layers" + attention_keys(generic_architecture()),
                     Confidence::generic, keeps_of(generic_architecture())});
    return infos;
}

} // namespace kvcaliper
