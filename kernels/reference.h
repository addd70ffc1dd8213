// SPDX-License-Identifier: Apache-2.0
// Attention and state updates in double precision, over a history that is generated again token by
// token. Nothing here sees a cache or a backend.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace kvcaliper::kernels {

/// Attention of one sequence: `groups` of heads that share keys and values.
struct AttentionProblem {
    std::int64_t heads = 0;
    std::int64_t groups = 0;
    std::int64_t key_width = 0;
    std::int64_t value_width = 0;
    double scale = 1;
    std::optional<std::int64_t> window; ///< a query sees the last `window` tokens, itself included
    bool value_in_key = false;          ///< the value is the first value_width elements of the key
    /// Writes one token's key row and, unless value_in_key, its value row. Called from many
    /// threads.
    std::function<void(std::int64_t token, std::int64_t group, double* key, double* value)> rows;
    std::optional<std::int64_t> chunk{}; ///< a query sees the tokens of its own chunk only
    std::optional<std::int64_t>
        memory{};                ///< every query sees these many tokens, whatever it follows
    std::vector<double> sinks{}; ///< [heads], or none: logits that add no value
};

/// A query of every head at the moment when the history holds `tokens` tokens.
struct Question {
    std::int64_t tokens = 0;
    std::vector<double> q; ///< [heads][key_width]
};

/// The answer to each question: [heads][value_width]. All questions share one pass over the
/// history.
std::vector<std::vector<double>> attend_reference(const AttentionProblem& problem,
                                                  std::span<const Question> questions);

/// Mamba-1 of one layer and sequence, as views.h defines it.
class Mamba1Reference {
  public:
    struct Shape {
        std::int64_t inner = 0, state_size = 0, conv_kernel = 0;
    };
    struct Weights {
        std::vector<float> a, d, weight, bias;
    };
    /// One token's inputs for channels first … first + count - 1, and its b and c of all states.
    struct Inputs {
        double* x;
        float* dt;
        float* b;
        float* c;
    };
    using Source = std::function<void(std::int64_t token, std::int64_t first, std::int64_t count,
                                      const Inputs& inputs)>;

    Mamba1Reference(Shape shape, Weights weights, Source source);

    /// Steps on until the history holds so many tokens; returns y of the last one, [inner].
    const std::vector<double>& advance_to(std::int64_t tokens);
    std::int64_t tokens() const { return tokens_; }
    std::vector<double> state() const; ///< [inner][state_size]

  private:
    void advance_block(std::int64_t first, std::int64_t count, std::int64_t tokens);

    Shape shape_;
    Weights weights_;
    Source source_;
    std::int64_t tokens_ = 0;
    std::int64_t padded_; ///< doubles per row of state_ and a_
    std::vector<double> state_, a_, history_, out_;
};

/// e^x for |x| < 700, within 1e-12 and much faster than std::exp.
void exponentials(std::span<const double> x, std::span<double> y);

/// Largest over the rows of |got - wanted| / |wanted| (Euclidean). A NaN counts as infinite.
double largest_relative_error(std::span<const float> got, std::span<const double> wanted,
                              std::int64_t row_width);

} // namespace kvcaliper::kernels
