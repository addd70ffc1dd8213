// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference_state.h"

#include "kernels/parallel.h"
#include "kernels/reference.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kvcaliper::kernels {
namespace {

constexpr std::int64_t chunk_tokens = 64; ///< convolved together, then taken by head after head

std::size_t size_of(std::int64_t count) {
    return static_cast<std::size_t>(count);
}

/// x = x / (1 + e^-x), with `negated` as scratch.
void apply_silu(std::span<double> x, std::vector<double>& negated) {
    negated.resize(x.size());
    // e^-x overflows nowhere: inputs are sums of a few small products.
    for (std::size_t i = 0; i < x.size(); ++i)
        negated[i] = std::clamp(-x[i], -600.0, 600.0);
    exponentials(negated, negated);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] /= 1 + negated[i];
}

/// One token, from the inputs of the `kernel` tokens that end with it.
void convolve_token(const ConvProblem& problem, const double* const* rows, double* out) {
    for (std::int64_t i = 0; i < problem.channels; ++i)
        out[i] = problem.bias[size_of(i)];
    for (std::int64_t j = 0; j < problem.kernel; ++j)
        for (std::int64_t i = 0; rows[j] != nullptr && i < problem.channels; ++i)
            out[i] += problem.weight[size_of(i * problem.kernel + j)] * rows[j][i];
}

} // namespace

std::vector<double> convolve_reference(const ConvProblem& problem, std::int64_t first,
                                       std::int64_t count) {
    const std::int64_t from = std::max<std::int64_t>(0, first - problem.kernel + 1);
    const std::int64_t channels = problem.channels;
    std::vector<double> x(size_of((first + count - from) * channels)),
        out(size_of(count * channels));
    parallel_for(first + count - from,
                 [&](std::int64_t i) { problem.inputs(from + i, x.data() + i * channels); });
    parallel_for(count, [&](std::int64_t t) {
        std::vector<const double*> rows;
        std::vector<double> scratch;
        for (std::int64_t token = first + t - problem.kernel + 1; token <= first + t; ++token)
            rows.push_back(token < 0 ? nullptr : x.data() + (token - from) * channels);
        convolve_token(problem, rows.data(), out.data() + t * channels);
        if (problem.silu)
            apply_silu({out.data() + t * channels, size_of(channels)}, scratch);
    });
    return out;
}

const std::vector<double>& StateReference::advance_to(std::int64_t tokens) {
    while (tokens_ < tokens) {
        const std::int64_t count = std::min(chunk_tokens, tokens - tokens_);
        const std::vector<double> mixed = convolve_reference(conv_, tokens_, count);
        advance(tokens_, count, mixed.data(), tokens_ + count == tokens);
        tokens_ += count;
    }
    return out_;
}

void ShortConvReference::advance(std::int64_t, std::int64_t count, const double* mixed, bool) {
    const double* last = mixed + (count - 1) * conv_.channels;
    out_.assign(last, last + conv_.channels);
}

struct Mamba2Reference::Chunk {
    std::int64_t count;
    const double* mixed;
    bool wanted;
    std::vector<float> dt, b, c; ///< [count][heads], and [count][state_size] beside the convolution
};

Mamba2Reference::Mamba2Reference(Shape shape, std::vector<float> a, std::vector<float> d,
                                 ConvProblem conv, Source source)
    : StateReference(std::move(conv)), shape_(shape), a_(std::move(a)), d_(std::move(d)),
      source_(std::move(source)) {
    out_.resize(size_of(shape.heads * shape.head_width));
    state_.resize(out_.size() * size_of(shape.state_size));
}

void Mamba2Reference::advance(std::int64_t first, std::int64_t count, const double* mixed,
                              bool wanted) {
    const std::int64_t beside = shape_.groups == 0 ? shape_.state_size : 0;
    Chunk chunk{count, mixed, wanted, {}, {}, {}};
    chunk.dt.resize(size_of(count * shape_.heads));
    chunk.b.resize(size_of(count * beside));
    chunk.c.resize(size_of(count * beside));
    for (std::int64_t t = 0; t < count; ++t)
        source_(first + t, {chunk.dt.data() + t * shape_.heads, chunk.b.data() + t * beside,
                            chunk.c.data() + t * beside});
    parallel_for(shape_.heads, [&](std::int64_t head) { advance_head(head, chunk); });
}

