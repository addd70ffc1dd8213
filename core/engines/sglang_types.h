// SPDX-License-Identifier: Apache-2.0
// Which model types SGLang has a model for, and which pools it gives them. Inside core/engines
// only.
#pragma once

#include <string_view>

namespace kvcaliper {

struct SglangType {
    enum class Windows {
        none,
        ignored, ///< one pool: sliding layers keep the whole context
        pooled,  ///< sliding and chunked layers have a pool of their own
    };
    std::string_view model_type;
    Windows windows = Windows::none;
    bool latent = false;
    bool sparse = false; ///< latent attention with index keys, on some layers at least
    bool states = false;
    bool extra_buffer = false; ///< its states are also tracked while a request runs
};

/// nullptr where no model is known.
const SglangType* find_sglang_type(std::string_view model_type);

} // namespace kvcaliper
