// SPDX-License-Identifier: Apache-2.0
#include "kernels/backend_cpu_index.h"

#include "core/error.h"
#include "kernels/half.h"
#include "kernels/parallel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace kvcaliper::kernels {
namespace {

void require(bool condition, const char* message) {
    if (!condition)
        throw Error(std::string("cpu backend: ") + message);
}

std::vector<float> widened(const void* numbers, std::int64_t count, Element element) {
    const auto* halves = static_cast<const std::uint16_t*>(numbers);
    std::vector<float> values(static_cast<std::size_t>(count));
    std::transform(halves, halves + count, values.begin(),
                   element == Element::f16 ? f16_to_float : bf16_to_float);
    return values;
}

/// Pieces of a range, so that threads have several each.
constexpr std::int64_t piece = 512;
std::int64_t pieces_of(std::int64_t count) {
    return (count + piece - 1) / piece;
}

} // namespace

void run_index_step(const VectorKernels& kernels, const IndexScoreView& v) {
    require(v.sequences > 0 && v.heads > 0, "empty index query");
    require(v.width > 0 && v.width <= max_index_width, "index width must be between 1 and 128");
    require(v.valid > 0 && v.valid <= v.slots && v.valid <= v.stride,
            "valid must be between 1 and slots");
    require(v.element != Element::f32, "no index kernel for queries in f32");
    require(divides(v.format, v.width), "index keys do not divide into blocks");
    const std::vector<float> q = widened(v.q, v.sequences * v.heads * v.width, v.element);
    const std::int64_t bytes = stored_row_bytes(v.format, v.width);
    parallel_for(v.sequences * pieces_of(v.valid), [&](std::int64_t i) {
        const std::int64_t s = i / pieces_of(v.valid), first = i % pieces_of(v.valid) * piece;
        IndexTask task{};
        task.q = q.data() + s * v.heads * v.width;
        task.weights = v.weights + s * v.heads;
        task.keys = {static_cast<const unsigned char*>(v.keys) + s * v.slots * bytes, v.width,
                     bytes, v.format};
        task.scores = v.scores + s * v.stride;
        task.heads = v.heads;
        task.first = first;
        task.last = std::min(v.valid, first + piece);
        kernels.index(task);
    });
}

void run_index_step(const SelectView& v) {
    require(v.valid > 0 && v.valid <= v.stride && v.count > 0 && v.count <= v.valid,
            "count must be between 1 and valid");
    parallel_for(v.sequences, [&](std::int64_t s) {
        const float* scores = v.scores + s * v.stride;
        std::vector<std::int32_t> slots(static_cast<std::size_t>(v.valid));
        std::iota(slots.begin(), slots.end(), 0);
        // A NaN is greater than all, so that it is seen.
        const auto greater = [&](std::int32_t a, std::int32_t b) {
            const bool nan_a = std::isnan(scores[a]), nan_b = std::isnan(scores[b]);
            if (nan_a != nan_b)
                return nan_a;
            return !nan_a && scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
        };
        const auto end = slots.begin() + v.count;
        std::nth_element(slots.begin(), end - 1, slots.end(), greater);
        std::sort(slots.begin(), end);
        std::copy(slots.begin(), end, v.table + s * v.count);
    });
}

void run_index_step(const GatherView& v) {
    require(v.count > 0 && v.count <= v.slots && v.out_first >= 0 &&
                v.out_first + v.count <= v.out_slots,
            "gathered rows must fit");
    const auto* from = static_cast<const unsigned char*>(v.planes);
    auto* to = static_cast<unsigned char*>(v.out);
    parallel_for(v.sequences * v.rows * pieces_of(v.count), [&](std::int64_t i) {
        const std::int64_t plane = i / pieces_of(v.count), first = i % pieces_of(v.count) * piece;
        const std::int32_t* table = v.table ? v.table + plane / v.rows * v.count : nullptr;
        for (std::int64_t t = first; t < std::min(v.count, first + piece); ++t)
            std::memcpy(to + (plane * v.out_slots + v.out_first + t) * v.row_bytes,
                        from + (plane * v.slots + (table ? table[t] : t)) * v.row_bytes,
                        static_cast<std::size_t>(v.row_bytes));
    });
}

void run_index_step(const VectorKernels& kernels, const PoolView& v) {
    require(v.width > 0 && v.group > 0 && v.parts > 0 && v.parts <= 2 && v.count > 0,
            "empty pooling");
    require(v.element != Element::f32, "no pooling into f32");
    constexpr std::int64_t columns = 128;
    const std::int64_t blocks = (v.width + columns - 1) / columns;
    parallel_for(v.sequences * v.count, [&](std::int64_t i) {
        std::vector<float> entry(static_cast<std::size_t>(v.width));
        PoolTask task{};
        task.rows = v.rows + i / v.count * v.slots * 2 * v.parts * v.width;
        task.out = entry.data();
        task.slots = v.slots;
        task.width = v.width;
        task.group = v.group;
        task.parts = v.parts;
        task.entry = v.first + i % v.count;
        for (std::int64_t block = 0; block < blocks; ++block) {
            task.first = block * columns;
            task.last = std::min(v.width, task.first + columns);
            kernels.pool(task);
        }
        std::transform(entry.begin(), entry.end(), static_cast<std::uint16_t*>(v.out) + i * v.width,
                       v.element == Element::f16 ? float_to_f16 : float_to_bf16);
    });
}

} // namespace kvcaliper::kernels
