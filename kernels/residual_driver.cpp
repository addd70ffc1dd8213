// SPDX-License-Identifier: Apache-2.0
// Full attention over a cache that packs older tokens and keeps recent ones in f16 (KIVI).
#include "kernels/generator.h"
#include "kernels/reference.h"
#include "kernels/reference_formats.h"
#include "kernels/token_driver.h"

#include <atomic>
#include <cmath>

namespace kvcaliper::kernels {
namespace {

/// One side of the cache: where its planes are among those of a layer.
struct Side {
    Purpose purpose;
    std::size_t plane, recent; ///< numbers of its planes; of one without a residual the same
    std::int64_t width;
    Element element;
    Format format;
    bool per_channel;

    bool split() const { return keeps_residual(format); }
    std::int64_t packed(std::int64_t tokens) const {
        return per_channel ? packed_keys(format, tokens) : packed_values(format, tokens);
    }
    /// Tokens that are packed together.
    std::int64_t stretch() const { return per_channel ? packing_of(format).group : 1; }
};

/// Restored rows of one stretch of tokens of one head, made once for all of its tokens.
struct RestoredStretch {
    std::uint64_t run = 0; ///< which question they belong to
    std::int64_t head = -1, first = -1;
    std::vector<double> rows; ///< [stretch][width]
};

class ResidualDriver final : public TokenDriver {
  public:
    ResidualDriver(Backend& backend, const VerifyRequest& request, const LayerGroup& group,
                   const std::atomic<bool>* cancel)
        : TokenDriver(backend, request, group, cancel),
          dims_(std::get<AttentionDims>(group.plan.dims)),
          key_{Purpose::key, 0, 0, dims_.key_width, elements_.key, elements_.key_format, true},
          value_{Purpose::value,         1,    1, dims_.value_width, elements_.value,
                 elements_.value_format, false} {
        output_row_ = dims_.value_width;
        std::size_t next = 2;
        for (Side* side : {&key_, &value_})
            if (side->split())
                side->recent = next++;
    }

    double bound() const override { return backend_.attention_bound(view_at(1, 1)); }

    void allocate(CountingAllocator& allocator) override {
        TokenDriver::allocate(allocator);
        if (dims_.sinks > 0)
            sinks_ = sent(allocator, sink_logits(dims_.heads));
    }

    void fill(const LayerMemory& memory, std::int64_t tokens, bool) override {
        for (const Side* side : {&key_, &value_}) {
            if (!side->split()) {
                fill_plane(memory, side->plane, tokens);
                continue;
            }
            const std::int64_t packed = side->packed(tokens);
            pack_tokens(memory, *side, 0, packed);
            if (holds_recent(memory, *side, packed))
                append_recent(memory, *side, packed, tokens - packed);
        }
    }

    void append(const LayerMemory& memory, std::int64_t position) override {
        for (const Side* side : {&key_, &value_}) {
            if (!side->split())
                append_plane(memory, side->plane, position, 1);
            else if (side->per_channel)
                append_key(memory, position);
            else
                append_value(memory, position);
        }
    }

    void begin_step(std::int64_t position) override {
        send_query(query_, Purpose::query, dims_.heads * dims_.key_width, position);
    }

    void run(const LayerMemory& memory, std::int64_t position) override {
        const auto slots = [&](std::size_t plane) { return memory.shapes[plane].slots; };
        ResidualAttentionView view = view_at(std::max(slots(0), slots(1)), position + 1);
        view.step.q = query_.data();
        view.step.k = memory.planes[key_.plane];
        view.step.v = memory.planes[value_.plane];
        view.step.out = out_.as<float>();
        view.step.sinks = dims_.sinks > 0 ? sinks_.as<float>() : nullptr;
        view.recent_k = memory.planes[key_.recent];
        view.recent_v = memory.planes[value_.recent];
        view.key_slots = slots(key_.plane);
        view.recent_key_slots = slots(key_.recent);
        view.value_slots = slots(value_.plane);
        view.recent_value_slots = slots(value_.recent);
        backend_.attend(view, workspace_.bytes() > 0 ? workspace_.data() : nullptr);
    }

