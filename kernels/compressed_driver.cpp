// SPDX-License-Identifier: Apache-2.0
// Compressed attention: a window of vectors that are key and value at once, and one entry more for
// every group of tokens, pooled from rings of what the last tokens brought. RMS norm and rotation
// of an entry, and the position bias of its gates, are left out: they take no memory.
#include "kernels/parallel.h"
#include "kernels/reference_formats.h"
#include "kernels/token_driver.h"

#include <algorithm>
#include <cmath>

namespace kvcaliper::kernels {
namespace {

/// Entries, the ring they are pooled from, and where both come from.
struct PooledPlane {
    std::size_t entries, tail;
    std::int64_t width;
    Purpose entry_purpose, tail_purpose;
};

/// A gate of 0, or one so low that e^gate is nothing even in f32: sums and counts are exact then,
/// so that every backend rounds an entry to the same 16 bits.
constexpr float closed_gate = -120;

class CompressedDriver final : public TokenDriver {
  public:
    CompressedDriver(Backend& backend, const VerifyRequest& request, const LayerGroup& group,
                     const std::atomic<bool>* cancel)
        : TokenDriver(backend, request, group, cancel),
          dims_(std::get<CompressedDims>(group.plan.dims)), parts_(pooled_parts(dims_)) {
        output_row_ = dims_.width;
        if (dims_.group > 0 && dims_.index_width > 0)
            pooled_ = {{1, 3, dims_.width, Purpose::compressed, Purpose::tail},
                       {2, 4, dims_.index_width, Purpose::index_key, Purpose::index_tail}};
        else if (dims_.group > 0)
            pooled_ = {{1, 2, dims_.width, Purpose::compressed, Purpose::tail}};
    }

    double bound() const override { return backend_.attention_bound(shape(1)); }

    void allocate(CountingAllocator& allocator) override {
        TokenDriver::allocate(allocator);
        sinks_ = sent(allocator, sink_logits(dims_.heads));
        if (io_plan_.pooling > 0)
            rows_ = allocator.allocate("io", io_plan_.pooling);
    }

    /// Entries of other layers than the representative are not pooled but made as they are: whole
    /// histories of all of them would take too long.
    void fill(const LayerMemory& memory, std::int64_t tokens, bool whole_history) override {
        fill_plane(memory, 0, tokens);
        for (const PooledPlane& plane : pooled_) {
            if (whole_history)
                pool_history(memory, plane, tokens);
            else
                fill_plane(memory, plane.entries, tokens / dims_.group);
            const std::int64_t kept = std::min(tokens, memory.shapes[plane.tail].slots);
            append_tail(memory, plane, tokens - kept, kept);
        }
    }

    void append(const LayerMemory& memory, std::int64_t position) override {
        append_plane(memory, 0, position, 1);
        for (const PooledPlane& plane : pooled_) {
            append_tail(memory, plane, position, 1);
            if ((position + 1) % dims_.group == 0)
                pool(memory, plane, memory.planes[plane.tail], memory.shapes[plane.tail].slots,
                     {position / dims_.group, position / dims_.group, 1});
        }
    }

    void begin_step(std::int64_t position) override {
        send_query(query_, Purpose::query, dims_.heads * dims_.width, position);
        if (indexer_)
            indexer_->ask(position);
    }

    void run(const LayerMemory& memory, std::int64_t position) override {
        const Seen seen = seen_at(position + 1);
        if (seen.entries == 0) {
            if (indexer_)
                indexer_->choose_nothing();
            return attend(memory.planes[0], memory.shapes[0].slots, seen.window, workspace());
        }
        Scratch scratch(workspace());
        const std::int32_t* table = nullptr;
        if (indexer_)
            table =
                indexer_->choose(memory.planes[2], memory.shapes[2].slots, seen.entries, scratch);
        void* both = scratch.take<void>(sequences() * seen.attended() * row_bytes());
        gather(memory, 0, nullptr, seen.window, both, seen.attended(), 0);
        gather(memory, 1, table, seen.chosen, both, seen.attended(), seen.window);
        attend(both, seen.attended(), seen.attended(), scratch.take<void>(0));
    }

    std::vector<std::vector<double>> expected(std::int64_t sequence,
                                              std::span<const std::int64_t> tokens) override {
        std::vector<std::vector<double>> answers;
        for (const std::int64_t count : tokens)
            answers.push_back(expected_at(sequence, count));
        return answers;
    }

    std::int64_t reference_cost(std::int64_t tokens) const override {
        const Seen seen = seen_at(tokens);
        return 2 * dims_.heads * seen.attended() * 2 * dims_.width +
               (indexer_ ? indexer_->reference_cost(seen.entries) : 0);
    }

