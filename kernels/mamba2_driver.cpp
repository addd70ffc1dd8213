// SPDX-License-Identifier: Apache-2.0
// Mamba-2 layers.
#include "kernels/state_driver.h"

namespace kvcaliper::kernels {
namespace {

constexpr float largest_step = 0.1f; ///< dt as trained models have it: 0.001 to 0.1
// -a of the usual initialisation is spread over 1 to 16.
constexpr float least_decay = 1, decay_spread = 15;

class Mamba2Driver final : public StateDriver {
  public:
    Mamba2Driver(Backend& backend, const VerifyRequest& request, const LayerGroup& group,
                 const std::atomic<bool>* cancel)
        : StateDriver(backend, request, group, cancel, true),
          dims_(std::get<Mamba2Dims>(group.plan.dims)),
          a_values_(static_cast<std::size_t>(dims_.heads)), d_values_(a_values_.size()) {
        output_row_ = dims_.head_width;
        uniform_floats(key(0, Purpose::ssm_a, 0), 0, dims_.heads, -decay_spread, a_values_.data());
        for (float& a : a_values_)
            a -= least_decay;
        uniform_floats(key(0, Purpose::ssm_d, 0), 0, dims_.heads, 1, d_values_.data());
        for (float& d : d_values_)
            d += 0.5f; // about the usual 1, never near 0, where a head's output could be tiny
    }

    void allocate(CountingAllocator& allocator) override {
        StateDriver::allocate(allocator);
        dt_ = allocator.allocate("io", io_plan_.step);
        b_ = allocator.allocate("io", io_plan_.b);
        c_ = allocator.allocate("io", io_plan_.c);
        a_ = sent(allocator, a_values_);
        d_ = sent(allocator, d_values_);
    }

    std::int64_t reference_cost(std::int64_t tokens) const override {
        return 2 * tokens * dims_.heads * dims_.head_width * dims_.state_size;
    }

  private:
    bool beside() const { return dims_.groups == 0; } ///< B and C are not convolved

    void make_step(std::int64_t sequence, std::int64_t token, float* row) const {
        uniform_floats(key(sequence, Purpose::ssm_step, token), 0, dims_.heads, largest_step, row);
    }
    void make_mix(Purpose purpose, std::int64_t sequence, std::int64_t token, float* row) const {
        normal_floats(key(sequence, purpose, token), 0, dims_.state_size, 1, row);
    }

    void send_more(std::int64_t first, std::int64_t count) override {
        send_rows(dt_, dims_.heads, first, count, [this](auto sequence, auto token, float* row) {
            make_step(sequence, token, row);
        });
        for (const auto& [to, purpose] :
             {std::pair{&b_, Purpose::ssm_b}, std::pair{&c_, Purpose::ssm_c}})
            if (beside())
                send_rows(*to, dims_.state_size, first, count,
                          [this, purpose = purpose](auto sequence, auto token, float* row) {
                              make_mix(purpose, sequence, token, row);
                          });
    }

    void advance(const LayerMemory& memory, std::int64_t count) override {
        Mamba2View view{};
        view.x = mixed();
        view.b = beside() ? b_.as<float>() : mixed() + dims_.inner;
        view.c =
            beside() ? c_.as<float>() : mixed() + dims_.inner + dims_.groups * dims_.state_size;
        view.dt = dt_.as<float>();
        view.a = a_.as<float>();
        view.d = d_.as<float>();
        view.state = static_cast<float*>(memory.planes.back());
        view.out = out_.as<float>();
        view.sequences = sequences();
        view.heads = dims_.heads;
        view.head_width = dims_.head_width;
        view.groups = beside() ? 1 : dims_.groups;
        view.state_size = dims_.state_size;
        view.count = count;
        view.x_stride = conv_.channels;
        view.bc_stride = beside() ? dims_.state_size : conv_.channels;
        backend_.step(view);
    }

    std::unique_ptr<StateReference> make_reference(std::int64_t sequence,
                                                   ConvProblem conv) const override {
        const Mamba2Reference::Shape shape{dims_.heads, dims_.head_width, dims_.groups,
                                           dims_.state_size};
        return std::make_unique<Mamba2Reference>(
            shape, a_values_, d_values_, std::move(conv),
            [this, sequence](std::int64_t token, const Mamba2Reference::Inputs& in) {
                make_step(sequence, token, in.dt);
                if (!beside())
                    return;
                make_mix(Purpose::ssm_b, sequence, token, in.b);
                make_mix(Purpose::ssm_c, sequence, token, in.c);
            });
    }

    Mamba2Dims dims_;
    std::vector<float> a_values_, d_values_;
    GuardedBuffer dt_, b_, c_, a_, d_;
};

} // namespace

std::unique_ptr<LayerDriver> make_mamba2_driver(Backend& backend, const VerifyRequest& request,
                                                const LayerGroup& group,
                                                const std::atomic<bool>* cancel) {
    return std::make_unique<Mamba2Driver>(backend, request, group, cancel);
}

} // namespace kvcaliper::kernels
