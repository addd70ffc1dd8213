// SPDX-License-Identifier: Apache-2.0
// Layers that keep something per token: plain and sliding attention, and multi-head latent
// attention.
#include "kernels/generator.h"
#include "kernels/layer_driver.h"
#include "kernels/parallel.h"
#include "kernels/reference.h"
#include "kernels/reference_formats.h"

#include <algorithm>
#include <cmath>

namespace kvcaliper::kernels {
namespace {

/// Fill and append are the same for both: planes of rows, one row set per token.
class TokenDriver : public LayerDriver {
  public:
    using LayerDriver::LayerDriver;

    void allocate(CountingAllocator& allocator) override {
        LayerDriver::allocate(allocator);
        source_ = allocator.allocate("io", io_plan_.append);
        query_ = allocator.allocate("io", io_plan_.query);
        if (io_plan_.query_rope > 0)
            query_rope_ = allocator.allocate("io", io_plan_.query_rope);
        if (const std::int64_t bytes = workspace_bytes(); bytes > 0)
            workspace_ = allocator.allocate("workspace", bytes);
        host_.resize(static_cast<std::size_t>(
                         std::max({io_plan_.append, io_plan_.query, io_plan_.query_rope})) /
                     2);
    }

    std::int64_t workspace_bytes() const override {
        std::int64_t most = 0;
        for (const std::int64_t context : request_.contexts)
            for (std::int64_t s = 0; s < request_.steps; ++s)
                most = std::max(most, workspace_at(context, context - s));
        return most;
    }

    void fill(const LayerMemory& memory, std::int64_t tokens, bool) override {
        for (std::size_t i = 0; i < memory.planes.size(); ++i) {
            // Older tokens of a ring would be overwritten anyway: wrapping it twice is enough.
            const std::int64_t slots = memory.shapes[i].slots;
            std::int64_t first = std::max<std::int64_t>(0, tokens - 2 * slots);
            for (; first < tokens; first += io_plan_.append_tokens) {
                check_cancelled();
                append_plane(memory, i, first, std::min(io_plan_.append_tokens, tokens - first));
            }
        }
    }

    void append(const LayerMemory& memory, std::int64_t position) override {
        for (std::size_t i = 0; i < memory.planes.size(); ++i)
            append_plane(memory, i, position, 1);
    }

    /// Over the rows of the first tokens of the representative.
    std::optional<double> quantisation_error(std::size_t plane) const override {
        const Plane shape = layer_planes(group_.plan, 1, elements_)[plane];
        if (shape.format == format_of(shape.element) || shape.format == Format::f32)
            return std::nullopt;
        double lost = 0, size = 0;
        std::vector<double> row(static_cast<std::size_t>(shape.width));
        for (std::int64_t token = 0; token < 64; ++token) {
            const StreamId id = stream(representative(), 0, purpose(plane));
            normal_values(token_key(id, token), 0, shape.width, shape.element, row.data());
            const std::vector<double> stored_from = row;
            store_and_restore(shape.format, shape.width, row.data());
            for (std::size_t i = 0; i < row.size(); ++i) {
                lost += (row[i] - stored_from[i]) * (row[i] - stored_from[i]);
                size += stored_from[i] * stored_from[i];
            }
        }
        return std::sqrt(lost / size);
    }

  protected:
    virtual std::int64_t workspace_at(std::int64_t context, std::int64_t valid) const = 0;
    virtual Purpose purpose(std::size_t plane) const = 0;

    StreamId stream(std::int64_t layer, std::int64_t sequence, Purpose purpose) const {
        return {seed(), layer, sequence, purpose};
    }

    /// One query of every head and sequence, [sequences][heads][width].
    void send_query(const GuardedBuffer& to, Purpose purpose, std::int64_t per_sequence,
                    std::int64_t position) {
        for (std::int64_t s = 0; s < sequences(); ++s)
            normal_halves(token_key(stream(representative(), s, purpose), position), 0,
                          per_sequence, elements_.key, host_.data() + s * per_sequence);
        send(to, host_.data(), sequences() * per_sequence * 2);
    }

    std::vector<double> query_values(std::int64_t sequence, Purpose purpose, std::int64_t count,
                                     std::int64_t position) const {
        std::vector<double> values(static_cast<std::size_t>(count));
        normal_values(token_key(stream(representative(), sequence, purpose), position), 0, count,
                      elements_.key, values.data());
        return values;
    }