    /// What is packed depends on the number of tokens, so each question has rows of its own.
    std::vector<std::vector<double>> expected(std::int64_t sequence,
                                              std::span<const std::int64_t> tokens) override {
        std::vector<std::vector<double>> answers;
        for (const std::int64_t count : tokens) {
            const AttentionProblem problem = problem_at(sequence, count);
            const Question question{count, query_values(sequence, Purpose::query,
                                                        dims_.heads * dims_.key_width, count - 1)};
            answers.push_back(attend_reference(problem, {&question, 1}).front());
        }
        return answers;
    }

    /// Over one stretch of the first head's tokens.
    std::optional<double> quantisation_error(std::size_t plane) const override {
        const Side& side = plane == key_.plane ? key_ : value_;
        if (plane > 1 || !side.split())
            return plane > 1 ? std::nullopt : TokenDriver::quantisation_error(plane);
        double lost = 0, size = 0;
        constexpr std::int64_t tokens = 128; // a whole number of stretches of any format
        for (std::int64_t first = 0; first < tokens; first += side.stretch()) {
            const std::vector<double> rows = stretch_rows(side, 0, 0, first);
            const std::vector<double> restored = restored_rows(side, rows);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                lost += (restored[i] - rows[i]) * (restored[i] - rows[i]);
                size += rows[i] * rows[i];
            }
        }
        return std::sqrt(lost / size);
    }

    std::int64_t reference_cost(std::int64_t tokens) const override {
        return 2 * dims_.heads * tokens * (dims_.key_width + dims_.value_width);
    }

  private:
    std::int64_t workspace_at(std::int64_t context, std::int64_t valid) const override {
        return backend_.workspace_bytes(view_at(context, valid));
    }

    Purpose purpose(std::size_t plane) const override {
        return plane == key_.plane || (key_.split() && plane == key_.recent) ? Purpose::key
                                                                             : Purpose::value;
    }

    double scale() const { return 1 / std::sqrt(static_cast<double>(dims_.key_width)); }

    /// A step over planes of just the slots that so many tokens need.
    ResidualAttentionView view_at(std::int64_t slots, std::int64_t valid) const {
        const std::int64_t keys = key_.packed(valid), values = value_.packed(valid);
        return {{nullptr, nullptr, nullptr, nullptr, sequences(), dims_.heads, dims_.kv_heads,
                 dims_.key_width, dims_.value_width, std::max(slots, valid), valid,
                 static_cast<float>(scale()), elements_.key, elements_.key_format,
                 elements_.value_format},
                nullptr,
                nullptr,
                keys,
                valid - keys,
                values,
                valid - values};
    }

    // ---- into the planes -----------------------------------------------------------------------

    /// Keys that the context packs are not kept in f16 on the way there.
    static bool holds_recent(const LayerMemory& memory, const Side& side, std::int64_t packed) {
        return !side.per_channel || packed == memory.shapes[side.plane].slots;
    }

    /// Packs tokens first … first + count - 1 from where they are made.
    void pack_tokens(const LayerMemory& memory, const Side& side, std::int64_t first,
                     std::int64_t count) {
        const std::int64_t end = first + count;
        for (; first < end; first += io_plan_.append_tokens) {
            check_cancelled();
            const std::int64_t piece = std::min(io_plan_.append_tokens, end - first);
            const std::int64_t row = dims_.kv_heads * side.width;
            make_source(memory, side.recent, first, piece);
            pack(memory, side, source_.data(), first, piece, {piece * row, row, side.width});
        }
    }

    struct Steps {
        std::int64_t sequence, token, row;
    };
    void pack(const LayerMemory& memory, const Side& side, const void* from, std::int64_t first,
              std::int64_t count, const Steps& steps) {
        backend_.pack({from, memory.planes[side.plane], sequences(), dims_.kv_heads, side.width,
                       memory.shapes[side.plane].slots, first, count, steps.sequence, steps.token,
                       steps.row, side.format, side.per_channel});
        backend_.synchronize(); // the source is used again at once
    }

    /// Recent tokens first … first + count - 1; a plane begins with token 0, or with the first key
    /// that is not packed.
    void append_recent(const LayerMemory& memory, const Side& side, std::int64_t first,
                       std::int64_t count) {
        const Plane& shape = memory.shapes[side.recent];
        const std::int64_t origin = side.per_channel ? memory.shapes[side.plane].slots : 0;
        const std::int64_t end = first + count;
        for (; first < end; first += io_plan_.append_tokens) {
            const std::int64_t piece = std::min(io_plan_.append_tokens, end - first);
            make_source(memory, side.recent, first, piece);
            backend_.append({source_.data(), memory.planes[side.recent], sequences(), shape.rows,
                             shape.width, shape.slots, first - origin, piece, shape.element,
                             shape.format});
            backend_.synchronize();
        }
    }

