// SPDX-License-Identifier: Apache-2.0
// The weight matrices a config implies, and how each is stored. Read apart from the layers and only
// when asked for, so that a key about weights never stands in the way of a cache.
#pragma once

#include "core/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kvcaliper {

/// How one matrix [rows][columns] is stored: bits per element, and scales per block. A block of 0
/// rows or columns spans them all.
struct WeightFormat {
    std::string name = "bf16";
    std::int64_t bits = 16;
    std::int64_t block_rows = 0;
    std::int64_t block_columns = 0;
    std::int64_t scale_bytes = 0;  ///< per block; 0: no scales
    std::int64_t zero_bits = 0;    ///< per block: the zero point of integer formats
    std::int64_t column_bytes = 0; ///< per column: GPTQ's order of groups
    std::int64_t tensor_bytes = 0; ///< once per matrix
};

/// Bytes of one matrix; partial blocks and bytes count whole.
Bytes matrix_bytes(const WeightFormat& format, std::int64_t rows, std::int64_t columns);

/// Equal matrices of all layers.
struct TensorGroup {
    std::string label; ///< "attention query"
    std::int64_t rows = 1;
    std::int64_t columns = 1;
    std::int64_t tensors = 0; ///< how many of them
    std::int64_t read = 0;    ///< how many of them one token reads
    WeightFormat format;
};

struct WeightPlan {
    std::vector<TensorGroup> tensors; ///< empty where no formula is known
    std::string missing;              ///< then: why
    std::string file;                 ///< the config as named; empty for standard input
    std::int64_t uncertainty_permille = 0;
    std::vector<std::string> notes;
};

} // namespace kvcaliper
