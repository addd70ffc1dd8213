// SPDX-License-Identifier: Apache-2.0
// GGUF metadata as the config.json that the model was converted from, as far as a cache needs it.
#pragma once

#include "core/gguf.h"
#include "core/model_config.h"

#include <string>

namespace kvcaliper {

/// The config that a header means. Every key is stated: what a GGUF leaves out has llama.cpp's
/// meaning, never a class default of transformers. Throws Error.
ConfigFile gguf_config(const GgufHeader& header, const std::string& path);

} // namespace kvcaliper