    static std::int64_t valid_slots(const LayerMemory& memory, std::int64_t position) {
        return std::min(position + 1, memory.shapes[0].slots);
    }

    GuardedBuffer source_, query_, query_rope_, workspace_;

  private:
    void append_plane(const LayerMemory& memory, std::size_t plane, std::int64_t first,
                      std::int64_t count) {
        const Plane& shape = memory.shapes[plane];
        const std::int64_t row = shape.rows * shape.width;
        const auto generate = [&](std::int64_t i) {
            const StreamId id = stream(memory.layer, i / count, purpose(plane));
            normal_halves(token_key(id, first + i % count), 0, row, shape.element,
                          host_.data() + i * row);
        };
        if (count == 1)
            for (std::int64_t s = 0; s < sequences(); ++s)
                generate(s);
        else
            parallel_for(sequences() * count, generate);
        send(source_, host_.data(), sequences() * count * row * 2);
        backend_.append({source_.data(), memory.planes[plane], sequences(), shape.rows, shape.width,
                         shape.slots, first, count, shape.element, shape.format});
        backend_.synchronize(); // the source is used again at once
    }

    std::vector<std::uint16_t> host_;
};

class AttentionDriver final : public TokenDriver {
  public:
    AttentionDriver(Backend& backend, const VerifyRequest& request, const LayerGroup& group,
                    const std::atomic<bool>* cancel)
        : TokenDriver(backend, request, group, cancel),
          dims_(std::get<AttentionDims>(group.plan.dims)) {
        output_row_ = dims_.value_width;
    }

    double bound() const override { return backend_.attention_bound(shape(1, 1)); }

    void begin_step(std::int64_t position) override {
        send_query(query_, Purpose::query, dims_.heads * dims_.key_width, position);
    }

    void run(const LayerMemory& memory, std::int64_t position) override {
        AttentionView view = shape(memory.shapes[0].slots, valid_slots(memory, position));
        view.q = query_.data();
        view.k = memory.planes[0];
        view.v = memory.planes[1];
        view.out = out_.as<float>();
        backend_.attend(view, workspace_.bytes() > 0 ? workspace_.data() : nullptr);
    }

    std::vector<std::vector<double>> expected(std::int64_t sequence,
                                              std::span<const std::int64_t> tokens) override {
        AttentionProblem problem{dims_.heads, dims_.kv_heads, dims_.key_width, dims_.value_width,
                                 scale(),     dims_.window,   false,           {}};
        problem.rows = [&](std::int64_t token, std::int64_t group, double* key, double* value) {
            check_cancelled();
            normal_values(token_key(stream(representative(), sequence, Purpose::key), token),
                          group * dims_.key_width, dims_.key_width, elements_.key, key);
            normal_values(token_key(stream(representative(), sequence, Purpose::value), token),
                          group * dims_.value_width, dims_.value_width, elements_.value, value);
            store_and_restore(elements_.key_format, dims_.key_width, key);
            store_and_restore(elements_.value_format, dims_.value_width, value);
        };
        std::vector<Question> questions;
        for (const std::int64_t count : tokens)
            questions.push_back({count, query_values(sequence, Purpose::query,
                                                     dims_.heads * dims_.key_width, count - 1)});
        return attend_reference(problem, questions);
    }

    std::int64_t reference_cost(std::int64_t tokens) const override {
        const std::int64_t seen = dims_.window ? std::min(tokens, *dims_.window) : tokens;
        return 2 * dims_.heads * seen * (dims_.key_width + dims_.value_width);
    }

  private:
    std::int64_t workspace_at(std::int64_t context, std::int64_t valid) const override {
        const std::int64_t slots = dims_.window ? std::min(context, *dims_.window) : context;
        return backend_.workspace_bytes(shape(slots, std::min(valid, slots)));
    }

    Purpose purpose(std::size_t plane) const override {
        return plane == 0 ? Purpose::key : Purpose::value;
    }

    double scale() const { return 1 / std::sqrt(static_cast<double>(dims_.key_width)); }

    AttentionView shape(std::int64_t slots, std::int64_t valid) const {
        return {nullptr,
                nullptr,
                nullptr,
                nullptr,
                sequences(),
                dims_.heads,
                dims_.kv_heads,
                dims_.key_width,
                dims_.value_width,
                slots,
                valid,
                static_cast<float>(scale()),
                elements_.key,
                elements_.key_format,
                elements_.value_format};
    }

