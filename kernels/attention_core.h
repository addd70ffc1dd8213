// SPDX-License-Identifier: Apache-2.0
// Which kernel an attention step gets, and how the tensor cores' kernel is cut to a device.
#pragma once

#include "kernels/launch_plan.h"

#include <cstdint>
#include <optional>
#include <string>

namespace kvcaliper::kernels {

/// What the choice depends on, of either kind of attention.
struct AttentionKind {
    std::int64_t group;                  ///< query heads per kv head
    std::int64_t key_width, value_width; ///< of the whole key, the rope part included
    std::int64_t rope_width;             ///< of it what lies in a plane of its own
    bool shared_values;                  ///< a value is the first columns of its key
    Element element;                     ///< of the queries
    Format key_format, value_format;
};

struct CoreChoice {
    Core core = Core::simt;
    std::string reason;
    Element weights = Element::f32; ///< f16 or bf16 on the tensor cores: their operands' type
    MatrixShape matrix;
};

/// The tensor cores from three query heads per kv head on, where they take widths and formats.
CoreChoice choose_core(const AttentionKind& kind, const DeviceFacts& facts);

/// Blocks of so many threads and shared bytes that one multiprocessor holds at a time, when no
/// thread takes more registers than lets `most_threads` of them run.
std::int64_t resident_blocks(std::int64_t threads, std::int64_t most_threads,
                             std::int64_t shared_bytes, const DeviceFacts& facts);

/// True where queries, keys or values are not stored in the type they are multiplied in.
bool converts(const AttentionKind& kind);

/// Bytes that the threads load of one row on its way into a tile: a scale once per 16 numbers.
std::int64_t tile_row_load_bytes(Format format, std::int64_t width);

} // namespace kvcaliper::kernels
