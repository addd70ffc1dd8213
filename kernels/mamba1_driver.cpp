// SPDX-License-Identifier: Apache-2.0
// Layers that keep a state of constant size: Mamba-1.
#include "kernels/generator.h"
#include "kernels/layer_driver.h"
#include "kernels/parallel.h"
#include "kernels/reference.h"

#include <algorithm>
#include <map>

namespace kvcaliper::kernels {
namespace {

constexpr float largest_step = 0.1f;   ///< dt as trained models have it: 0.001 to 0.1
constexpr float largest_decay = 16.0f; ///< -a of the usual initialisation: 1 to state_size

class Mamba1Driver final : public LayerDriver {
  public:
    Mamba1Driver(Backend& backend, const VerifyRequest& request, const LayerGroup& group,
                 const std::atomic<bool>* cancel)
        : LayerDriver(backend, request, group, cancel),
          dims_(std::get<Mamba1Dims>(group.plan.dims)), weights_(make_weights()) {
        output_row_ = dims_.inner;
    }

    void allocate(CountingAllocator& allocator) override {
        LayerDriver::allocate(allocator);
        x_ = allocator.allocate("io", io_plan_.append);
        dt_ = allocator.allocate("io", io_plan_.step);
        b_ = allocator.allocate("io", io_plan_.b);
        c_ = allocator.allocate("io", io_plan_.c);
        a_ = sent(allocator, weights_.a);
        d_ = sent(allocator, weights_.d);
        weight_ = sent(allocator, weights_.weight);
        bias_ = sent(allocator, weights_.bias);
        host_x_.resize(static_cast<std::size_t>(io_plan_.append / 2));
        host_.resize(static_cast<std::size_t>(std::max(io_plan_.step, io_plan_.b) / 4));
    }

    void fill(const LayerMemory& memory, std::int64_t tokens, bool whole_history) override {
        reset(memory);
        if (whole_history)
            walk(tokens, [&](std::int64_t first, std::int64_t count) {
                send_inputs(first, count);
                step(memory, count);
            });
    }

    void begin_step(std::int64_t position) override { send_inputs(position, 1); }
    void append(const LayerMemory&, std::int64_t) override {} // the step itself takes the token
    void run(const LayerMemory& memory, std::int64_t) override { step(memory, 1); }

    /// The reference goes on from context to context; where the first step of one lies before the
    /// last of the one before, it starts again.
    std::vector<std::vector<double>> expected(std::int64_t sequence,
                                              std::span<const std::int64_t> tokens) override {
        auto found = references_.find(sequence);
        if (found == references_.end() || found->second.tokens() > tokens.front())
            found = references_.insert_or_assign(sequence, make_reference(sequence)).first;
        std::vector<std::vector<double>> answers;
        for (const std::int64_t count : tokens)
            answers.push_back(found->second.advance_to(count));
        return answers;
    }

    double bound() const override { return backend_.state_bound(); }

    std::int64_t reference_cost(std::int64_t tokens) const override {
        return 10 * tokens * dims_.inner * dims_.state_size; // an exp is worth about ten
    }

  private:
    StreamId stream(std::int64_t sequence, Purpose purpose) const {
        return {seed(), representative(), sequence, purpose};
    }

    Mamba1Reference::Weights make_weights() const {
        Mamba1Reference::Weights w;
        w.a.resize(static_cast<std::size_t>(dims_.inner * dims_.state_size));
        w.d.resize(static_cast<std::size_t>(dims_.inner));
        w.bias.resize(static_cast<std::size_t>(dims_.inner));
        w.weight.resize(static_cast<std::size_t>(dims_.inner * dims_.conv_kernel));
        uniform_floats(token_key(stream(0, Purpose::ssm_a), 0), 0, dims_.inner * dims_.state_size,
                       -largest_decay, w.a.data());
        normal_floats(token_key(stream(0, Purpose::ssm_d), 0), 0, dims_.inner, 1, w.d.data());
        normal_floats(token_key(stream(0, Purpose::conv_bias), 0), 0, dims_.inner, 0.1f,
                      w.bias.data());
        normal_floats(token_key(stream(0, Purpose::conv_weight), 0), 0,
                      dims_.inner * dims_.conv_kernel, 0.5f, w.weight.data());
        return w;
    }

