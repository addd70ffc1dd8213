// SPDX-License-Identifier: Apache-2.0
// The tensors a GGUF file names, by their types and sizes. Their data is not read.
#pragma once

#include "core/gguf_source.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kvcaliper {

/// A tensor type: elements_per_block elements take bytes_per_block bytes.
struct GgmlType {
    std::uint32_t number;
    std::string_view name;
    std::int64_t elements_per_block;
    std::int64_t bytes_per_block;
};

/// The type of that number, or nullptr.
const GgmlType* find_ggml_type(std::uint32_t number);

struct GgufTensor {
    std::string name;
    const GgmlType* type = nullptr;
    std::int64_t elements = 0;
};

inline constexpr std::uint64_t max_gguf_tensors = 1u << 20;

/// The tensors of one GGUF file. Throws Error for an unknown type, and for a row that is no whole
/// number of blocks.
std::vector<GgufTensor> read_gguf_tensors(const std::string& path);
/// The same from bytes in memory; `name` stands for the file in errors.
std::vector<GgufTensor> read_gguf_tensors(std::span<const std::byte> bytes, std::string_view name);

} // namespace kvcaliper
