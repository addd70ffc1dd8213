// SPDX-License-Identifier: Apache-2.0
// The header of a GGUF file: its metadata as one JSON object. Tensors are not read.
#pragma once

#include "core/json_value.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvcaliper {

struct GgufHeader {
    std::uint32_t version = 0;
    bool big_endian = false;
    std::uint64_t tensor_count = 0;
    JsonValue metadata; ///< an object in the file's order, without tokenizer.*
    std::vector<std::string> warnings;
};

// Limits on what a header may say. Lengths are held against the file's size first.
inline constexpr std::uint64_t max_gguf_keys = 1u << 16;
inline constexpr std::uint64_t max_gguf_key_bytes = (1u << 16) - 1; ///< the format's own limit
inline constexpr std::uint64_t max_gguf_string_bytes = 1u << 20;
inline constexpr std::uint64_t max_gguf_kept_elements = 1u << 17;    ///< longer arrays are skipped
inline constexpr std::uint64_t max_gguf_skipped_elements = 1u << 26; ///< longer ones are refused
inline constexpr std::size_t max_gguf_kept_bytes = 32u << 20;        ///< of all values together
inline constexpr int max_gguf_array_depth = 4;

/// True when PATH is a regular file that starts with GGUF's magic bytes, whatever its name.
bool is_gguf_file(const std::string& path);

/// Reads the header of a GGUF file, version 2 or 3, little or big endian. Throws Error.
GgufHeader read_gguf_header(const std::string& path);
/// The same from bytes; `name` is the name used in errors.
GgufHeader read_gguf_header(std::span<const std::byte> bytes, std::string_view name);

} // namespace kvcaliper
