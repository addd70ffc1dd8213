// SPDX-License-Identifier: Apache-2.0
// Which model types llama.cpp loads, and where their caches differ. Inside core/engines only.
#pragma once

#include <string_view>

namespace kvcaliper {

struct LlamaCppType {
    enum class Windows {
        none,     ///< no window is known for this type
        ignored,  ///< the file's window is not used: every layer keeps the whole context
        honoured, ///< sliding layers have a cache of their own
        chunked,  ///< the same, with a chunk that is written into the program
    };
    enum class Latent {
        none,
        stored,   ///< the latent alone, V is a view of K
        expanded, ///< K and V of every head
    };
    std::string_view model_type;
    Windows windows = Windows::none;
    Latent latent = Latent::none;
    bool recurrent = false; ///< its states are kept by llama-memory-recurrent
    bool shares = false;    ///< its last layers read the cache of earlier ones
};

/// nullptr where no loader is known.
const LlamaCppType* find_llama_cpp_type(std::string_view model_type);

} // namespace kvcaliper
