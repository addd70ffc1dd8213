// SPDX-License-Identifier: Apache-2.0
#include "kernels/parallel.h"
#include "kernels/reference.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kvcaliper::kernels {
namespace {

/// Eight at once, so that the long chain of each hides behind the others.
constexpr std::int64_t lanes = 8;
typedef double Doubles __attribute__((vector_size(lanes * 8)));
typedef std::uint64_t Words __attribute__((vector_size(lanes * 8)));

/// x = e^x. Cody-Waite reduction by ln 2 (its upper part has 21 trailing zero bits), then a Taylor
/// polynomial of degree 10 on [-ln 2 / 2, ln 2 / 2], whose remainder is below 3e-13; the power of
/// two goes straight into the exponent bits.
inline __attribute__((always_inline)) void exponential(Doubles& x) {
    const Doubles shifted = x * 1.44269504088896340736 + 0x1.8p52;
    const Doubles n = shifted - 0x1.8p52;
    const Doubles r = x - n * 6.93147180369123816490e-01 - n * 1.90821492927058770002e-10;
    const Doubles square =
        r * r; // even and odd powers apart: two short chains instead of a long one
    Doubles even = square * (1.0 / 3628800) + 1.0 / 40320;
    Doubles odd = square * (1.0 / 362880) + 1.0 / 5040;
    even = even * square + 1.0 / 720;
    odd = odd * square + 1.0 / 120;
    even = even * square + 1.0 / 24;
    odd = odd * square + 1.0 / 6;
    even = even * square + 0.5;
    odd = odd * square + 1.0;
    even = even * square + 1.0;
    x = (Doubles)((Words)(even + odd * r) + ((Words)shifted << 52));
}

std::size_t size_of(std::int64_t count) {
    return static_cast<std::size_t>(count);
}

/// state = exp(dt · a) · state + push · b for one channel; rows are padded to whole vectors.
inline void advance_state(double* state, const double* a, const double* b, double dt, double push,
                          std::int64_t padded) {
    for (std::int64_t n = 0; n < padded; n += lanes) {
        Doubles decay, old, drive;
        __builtin_memcpy(&decay, a + n, sizeof decay);
        __builtin_memcpy(&old, state + n, sizeof old);
        __builtin_memcpy(&drive, b + n, sizeof drive);
        decay *= dt;
        exponential(decay);
        const Doubles now = decay * old + drive * push;
        __builtin_memcpy(state + n, &now, sizeof now);
    }
}

} // namespace

void exponentials(std::span<const double> x, std::span<double> y) {
    for (std::size_t i = 0; i < x.size(); i += lanes) {
        Doubles values{};
        const std::size_t count = std::min<std::size_t>(lanes, x.size() - i);
        for (std::size_t j = 0; j < count; ++j)
            values[j] = x[i + j];
        exponential(values);
        for (std::size_t j = 0; j < count; ++j)
            y[i + j] = values[j];
    }
}

Mamba1Reference::Mamba1Reference(Shape shape, Weights weights, Source source)
    : shape_(shape), weights_(std::move(weights)), source_(std::move(source)),
      padded_((shape.state_size + lanes - 1) / lanes * lanes),
      state_(size_of(shape.inner * padded_)), a_(state_.size()),
      history_(size_of(shape.inner * (shape.conv_kernel - 1))), out_(size_of(shape.inner)) {
    for (std::int64_t i = 0; i < shape.inner; ++i)
        for (std::int64_t n = 0; n < shape.state_size; ++n)
            a_[size_of(i * padded_ + n)] = weights_.a[size_of(i * shape.state_size + n)];
}

std::vector<double> Mamba1Reference::state() const {
    std::vector<double> plain;
    for (std::int64_t i = 0; i < shape_.inner; ++i)
        plain.insert(plain.end(), state_.begin() + i * padded_,
                     state_.begin() + i * padded_ + shape_.state_size);
    return plain;
}

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
    std::vector<double> drive(size_of(padded_));
    for (std::int64_t t = tokens_; t < tokens; ++t) {
        source_(t, first, count, {x.data(), dt.data(), b.data(), c.data()});
        std::copy(b.begin(), b.end(), drive.begin());
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
            double* state = state_.data() + channel * padded_;
            const double step = dt[size_of(i)];
            advance_state(state, a_.data() + channel * padded_, drive.data(), step, step * u,
                          padded_);
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
