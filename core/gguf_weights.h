// SPDX-License-Identifier: Apache-2.0
// The weights of a GGUF file, off the tensors that it and its other parts name.
#pragma once

#include "core/weights.h"

#include <string>

namespace kvcaliper {

/// Throws Error for a damaged file, an unknown type of tensor, and a part that is missing.
Weights gguf_weights(const std::string& path);

} // namespace kvcaliper
