// SPDX-License-Identifier: Apache-2.0
// The architecture table: what a model_type means, as data. A row names a plan rule and its
// parameters; class_defaults.cpp says what an absent key means.
#pragma once

#include "core/layer_plan.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvcaliper {

class ModelConfig;
struct Architecture;

/// What a plan rule works with.
struct Reading {
    const ModelConfig& config;
    const Architecture& row;
    std::vector<std::string>& notes;
    std::int64_t layers = 0; ///< from the row's layers_key
};
using PlanRule = std::vector<LayerPlan> (*)(Reading&);

/// Which attention layers have a window when no layer_types list says so.
enum class Layout {
    full,                    ///< none
    window_if_set,           ///< all, when the window is set
    use_sliding_window,      ///< index >= max_window_layers, when use_sliding_window is true
    use_sliding_window_all,  ///< all, when use_sliding_window is true
    use_sliding_window_even, ///< even index below max_window_layers, when use_sliding_window is
                             ///< true
    period,                  ///< all but every p-th: layer i is full when (i + 1) mod p = 0
    start_period,            ///< layer i is full when i mod p = 0
    end_period,              ///< layer i is full when (layers - 1 - i) mod p = 0
    list_only,               ///< none without a list
    prefix_period,           ///< the first first_k_dense_replace layers full, then period
    pattern_word,            ///< sliding_window_pattern may be a word such as LLLG, G is full
    no_rope_chunked,         ///< chunked where no_rope_layers is not 0 (Llama 4)
    no_rope_sliding,       ///< sliding where no_rope_layers is 0, when use_sliding_window (SmolLM3)
    local_list,            ///< attention_types: "local" layers have a window (GPT-Neo)
    hybrid_layer_pattern,  ///< 1 is sliding; else layer 0 and every p-th are full (MiMo)
    local_layer_ids,       ///< listed layers slide; else all but every p-th (Inkling)
    sliding_window_layers, ///< listed layers slide (Baichuan-M1)
};

/// How the number of KV heads is found.
enum class KvHeads {
    standard,        ///< num_key_value_heads and its aliases; null is the number of query heads
    all,             ///< always the number of query heads
    falcon,          ///< new_decoder_architecture and multi_query decide
    multi_query,     ///< multi_query: one, else one per query head (GPT-BigCode)
    query_groups,    ///< multi_query_attention: multi_query_group_num, else one per query head
                     ///< (ChatGLM)
    attn_config,     ///< attn_config.kv_n_heads, else 1 (DBRX)
    attn_config_all, ///< attn_config.kv_n_heads, else one per query head (MPT)
};

/// How the width of a head is found.
enum class HeadWidth {
    standard, ///< head_dim and its aliases, the class default, hidden_size / heads
    quotient, ///< hidden_size / heads always
    twice,    ///< 2 · hidden_size / heads (Zamba)
};

/// How sliding layers differ from full ones, besides the window.
enum class Split {
    none,
    global_heads,  ///< full layers: global_head_dim, num_global_key_value_heads (Gemma 4)
    swa_keys,      ///< sliding layers: swa_* keys (MiMo, Inkling)
    other_setting, ///< sliding layers: attention_other_setting (Step)
    swa_heads,     ///< sliding layers: num_swa_key_value_heads (Baichuan-M1)
};

/// Layers that read another layer's cache.
enum class Sharing {
    none,
    last_layers, ///< the last num_kv_shared_layers (Gemma 3n, Gemma 4)
    reuse,       ///< the last num_kv_reuse_layers (AFM)
    cross_layer, ///< use_cla: only every cla_share_factor-th layer owns (Hunyuan)
};

/// What else a layer keeps beside its attention cache.
enum class Beside { none, baichuan_conv, zaya_conv, inkling_conv, index_key, cross };

/// Which attention layers have a learned logit per head that joins their softmax (a weight: it
/// takes no cache). transformers 5.24: gpt_oss and granite_swa in all, MiMo in sliding layers.
enum class Sinks { none, all, sliding };

/// Which layers of a hybrid attend.
enum class Attends {
    interval,           ///< (i + 1) mod full_attention_interval = 0
    every_fourth,       ///< i mod 4 = 3, the last one if none (OLMo hybrid)
    kimi_list,          ///< linear_attn_config.full_attn_layers, counted from 1
    layer_group,        ///< (i + 1) mod layer_group_size = 0 (Bailing)
    attn_type_list,     ///< 1 is softmax; else even index (MiniMax)
    period_offset,      ///< i mod attn_layer_period = attn_layer_offset (Jamba)
    indices,            ///< attn_layer_indices (Bamba)
    layer_words,        ///< layer_types or layers_block_type; none without a list
    zamba_words,        ///< layers_block_type with hybrid layers, Zamba's default list
    always,             ///< both in every layer (Falcon-H1)
    override_pattern,   ///< hybrid_override_pattern: * attends, M is Mamba-2, - and E own nothing
    mamba_step,         ///< i mod mamba_step = mamba_step / 2 (PLaMo 2)
    full_attention_ids, ///< full_attn_idxs; all without a list (LFM2)
    block_types,        ///< block_types, cycled (RecurrentGemma)
    attn_layers,        ///< attn.layers (Samba)
};