  private:
    /// What a query sees when the history holds so many tokens.
    struct Seen {
        std::int64_t window, entries, chosen;
        std::int64_t attended() const { return window + chosen; }
    };
    /// Entries of a run: their number in the rows they are pooled from, in the plane, how many.
    struct Entries {
        std::int64_t in_rows, in_plane, count;
    };

    Seen seen_at(std::int64_t tokens) const {
        const std::int64_t entries = dims_.group > 0 ? tokens / dims_.group : 0;
        return {std::min(tokens, dims_.window), entries,
                indexer_ ? indexer_->chosen(entries) : entries};
    }

    std::int64_t workspace_at(std::int64_t, std::int64_t valid) const override {
        const Seen seen = seen_at(valid);
        const std::int64_t attention = backend_.workspace_bytes(shape(seen.attended()));
        if (seen.entries == 0)
            return attention;
        return attention + Scratch::rounded(sequences() * seen.attended() * row_bytes()) +
               (indexer_ ? indexer_->scratch_bytes(seen.entries) : 0);
    }

    Purpose purpose(std::size_t plane) const override {
        for (const PooledPlane& pooled : pooled_) {
            if (plane == pooled.entries)
                return pooled.entry_purpose;
            if (plane == pooled.tail)
                return pooled.tail_purpose;
        }
        return Purpose::key_value;
    }

    std::int64_t row_bytes() const { return stored_row_bytes(elements_.key_format, dims_.width); }
    void* workspace() const { return workspace_.bytes() > 0 ? workspace_.data() : nullptr; }
    double scale() const { return 1 / std::sqrt(static_cast<double>(dims_.width)); }

    /// What a token brings to be pooled: values, then gates, of all parts.
    void make_row(std::int64_t layer, std::int64_t sequence, const PooledPlane& plane,
                  std::int64_t token, float* row) const {
        const std::int64_t values = parts_ * plane.width;
        normal_floats(token_key(stream(layer, sequence, plane.tail_purpose), token), 0, 2 * values,
                      1, row);
        for (std::int64_t i = values; i < 2 * values; ++i)
            row[i] = row[i] < 0 ? closed_gate : 0;
    }

    /// Rows of tokens first … first + count - 1 of all sequences, on the device.
    void send_rows(std::int64_t layer, const PooledPlane& plane, std::int64_t first,
                   std::int64_t count) {
        const std::int64_t size = 2 * parts_ * plane.width;
        host_rows_.resize(static_cast<std::size_t>(sequences() * count * size));
        const auto make = [&](std::int64_t i) {
            make_row(layer, i / count, plane, first + i % count, host_rows_.data() + i * size);
        };
        if (count == 1)
            for (std::int64_t s = 0; s < sequences(); ++s)
                make(s);
        else
            parallel_for(sequences() * count, make);
        send(rows_, host_rows_.data(), std::ssize(host_rows_) * 4);
    }

    void append_tail(const LayerMemory& memory, const PooledPlane& plane, std::int64_t first,
                     std::int64_t count) {
        const Plane& shape = memory.shapes[plane.tail];
        send_rows(memory.layer, plane, first, count);
        backend_.append({rows_.data(), memory.planes[plane.tail], sequences(), 1, shape.width,
                         shape.slots, first, count, Element::f32});
        backend_.synchronize();
    }

    /// All entries that so many tokens make, from rows that no ring has to hold.
    void pool_history(const LayerMemory& memory, const PooledPlane& plane, std::int64_t tokens) {
        const std::int64_t group = dims_.group, step = io_plan_.append_tokens / group;
        for (std::int64_t entry = 0; entry < tokens / group; entry += step) {
            check_cancelled();
            const std::int64_t count = std::min(step, tokens / group - entry);
            const std::int64_t before = entry > 0 ? 1 : 0; // the group in front takes part
            send_rows(memory.layer, plane, (entry - before) * group, (count + before) * group);
            pool(memory, plane, rows_.data(), (count + before) * group, {before, entry, count});
        }
    }

    void pool(const LayerMemory& memory, const PooledPlane& plane, const void* rows,
              std::int64_t slots, const Entries& entries) {
        const Plane& shape = memory.shapes[plane.entries];
        backend_.pool({static_cast<const float*>(rows), source_.data(), sequences(), slots,
                       plane.width, dims_.group, parts_, entries.in_rows, entries.count,
                       shape.element});
        backend_.append({source_.data(), memory.planes[plane.entries], sequences(), 1, plane.width,
                         shape.slots, entries.in_plane, entries.count, shape.element,
                         shape.format});
        backend_.synchronize(); // the source is used again at once
    }

