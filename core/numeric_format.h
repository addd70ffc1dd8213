// SPDX-License-Identifier: Apache-2.0
// How many bytes a row of numbers takes. A format is a block of integers, never a float ratio.
#pragma once

#include "core/units.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kvcaliper {

/// elements_per_block elements take bytes_per_block bytes; each row takes row_side_bytes more
/// (a scale per row). Sources: ggml block structs, vLLM cache layouts, MLX and Quanto groups.
/// An MLA's rotary key is stored in rope_format instead, where that is not empty. With a
/// residual_length of more than 0 the most recent tokens of K and V stay in residual_format
/// (core/stored_components.h says which).
struct NumericFormat {
    std::string_view name;
    std::int64_t elements_per_block;
    std::int64_t bytes_per_block;
    std::int64_t row_side_bytes;
    std::string_view used_by;
    std::string_view note;
    std::string_view rope_format = "";
    std::int64_t residual_length = 0; ///< tokens
    std::string_view residual_format = "";
};

/// Every known format, most common first.
std::span<const NumericFormat> numeric_formats();

/// The format of that name ("bfloat16", "fp16" and such spellings are understood), or nullptr.
const NumericFormat* find_numeric_format(std::string_view name);
/// The same; throws Error naming the nearest known format when there is none.
const NumericFormat& numeric_format(std::string_view name);

/// True when a row of `width` elements divides into whole blocks.
bool storable(const NumericFormat& format, std::int64_t width);
/// "32 does not divide 80", for a row that is not storable.
std::string not_storable_reason(const NumericFormat& format, std::int64_t width);

/// Bytes of one row of `width` elements; throws Error when the row is not storable.
Bytes row_bytes(const NumericFormat& format, std::int64_t width);

} // namespace kvcaliper
