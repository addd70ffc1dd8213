// SPDX-License-Identifier: Apache-2.0
#include "kernels/state_driver.h"

#include "kernels/parallel.h"

#include <algorithm>

namespace kvcaliper::kernels {

StateDriver::StateDriver(Backend& backend, const VerifyRequest& request, const LayerGroup& group,
                         const std::atomic<bool>* cancel, bool silu)
    : LayerDriver(backend, request, group, cancel), conv_(conv_shape(group.plan)),
      weight_values_(static_cast<std::size_t>(conv_.channels * conv_.kernel)),
      bias_values_(static_cast<std::size_t>(conv_.channels)), silu_(silu),
      element_(history_element(group.plan, elements_)) {
    normal_floats(key(0, Purpose::conv_weight, 0), 0, conv_.channels * conv_.kernel, 0.5f,
                  weight_values_.data());
    normal_floats(key(0, Purpose::conv_bias, 0), 0, conv_.channels, 0.1f, bias_values_.data());
}

void StateDriver::allocate(CountingAllocator& allocator) {
    LayerDriver::allocate(allocator);
    x_ = allocator.allocate("io", io_plan_.append);
    mixed_ = allocator.allocate("io", io_plan_.mixed);
    weight_ = sent(allocator, weight_values_);
    bias_ = sent(allocator, bias_values_);
    host_x_.resize(static_cast<std::size_t>(io_plan_.append / 2));
}

void StateDriver::fill(const LayerMemory& memory, std::int64_t tokens, bool whole_history) {
    begin(memory);
    if (whole_history)
        walk(tokens, [&](std::int64_t first, std::int64_t count) {
            send_inputs(first, count);
            step(memory, count);
        });
}

/// Inputs that no 16-bit type holds.
void StateDriver::make_inputs(std::int64_t sequence, std::int64_t token, float* row) const {
    normal_floats(key(sequence, Purpose::ssm_input, token), 0, conv_.channels, 1.1f, row);
}

void StateDriver::send_inputs(std::int64_t first, std::int64_t count) {
    if (element_ == Element::f32) {
        send_rows(x_, conv_.channels, first, count, [this](auto sequence, auto token, float* row) {
            make_inputs(sequence, token, row);
        });
        return send_more(first, count);
    }
    const std::int64_t n = sequences() * count;
    parallel_for(n, [&](std::int64_t i) {
        normal_halves(key(i / count, Purpose::ssm_input, first + i % count), 0, conv_.channels,
                      element_, host_x_.data() + i * conv_.channels);
    });
    send(x_, host_x_.data(), n * conv_.channels * 2);
    send_more(first, count);
}

void StateDriver::send_rows(const GuardedBuffer& to, std::int64_t width, std::int64_t first,
                            std::int64_t count, const MakeRow& make) {
    const std::int64_t n = sequences() * count;
    host_.resize(static_cast<std::size_t>(n * width));
    parallel_for(
        n, [&](std::int64_t i) { make(i / count, first + i % count, host_.data() + i * width); });
    send(to, host_.data(), n * width * 4);
}

float* StateDriver::output_of(std::int64_t) const {
    return mixed();
}

ConvView StateDriver::conv_view(const LayerMemory& memory, std::int64_t count) const {
    ConvView view{};
    view.x = x_.data();
    view.weight = weight_.as<float>();
    view.bias = bias_.as<float>();
    view.history = conv_.kernel > 1 ? memory.planes.front() : nullptr;
    view.out = output_of(count);
    view.sequences = sequences();
    view.channels = conv_.channels;
    view.conv_kernel = conv_.kernel;
    view.count = count;
    view.silu = silu_;
    view.element = element_;
    return view;
}

void StateDriver::step(const LayerMemory& memory, std::int64_t count) {
    backend_.step(conv_view(memory, count));
    advance(memory, count);
}

ConvProblem StateDriver::conv_problem(std::int64_t sequence) const {
    ConvProblem problem;
    problem.channels = conv_.channels;
    problem.kernel = conv_.kernel;
    problem.silu = silu_;
    problem.weight = weight_values_;
    problem.bias = bias_values_;
    problem.inputs = [this, sequence](std::int64_t token, double* x) {
        check_cancelled();
        if (element_ != Element::f32)
            return normal_values(key(sequence, Purpose::ssm_input, token), 0, conv_.channels,
                                 element_, x);
        std::vector<float> row(static_cast<std::size_t>(conv_.channels));
        make_inputs(sequence, token, row.data());
        std::copy(row.begin(), row.end(), x);
    };
    return problem;
}

std::vector<std::vector<double>> StateDriver::expected(std::int64_t sequence,
                                                       std::span<const std::int64_t> tokens) {
    std::unique_ptr<StateReference>& reference = references_[sequence];
    if (!reference || reference->tokens() > tokens.front()) // contexts closer than the steps
        reference = make_reference(sequence, conv_problem(sequence));
    std::vector<std::vector<double>> answers;
    for (const std::int64_t count : tokens)
        answers.push_back(reference->advance_to(count));
    return answers;
}

} // namespace kvcaliper::kernels