    /// The last token of a stretch has all of its keys packed.
    void append_key(const LayerMemory& memory, std::int64_t position) {
        const std::int64_t residual = packing_of(key_.format).residual;
        if (position >= memory.shapes[key_.plane].slots)
            append_recent(memory, key_, position, 1);
        else if ((position + 1) % residual == 0)
            pack_tokens(memory, key_, position + 1 - residual, residual);
    }

    /// The value that has been recent for longest is packed and gives its place to the new one.
    void append_value(const LayerMemory& memory, std::int64_t position) {
        const std::int64_t residual = packing_of(value_.format).residual;
        const Plane& recent = memory.shapes[value_.recent];
        if (position >= residual) {
            const auto* ring = static_cast<const std::uint16_t*>(memory.planes[value_.recent]);
            pack(memory, value_, ring + position % residual * recent.width, position - residual, 1,
                 {recent.rows * recent.slots * recent.width, 0, recent.slots * recent.width});
        }
        append_recent(memory, value_, position, 1);
    }

    // ---- what must come out --------------------------------------------------------------------

    /// Rows of one head, [stretch][width], as they come.
    std::vector<double> stretch_rows(const Side& side, std::int64_t sequence, std::int64_t head,
                                     std::int64_t first) const {
        std::vector<double> rows(static_cast<std::size_t>(side.stretch() * side.width));
        for (std::int64_t t = 0; t < side.stretch(); ++t)
            normal_values(row_key(sequence, side.purpose, first + t), head * side.width, side.width,
                          side.element, rows.data() + t * side.width);
        return rows;
    }

    static std::vector<double> restored_rows(const Side& side, std::vector<double> rows) {
        if (side.per_channel)
            for (std::int64_t channel = 0; channel < side.width; ++channel)
                pack_and_restore(side.format, rows.data() + channel, side.width);
        else
            store_and_restore(side.format, side.width, rows.data());
        return rows;
    }

    /// A row as it is read at `count` tokens.
    void read_row(const Side& side, std::uint64_t run, std::int64_t count, std::int64_t sequence,
                  std::int64_t token, std::int64_t head, double* row) const {
        if (token >= side.packed(count)) {
            normal_values(row_key(sequence, side.purpose, token), head * side.width, side.width,
                          side.element, row);
            return side.split() ? void() : store_and_restore(side.format, side.width, row);
        }
        thread_local RestoredStretch stretches[2];
        RestoredStretch& stretch = stretches[side.plane];
        const std::int64_t first = token / side.stretch() * side.stretch();
        if (stretch.run != run || stretch.head != head || stretch.first != first)
            stretch = {run, head, first,
                       restored_rows(side, stretch_rows(side, sequence, head, first))};
        std::copy_n(stretch.rows.data() + (token - first) * side.width, side.width, row);
    }

    AttentionProblem problem_at(std::int64_t sequence, std::int64_t count) {
        static std::atomic<std::uint64_t> runs{0};
        const std::uint64_t run = ++runs;
        AttentionProblem problem{dims_.heads, dims_.kv_heads, dims_.key_width, dims_.value_width,
                                 scale(),     std::nullopt,   false,           {}};
        if (dims_.sinks > 0) {
            const std::vector<float> logits = sink_logits(dims_.heads);
            problem.sinks.assign(logits.begin(), logits.end());
        }
        problem.rows = [=, this](std::int64_t token, std::int64_t head, double* key,
                                 double* value) {
            check_cancelled();
            read_row(key_, run, count, sequence, token, head, key);
            read_row(value_, run, count, sequence, token, head, value);
        };
        return problem;
    }

    AttentionDims dims_;
    Side key_, value_;
    GuardedBuffer sinks_;
};

} // namespace

std::unique_ptr<LayerDriver> make_residual_driver(Backend& backend, const VerifyRequest& request,
                                                  const LayerGroup& group,
                                                  const std::atomic<bool>* cancel) {
    return std::make_unique<ResidualDriver>(backend, request, group, cancel);
}

} // namespace kvcaliper::kernels
