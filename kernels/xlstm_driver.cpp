// SPDX-License-Identifier: Apache-2.0
// Layers of mLSTM cells (xLSTM).
#include "kernels/reference_recurrent.h"
#include "kernels/state_driver.h"

#include <cmath>

namespace kvcaliper::kernels {
namespace {

constexpr float least_log_forget = -0.2f; ///< a memory of about ten tokens
/// Input gates below one, as trained ones are: what the output is divided by is then never small.
constexpr float least_input = -4;

class XlstmDriver final : public StateDriver {
  public:
    XlstmDriver(Backend& backend, const VerifyRequest& request, const LayerGroup& group,
                const std::atomic<bool>* cancel)
        : StateDriver(backend, request, group, cancel, false),
          dims_(std::get<XlstmDims>(group.plan.dims)) {
        output_row_ = dims_.value_width + 1;
    }

    void allocate(CountingAllocator& allocator) override {
        StateDriver::allocate(allocator);
        gates_ = allocator.allocate("io", io_plan_.step);
    }

    std::int64_t reference_cost(std::int64_t tokens) const override {
        return 2 * tokens * dims_.heads * dims_.key_width * (dims_.value_width + 1);
    }

  private:
    void make_gates(std::int64_t sequence, std::int64_t token, float* row) const {
        const std::uint64_t stream = key(sequence, Purpose::ssm_step, token);
        uniform_floats(stream, 0, dims_.heads, least_log_forget, row);
        uniform_floats(stream, dims_.heads, dims_.heads, least_input, row + dims_.heads);
    }

    void send_more(std::int64_t first, std::int64_t count) override {
        send_rows(
            gates_, 2 * dims_.heads, first, count,
            [this](auto sequence, auto token, float* row) { make_gates(sequence, token, row); });
    }

    void advance(const LayerMemory& memory, std::int64_t count) override {
        const std::int64_t keys = dims_.heads * dims_.key_width;
        XlstmView view{};
        view.q = mixed();
        view.k = mixed() + keys;
        view.v = mixed() + 2 * keys;
        view.gates = gates_.as<float>();
        view.state = static_cast<float*>(memory.planes.back());
        view.out = out_.as<float>();
        view.sequences = sequences();
        view.heads = dims_.heads;
        view.key_width = dims_.key_width;
        view.value_width = dims_.value_width;
        view.count = count;
        view.stride = conv_.channels;
        view.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(dims_.key_width)));
        backend_.step(view);
    }

    std::unique_ptr<StateReference> make_reference(std::int64_t sequence,
                                                   ConvProblem conv) const override {
        const XlstmReference::Shape shape{dims_.heads, dims_.key_width, dims_.value_width};
        return std::make_unique<XlstmReference>(
            shape, std::move(conv),
            [this, sequence](std::int64_t token, float* row) { make_gates(sequence, token, row); });
    }

    XlstmDims dims_;
    GuardedBuffer gates_;
};

} // namespace

std::unique_ptr<LayerDriver> make_xlstm_driver(Backend& backend, const VerifyRequest& request,
                                               const LayerGroup& group,
                                               const std::atomic<bool>* cancel) {
    return std::make_unique<XlstmDriver>(backend, request, group, cancel);
}

} // namespace kvcaliper::kernels
