// SPDX-License-Identifier: Apache-2.0
// Linear attention with a matrix state: gated delta rule, KDA, lightning attention, GLA.
#include "kernels/state_driver.h"

#include <algorithm>
#include <cmath>

namespace kvcaliper::kernels {
namespace {

constexpr float largest_gate = 0.2f; ///< decays from e^-0.2 to 1: a memory of about ten tokens
constexpr float largest_beta = 0.999f;
/// A head of lightning attention remembers up to 256 tokens, so more roundings meet: 1.2e-6 seen.
constexpr double fixed_gate_bound = 5e-6;

/// Lightning attention's decay of a head, e^-slope, with the slopes of ALiBi. Given as a factor: an
/// exponential's error would repeat itself in every step.
float fixed_decay(std::int64_t head, std::int64_t heads) {
    const double place = static_cast<double>(head + 1) / static_cast<double>(heads);
    return static_cast<float>(std::exp(-std::exp2(-8 * place)));
}

class DeltaDriver final : public StateDriver {
  public:
    DeltaDriver(Backend& backend, const VerifyRequest& request, const LayerGroup& group,
                const std::atomic<bool>* cancel)
        : StateDriver(backend, request, group, cancel, true),
          dims_(std::get<DeltaDims>(group.plan.dims)), rule_(delta_rule(group.plan.kind)),
          gates_(rule_.column_gate ? dims_.key_width : 1) {
        output_row_ = dims_.value_width;
    }

    void allocate(CountingAllocator& allocator) override {
        StateDriver::allocate(allocator);
        gate_ = allocator.allocate("io", io_plan_.step);
        beta_ = allocator.allocate("io", io_plan_.b);
    }

    double bound() const override {
        return rule_.fixed_gate ? std::max(backend_.state_bound(), fixed_gate_bound)
                                : backend_.state_bound();
    }

    std::int64_t reference_cost(std::int64_t tokens) const override {
        return (rule_.beta ? 4 : 3) * tokens * dims_.value_heads * dims_.key_width *
               dims_.value_width;
    }

  private:
    double scale() const {
        return rule_.scaled ? 1 / std::sqrt(static_cast<double>(dims_.key_width)) : 1;
    }

    void make_gates(std::int64_t sequence, std::int64_t token, float* row) const {
        if (rule_.fixed_gate)
            for (std::int64_t h = 0; h < dims_.value_heads; ++h)
                row[h] = fixed_decay(h, dims_.value_heads);
        else
            uniform_floats(key(sequence, Purpose::delta_gate, token), 0, dims_.value_heads * gates_,
                           -largest_gate, row);
    }
    void make_betas(std::int64_t sequence, std::int64_t token, float* row) const {
        uniform_floats(key(sequence, Purpose::delta_beta, token), 0, dims_.value_heads,
                       largest_beta, row);
    }

    void send_more(std::int64_t first, std::int64_t count) override {
        send_rows(
            gate_, dims_.value_heads * gates_, first, count,
            [this](auto sequence, auto token, float* row) { make_gates(sequence, token, row); });
        if (rule_.beta)
            send_rows(beta_, dims_.value_heads, first, count,
                      [this](auto sequence, auto token, float* row) {
                          make_betas(sequence, token, row);
                      });
    }

    void advance(const LayerMemory& memory, std::int64_t count) override {
        const std::int64_t keys = dims_.key_heads * dims_.key_width;
        DeltaView view{};
        view.q = mixed();
        view.k = mixed() + keys;
        view.v = mixed() + 2 * keys;
        view.gate = gate_.as<float>();
        view.beta = rule_.beta ? beta_.as<float>() : nullptr;
        view.state = static_cast<float*>(memory.planes.back());
        view.out = out_.as<float>();
        view.sequences = sequences();
        view.key_heads = dims_.key_heads;
        view.value_heads = dims_.value_heads;
        view.key_width = dims_.key_width;
        view.value_width = dims_.value_width;
        view.count = count;
        view.stride = conv_.channels;
        view.gate_width = gates_;
        view.log_gate = !rule_.fixed_gate;
        view.normalise = rule_.normalise;
        view.scale = static_cast<float>(scale());
        backend_.step(view);
    }

    std::unique_ptr<StateReference> make_reference(std::int64_t sequence,
                                                   ConvProblem conv) const override {
        DeltaReference::Shape shape;
        shape.key_heads = dims_.key_heads;
        shape.value_heads = dims_.value_heads;
        shape.key_width = dims_.key_width;
        shape.value_width = dims_.value_width;
        shape.gate_width = gates_;
        shape.beta = rule_.beta;
        shape.log_gate = !rule_.fixed_gate;
        shape.normalise = rule_.normalise;
        shape.scale = scale();
        return std::make_unique<DeltaReference>(
            shape, std::move(conv), [this, sequence](std::int64_t token, float* gate, float* beta) {
                make_gates(sequence, token, gate);
                if (beta != nullptr)
                    make_betas(sequence, token, beta);
            });
    }

    DeltaDims dims_;
    DeltaRule rule_;
    std::int64_t gates_; ///< per value head
    GuardedBuffer gate_, beta_;
};

} // namespace

std::unique_ptr<LayerDriver> make_delta_driver(Backend& backend, const VerifyRequest& request,
                                               const LayerGroup& group,
                                               const std::atomic<bool>* cancel) {
    return std::make_unique<DeltaDriver>(backend, request, group, cancel);
}

} // namespace kvcaliper::kernels
