// SPDX-License-Identifier: Apache-2.0
// Which weight matrices a model_type has, as data. The widths of attention and of states come from
// the layer plan; a row says what else there is.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kvcaliper {

/// Whether a kind of layer has a bias: a key of the config that says so, and what its absence
/// means.
struct BiasRule {
    std::string_view key;
    bool absent = false;
};

enum class NormKind {
    rms,   ///< one vector (also a LayerNorm without bias)
    layer, ///< a weight and a bias
    bare,  ///< no weights at all (OLMo)
};

enum class QkNorm {
    none,
    head, ///< one vector of a head's width
    full, ///< one value per element of all heads
};

/// Which layers hold experts.
enum class SparseLayers {
    all,
    after_first, ///< from first_k_dense_replace on, every moe_layer_freq-th of them
    step,        ///< (i + 1) mod decoder_sparse_step = 0, but those in mlp_only_layers
    interleave,  ///< (i + 1) mod interleave_moe_layer_step = 0
    period,      ///< i mod expert_layer_period = expert_layer_offset
    after_dense, ///< from num_dense_layers on
    range,       ///< moe_layer_start_index to moe_layer_end_index, every moe_layer_interval-th
    freq_list,   ///< moe_layer_freq is a list of 0 and 1
};

/// Experts that every token reads.
enum class SharedExperts {
    none,
    count,    ///< n_shared_experts (or its other name) of the experts' width, one matrix
    width,    ///< a width of their own
    as_dense, ///< one of the experts' width
};

struct Experts {
    std::string_view count_key;
    std::string_view chosen_key = "num_experts_per_tok";
    std::string_view width_key = "moe_intermediate_size";
    SparseLayers layers = SparseLayers::all;
    SharedExperts shared = SharedExperts::none;
    std::string_view shared_key = "n_shared_experts";
    bool shared_gate = false;      ///< one value per token weighs the shared expert
    bool correction = false;       ///< a value per expert beside the router
    bool biases = false;           ///< of the router and of every expert (gpt-oss)
    bool beside_dense = false;     ///< a dense MLP as well (Gemma 4)
    bool plain = false;            ///< two matrices per expert
    bool shared_alone = false;     ///< layers without experts have the shared one (Granite 4)
    std::string_view latent_key{}; ///< a width the experts read and write instead of hidden_size
};

/// What else an attention layer has.
enum class AttentionExtra {
    none,
    sinks,         ///< a value per head
    sliding_sinks, ///< the same in sliding layers alone
    gated_query,   ///< the query projection also makes a gate
    head_gate,     ///< a value per head from the hidden state
    gate,          ///< a gate as wide as the queries
};

struct WeightRow {
    std::string_view model_type;
    BiasRule qkv{};
    BiasRule out{};
    BiasRule mlp{};
    NormKind norm = NormKind::rms;
    std::int64_t norms = 2; ///< per layer
    QkNorm qk_norm = QkNorm::none;
    bool plain_mlp = false; ///< two matrices, not a gate and two
    std::string_view inner_key = "intermediate_size";
    std::int64_t inner_absent = 0;  ///< that many times hidden_size when the key is absent; 0: an
                                    ///< error
    std::int64_t inner_divisor = 1; ///< what the key is divided by (Qwen 1: both halves in one)
    bool mlp_in_layers = true;      ///< false where layers hold a state alone
    bool tied = false;              ///< what an absent tie_word_embeddings means
    const Experts* experts = nullptr;
    AttentionExtra extra = AttentionExtra::none;
    std::string_view positions_key{}; ///< learned positions
    std::int64_t more_positions = 0;
    bool output_bias = false;
    bool embedding_norm = false;
    std::string_view without{}; ///< a key that, when true, means matrices not listed here
};

std::span<const WeightRow> weight_table();
/// The row of a model_type (also under its other names), or nullptr.
const WeightRow* find_weight_row(std::string_view model_type);

} // namespace kvcaliper
