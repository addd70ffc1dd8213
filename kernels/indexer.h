// SPDX-License-Identifier: Apache-2.0
// The part of a layer that chooses which of its rows are attended: it scores all index keys and
// takes the best. What was chosen is kept, so that the reference can judge it.
#pragma once

#include "kernels/allocator.h"
#include "kernels/generator.h"
#include "kernels/geometry.h"
#include "kernels/reference_index.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace kvcaliper::kernels {

/// The start of what is left of a buffer, cut off in pieces of whole 256 bytes.
class Scratch {
  public:
    explicit Scratch(void* memory) : next_(static_cast<unsigned char*>(memory)) {}
    static std::int64_t rounded(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }
    template <typename T> T* take(std::int64_t bytes) {
        unsigned char* piece = next_;
        next_ += rounded(bytes);
        return reinterpret_cast<T*>(piece);
    }

  private:
    unsigned char* next_;
};

class Indexer {
  public:
    /// `stream` without sequence and purpose.
    Indexer(Backend& backend, const IndexShape& shape, const PlaneElements& elements,
            const StreamId& stream, std::int64_t sequences)
        : backend_(backend), shape_(shape), elements_(elements), stream_(stream),
          sequences_(sequences) {}

    void allocate(CountingAllocator& allocator);
    std::int64_t chosen(std::int64_t valid) const { return std::min(shape_.top, valid); }
    /// Scores and table at so many keys.
    std::int64_t scratch_bytes(std::int64_t valid) const;

    /// Makes the queries of the token at that position.
    void ask(std::int64_t position);
    /// Scores `valid` keys and returns the table of the chosen slots, [sequences][chosen(valid)].
    const std::int32_t* choose(const void* keys, std::int64_t slots, std::int64_t valid,
                               Scratch& scratch);

    /// There is nothing to choose from.
    void choose_nothing() { valid_ = 0; }

    /// The scores of the last choice, and what it chose is remembered.
    std::vector<float> scores(std::int64_t sequence);

    /// True scores of `count` keys for the token at that position.
    std::vector<double> expected_scores(std::int64_t sequence, std::int64_t position,
                                        std::int64_t count, const IndexKeys& keys) const;
    /// The rows that were chosen there; throws Error(impossible_here) unless scores() was called.
    const std::vector<std::int32_t>& choice(std::int64_t sequence, std::int64_t position) const;
    /// True when that choice is the best one within the rounding of f32 sums.
    bool chose_well(std::int64_t sequence, std::int64_t position,
                    const std::vector<double>& scores) const;
    std::int64_t reference_cost(std::int64_t keys) const {
        return keys * shape_.heads * shape_.width;
    }

  private:
    std::uint64_t key(std::int64_t sequence, Purpose purpose, std::int64_t position) const {
        StreamId id = stream_;
        id.sequence = sequence;
        id.purpose = purpose;
        return token_key(id, position);
    }
    std::vector<float> weights(std::int64_t sequence, std::int64_t position) const;

    Backend& backend_;
    IndexShape shape_;
    PlaneElements elements_;
    StreamId stream_;
    std::int64_t sequences_;
    GuardedBuffer query_, weight_;
    std::int64_t position_ = 0, valid_ = 0; ///< of the last question and choice
    const float* scores_ = nullptr;
    const std::int32_t* table_ = nullptr;
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int32_t>> choices_;
};

/// Copies the chosen rows of one plane of all sequences behind each other; returns where they are.
void* gather_rows_of(Backend& backend, const void* plane, const Plane& shape,
                     const std::int32_t* table, std::int64_t count, std::int64_t sequences,
                     Scratch& scratch);
std::int64_t gathered_bytes(const Plane& shape, std::int64_t count, std::int64_t sequences);

} // namespace kvcaliper::kernels
