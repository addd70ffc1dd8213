// SPDX-License-Identifier: Apache-2.0
// What each layer is, with its dimensions as the config states them. This is the second step of
// reading a config; no byte formula lives here, and kernels/geometry reads this and nothing later.
#pragma once

#include "core/json_value.h"
#include "core/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kvcaliper {

/// The closed set of layer kinds. Every switch over it has no default.
enum class LayerKind {
    full_attention,
    sliding_attention, ///< the last `window` tokens
    mla,               ///< multi-head latent attention: one latent and one rotary key per token
    mamba1,
    mamba2,
};

inline constexpr LayerKind all_layer_kinds[] = {LayerKind::full_attention,
                                                LayerKind::sliding_attention, LayerKind::mla,
                                                LayerKind::mamba1, LayerKind::mamba2};

/// "full_attention", "sliding_attention", "mla", "mamba1", "mamba2".
std::string_view to_string(LayerKind kind);
std::optional<LayerKind> layer_kind_from(std::string_view name);

/// K is [kv_heads][tokens][key_width], V is [kv_heads][tokens][value_width].
struct AttentionDims {
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t key_width = 0;
    std::int64_t value_width = 0;
    std::optional<std::int64_t> window; ///< set for sliding_attention
};

/// Latent [tokens][rank] and rotary key [tokens][rope_width], once for all heads.
struct LatentDims {
    std::int64_t heads = 0;
    std::int64_t rank = 0;        ///< kv_lora_rank
    std::int64_t rope_width = 0;  ///< qk_rope_head_dim
    std::int64_t nope_width = 0;  ///< qk_nope_head_dim
    std::int64_t value_width = 0; ///< v_head_dim
};

/// Convolution history [inner][conv_kernel - 1], state [inner][state_size].
struct Mamba1Dims {
    std::int64_t inner = 0; ///< intermediate_size
    std::int64_t state_size = 0;
    std::int64_t conv_kernel = 0;
};

/// Convolution history [inner + 2·groups·state_size][conv_kernel - 1], state
/// [heads][head_width][state_size].
struct Mamba2Dims {
    std::int64_t inner = 0; ///< expand · hidden_size
    std::int64_t heads = 0;
    std::int64_t head_width = 0;
    std::int64_t groups = 0;
    std::int64_t state_size = 0;
    std::int64_t conv_kernel = 0;
};

using LayerDims = std::variant<AttentionDims, LatentDims, Mamba1Dims, Mamba2Dims>;

struct LayerPlan {
    LayerKind kind = LayerKind::full_attention;
    LayerDims dims;
    std::string decided_by; ///< the config key, or class default, that made it this kind
};

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
    Confidence confidence = Confidence::rule;
    std::optional<Tokens> max_context; ///< max_position_embeddings and its other names
    std::vector<LayerPlan> layers;
    std::vector<std::string> notes;
};

/// The plan as the verifier's `config`: {"model_type", "layers": [{"kind", dimensions…}]}.
JsonValue to_json(const ModelPlan& plan);
/// The inverse; throws Error naming the key.
ModelPlan model_plan_from_json(const JsonValue& json);

} // namespace kvcaliper
