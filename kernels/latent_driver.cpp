// SPDX-License-Identifier: Apache-2.0
// Multi-head latent attention on the latent itself.
#include "kernels/generator.h"
#include "kernels/reference.h"
#include "kernels/reference_formats.h"
#include "kernels/token_driver.h"

#include <cmath>

namespace kvcaliper::kernels {
namespace {

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
        if (indexer_)
            indexer_->ask(position);
    }

    void run(const LayerMemory& memory, std::int64_t position) override {
        if (indexer_)
            return run_chosen(memory, valid_slots(position));
        LatentView view = shape(memory.shapes[0].slots, valid_slots(position));
        view.latent = memory.planes[0];
        view.rope = memory.planes[1];
        attend(view, workspace_.bytes() > 0 ? workspace_.data() : nullptr);
    }

    std::vector<std::vector<double>> expected(std::int64_t sequence,
                                              std::span<const std::int64_t> tokens) override {
        AttentionProblem problem{dims_.heads, 1,       dims_.rank + dims_.rope_width,
                                 dims_.rank,  scale(), std::nullopt,
                                 true,        {}};
        problem.rows = [&](std::int64_t token, std::int64_t, double* key, double*) {
            check_cancelled();
            normal_values(row_key(sequence, Purpose::latent, token), 0, dims_.rank, elements_.key,
                          key);
            normal_values(row_key(sequence, Purpose::rope_key, token), 0, dims_.rope_width,
                          elements_.key, key + dims_.rank);
            store_and_restore(elements_.key_format, dims_.rank, key);
            store_and_restore(rope_format(elements_.key_format), dims_.rope_width,
                              key + dims_.rank);
        };
        std::vector<Question> questions;
        for (const std::int64_t count : tokens)
            questions.push_back({count, joined_query(sequence, count - 1)});
        if (!indexer_)
            return attend_reference(problem, questions);
        std::vector<std::vector<double>> answers;
        for (const Question& question : questions)
            answers.push_back(expected_choice(problem, question, sequence));
        return answers;
    }

    std::int64_t reference_cost(std::int64_t tokens) const override {
        const std::int64_t attended = indexer_ ? indexer_->chosen(tokens) : tokens;
        return 2 * dims_.heads * attended * (2 * dims_.rank + dims_.rope_width) +
               (indexer_ ? indexer_->reference_cost(tokens) : 0);
    }

  private:
    std::int64_t workspace_at(std::int64_t context, std::int64_t valid) const override {
        if (!indexer_)
            return backend_.workspace_bytes(shape(context, valid));
        const std::int64_t chosen = indexer_->chosen(valid);
        return indexed_bytes(context, valid, 2) + backend_.workspace_bytes(shape(chosen, chosen));
    }

    Purpose purpose(std::size_t plane) const override {
        constexpr Purpose purposes[] = {Purpose::latent, Purpose::rope_key, Purpose::index_key};
        return purposes[plane];
    }

    /// Over the chosen rows, which are brought together first.
    void run_chosen(const LayerMemory& memory, std::int64_t valid) {
        Scratch scratch(workspace_.data());
        const std::int64_t chosen = indexer_->chosen(valid);
        const std::int32_t* table =
            indexer_->choose(memory.planes[2], memory.shapes[2].slots, valid, scratch);
        LatentView view = shape(chosen, chosen);
        view.latent = gather_rows_of(backend_, memory.planes[0], memory.shapes[0], table, chosen,
                                     sequences(), scratch);
        view.rope = gather_rows_of(backend_, memory.planes[1], memory.shapes[1], table, chosen,
                                   sequences(), scratch);
        attend(view, scratch.take<void>(0));
    }

    void attend(LatentView view, void* workspace) {
        view.q_latent = query_.data();
        view.q_rope = query_rope_.data();
        view.out = out_.as<float>();
        backend_.attend(view, workspace);
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

std::unique_ptr<LayerDriver> make_latent_driver(Backend& backend, const VerifyRequest& request,
                                                const LayerGroup& group,
                                                const std::atomic<bool>* cancel) {
    return std::make_unique<LatentDriver>(backend, request, group, cancel);
}

} // namespace kvcaliper::kernels
