// SPDX-License-Identifier: Apache-2.0
// Sizes of the tensors in safetensors files, off their headers and their index. No data is read.
#pragma once

#include "core/weights.h"

#include <optional>
#include <string>
#include <vector>

namespace kvcaliper {

/// The header of one file: the bytes of its tensors. The length a file claims is held against its
/// size before anything is read. Throws Error.
Bytes safetensors_bytes(const std::string& path);

/// The weights beside a config.json: metadata.total_size of model.safetensors.index.json, else the
/// headers of its shards, of model.safetensors or of the only *.safetensors in the folder. Nothing
/// where there are none; where there are several that no index explains, nothing and a note. Throws
/// Error for a file that is damaged, and for shards of which some are missing.
std::optional<Weights> safetensors_weights(const std::string& config_file,
                                           std::vector<std::string>& notes);

} // namespace kvcaliper
