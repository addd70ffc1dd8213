// SPDX-License-Identifier: Apache-2.0
// Dimensions that several plan rules need.
#pragma once

#include "core/architectures/table.h"

#include <optional>
#include <string>
#include <vector>

namespace kvcaliper {

/// Heads, KV heads and widths of a full attention layer.
AttentionDims attention_dims(Reading& reading);
/// The dims of full or of sliding layers, from those both start with.
AttentionDims split_dims(Reading& reading, const AttentionDims& dims, bool sliding);
/// KV heads layer by layer, as GGUF files list them; empty for the usual single number.
std::vector<std::int64_t> listed_kv_heads(const Reading& reading);

/// What one attention layer is, and why.
struct LayerChoice {
    LayerKind kind = LayerKind::full_attention;
    std::string decided_by;
};
/// Every layer by its word in layer_types, else by the type's rule; all full without a window.
std::vector<LayerChoice> choose_layers(Reading& reading, bool has_window);

/// One attention part, sliding when the dims have a window.
LayerPart attention_part(const AttentionDims& dims);
/// The window, where the type has one and nothing switches it off. 0 means disabled (vLLM).
std::optional<std::int64_t> window_of(Reading& reading);
/// Rank and rotary width of a latent attention layer, without an index key.
LatentDims latent_dims(Reading& reading);
/// The recurrent part the row names.
LayerPart state_part(Reading& reading);

/// layer_types (or the row's other list), at least one word per layer, cut to the layer count;
/// empty when there is none.
std::vector<std::string> layer_words(Reading& reading, std::string_view key);

} // namespace kvcaliper
