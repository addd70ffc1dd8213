// SPDX-License-Identifier: Apache-2.0
// RWKV layers. Their token shift mixes a vector with that of the token before, once in front of the
// state and once in front of the feed-forward part: a convolution of two columns over both. Behind
// it are matrices, which keep nothing; so the output is both mixed vectors and what the state gives
// for rows of its own.
#include "kernels/reference_recurrent.h"
#include "kernels/state_driver.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kvcaliper::kernels {
namespace {

class ShiftDriver : public StateDriver {
  public:
    void allocate(CountingAllocator& allocator) override {
        StateDriver::allocate(allocator);
        rows_ = allocator.allocate("io", io_plan_.step);
    }
    std::vector<float> output(std::int64_t sequence) override {
        std::vector<float> values(static_cast<std::size_t>(conv_.channels + width_));
        const std::int64_t shift = conv_.channels * 4, mixed = width_ * 4;
        backend_.read(values.data(), out_.as<unsigned char>() + sequence * shift, shift);
        backend_.read(values.data() + conv_.channels,
                      out_.as<unsigned char>() + sequences() * shift + sequence * mixed, mixed);
        backend_.synchronize();
        return values;
    }

  protected:
    ShiftDriver(Backend& backend, const VerifyRequest& request, const LayerGroup& group,
                const std::atomic<bool>* cancel, std::int64_t width, std::int64_t rows)
        : StateDriver(backend, request, group, cancel, false), width_(width), row_(rows * width) {
        std::vector<float> parts(static_cast<std::size_t>(conv_.channels));
        uniform_floats(key(0, Purpose::conv_weight, 0), 0, conv_.channels, 1, parts.data());
        for (std::size_t i = 0; i < parts.size(); ++i) {
            weight_values_[2 * i] = 1 - parts[i];
            weight_values_[2 * i + 1] = parts[i];
            bias_values_[i] = 0;
        }
    }

    /// The numbers of a token beside the shift.
    virtual void make_rows(std::int64_t sequence, std::int64_t token, float* rows) const = 0;

    float* state_output() const { return out_.as<float>() + sequences() * conv_.channels; }
    TokenRows source(std::int64_t sequence) const {
        return
            [this, sequence](std::int64_t token, float* rows) { make_rows(sequence, token, rows); };
    }

    std::int64_t width_; ///< of all heads
    GuardedBuffer rows_;

  private:
    /// One step writes the output itself; the outputs of many stay where they are.
    float* output_of(std::int64_t count) const override {
        return count == 1 ? out_.as<float>() : mixed();
    }
    void send_more(std::int64_t first, std::int64_t count) override {
        send_rows(rows_, row_, first, count, [this](auto sequence, auto token, float* rows) {
            make_rows(sequence, token, rows);
        });
    }

    std::int64_t row_;
};

class Rwkv4Driver final : public ShiftDriver {
  public:
    Rwkv4Driver(Backend& backend, const VerifyRequest& request, const LayerGroup& group,
                const std::atomic<bool>* cancel)
        : ShiftDriver(backend, request, group, cancel,
                      std::get<RwkvDims>(group.plan.dims).attention_hidden, 2),
          decay_values_(static_cast<std::size_t>(width_)), bonus_values_(decay_values_.size()) {
        output_row_ = std::gcd(conv_.channels, width_);
        // A channel remembers two to forty tokens.
        uniform_floats(key(0, Purpose::ssm_a, 0), 0, width_, -0.5f, decay_values_.data());
        for (float& decay : decay_values_)
            decay -= 0.025f;
        normal_floats(key(0, Purpose::ssm_d, 0), 0, width_, 0.5f, bonus_values_.data());
    }

    void allocate(CountingAllocator& allocator) override {
        ShiftDriver::allocate(allocator);
        decay_ = sent(allocator, decay_values_);
        bonus_ = sent(allocator, bonus_values_);
    }

    std::int64_t reference_cost(std::int64_t tokens) const override {
        return tokens * (2 * conv_.channels + 40 * width_); // two exponentials
    }

  private:
    void make_rows(std::int64_t sequence, std::int64_t token, float* rows) const override {
        normal_floats(key(sequence, Purpose::ssm_b, token), 0, 2 * width_, 1, rows);
    }

    void begin(const LayerMemory& memory) override {
        StateDriver::begin(memory);
        const std::vector<float> nothing(static_cast<std::size_t>(width_), rwkv4_nothing);
        auto* const state = static_cast<float*>(memory.planes.back());
        for (std::int64_t s = 0; s < sequences(); ++s)
            backend_.write(state + (3 * s + 2) * width_, nothing.data(), width_ * 4);
        backend_.synchronize();
    }

