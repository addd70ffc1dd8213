// SPDX-License-Identifier: Apache-2.0
// RG-LRU layers (Griffin, RecurrentGemma). Their gates are sigmoids of small matrices times x,
// which keep nothing: they come as numbers between 0 and 1.
#include "kernels/reference_recurrent.h"
#include "kernels/state_driver.h"

namespace kvcaliper::kernels {
namespace {

// A channel remembers two to forty tokens.
constexpr float least_decay = 0.05f, decay_spread = 0.9f;
/// So large an r lets a be 0: the first token of a sequence enters whole.
constexpr float whole = 1e6f;

class RglruDriver final : public StateDriver {
  public:
    RglruDriver(Backend& backend, const VerifyRequest& request, const LayerGroup& group,
                const std::atomic<bool>* cancel)
        : StateDriver(backend, request, group, cancel, false),
          decay_values_(static_cast<std::size_t>(conv_.channels)) {
        output_row_ = conv_.channels;
        uniform_floats(key(0, Purpose::ssm_a, 0), 0, conv_.channels, decay_spread,
                       decay_values_.data());
        for (float& decay : decay_values_)
            decay += least_decay;
    }

    void allocate(CountingAllocator& allocator) override {
        StateDriver::allocate(allocator);
        gates_ = allocator.allocate("io", io_plan_.step);
        decay_ = sent(allocator, decay_values_);
    }

    std::int64_t reference_cost(std::int64_t tokens) const override {
        return tokens * conv_.channels * (conv_.kernel + 4);
    }

  private:
    void make_gates(std::int64_t sequence, std::int64_t token, float* row) const {
        uniform_floats(key(sequence, Purpose::ssm_step, token), 0, 2 * conv_.channels, 1, row);
        if (token == 0)
            std::fill_n(row, conv_.channels, whole);
    }

    void send_more(std::int64_t first, std::int64_t count) override {
        send_rows(
            gates_, 2 * conv_.channels, first, count,
            [this](auto sequence, auto token, float* row) { make_gates(sequence, token, row); });
    }

    void advance(const LayerMemory& memory, std::int64_t count) override {
        RglruView view{};
        view.x = mixed();
        view.gates = gates_.as<float>();
        view.decay = decay_.as<float>();
        view.state = static_cast<float*>(memory.planes.back());
        view.out = out_.as<float>();
        view.sequences = sequences();
        view.width = conv_.channels;
        view.count = count;
        backend_.step(view);
    }

    std::unique_ptr<StateReference> make_reference(std::int64_t sequence,
                                                   ConvProblem conv) const override {
        return std::make_unique<RglruReference>(
            decay_values_, std::move(conv),
            [this, sequence](std::int64_t token, float* row) { make_gates(sequence, token, row); });
    }

    std::vector<float> decay_values_;
    GuardedBuffer gates_, decay_;
};

} // namespace

std::unique_ptr<LayerDriver> make_rglru_driver(Backend& backend, const VerifyRequest& request,
                                               const LayerGroup& group,
                                               const std::atomic<bool>* cancel) {
    return std::make_unique<RglruDriver>(backend, request, group, cancel);
}

} // namespace kvcaliper::kernels
