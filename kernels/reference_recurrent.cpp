// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference_recurrent.h"

#include "kernels/parallel.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kvcaliper::kernels {
namespace {

std::size_t size_of(std::int64_t count) {
    return static_cast<std::size_t>(count);
}

} // namespace

void RecurrentReference::advance(std::int64_t first, std::int64_t count, const double* mixed,
                                 bool wanted) {
    Chunk chunk{count, mixed, wanted, std::vector<float>(size_of(count * row_))};
    parallel_for(count, [&](std::int64_t t) { source_(first + t, chunk.rows.data() + t * row_); });
    advance(chunk);
}

RglruReference::RglruReference(std::vector<float> decay, ConvProblem conv, TokenRows gates)
    : RecurrentReference(std::move(conv), 2 * static_cast<std::int64_t>(decay.size()),
                         std::move(gates)),
      decay_(std::move(decay)) {
    state_.resize(decay_.size());
}

void RglruReference::advance(const Chunk& chunk) {
    const auto width = static_cast<std::int64_t>(decay_.size());
    for (std::int64_t t = 0; t < chunk.count; ++t)
        for (std::int64_t i = 0; i < width; ++i) {
            const double r = chunk.rows[size_of(t * row_ + i)];
            const double input = chunk.rows[size_of(t * row_ + width + i)];
            const double power = -decay_[size_of(i)] * r; // log a
            double& h = state_[size_of(i)];
            h = std::exp(power) * h +
                std::sqrt(-std::expm1(2 * power)) * input * chunk.mixed[t * width + i];
        }
    if (chunk.wanted)
        out_ = state_;
}

Rwkv4Reference::Rwkv4Reference(std::vector<float> decay, std::vector<float> bonus,
                               ConvProblem shift, TokenRows rows)
    : RecurrentReference(std::move(shift), 2 * static_cast<std::int64_t>(decay.size()),
                         std::move(rows)),
      decay_(std::move(decay)), bonus_(std::move(bonus)) {
    state_.resize(2 * decay_.size());
    out_.resize(size_of(conv_.channels) + decay_.size());
}

void Rwkv4Reference::advance(const Chunk& chunk) {
    parallel_for(static_cast<std::int64_t>(decay_.size()),
                 [&](std::int64_t channel) { advance_channel(channel, chunk); });
    if (chunk.wanted)
        std::copy_n(chunk.mixed + (chunk.count - 1) * conv_.channels, conv_.channels, out_.begin());
}

/// e^k overflows nowhere: keys are small numbers.
void Rwkv4Reference::advance_channel(std::int64_t channel, const Chunk& chunk) {
    const auto width = static_cast<std::int64_t>(decay_.size());
    double& values = state_[size_of(channel)];
    double& weights = state_[size_of(width + channel)];
    const double kept = std::exp(static_cast<double>(decay_[size_of(channel)]));
    for (std::int64_t t = 0; t < chunk.count; ++t) {
        const double k = chunk.rows[size_of(t * row_ + channel)];
        const double v = chunk.rows[size_of(t * row_ + width + channel)];
        const double now = std::exp(bonus_[size_of(channel)] + k);
        out_[size_of(conv_.channels + channel)] = (values + now * v) / (weights + now);
        values = kept * values + std::exp(k) * v;
        weights = kept * weights + std::exp(k);
    }
}

RwkvReference::RwkvReference(std::int64_t heads, std::int64_t width, std::vector<float> bonus,
                             ConvProblem shift, TokenRows rows)
    : RecurrentReference(std::move(shift), (bonus.empty() ? 6 : 4) * heads * width,
                         std::move(rows)),
      heads_(heads), width_(width), bonus_(std::move(bonus)) {
    state_.resize(size_of(heads * width * width));
    out_.resize(size_of(conv_.channels + heads * width));
}

void RwkvReference::advance(const Chunk& chunk) {
    parallel_for(heads_, [&](std::int64_t head) { advance_head(head, chunk); });
    if (chunk.wanted)
        std::copy_n(chunk.mixed + (chunk.count - 1) * conv_.channels, conv_.channels, out_.begin());
}

