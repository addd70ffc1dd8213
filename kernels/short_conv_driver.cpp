// SPDX-License-Identifier: Apache-2.0
// What keeps nothing but the history of a short convolution: whole layers (LFM2), whose gates are
// products per element before and behind it, and those beside attention (Baichuan-M1, Zaya,
// Inkling). Several convolutions after one another look back on as many columns as one.
#include "kernels/state_driver.h"

namespace kvcaliper::kernels {
namespace {

class ShortConvDriver final : public StateDriver {
  public:
    ShortConvDriver(Backend& backend, const VerifyRequest& request, const LayerGroup& group,
                    const std::atomic<bool>* cancel)
        : StateDriver(backend, request, group, cancel, false) {
        output_row_ = conv_.channels;
    }

    std::int64_t reference_cost(std::int64_t tokens) const override {
        return tokens * conv_.channels * conv_.kernel;
    }

  private:
    void send_more(std::int64_t, std::int64_t) override {}

    /// One step writes the output itself; the outputs of many stay where they are.
    float* output_of(std::int64_t count) const override {
        return count == 1 ? out_.as<float>() : mixed();
    }
    void advance(const LayerMemory&, std::int64_t) override {}

    std::unique_ptr<StateReference> make_reference(std::int64_t, ConvProblem conv) const override {
        return std::make_unique<ShortConvReference>(std::move(conv));
    }
};

} // namespace

std::unique_ptr<LayerDriver> make_short_conv_driver(Backend& backend, const VerifyRequest& request,
                                                    const LayerGroup& group,
                                                    const std::atomic<bool>* cancel) {
    return std::make_unique<ShortConvDriver>(backend, request, group, cancel);
}

} // namespace kvcaliper::kernels
