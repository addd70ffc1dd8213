// SPDX-License-Identifier: Apache-2.0
// Which model types transformers has a model for, and where their caches differ from what the
// architecture needs. Inside core/engines only.
#pragma once

#include <string_view>

namespace kvcaliper {

struct TransformersType {
    enum class Windows {
        one_less, ///< the last W - 1 tokens: the next one attends to itself beside them
        one_more, ///< the class reads W as W + 1, so that W tokens are kept
        ignored,  ///< only the mask knows the window
    };
    std::string_view model_type;
    Windows windows = Windows::one_less;
    bool broadcasts = false;        ///< K and V are repeated for every query head
    bool exact_convolution = false; ///< K - 1 columns instead of K
    bool plain_states = false;      ///< recurrent states in the activations' type
};

/// nullptr where no model is known.
const TransformersType* find_transformers_type(std::string_view model_type);

} // namespace kvcaliper