void RwkvReference::advance_head(std::int64_t head, const Chunk& chunk) {
    double* const state = state_.data() + head * width_ * width_;
    double* const out = out_.data() + conv_.channels + head * width_;
    std::vector<double> found(size_of(width_));
    for (std::int64_t t = 0; t < chunk.count; ++t) {
        const auto row = [&](std::int64_t number) {
            return chunk.rows.data() + t * row_ + (number * heads_ + head) * width_;
        };
        const float *r = row(0), *k = row(1), *v = row(2), *decay = row(3);
        const bool wanted = chunk.wanted && t + 1 == chunk.count;
        if (wanted)
            std::fill_n(out, width_, 0);
        std::fill(found.begin(), found.end(), 0);
        for (std::int64_t j = 0; bonus_.empty() && j < width_; ++j)
            for (std::int64_t i = 0; i < width_; ++i)
                found[size_of(i)] += state[j * width_ + i] * row(4)[j];
        for (std::int64_t j = 0; j < width_; ++j) {
            double* const kept = state + j * width_;
            const double b = bonus_.empty() ? row(5)[j] : 0;
            const double bonus = bonus_.empty() ? 0 : bonus_[size_of(head * width_ + j)];
            const double kd = k[j], rd = r[j], wd = decay[j];
            for (std::int64_t i = 0; wanted && !bonus_.empty() && i < width_; ++i)
                out[i] += (kept[i] + bonus * kd * v[i]) * rd;
            for (std::int64_t i = 0; i < width_; ++i)
                kept[i] = wd * kept[i] + b * found[size_of(i)] + kd * v[i];
            for (std::int64_t i = 0; wanted && bonus_.empty() && i < width_; ++i)
                out[i] += kept[i] * rd;
        }
    }
}

XlstmReference::XlstmReference(Shape shape, ConvProblem conv, TokenRows gates)
    : RecurrentReference(std::move(conv), 2 * shape.heads, std::move(gates)), shape_(shape),
      largest_(size_of(shape.heads)) {
    state_.resize(size_of(shape.heads * shape.key_width * (shape.value_width + 1)));
    out_.resize(size_of(shape.heads * (shape.value_width + 1)));
}

void XlstmReference::advance(const Chunk& chunk) {
    parallel_for(shape_.heads, [&](std::int64_t head) { advance_head(head, chunk); });
}

/// C and n without their stabiliser: forget gates are at most one and input gates small, so nothing
/// overflows.
void XlstmReference::advance_head(std::int64_t head, const Chunk& chunk) {
    const std::int64_t keys = shape_.key_width, columns = shape_.value_width + 1;
    const std::int64_t k_at = shape_.heads * keys;
    double* const state = state_.data() + head * keys * columns;
    std::vector<double> values(size_of(columns), 1.0); // the last is n's
    for (std::int64_t t = 0; t < chunk.count; ++t) {
        const double* mixed = chunk.mixed + t * conv_.channels;
        const double log_forget = chunk.rows[size_of(t * row_ + head)];
        const double input = chunk.rows[size_of(t * row_ + shape_.heads + head)];
        const double forget = std::exp(log_forget), weight = std::exp(input);
        double& m = largest_[size_of(head)];
        m = std::max(log_forget + m, input);
        std::copy_n(mixed + 2 * k_at + head * shape_.value_width, shape_.value_width,
                    values.begin());
        for (std::int64_t j = 0; j < keys; ++j) {
            const double push = weight * mixed[k_at + head * keys + j];
            double* const row = state + j * columns;
            for (std::int64_t i = 0; i < columns; ++i)
                row[i] = forget * row[i] + push * values[size_of(i)];
        }
    }
    if (chunk.wanted)
        read_out(head, chunk.mixed + (chunk.count - 1) * conv_.channels);
}

void XlstmReference::read_out(std::int64_t head, const double* mixed) {
    const std::int64_t keys = shape_.key_width, columns = shape_.value_width + 1;
    const double* const state = state_.data() + head * keys * columns;
    double* const out = out_.data() + head * columns;
    const double scale = 1 / std::sqrt(static_cast<double>(keys));
    std::fill_n(out, columns, 0);
    for (std::int64_t j = 0; j < keys; ++j)
        for (std::int64_t i = 0; i < columns; ++i)
            out[i] += scale * mixed[head * keys + j] * state[j * columns + i];
    // What is divided by is asked for as the kernel has it, e^-m times the plain one.
    const double least = std::exp(-largest_[size_of(head)]);
    double& divisor = out[shape_.value_width];
    divisor = std::max(std::abs(divisor), 1.0) * least + 1e-6; // xlstm_epsilon
    for (std::int64_t i = 0; i < shape_.value_width; ++i)
        out[i] *= least / divisor;
}

} // namespace kvcaliper::kernels
