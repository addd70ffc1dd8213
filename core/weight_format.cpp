// SPDX-License-Identifier: Apache-2.0
#include "core/weight_plan.h"

namespace kvcaliper {

namespace {

/// How many blocks of `size` cover `extent`; one where a block spans it all.
std::int64_t blocks(std::int64_t extent, std::int64_t size) {
    return size == 0 ? 1 : extent / size + (extent % size != 0 ? 1 : 0);
}

} // namespace

Bytes matrix_bytes(const WeightFormat& format, std::int64_t rows, std::int64_t columns) {
    const std::int64_t bits = checked_multiply(checked_multiply(rows, columns), format.bits);
    std::int64_t bytes = blocks(bits, 8);
    if (format.scale_bytes != 0) {
        const std::int64_t count = checked_multiply(blocks(rows, format.block_rows),
                                                    blocks(columns, format.block_columns));
        bytes = checked_add(bytes, checked_multiply(count, format.scale_bytes));
        bytes = checked_add(bytes, blocks(checked_multiply(count, format.zero_bits), 8));
    }
    bytes = checked_add(bytes, checked_multiply(columns, format.column_bytes));
    return Bytes(checked_add(bytes, format.tensor_bytes));
}

} // namespace kvcaliper
