// SPDX-License-Identifier: Apache-2.0
#include "kernels/parallel.h"
#include "kernels/reference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace kvcaliper::kernels {
namespace {

/// Cody-Waite reduction by ln 2 (its upper part has 21 trailing zero bits), then a Taylor
/// polynomial of degree 13 on [-ln 2 / 2, ln 2 / 2]; the power of two goes straight into the
/// exponent bits.
inline double exponential(double x) {
    const double shifted = x * 1.44269504088896340736 + 0x1.8p52;
    const double n = shifted - 0x1.8p52;
    double r = x - n * 6.93147180369123816490e-01;
    r = r - n * 1.90821492927058770002e-10;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(p) +
                                 (std::bit_cast<std::uint64_t>(shifted) << 52));
}

std::size_t size_of(std::int64_t count) {
    return static_cast<std::size_t>(count);
}

/// state = exp(dt · a) · state + push · b for one channel. A step that decays below e^-700 counts
/// as 0.
inline void advance_state(double* __restrict state, const float* a, const float* b, double dt,
                          double push, std::int64_t size) {
    for (std::int64_t n = 0; n < size; ++n) {
        const double exponent = std::max(dt * static_cast<double>(a[n]), -700.0);
        state[n] = exponential(exponent) * state[n] + push * static_cast<double>(b[n]);
    }
}

} // namespace

void exponentials(std::span<const double> x, std::span<double> y) {
    for (std::size_t i = 0; i < x.size(); ++i)
        y[i] = exponential(x[i]);
}

Mamba1Reference::Mamba1Reference(Shape shape, Weights weights, Source source)
    : shape_(shape), weights_(std::move(weights)), source_(std::move(source)),
      state_(size_of(shape.inner * shape.state_size)),
      history_(size_of(shape.inner * (shape.conv_kernel - 1))), out_(size_of(shape.inner)) {}

const std::vector<double>& Mamba1Reference::advance_to(std::int64_t tokens) {
    constexpr std::int64_t channels = 128;
    if (tokens > tokens_)
        parallel_for((shape_.inner + channels - 1) / channels, [&](std::int64_t i) {
            advance_block(i * channels, std::min(channels, shape_.inner - i * channels), tokens);
        });
    tokens_ = std::max(tokens_, tokens);
    return out_;
}

void Mamba1Reference::advance_block(std::int64_t first, std::int64_t count, std::int64_t tokens) {
    const std::int64_t past = shape_.conv_kernel - 1, states = shape_.state_size;
    std::vector<double> x(size_of(count));
    std::vector<float> dt(size_of(count)), b(size_of(states)), c(size_of(states));
    for (std::int64_t t = tokens_; t < tokens; ++t) {
        source_(t, first, count, {x.data(), dt.data(), b.data(), c.data()});
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t channel = first + i;
            const float* weight = weights_.weight.data() + channel * shape_.conv_kernel;
            double* history = history_.data() + channel * past;
            const double input = x[size_of(i)];
            double sum = weights_.bias[size_of(channel)] + weight[past] * input;
            for (std::int64_t j = 0; j < past; ++j) {
                sum += weight[j] * history[j];
                history[j] = j + 1 < past ? history[j + 1] : input;
            }
            const double u = sum / (1 + std::exp(-sum));
            double* state = state_.data() + channel * states;
            const double step = dt[size_of(i)];
            advance_state(state, weights_.a.data() + channel * states, b.data(), step, step * u,
                          states);
            if (t + 1 < tokens)
                continue;
            double y = weights_.d[size_of(channel)] * u;
            for (std::int64_t n = 0; n < states; ++n)
                y += state[n] * c[size_of(n)];
            out_[size_of(channel)] = y;
        }
    }
}

} // namespace kvcaliper::kernels
