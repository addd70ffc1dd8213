// SPDX-License-Identifier: Apache-2.0
// State layers with a convolution in front, in double precision over a history that is generated
// again token by token. Nothing here sees a cache or a backend.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace kvcaliper::kernels {

/// A causal convolution per channel over all tokens from the first one on.
struct ConvProblem {
    std::int64_t channels = 0, kernel = 1;
    bool silu = true;
    std::vector<float> weight; ///< [channels][kernel]
    std::vector<float> bias;   ///< [channels]
    /// Writes the inputs of one token. Called from many threads.
    std::function<void(std::int64_t token, double* x)> inputs;
};

/// The output of tokens first … first + count - 1, [count][channels].
std::vector<double> convolve_reference(const ConvProblem& problem, std::int64_t first,
                                       std::int64_t count);

/// One layer and sequence that steps on token by token.
class StateReference {
  public:
    explicit StateReference(ConvProblem conv) : conv_(std::move(conv)) {}
    virtual ~StateReference() = default;

    /// Steps on until the history holds so many tokens; returns the output of the last one.
    const std::vector<double>& advance_to(std::int64_t tokens);
    std::int64_t tokens() const { return tokens_; }
    const std::vector<double>& state() const { return state_; }

  protected:
    /// Tokens first … first + count - 1, whose convolved inputs are [count][channels]. The output
    /// of the last of them goes to out_ when it is wanted.
    virtual void advance(std::int64_t first, std::int64_t count, const double* mixed,
                         bool wanted) = 0;

    ConvProblem conv_;
    std::vector<double> state_, out_;

  private:
    std::int64_t tokens_ = 0;
};

/// Mamba-2 as views.h defines it: channels are x, then B and C unless they come beside it.
class Mamba2Reference final : public StateReference {
  public:
    struct Shape {
        std::int64_t heads = 0, head_width = 0, groups = 0, state_size = 0;
    };
    /// One token's dt of all heads and, where groups is 0, its b and c.
    struct Inputs {
        float* dt;
        float* b;
        float* c;
    };
    using Source = std::function<void(std::int64_t token, const Inputs& inputs)>;

    Mamba2Reference(Shape shape, std::vector<float> a, std::vector<float> d, ConvProblem conv,
                    Source source);

  private:
    struct Chunk;
    void advance(std::int64_t first, std::int64_t count, const double* mixed, bool wanted) override;
    void advance_head(std::int64_t head, const Chunk& chunk);

    Shape shape_;
    std::vector<float> a_, d_;
    Source source_;
};

/// Linear attention with a matrix state as views.h defines it: channels are q, k, v.
class DeltaReference final : public StateReference {
  public:
    struct Shape {
        std::int64_t key_heads = 0, value_heads = 0, key_width = 0, value_width = 0;
        std::int64_t gate_width = 1;
        bool beta = true, log_gate = true, normalise = true;
        double scale = 1;
    };
    /// One token's gates of all value heads and their betas (null without the delta rule).
    using Source = std::function<void(std::int64_t token, float* gate, float* beta)>;

    DeltaReference(Shape shape, ConvProblem conv, Source source);

  private:
    struct Chunk;
    void advance(std::int64_t first, std::int64_t count, const double* mixed, bool wanted) override;
    void advance_head(std::int64_t head, const Chunk& chunk);

    Shape shape_;
    Source source_;
};

/// The convolution alone.
class ShortConvReference final : public StateReference {
  public:
    using StateReference::StateReference;

  private:
    void advance(std::int64_t first, std::int64_t count, const double* mixed, bool wanted) override;
};

} // namespace kvcaliper::kernels
