// SPDX-License-Identifier: Apache-2.0
#include "kernels/backend_cpu_append.h"

#include "core/error.h"
#include "kernels/parallel.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace kvcaliper::kernels {
namespace {

void check(const AppendView& v) {
    if (v.slots <= 0 || v.width <= 0 || v.rows <= 0 || v.first < 0)
        throw Error("cpu backend: empty append");
    if (!divides(v.format, v.width) || !can_store(v.format, v.element))
        throw Error("cpu backend: " + std::string(name_of(v.format)) + " can not store rows of " +
                    std::to_string(v.width) + " " + name_of(format_of(v.element)));
}

void check(const PackView& v) {
    const std::int64_t group = packing_of(v.format).group;
    if (group == 0)
        throw Error("cpu backend: " + std::string(name_of(v.format)) + " keeps no residual");
    if (v.width <= 0 || v.rows <= 0 || v.first < 0 || v.count <= 0 || v.first + v.count > v.slots)
        throw Error("cpu backend: nothing to pack, or no slots for it");
    if (v.per_channel ? v.first % group != 0 || v.count % group != 0 || v.slots % group != 0
                      : v.width % group != 0)
        throw Error("cpu backend: " + std::string(name_of(v.format)) + " packs groups of " +
                    std::to_string(group));
}

} // namespace

void append_rows(const VectorKernels& kernels, const AppendView& v) {
    check(v);
    const bool copied = v.format == format_of(v.element);
    const std::int64_t from_bytes = v.width * element_bytes(v.element);
    const std::int64_t to_bytes = stored_row_bytes(v.format, v.width);
    const auto* source = static_cast<const unsigned char*>(v.source);
    auto* plane = static_cast<unsigned char*>(v.plane);
    // A token that a later one of the same call overwrites is not written at all, so the order of
    // writes within one ring slot never matters.
    const std::int64_t start = std::max<std::int64_t>(0, v.count - v.slots);
    const auto append_row = [&](std::int64_t i) {
        const std::int64_t sequence = i / v.rows, row = i % v.rows;
        for (std::int64_t t = start; t < v.count; ++t) {
            const std::int64_t slot = (v.first + t) % v.slots;
            unsigned char* to = plane + (i * v.slots + slot) * to_bytes;
            const unsigned char* from =
                source + ((sequence * v.count + t) * v.rows + row) * from_bytes;
            if (copied)
                std::memcpy(to, from, static_cast<std::size_t>(from_bytes));
            else
                kernels.encode({from, v.element, v.width, v.format, to});
        }
    };
    if (v.sequences * v.rows * (v.count - start) * from_bytes < (64 << 10)) {
        for (std::int64_t i = 0; i < v.sequences * v.rows; ++i)
            append_row(i);
    } else {
        parallel_for(v.sequences * v.rows, append_row);
    }
}

void pack_rows(const VectorKernels& kernels, const PackView& v) {
    check(v);
    const std::int64_t step = v.per_channel ? packing_of(v.format).group : 1; // tokens of a task
    const std::int64_t bytes =
        step * v.width / packing_of(v.format).group * packing_of(v.format).group_bytes();
    const auto* source = static_cast<const std::uint16_t*>(v.source);
    auto* plane = static_cast<unsigned char*>(v.plane);
    parallel_for(v.sequences * v.rows, [&](std::int64_t i) {
        const auto* from = source + i / v.rows * v.sequence_step + i % v.rows * v.row_step;
        for (std::int64_t t = 0; t < v.count; t += step)
            kernels.pack({from + t * v.token_step, v.token_step, v.width, v.format, v.per_channel,
                          plane + (i * v.slots + v.first + t) / step * bytes});
    });
}

} // namespace kvcaliper::kernels
