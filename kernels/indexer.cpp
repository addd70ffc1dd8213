// SPDX-License-Identifier: Apache-2.0
#include "kernels/indexer.h"

#include "core/error.h"

#include <algorithm>
#include <cmath>

namespace kvcaliper::kernels {
namespace {

/// Of the largest score: what sums of f32 may be off, by far.
constexpr double score_error = 1e-5;

template <typename T>
std::vector<T> read_back(Backend& backend, const T* from, std::int64_t count) {
    std::vector<T> values(static_cast<std::size_t>(count));
    backend.read(values.data(), from, count * static_cast<std::int64_t>(sizeof(T)));
    backend.synchronize();
    return values;
}

} // namespace

void Indexer::allocate(CountingAllocator& allocator) {
    query_ = allocator.allocate("io", sequences_ * shape_.heads * shape_.width * 2);
    weight_ = allocator.allocate("io", sequences_ * shape_.heads * 4);
}

std::int64_t Indexer::scratch_bytes(std::int64_t valid) const {
    return Scratch::rounded(sequences_ * valid * 4) +
           Scratch::rounded(sequences_ * chosen(valid) * 4);
}

void Indexer::ask(std::int64_t position) {
    const std::int64_t numbers = shape_.heads * shape_.width;
    std::vector<std::uint16_t> queries(static_cast<std::size_t>(sequences_ * numbers));
    std::vector<float> all;
    for (std::int64_t s = 0; s < sequences_; ++s) {
        normal_halves(key(s, Purpose::index_query, position), 0, numbers, elements_.index,
                      queries.data() + s * numbers);
        const std::vector<float> own = weights(s, position);
        all.insert(all.end(), own.begin(), own.end());
    }
    backend_.write(query_.data(), queries.data(), query_.bytes());
    backend_.write(weight_.data(), all.data(), weight_.bytes());
    backend_.synchronize();
    position_ = position;
}

const std::int32_t* Indexer::choose(const void* keys, std::int64_t slots, std::int64_t valid,
                                    Scratch& scratch) {
    auto* scores = scratch.take<float>(sequences_ * valid * 4);
    auto* table = scratch.take<std::int32_t>(sequences_ * chosen(valid) * 4);
    backend_.score({query_.data(), weight_.as<float>(), keys, scores, sequences_, shape_.heads,
                    shape_.width, slots, valid, valid, elements_.index, elements_.index_format});
    backend_.select({scores, table, sequences_, valid, valid, chosen(valid)});
    valid_ = valid;
    scores_ = scores;
    table_ = table;
    return table;
}

std::vector<float> Indexer::scores(std::int64_t sequence) {
    if (valid_ == 0)
        return {};
    choices_[{sequence, position_}] =
        read_back(backend_, table_ + sequence * chosen(valid_), chosen(valid_));
    return read_back(backend_, scores_ + sequence * valid_, valid_);
}

std::vector<double> Indexer::expected_scores(std::int64_t sequence, std::int64_t position,
                                             std::int64_t count, const IndexKeys& keys) const {
    std::vector<double> q(static_cast<std::size_t>(shape_.heads * shape_.width));
    normal_values(key(sequence, Purpose::index_query, position), 0, std::ssize(q), elements_.index,
                  q.data());
    return index_scores_reference(q, weights(sequence, position), count, keys);
}

const std::vector<std::int32_t>& Indexer::choice(std::int64_t sequence,
                                                 std::int64_t position) const {
    const auto found = choices_.find({sequence, position});
    if (found == choices_.end())
        throw Error("no choice of an indexer at position " + std::to_string(position),
                    ErrorKind::impossible_here);
    return found->second;
}

bool Indexer::chose_well(std::int64_t sequence, std::int64_t position,
                         const std::vector<double>& scores) const {
    double largest = 0;
    for (const double score : scores)
        largest = std::max(largest, std::abs(score));
    return holds_greatest(scores, choice(sequence, position), chosen(std::ssize(scores)),
                          score_error * largest);
}

/// A model's weights are as often negative as not.
std::vector<float> Indexer::weights(std::int64_t sequence, std::int64_t position) const {
    std::vector<float> values(static_cast<std::size_t>(shape_.heads));
    normal_floats(key(sequence, Purpose::index_weight, position), 0, shape_.heads, 0.125f,
                  values.data());
    return values;
}

std::int64_t gathered_bytes(const Plane& shape, std::int64_t count, std::int64_t sequences) {
    return Scratch::rounded(sequences * shape.rows * count *
                            stored_row_bytes(shape.format, shape.width));
}

void* gather_rows_of(Backend& backend, const void* plane, const Plane& shape,
                     const std::int32_t* table, std::int64_t count, std::int64_t sequences,
                     Scratch& scratch) {
    const std::int64_t row = stored_row_bytes(shape.format, shape.width);
    void* out = scratch.take<void>(sequences * shape.rows * count * row);
    backend.gather({plane, table, out, sequences, shape.rows, shape.slots, row, count, count, 0});
    return out;
}

} // namespace kvcaliper::kernels