/// The recurrent part of a hybrid or of a recurrent model.
enum class State {
    none,
    mamba1,          ///< state_size, conv_kernel, intermediate_size
    mamba1_prefix,   ///< mamba_d_state, mamba_d_conv, mamba_expand
    mamba2,          ///< num_heads, head_dim, n_groups, state_size, conv_kernel, expand
    mamba2_prefix,   ///< mamba_n_heads, mamba_d_head, mamba_d_state, mamba_n_groups, mamba_d_conv
    mamba2_zamba,    ///< n_mamba_heads, mamba_ngroups
    mamba2_nemotron, ///< mamba_num_heads, mamba_head_dim, ssm_state_size, n_groups, conv_kernel
    mamba2_plamo,    ///< mamba_num_heads, hidden_size_per_head, mamba_d_state, mamba_d_conv
    gated_delta,     ///< linear_* keys
    gated_delta_fla, ///< num_heads, head_dim, expand_v, conv_size
    kda,             ///< linear_attn_config
    lightning,       ///< heads of head_dim
    bailing,         ///< KDA where short_conv_kernel_size is stated (Ling 3.0), else lightning
    gla_fla,         ///< expand_k, expand_v
    rglru,           ///< lru_width, conv1d_width
    short_conv,      ///< conv_L_cache
    rwkv4,
    rwkv,
    xlstm,
};

struct Architecture {
    std::string_view model_type;
    PlanRule plan = nullptr;
    Layout layout = Layout::full;
    KvHeads kv_heads = KvHeads::standard;
    std::int64_t period = 0; ///< of the layouts that have one
    HeadWidth head_width = HeadWidth::standard;
    Split split = Split::none;
    Sharing sharing = Sharing::none;
    Beside beside = Beside::none;
    Attends attends = Attends::interval;
    State state = State::none;
    bool latent = false; ///< the attention layers of a hybrid are MLA
    Sinks sinks = Sinks::none;
    std::string_view window_key = "sliding_window";
    std::string_view layers_key = "num_hidden_layers";
};

// The plan rules (plan_*.cpp).
std::vector<LayerPlan> plan_attention(Reading& reading);
std::vector<LayerPlan> plan_mla(Reading& reading);
std::vector<LayerPlan> plan_mla_twice(Reading& reading); ///< LongCat: two sub-layers per block
std::vector<LayerPlan>
plan_recursion(Reading& reading); ///< HRM: layers × H_cycles × (L_cycles + 1)
std::vector<LayerPlan> plan_hybrid(Reading& reading);
std::vector<LayerPlan> plan_recurrent(Reading& reading);
std::vector<LayerPlan> plan_compressed(Reading& reading);        ///< DeepSeek-V4
std::vector<LayerPlan> plan_compressed_shared(Reading& reading); ///< DeepSeek-V4.1
std::vector<LayerPlan> plan_lists(Reading& reading);             ///< OpenELM: heads per layer
std::vector<LayerPlan> plan_blocks(Reading& reading);            ///< Nemotron-NAS: block_configs
std::vector<LayerPlan> plan_decoder(Reading& reading);    ///< T5, BART, Whisper: self and cross
std::vector<LayerPlan> plan_cross_list(Reading& reading); ///< Mllama: cross_attention_layers

std::span<const Architecture> architecture_table();
/// The row of a model_type (also under its other names), or nullptr.
const Architecture* find_architecture(std::string_view model_type);
/// The row an unknown model_type is read with when all standard keys are there.
const Architecture& generic_architecture();
/// What a key means when a config of that type does not have it, by the key or one of its aliases.
std::optional<std::int64_t> class_default(std::string_view model_type, std::string_view key);

/// What layers of that row may keep, as subjects of the table of kernel proofs.
std::vector<std::string> keeps_of(const Architecture& row);

/// A model_type and the one it is read as.
struct TypeName {
    std::string_view from;
    std::string_view to;
};
std::span<const TypeName> other_type_names();
std::span<const TypeName> wrapper_types();

/// The text model_type a wrapper means when its nested config names none; empty when unknown.
std::string_view wrapped_model_type(std::string_view wrapper);

/// Other spellings of a canonical key, best first.
std::span<const std::string_view> key_aliases(std::string_view key);

} // namespace kvcaliper