void Mamba2Reference::advance_head(std::int64_t head, const Chunk& chunk) {
    const std::int64_t width = shape_.head_width, states = shape_.state_size;
    const std::int64_t inner = shape_.heads * width;
    std::vector<double> b(size_of(states)), c(size_of(states));
    double* const rows = state_.data() + head * width * states;
    for (std::int64_t t = 0; t < chunk.count; ++t) {
        const double* mixed = chunk.mixed + t * conv_.channels;
        if (shape_.groups == 0) {
            std::copy_n(chunk.b.data() + t * states, states, b.data());
            std::copy_n(chunk.c.data() + t * states, states, c.data());
        } else {
            const std::int64_t group = head / (shape_.heads / shape_.groups);
            std::copy_n(mixed + inner + group * states, states, b.data());
            std::copy_n(mixed + inner + (shape_.groups + group) * states, states, c.data());
        }
        const double dt = chunk.dt[size_of(t * shape_.heads + head)];
        const double decay = std::exp(dt * a_[size_of(head)]);
        for (std::int64_t p = 0; p < width; ++p) {
            const double push = dt * mixed[head * width + p];
            double* state = rows + p * states;
            for (std::int64_t n = 0; n < states; ++n)
                state[n] = decay * state[n] + push * b[size_of(n)];
        }
    }
    if (!chunk.wanted)
        return;
    const double* mixed = chunk.mixed + (chunk.count - 1) * conv_.channels;
    for (std::int64_t p = 0; p < width; ++p) {
        double y = d_[size_of(head)] * mixed[head * width + p];
        for (std::int64_t n = 0; n < states; ++n)
            y += rows[p * states + n] * c[size_of(n)];
        out_[size_of(head * width + p)] = y;
    }
}

struct DeltaReference::Chunk {
    std::int64_t count;
    const double* mixed;
    bool wanted;
    std::vector<float> gate, beta; ///< [count][value_heads][gate_width], [count][value_heads]
};

DeltaReference::DeltaReference(Shape shape, ConvProblem conv, Source source)
    : StateReference(std::move(conv)), shape_(shape), source_(std::move(source)) {
    out_.resize(size_of(shape.value_heads * shape.value_width));
    state_.resize(out_.size() * size_of(shape.key_width));
}

void DeltaReference::advance(std::int64_t first, std::int64_t count, const double* mixed,
                             bool wanted) {
    const std::int64_t heads = shape_.value_heads, gates = heads * shape_.gate_width;
    Chunk chunk{count, mixed, wanted, {}, {}};
    chunk.gate.resize(size_of(count * gates));
    chunk.beta.resize(size_of(count * heads));
    for (std::int64_t t = 0; t < count; ++t)
        source_(first + t, chunk.gate.data() + t * gates,
                shape_.beta ? chunk.beta.data() + t * heads : nullptr);
    parallel_for(heads, [&](std::int64_t head) { advance_head(head, chunk); });
}

namespace {

/// A row divided by its length where that is asked for.
void take_row(const double* from, bool normalise, std::vector<double>& to) {
    double sum = 1e-6; // length_epsilon
    for (std::size_t i = 0; i < to.size(); ++i)
        sum += from[i] * from[i];
    const double factor = normalise ? 1 / std::sqrt(sum) : 1;
    for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = from[i] * factor;
}

/// found += Sᵀx over rows of `width`.
void look_up(const double* state, const std::vector<double>& x, std::vector<double>& found) {
    const std::size_t width = found.size();
    for (std::size_t j = 0; j < x.size(); ++j)
        for (std::size_t i = 0; i < width; ++i)
            found[i] += state[j * width + i] * x[j];
}

} // namespace

void DeltaReference::advance_head(std::int64_t head, const Chunk& chunk) {
    const std::int64_t keys = shape_.key_width, values = shape_.value_width;
    const std::int64_t key_head = head / (shape_.value_heads / shape_.key_heads);
    const std::int64_t k_at = shape_.key_heads * keys;
    std::vector<double> row(size_of(keys)), u(size_of(values)), found(size_of(values));
    double* const state = state_.data() + head * keys * values;
    for (std::int64_t t = 0; t < chunk.count; ++t) {
        const double* mixed = chunk.mixed + t * conv_.channels;
        const std::int64_t at = t * shape_.value_heads + head;
        const float* gate = chunk.gate.data() + at * shape_.gate_width;
        for (std::int64_t j = 0; j < keys; ++j) {
            const double value = gate[shape_.gate_width == 1 ? 0 : j];
            const double decay = shape_.log_gate ? std::exp(value) : value;
            for (std::int64_t i = 0; i < values; ++i)
                state[j * values + i] *= decay;
        }
        take_row(mixed + k_at + key_head * keys, shape_.normalise, row);
        std::copy_n(mixed + 2 * k_at + head * values, values, u.begin());
        if (shape_.beta) {
            std::fill(found.begin(), found.end(), 0);
            look_up(state, row, found);
            for (std::int64_t i = 0; i < values; ++i)
                u[size_of(i)] = chunk.beta[size_of(at)] * (u[size_of(i)] - found[size_of(i)]);
        }
        for (std::int64_t j = 0; j < keys; ++j)
            for (std::int64_t i = 0; i < values; ++i)
                state[j * values + i] += row[size_of(j)] * u[size_of(i)];
    }
    if (!chunk.wanted)
        return;
    take_row(chunk.mixed + (chunk.count - 1) * conv_.channels + key_head * keys, shape_.normalise,
             row);
    std::fill(found.begin(), found.end(), 0);
    look_up(state, row, found);
    for (std::int64_t i = 0; i < values; ++i)
        out_[size_of(head * values + i)] = shape_.scale * found[size_of(i)];
}

} // namespace kvcaliper::kernels
