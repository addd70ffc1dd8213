// SPDX-License-Identifier: Apache-2.0
// The number format a checkpoint asks for its KV cache: a wish of the file, used only on request.
#pragma once

#include "core/model_config.h"

#include <optional>
#include <string>
#include <vector>

namespace kvcaliper {

/// The format named by quantization_config.kv_cache_scheme (compressed-tensors) or by
/// hf_quant_config.json's kv_cache_quant_algo (ModelOpt); nothing when neither names one. A scheme
/// that is not understood becomes a note.
std::optional<std::string> checkpoint_kv_format(const ConfigFile& config,
                                                std::vector<std::string>& notes);

} // namespace kvcaliper