    void gather(const LayerMemory& memory, std::size_t plane, const std::int32_t* table,
                std::int64_t count, void* out, std::int64_t out_slots, std::int64_t out_first) {
        backend_.gather({memory.planes[plane], table, out, sequences(), 1,
                         memory.shapes[plane].slots, row_bytes(), count, out_slots, out_first});
    }

    void attend(const void* rows, std::int64_t slots, std::int64_t valid, void* workspace) {
        LatentView view = shape(valid);
        view.slots = slots;
        view.q_latent = query_.data();
        view.latent = rows;
        view.out = out_.as<float>();
        view.sinks = sinks_.as<float>();
        backend_.attend(view, workspace);
    }

    /// Vectors that are key and value: a latent without a rotary key beside it.
    LatentView shape(std::int64_t slots) const {
        return {nullptr,
                nullptr,
                nullptr,
                nullptr,
                nullptr,
                sequences(),
                dims_.heads,
                dims_.width,
                0,
                slots,
                slots,
                static_cast<float>(scale()),
                elements_.key,
                elements_.key_format};
    }

    /// What is read back of an entry.
    void true_entry(std::int64_t sequence, const PooledPlane& plane, std::int64_t entry,
                    double* out) const {
        const bool index = plane.entry_purpose == Purpose::index_key;
        const auto rows = [&](std::int64_t token, float* row) {
            make_row(representative(), sequence, plane, token, row);
        };
        const std::vector<double> pooled =
            pool_reference(entry, dims_.group, parts_, plane.width, rows);
        for (std::size_t i = 0; i < pooled.size(); ++i)
            out[i] = rounded_to(index ? elements_.index : elements_.key, pooled[i]);
        store_and_restore(index ? elements_.index_format : elements_.key_format, plane.width, out);
    }

    std::vector<double> expected_at(std::int64_t sequence, std::int64_t tokens) const {
        const Seen seen = seen_at(tokens);
        if (!indexer_ || seen.entries == 0)
            return attended(sequence, tokens, [](std::int64_t i) { return i; });
        const std::vector<double> scores = indexer_->expected_scores(
            sequence, tokens - 1, seen.entries, [&](std::int64_t entry, double* key) {
                check_cancelled();
                true_entry(sequence, pooled_[1], entry, key);
            });
        const std::vector<std::int32_t>& choice = indexer_->choice(sequence, tokens - 1);
        const auto chosen = [&](std::int64_t i) -> std::int64_t {
            return choice[static_cast<std::size_t>(i)];
        };
        return judged(sequence, tokens - 1, attended(sequence, tokens, chosen), scores);
    }

    /// Attention over the window and those entries.
    std::vector<double> attended(std::int64_t sequence, std::int64_t tokens,
                                 const std::function<std::int64_t(std::int64_t)>& entry_of) const {
        const Seen seen = seen_at(tokens);
        const std::int64_t width = dims_.width;
        std::vector<double> entries(static_cast<std::size_t>(seen.chosen * width));
        parallel_for(seen.chosen, [&](std::int64_t i) {
            check_cancelled();
            true_entry(sequence, pooled_[0], entry_of(i), entries.data() + i * width);
        });
        AttentionProblem problem{dims_.heads, 1, width, width, scale(), std::nullopt, true, {}};
        problem.memory = seen.attended();
        const std::vector<float> logits = sink_logits(dims_.heads);
        problem.sinks.assign(logits.begin(), logits.end());
        problem.rows = [&](std::int64_t row, std::int64_t, double* key, double*) {
            if (row >= seen.window) {
                std::copy_n(entries.data() + (row - seen.window) * width, width, key);
                return;
            }
            const std::int64_t token = tokens - seen.window + row;
            normal_values(row_key(sequence, Purpose::key_value, token), 0, width, elements_.key,
                          key);
            store_and_restore(elements_.key_format, width, key);
        };
        const Question question{
            tokens, query_values(sequence, Purpose::query, dims_.heads * width, tokens - 1)};
        return attend_reference(problem, {&question, 1}).front();
    }

    CompressedDims dims_;
    std::int64_t parts_;
    std::vector<PooledPlane> pooled_; ///< entries to attend, and their index keys
    GuardedBuffer sinks_, rows_;
    std::vector<float> host_rows_;
};

} // namespace

std::unique_ptr<LayerDriver> make_compressed_driver(Backend& backend, const VerifyRequest& request,
                                                    const LayerGroup& group,
                                                    const std::atomic<bool>* cancel) {
    return std::make_unique<CompressedDriver>(backend, request, group, cancel);
}

} // namespace kvcaliper::kernels
