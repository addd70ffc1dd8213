// SPDX-License-Identifier: Apache-2.0
// What each layer is, with its dimensions as the config states them. This is the second step of
// reading a config; no byte formula lives here, and kernels/geometry reads this and nothing later.
#pragma once

#include "core/json_value.h"
#include "core/units.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kvcaliper {

struct ConfigFile; // model_config.h

/// The closed set of kinds of what a layer keeps. Every switch over it has no default.
enum class LayerKind {
    full_attention,
    sliding_attention,    ///< the last `window` tokens
    chunked_attention,    ///< the tokens since the last chunk boundary, at most `window`
    cross_attention,      ///< K and V over encoder or image tokens, fixed once made
    mla,                  ///< multi-head latent attention: one latent and one rotary key per token
    compressed_attention, ///< a window of K = V vectors and one more vector per `group` tokens
    mamba1,
    mamba2,
    gated_delta,
    kda, ///< Kimi delta attention
    lightning,
    gla,
    rglru,
    short_conv,
    rwkv4,
    rwkv, ///< versions 5, 6 and 7
    xlstm,
    kv_conv, ///< raw rows that a convolution beside attention looks back on
};

inline constexpr LayerKind all_layer_kinds[] = {LayerKind::full_attention,
                                                LayerKind::sliding_attention,
                                                LayerKind::chunked_attention,
                                                LayerKind::cross_attention,
                                                LayerKind::mla,
                                                LayerKind::compressed_attention,
                                                LayerKind::mamba1,
                                                LayerKind::mamba2,
                                                LayerKind::gated_delta,
                                                LayerKind::kda,
                                                LayerKind::lightning,
                                                LayerKind::gla,
                                                LayerKind::rglru,
                                                LayerKind::short_conv,
                                                LayerKind::rwkv4,
                                                LayerKind::rwkv,
                                                LayerKind::xlstm,
                                                LayerKind::kv_conv};

/// "full_attention", "sliding_attention", "mla", "mamba1", …
std::string_view to_string(LayerKind kind);
std::optional<LayerKind> layer_kind_from(std::string_view name);

/// K is [kv_heads][tokens][key_width], V is [kv_heads][tokens][value_width]; an index key, where
/// there is one, is [tokens][index_width].
struct AttentionDims {
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t key_width = 0;
    std::int64_t value_width = 0;
    std::optional<std::int64_t> window; ///< of sliding_attention; the chunk of chunked_attention
    std::int64_t index_width = 0;       ///< 0 where no index key is kept
    std::int64_t encoder_tokens = 0;    ///< of cross_attention: how many K and V rows there are
    std::int64_t sinks = 0;       ///< 1 where a learned logit per head joins the softmax; a weight
    std::int64_t index_heads = 0; ///< queries that score index keys; 0 where nothing says
    std::int64_t index_top = 0;   ///< tokens that are attended; 0 where nothing says
};

/// Latent [tokens][rank] and rotary key [tokens][rope_width], once for all heads.
struct LatentDims {
    std::int64_t heads = 0;
    std::int64_t rank = 0;        ///< kv_lora_rank
    std::int64_t rope_width = 0;  ///< qk_rope_head_dim
    std::int64_t nope_width = 0;  ///< qk_nope_head_dim
    std::int64_t value_width = 0; ///< v_head_dim
    std::int64_t index_width = 0; ///< index_head_dim; 0 where this layer has no indexer of its own
    std::int64_t index_heads = 0; ///< index_n_heads; 0 where nothing says
    std::int64_t index_top = 0;   ///< index_topk; 0 where nothing says
};

/// K = V vectors [min(T, window)][width] and, with a group, [floor(T / group)][width].
struct CompressedDims {
    std::int64_t heads = 0;
    std::int64_t width = 0;
    std::int64_t window = 0;      ///< 0 where only compressed entries are kept
    std::int64_t group = 0;       ///< tokens per compressed entry; 0 where there are none
    std::int64_t index_width = 0; ///< index key of each compressed entry; 0 where there is none
    std::int64_t index_heads = 0; ///< index_n_heads; 0 where nothing says
    std::int64_t index_top = 0;   ///< index_topk, in entries; 0 where nothing says
};

/// Convolution history [inner][conv_kernel - 1], state [inner][state_size].
struct Mamba1Dims {
    std::int64_t inner = 0; ///< intermediate_size
    std::int64_t state_size = 0;
    std::int64_t conv_kernel = 0;
};

