// SPDX-License-Identifier: Apache-2.0
// What the drivers of state layers with a convolution in front share: inputs, convolution, the walk
// through the history, the reference.
#pragma once

#include "kernels/generator.h"
#include "kernels/layer_driver.h"
#include "kernels/reference_state.h"
#include "kernels/state_layout.h"

#include <functional>
#include <map>
#include <memory>

namespace kvcaliper::kernels {

class StateDriver : public LayerDriver {
  public:
    void allocate(CountingAllocator& allocator) override;
    void fill(const LayerMemory& memory, std::int64_t tokens, bool whole_history) override;
    void begin_step(std::int64_t position) override { send_inputs(position, 1); }
    void append(const LayerMemory&, std::int64_t) override {} // the step itself takes the token
    void run(const LayerMemory& memory, std::int64_t) override { step(memory, 1); }
    std::vector<std::vector<double>> expected(std::int64_t sequence,
                                              std::span<const std::int64_t> tokens) override;
    double bound() const override { return backend_.state_bound(); }

  protected:
    StateDriver(Backend& backend, const VerifyRequest& request, const LayerGroup& group,
                const std::atomic<bool>* cancel, bool silu);

    /// The other inputs of tokens first … first + count - 1.
    virtual void send_more(std::int64_t first, std::int64_t count) = 0;
    /// The planes of a sequence that has not begun.
    virtual void begin(const LayerMemory& memory) { reset(memory); }
    /// `count` steps behind the convolution, whose output lies in mixed().
    virtual void advance(const LayerMemory& memory, std::int64_t count) = 0;
    virtual std::unique_ptr<StateReference> make_reference(std::int64_t sequence,
                                                           ConvProblem conv) const = 0;

    StreamId stream(std::int64_t sequence, Purpose purpose) const {
        return {seed(), representative(), sequence, purpose};
    }
    std::uint64_t key(std::int64_t sequence, Purpose purpose, std::int64_t token) const {
        return token_key(stream(sequence, purpose), token);
    }
    /// Makes a row of `width` floats for every sequence and token and sends them,
    /// [sequences][count].
    using MakeRow = std::function<void(std::int64_t sequence, std::int64_t token, float* row)>;
    void send_rows(const GuardedBuffer& to, std::int64_t width, std::int64_t first,
                   std::int64_t count, const MakeRow& make);
    float* mixed() const { return mixed_.as<float>(); }
    /// Where the convolution of so many steps writes.
    virtual float* output_of(std::int64_t count) const;

    ConvShape conv_;
    std::vector<float> weight_values_; ///< [channels][kernel]; a constructor may change them
    std::vector<float> bias_values_;   ///< [channels]

  private:
    void make_inputs(std::int64_t sequence, std::int64_t token, float* row) const;
    void send_inputs(std::int64_t first, std::int64_t count);
    void step(const LayerMemory& memory, std::int64_t count);
    ConvView conv_view(const LayerMemory& memory, std::int64_t count) const;
    ConvProblem conv_problem(std::int64_t sequence) const;

    bool silu_;
    Element element_; ///< of the inputs and the history
    GuardedBuffer x_, weight_, bias_, mixed_;
    std::vector<std::uint16_t> host_x_;
    std::vector<float> host_;
    std::map<std::int64_t, std::unique_ptr<StateReference>> references_;
};

} // namespace kvcaliper::kernels
