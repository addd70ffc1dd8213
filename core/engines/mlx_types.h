// SPDX-License-Identifier: Apache-2.0
// Which model types MLX-LM has a model for, and which caches that makes. Inside core/engines only.
#pragma once

#include <string_view>

namespace kvcaliper {

struct MlxType {
    enum class Windows {
        none,
        ignored, ///< make_prompt_cache's default: every layer keeps the whole context
        rotates, ///< RotatingKVCache
        chunks,  ///< ChunkedKVCache
    };
    enum class Latent { none, stored, expanded };
    std::string_view model_type;
    Windows windows = Windows::none;
    Latent latent = Latent::none;
    bool states = false;
    bool plain_states = false; ///< in the activations' type
    bool shares = false;       ///< layers that read another's cache get none
};

/// nullptr where no model is known.
const MlxType* find_mlx_type(std::string_view model_type);

} // namespace kvcaliper
