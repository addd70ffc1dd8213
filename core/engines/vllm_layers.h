// SPDX-License-Identifier: Apache-2.0
// What vLLM calls the KV cache spec of each layer. Inside core/engines only.
#pragma once

#include "core/engines/profile.h"

namespace kvcaliper::vllm {

inline constexpr std::string_view engine_name = "vllm";

/// Layers of equal specs. A page is one block of one layer: block tokens × token_bytes, or a state.
struct LayerSpec {
    enum class Kind { full, sliding, chunked, state };
    std::string label;
    Kind kind = Kind::full;
    std::int64_t window = 0;      ///< of sliding and chunked
    std::int64_t token_bytes = 0; ///< K and V, or latent and rotary key
    std::int64_t state_bytes = 0;
    std::vector<std::int64_t> layers{}; ///< their indices
};

/// The specs of all layers, counted. Throws Error where no rule is known; adds notes.
std::vector<LayerSpec> layer_specs(const Model& model, Reservation& result);

/// True when a model's attention reads a few tokens by an index (DeepSeek Sparse Attention).
bool is_sparse(const CacheSpec& spec);

/// Layers of these types must all have a window or none.
bool refuses_mixed_windows(std::string_view model_type);

/// What vLLM keeps recurrent states in instead of the model's type, by a hook of the architecture
/// (model_executor/models/config.py) or always (KDA); nullptr where neither is so. A file that
/// names no architecture is taken to be of the one its model_type comes with.
const NumericFormat* fixed_state_format(const ModelPlan& plan);

/// An index key beside K and V is kept in the model's type (MiniMax-M3).
bool has_plain_index(const ModelPlan& plan);

} // namespace kvcaliper::vllm
