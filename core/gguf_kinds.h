// SPDX-License-Identifier: Apache-2.0
// The architectures of llama.cpp: what each is called in a config.json, and what its keys say
// beyond the common ones. Only gguf_config needs this.
#pragma once

#include "core/gguf_metadata.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kvcaliper {

/// A config on its way: what the common keys gave, for the rule of one architecture to add to.
struct GgufTranslation {
    const GgufMetadata& metadata;
    std::int64_t layers = 0; ///< without MTP blocks
    std::int64_t hidden = 0;
    std::int64_t heads = 0;             ///< the most of any layer; 0 for a model without attention
    std::vector<std::int64_t> kv_heads; ///< of each layer
    std::vector<bool> sliding;          ///< of each layer; empty when none has a window
    JsonValue config;
    std::vector<std::string> notes;
};

enum class GgufAttention {
    plain,  ///< heads of one width
    latent, ///< kv_lora_rank
    none,
};

/// Which layers have a window when the file has one number for all of them.
enum class GgufWindows {
    as_stated,   ///< the number says it all, and the model_type decides
    period,      ///< all but every p-th: layer i is full when (i + 1) mod p = 0
    dense_first, ///< layer i is full when i mod p = 0
    chunked,     ///< as `period`, with chunks of a size that llama.cpp fixes
};

struct GgufArchitecture {
    std::string_view name;       ///< general.architecture
    std::string_view model_type; ///< the config.json it was converted from
    GgufAttention attention = GgufAttention::plain;
    GgufWindows windows = GgufWindows::as_stated;
    std::int64_t period = 0; ///< llama.cpp's own, for a file that has none
    std::int64_t window = 0; ///< the same
    void (*more)(GgufTranslation&) = nullptr;
};

/// The row of an architecture, or nullptr.
const GgufArchitecture* find_gguf_architecture(std::string_view name);

} // namespace kvcaliper