/// Convolution history [inner + 2·groups·state_size][conv_kernel - 1], state
/// [heads][head_width][state_size]. groups is 0 where B and C are not convolved (PLaMo 2).
struct Mamba2Dims {
    std::int64_t inner = 0;
    std::int64_t heads = 0;
    std::int64_t head_width = 0;
    std::int64_t groups = 0;
    std::int64_t state_size = 0;
    std::int64_t conv_kernel = 0;
};

/// Convolution history [2·key_heads·key_width + value_heads·value_width][conv_kernel - 1], state
/// [value_heads][key_width][value_width]. Also KDA, lightning attention and GLA (no convolution).
struct DeltaDims {
    std::int64_t key_heads = 0;
    std::int64_t value_heads = 0;
    std::int64_t key_width = 0;
    std::int64_t value_width = 0;
    std::int64_t conv_kernel = 1;
};

/// Convolution history [width][conv_kernel - 1], state [width].
struct RglruDims {
    std::int64_t width = 0;
    std::int64_t conv_kernel = 0;
};

/// `columns` past rows of `channels` values; in the state format where `in_state_format` is 1.
struct ConvDims {
    std::int64_t channels = 0;
    std::int64_t columns = 0;
    std::int64_t in_state_format = 0;
};

/// Shift vectors [2][hidden]; state [3][attention_hidden] (rwkv4) or [hidden][head_width].
struct RwkvDims {
    std::int64_t hidden = 0;
    std::int64_t attention_hidden = 0; ///< rwkv4
    std::int64_t head_width = 0;       ///< rwkv
    std::int64_t version = 0;          ///< rwkv: 5, 6 or 7, which keep the same and step apart
};

/// Per head: C [key_width][value_width], n [key_width] and m [1].
struct XlstmDims {
    std::int64_t heads = 0;
    std::int64_t key_width = 0;
    std::int64_t value_width = 0;
};

using LayerDims = std::variant<AttentionDims, LatentDims, CompressedDims, Mamba1Dims, Mamba2Dims,
                               DeltaDims, RglruDims, ConvDims, RwkvDims, XlstmDims>;

/// One thing a layer keeps. The alternative of `dims` follows from the kind.
struct LayerPart {
    LayerKind kind = LayerKind::full_attention;
    LayerDims dims;
};

/// One layer: a hybrid has several parts, an MLP or a layer that reads another's cache has none.
struct LayerPlan {
    std::vector<LayerPart> parts;
    std::optional<int> shared_with; ///< index of the layer whose cache this one reads
    std::string decided_by;         ///< the config key, or class default, that made it so
};

/// True when a layer's cross-attention does not say over how many encoder tokens it runs.
bool needs_encoder_tokens(const LayerPlan& layer);

/// "full_attention", "full_attention + mamba2", "shared" or "none".
std::string kind_text(const LayerPlan& layer);

/// How sure a reading is: `rule` is a row of the architecture table; `generic` is an unknown
/// model_type read as a plain transformer because the standard keys were all there.
enum class Confidence { rule, generic };
std::string_view to_string(Confidence confidence);

/// A model read as far as its layers.
struct ModelPlan {
    std::string name;         ///< "gpt2-xl", or the file's stem or folder
    std::string display_name; ///< "GPT-2 XL"
    std::string source;       ///< file path, or where a bundled file's values come from
    std::string family;       ///< variants of one family share it; empty when unknown
    std::string model_type;
    std::string architecture; ///< the class the file names first under architectures, or empty
    std::optional<std::string> state_dtype; ///< mamba_ssm_dtype or mamba_ssm_cache_dtype
    Confidence confidence = Confidence::rule;
    std::optional<std::string>
        checkpoint_kv_format;          ///< what the file asks for, see --kv checkpoint
    std::optional<Tokens> max_context; ///< max_position_embeddings and its other names
    std::vector<LayerPlan> layers;
    std::optional<std::int64_t> draft_layers; ///< of multi-token prediction, not among `layers`
    std::vector<std::string> notes;
    /// The file it was made from, for what is read on request (plan_weights); null where the plan
    /// came as JSON.
    std::shared_ptr<const ConfigFile> config{};
};

/// The plan as the verifier's `config`: {"model_type", "layers": [{"kind", dimensions…}]}.
JsonValue to_json(const ModelPlan& plan);
/// The inverse; throws Error naming the key.
ModelPlan model_plan_from_json(const JsonValue& json);

} // namespace kvcaliper
