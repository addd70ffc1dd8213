// SPDX-License-Identifier: Apache-2.0
// Layers that keep something per token: planes of rows, one row set per token.
#pragma once

#include "kernels/generator.h"
#include "kernels/indexer.h"
#include "kernels/layer_driver.h"
#include "kernels/reference.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace kvcaliper::kernels {

/// Fill and append are the same for all of them; what a step is follows from the kind.
class TokenDriver : public LayerDriver {
  public:
    TokenDriver(Backend& backend, const VerifyRequest& request, const LayerGroup& group,
                const std::atomic<bool>* cancel);

    void allocate(CountingAllocator& allocator) override;
    std::int64_t workspace_bytes() const override;
    void fill(const LayerMemory& memory, std::int64_t tokens, bool whole_history) override;
    void append(const LayerMemory& memory, std::int64_t position) override;
    void keep_rows(CountingAllocator& allocator, std::int64_t tokens) override;
    void append_kept(const LayerMemory& memory, std::int64_t first, std::int64_t count) override;
    /// Over the rows of the first tokens of the representative.
    std::optional<double> quantisation_error(std::size_t plane) const override;
    /// Behind the output of an indexed layer the scores of its keys, as many rows as they fill.
    std::vector<float> output(std::int64_t sequence) override;

  protected:
    /// Scratch of a step at that many tokens, in a cache for `context`.
    virtual std::int64_t workspace_at(std::int64_t context, std::int64_t tokens) const = 0;
    virtual Purpose purpose(std::size_t plane) const = 0;
    bool crosses() const { return group_.plan.kind == LayerKind::cross_attention; }

    StreamId stream(std::int64_t layer, std::int64_t sequence, Purpose purpose) const {
        return {seed(), layer, sequence, purpose};
    }
    /// Where a token's rows come from. Those of a cartridge were trained, not said: they have a
    /// seed of their own, and every sequence has the same.
    StreamId row_stream(std::int64_t layer, std::int64_t sequence, Purpose purpose,
                        std::int64_t token) const;
    /// The key of the row of a token that the representative reads.
    std::uint64_t row_key(std::int64_t sequence, Purpose purpose, std::int64_t token) const;

    /// One query of every head and sequence, [sequences][heads][width].
    void send_query(const GuardedBuffer& to, Purpose purpose, std::int64_t per_sequence,
                    std::int64_t position);
    std::vector<double> query_values(std::int64_t sequence, Purpose purpose, std::int64_t count,
                                     std::int64_t position) const;

    /// Slots that hold what the query at that position sees. A ring of a window is full of it, one
    /// of a chunk starts again at slot 0 with every chunk.
    std::int64_t valid_slots(std::int64_t position) const {
        return visible_tokens(group_.plan, position + 1);
    }

    /// True where rows lie in pages that a table names.
    bool paged() const {
        return elements_.page > 0 && group_.plan.kind == LayerKind::full_attention;
    }
    /// The table of a cache of so many slots per sequence, on the device: a shuffle of all pages.
    const std::int32_t* table_for(std::int64_t slots);

    /// Bytes beside attention's own workspace that a step of an indexed layer needs: scores, table
    /// and the chosen rows of these planes.
    std::int64_t indexed_bytes(std::int64_t context, std::int64_t valid, std::size_t planes) const;

    std::size_t whole_rows(std::size_t numbers) const {
        const auto row = static_cast<std::size_t>(output_row_);
        return (numbers + row - 1) / row * row;
    }
    /// What output() must be of an indexed layer that attended so at that position, the true scores
    /// being these. Not a number where its choice is not the best.
    std::vector<double> judged(std::int64_t sequence, std::int64_t position,
                               std::vector<double> attended,
                               const std::vector<double>& scores) const;
    /// The true answer where only chosen rows of the problem are attended, and what they were
    /// chosen by.
    std::vector<double> expected_choice(const AttentionProblem& problem, const Question& question,
                                        std::int64_t sequence) const;

    GuardedBuffer source_, query_, query_rope_, workspace_;
    std::optional<Indexer> indexer_;

    /// A logit of every head, spread wider than scores are, so that some heads are all sink and
    /// some hardly see it.
    std::vector<float> sink_logits(std::int64_t heads) const;

    /// Tokens (or entries) up to `tokens` into one plane.
    void fill_plane(const LayerMemory& memory, std::size_t plane, std::int64_t tokens);
    void append_plane(const LayerMemory& memory, std::size_t plane, std::int64_t first,
                      std::int64_t count);
    /// Makes the rows of `count` tokens of one plane, [sequences][count][rows][width], into the
    /// source.
    void make_source(const LayerMemory& memory, std::size_t plane, std::int64_t first,
                     std::int64_t count);

  private:
    void append_pages(const LayerMemory& memory, std::size_t plane, std::int64_t first,
                      std::int64_t count);

    std::vector<std::uint16_t> host_;
    std::vector<GuardedBuffer> kept_;
    GuardedBuffer table_memory_;
    std::vector<std::int32_t> table_; ///< [sequences][pages], empty until it is asked for
};

} // namespace kvcaliper::kernels
