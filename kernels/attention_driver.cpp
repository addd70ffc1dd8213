// SPDX-License-Identifier: Apache-2.0
// Plain, sliding and chunked attention; and cross-attention, whose rows are the encoder's.
#include "kernels/generator.h"
#include "kernels/reference.h"
#include "kernels/reference_formats.h"
#include "kernels/token_driver.h"

#include <cmath>

namespace kvcaliper::kernels {
namespace {

class AttentionDriver final : public TokenDriver {
  public:
    AttentionDriver(Backend& backend, const VerifyRequest& request, const LayerGroup& group,
                    const std::atomic<bool>* cancel)
        : TokenDriver(backend, request, group, cancel),
          dims_(std::get<AttentionDims>(group.plan.dims)) {
        output_row_ = dims_.value_width;
    }

    double bound() const override {
        AttentionView view = shape(1, 1);
        if (paged()) // read by the kernel of single heads
            view.kv_heads = view.heads;
        return backend_.attention_bound(view);
    }

    void allocate(CountingAllocator& allocator) override {
        TokenDriver::allocate(allocator);
        if (dims_.sinks > 0)
            sinks_ = sent(allocator, sink_logits(dims_.heads));
    }

    /// The encoder's rows come at once; no token adds one.
    void fill(const LayerMemory& memory, std::int64_t tokens, bool whole_history) override {
        TokenDriver::fill(memory, crosses() ? dims_.encoder_tokens : tokens, whole_history);
    }
    void append(const LayerMemory& memory, std::int64_t position) override {
        if (!crosses())
            TokenDriver::append(memory, position);
    }

    void begin_step(std::int64_t position) override {
        send_query(query_, Purpose::query, dims_.heads * dims_.key_width, position);
        if (indexer_)
            indexer_->ask(position);
    }

    void run(const LayerMemory& memory, std::int64_t position) override {
        if (indexer_)
            return run_chosen(memory, valid_slots(position));
        const AttentionView view = asked(shape(memory.shapes[0].slots, valid_slots(position)),
                                         memory.planes[0], memory.planes[1]);
        void* workspace = workspace_.bytes() > 0 ? workspace_.data() : nullptr;
        if (paged())
            backend_.attend(pages_of(view, table_for(view.slots)), workspace);
        else
            backend_.attend(view, workspace);
    }

    std::vector<std::vector<double>> expected(std::int64_t sequence,
                                              std::span<const std::int64_t> tokens) override {
        AttentionProblem problem = masked_problem();
        problem.rows = [&](std::int64_t token, std::int64_t group, double* key, double* value) {
            check_cancelled();
            normal_values(row_key(sequence, Purpose::key, token), group * dims_.key_width,
                          dims_.key_width, elements_.key, key);
            normal_values(row_key(sequence, Purpose::value, token), group * dims_.value_width,
                          dims_.value_width, elements_.value, value);
            store_and_restore(elements_.key_format, dims_.key_width, key);
            store_and_restore(elements_.value_format, dims_.value_width, value);
        };
        std::vector<Question> questions;
        for (const std::int64_t count : tokens)
            questions.push_back({count, query_values(sequence, Purpose::query,
                                                     dims_.heads * dims_.key_width, count - 1)});
        if (!indexer_)
            return attend_reference(problem, questions);
        std::vector<std::vector<double>> answers;
        for (const Question& question : questions)
            answers.push_back(expected_choice(problem, question, sequence));
        return answers;
    }

    std::int64_t reference_cost(std::int64_t tokens) const override {
        const std::int64_t seen = visible_tokens(group_.plan, tokens);
        const std::int64_t attended = indexer_ ? indexer_->chosen(seen) : seen;
        return 2 * dims_.heads * attended * (dims_.key_width + dims_.value_width) +
               (indexer_ ? indexer_->reference_cost(seen) : 0);
    }

  private:
    std::int64_t workspace_at(std::int64_t context, std::int64_t valid) const override {
        if (indexer_) {
            const std::int64_t chosen = indexer_->chosen(valid);
            return indexed_bytes(context, valid, 2) +
                   backend_.workspace_bytes(shape(chosen, chosen));
        }
        const std::int64_t slots = layer_planes(group_.plan, context, elements_)[0].slots;
        const AttentionView view = shape(slots, valid_slots(valid - 1));
        return paged() ? backend_.workspace_bytes(pages_of(view, nullptr))
                       : backend_.workspace_bytes(view);
    }

    PagedAttentionView pages_of(const AttentionView& view, const std::int32_t* table) const {
        return {view, table, view.slots / elements_.page, elements_.page};
    }

    Purpose purpose(std::size_t plane) const override {
        constexpr Purpose purposes[] = {Purpose::key, Purpose::value, Purpose::index_key};
        return purposes[plane];
    }

    /// Over the chosen rows, which are brought together first.
    void run_chosen(const LayerMemory& memory, std::int64_t valid) {
        Scratch scratch(workspace_.data());
        const std::int64_t chosen = indexer_->chosen(valid);
        const std::int32_t* table =
            indexer_->choose(memory.planes[2], memory.shapes[2].slots, valid, scratch);
        void* keys = gather_rows_of(backend_, memory.planes[0], memory.shapes[0], table, chosen,
                                    sequences(), scratch);
        void* values = gather_rows_of(backend_, memory.planes[1], memory.shapes[1], table, chosen,
                                      sequences(), scratch);
        backend_.attend(asked(shape(chosen, chosen), keys, values), scratch.take<void>(0));
    }

    AttentionView asked(AttentionView view, const void* keys, const void* values) const {
        view.sinks = dims_.sinks > 0 ? sinks_.as<float>() : nullptr;
        view.q = query_.data();
        view.k = keys;
        view.v = values;
        view.out = out_.as<float>();
        return view;
    }

    double scale() const { return 1 / std::sqrt(static_cast<double>(dims_.key_width)); }

    AttentionProblem masked_problem() const {
        AttentionProblem problem{dims_.heads, dims_.kv_heads, dims_.key_width, dims_.value_width,
                                 scale(),     std::nullopt,   false,           {}};
        if (group_.plan.kind == LayerKind::chunked_attention)
            problem.chunk = dims_.window;
        else if (crosses())
            problem.memory = dims_.encoder_tokens;
        else
            problem.window = dims_.window;
        if (dims_.sinks > 0) {
            const std::vector<float> logits = sink_logits(dims_.heads);
            problem.sinks.assign(logits.begin(), logits.end());
        }
        return problem;
    }

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
    GuardedBuffer sinks_;
};

} // namespace

std::unique_ptr<LayerDriver> make_attention_driver(Backend& backend, const VerifyRequest& request,
                                                   const LayerGroup& group,
                                                   const std::atomic<bool>* cancel) {
    return std::make_unique<AttentionDriver>(backend, request, group, cancel);
}

} // namespace kvcaliper::kernels