    /// Inputs of tokens first … first + count - 1, [sequences][count][…] each.
    void send_inputs(std::int64_t first, std::int64_t count) {
        const std::int64_t n = sequences() * count;
        parallel_for(n, [&](std::int64_t i) {
            const auto key = [&](Purpose purpose) {
                return token_key(stream(i / count, purpose), first + i % count);
            };
            normal_halves(key(Purpose::ssm_input), 0, dims_.inner, elements_.conv,
                          host_x_.data() + i * dims_.inner);
            uniform_floats(key(Purpose::ssm_step), 0, dims_.inner, largest_step,
                           host_.data() + i * dims_.inner);
        });
        send(x_, host_x_.data(), n * dims_.inner * 2);
        send(dt_, host_.data(), n * dims_.inner * 4);
        send_mix(b_, Purpose::ssm_b, first, count);
        send_mix(c_, Purpose::ssm_c, first, count);
    }

    void send_mix(const GuardedBuffer& to, Purpose purpose, std::int64_t first,
                  std::int64_t count) {
        const std::int64_t n = sequences() * count;
        for (std::int64_t i = 0; i < n; ++i)
            normal_floats(token_key(stream(i / count, purpose), first + i % count), 0,
                          dims_.state_size, 1, host_.data() + i * dims_.state_size);
        send(to, host_.data(), n * dims_.state_size * 4);
    }

    void step(const LayerMemory& memory, std::int64_t count) {
        const bool convolves = memory.planes.size() == 2;
        Mamba1View view{};
        view.x = x_.data();
        view.dt = dt_.as<float>();
        view.b = b_.as<float>();
        view.c = c_.as<float>();
        view.a = a_.as<float>();
        view.d = d_.as<float>();
        view.weight = weight_.as<float>();
        view.bias = bias_.as<float>();
        view.history = convolves ? memory.planes[0] : nullptr;
        view.state = static_cast<float*>(memory.planes.back());
        view.out = out_.as<float>();
        view.sequences = sequences();
        view.inner = dims_.inner;
        view.state_size = dims_.state_size;
        view.conv_kernel = dims_.conv_kernel;
        view.count = count;
        view.element = elements_.conv;
        backend_.step(view);
    }

    Mamba1Reference make_reference(std::int64_t sequence) const {
        return {{dims_.inner, dims_.state_size, dims_.conv_kernel},
                weights_,
                [this, sequence](std::int64_t token, std::int64_t first, std::int64_t count,
                                 const Mamba1Reference::Inputs& in) {
                    check_cancelled();
                    const auto key = [&](Purpose purpose) {
                        return token_key(stream(sequence, purpose), token);
                    };
                    normal_values(key(Purpose::ssm_input), first, count, elements_.conv, in.x);
                    uniform_floats(key(Purpose::ssm_step), first, count, largest_step, in.dt);
                    normal_floats(key(Purpose::ssm_b), 0, dims_.state_size, 1, in.b);
                    normal_floats(key(Purpose::ssm_c), 0, dims_.state_size, 1, in.c);
                }};
    }

    Mamba1Dims dims_;
    Mamba1Reference::Weights weights_;
    GuardedBuffer x_, dt_, b_, c_, a_, d_, weight_, bias_;
    std::vector<std::uint16_t> host_x_;
    std::vector<float> host_;
    std::map<std::int64_t, Mamba1Reference> references_;
};

} // namespace

std::unique_ptr<LayerDriver> make_mamba1_driver(Backend& backend, const VerifyRequest& request,
                                                const LayerGroup& group,
                                                const std::atomic<bool>* cancel) {
    return std::make_unique<Mamba1Driver>(backend, request, group, cancel);
}

} // namespace kvcaliper::kernels