    void advance(const LayerMemory& memory, std::int64_t count) override {
        Rwkv4View view{};
        view.rows = rows_.as<float>();
        view.decay = decay_.as<float>();
        view.bonus = bonus_.as<float>();
        view.state = static_cast<float*>(memory.planes.back());
        view.out = state_output();
        view.sequences = sequences();
        view.width = width_;
        view.count = count;
        backend_.step(view);
    }

    std::unique_ptr<StateReference> make_reference(std::int64_t sequence,
                                                   ConvProblem shift) const override {
        return std::make_unique<Rwkv4Reference>(decay_values_, bonus_values_, std::move(shift),
                                                source(sequence));
    }

    std::vector<float> decay_values_, bonus_values_;
    GuardedBuffer decay_, bonus_;
};

class RwkvDriver final : public ShiftDriver {
  public:
    RwkvDriver(Backend& backend, const VerifyRequest& request, const LayerGroup& group,
               const std::atomic<bool>* cancel)
        : ShiftDriver(backend, request, group, cancel, std::get<RwkvDims>(group.plan.dims).hidden,
                      rwkv_rows(rwkv_bonus(std::get<RwkvDims>(group.plan.dims)))),
          dims_(std::get<RwkvDims>(group.plan.dims)) {
        output_row_ = dims_.head_width;
        if (rwkv_bonus(dims_)) {
            bonus_values_.resize(static_cast<std::size_t>(width_));
            normal_floats(key(0, Purpose::ssm_d, 0), 0, width_, 0.5f, bonus_values_.data());
        }
    }

    void allocate(CountingAllocator& allocator) override {
        ShiftDriver::allocate(allocator);
        bonus_ = sent(allocator, bonus_values_);
    }

    std::int64_t reference_cost(std::int64_t tokens) const override {
        return (bonus_values_.empty() ? 4 : 2) * tokens * width_ * dims_.head_width;
    }

  private:
    /// Decays from 0.55 on, as version 7 bounds them; version 5 has the same in every step.
    void make_rows(std::int64_t sequence, std::int64_t token, float* rows) const override {
        normal_floats(key(sequence, Purpose::ssm_b, token), 0, 3 * width_, 1, rows);
        float* const decay = rows + 3 * width_;
        const bool fixed = dims_.version == 5;
        uniform_floats(key(fixed ? 0 : sequence, Purpose::ssm_step, fixed ? 0 : token), 0, width_,
                       -0.45f, decay);
        for (std::int64_t i = 0; i < width_; ++i)
            decay[i] += 1;
        if (bonus_values_.empty())
            make_removals(sequence, token, rows + 4 * width_);
    }

    /// a = -κ and b = κ · η with κ a vector of length one in every head, η between 0 and 1.
    void make_removals(std::int64_t sequence, std::int64_t token, float* a) const {
        float* const b = a + width_;
        normal_floats(key(sequence, Purpose::ssm_c, token), 0, width_, 1, a);
        uniform_floats(key(sequence, Purpose::delta_beta, token), 0, width_, 1, b);
        for (std::int64_t head = 0; head < width_; head += dims_.head_width) {
            const float square =
                std::inner_product(a + head, a + head + dims_.head_width, a + head, 1e-6f);
            const float inverse = 1 / std::sqrt(square);
            for (std::int64_t i = head; i < head + dims_.head_width; ++i) {
                a[i] *= -inverse;
                b[i] *= -a[i];
            }
        }
    }

    void advance(const LayerMemory& memory, std::int64_t count) override {
        RwkvView view{};
        view.rows = rows_.as<float>();
        view.bonus = bonus_values_.empty() ? nullptr : bonus_.as<float>();
        view.state = static_cast<float*>(memory.planes.back());
        view.out = state_output();
        view.sequences = sequences();
        view.heads = width_ / dims_.head_width;
        view.width = dims_.head_width;
        view.count = count;
        backend_.step(view);
    }

    std::unique_ptr<StateReference> make_reference(std::int64_t sequence,
                                                   ConvProblem shift) const override {
        return std::make_unique<RwkvReference>(width_ / dims_.head_width, dims_.head_width,
                                               bonus_values_, std::move(shift), source(sequence));
    }

    RwkvDims dims_;
    std::vector<float> bonus_values_; ///< none where there are a and b
    GuardedBuffer bonus_;
};

} // namespace

std::unique_ptr<LayerDriver> make_rwkv_driver(Backend& backend, const VerifyRequest& request,
                                              const LayerGroup& group,
                                              const std::atomic<bool>* cancel) {
    if (group.plan.kind == LayerKind::rwkv4)
        return std::make_unique<Rwkv4Driver>(backend, request, group, cancel);
    return std::make_unique<RwkvDriver>(backend, request, group, cancel);
}

} // namespace kvcaliper::kernels