    AttentionDims dims_;
};

class LatentDriver final : public TokenDriver {
  public:
    LatentDriver(Backend& backend, const VerifyRequest& request, const LayerGroup& group,
                 const std::atomic<bool>* cancel)
        : TokenDriver(backend, request, group, cancel),
          dims_(std::get<LatentDims>(group.plan.dims)) {
        output_row_ = dims_.rank;
    }

    double bound() const override { return backend_.attention_bound(shape(1, 1)); }

    void begin_step(std::int64_t position) override {
        send_query(query_, Purpose::query, dims_.heads * dims_.rank, position);
        send_query(query_rope_, Purpose::query_rope, dims_.heads * dims_.rope_width, position);
    }

    void run(const LayerMemory& memory, std::int64_t position) override {
        LatentView view = shape(memory.shapes[0].slots, valid_slots(memory, position));
        view.q_latent = query_.data();
        view.q_rope = query_rope_.data();
        view.latent = memory.planes[0];
        view.rope = memory.planes[1];
        view.out = out_.as<float>();
        backend_.attend(view, workspace_.bytes() > 0 ? workspace_.data() : nullptr);
    }

    std::vector<std::vector<double>> expected(std::int64_t sequence,
                                              std::span<const std::int64_t> tokens) override {
        AttentionProblem problem{dims_.heads, 1,       dims_.rank + dims_.rope_width,
                                 dims_.rank,  scale(), std::nullopt,
                                 true,        {}};
        problem.rows = [&](std::int64_t token, std::int64_t, double* key, double*) {
            check_cancelled();
            normal_values(token_key(stream(representative(), sequence, Purpose::latent), token), 0,
                          dims_.rank, elements_.key, key);
            normal_values(token_key(stream(representative(), sequence, Purpose::rope_key), token),
                          0, dims_.rope_width, elements_.key, key + dims_.rank);
            store_and_restore(elements_.key_format, dims_.rank, key);
            store_and_restore(elements_.key_format, dims_.rope_width, key + dims_.rank);
        };
        std::vector<Question> questions;
        for (const std::int64_t count : tokens)
            questions.push_back({count, joined_query(sequence, count - 1)});
        return attend_reference(problem, questions);
    }

    std::int64_t reference_cost(std::int64_t tokens) const override {
        return 2 * dims_.heads * tokens * (2 * dims_.rank + dims_.rope_width);
    }

  private:
    std::int64_t workspace_at(std::int64_t context, std::int64_t valid) const override {
        return backend_.workspace_bytes(shape(context, valid));
    }

    Purpose purpose(std::size_t plane) const override {
        return plane == 0 ? Purpose::latent : Purpose::rope_key;
    }

    /// The model's scale: of the key before absorption, not of the latent.
    double scale() const {
        return 1 / std::sqrt(static_cast<double>(dims_.nope_width + dims_.rope_width));
    }

    std::vector<double> joined_query(std::int64_t sequence, std::int64_t position) const {
        const auto latent =
            query_values(sequence, Purpose::query, dims_.heads * dims_.rank, position);
        const auto rope =
            query_values(sequence, Purpose::query_rope, dims_.heads * dims_.rope_width, position);
        std::vector<double> joined;
        for (std::int64_t h = 0; h < dims_.heads; ++h) {
            joined.insert(joined.end(), latent.begin() + h * dims_.rank,
                          latent.begin() + (h + 1) * dims_.rank);
            joined.insert(joined.end(), rope.begin() + h * dims_.rope_width,
                          rope.begin() + (h + 1) * dims_.rope_width);
        }
        return joined;
    }

    LatentView shape(std::int64_t slots, std::int64_t valid) const {
        return {nullptr,
                nullptr,
                nullptr,
                nullptr,
                nullptr,
                sequences(),
                dims_.heads,
                dims_.rank,
                dims_.rope_width,
                slots,
                valid,
                static_cast<float>(scale()),
                elements_.key,
                elements_.key_format};
    }

    LatentDims dims_;
};

} // namespace

std::unique_ptr<LayerDriver> make_attention_driver(Backend& backend, const VerifyRequest& request,
                                                   const LayerGroup& group,
                                                   const std::atomic<bool>* cancel) {
    return std::make_unique<AttentionDriver>(backend, request, group, cancel);
}

std::unique_ptr<LayerDriver> make_latent_driver(Backend& backend, const VerifyRequest& request,
                                                const LayerGroup& group,
                                                const std::atomic<bool>* cancel) {
    return std::make_unique<LatentDriver>(backend, request, group, cancel);
}

} // namespace kvcaliper::kernels
