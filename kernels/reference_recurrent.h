// SPDX-License-Identifier: Apache-2.0
// RG-LRU, RWKV and xLSTM in double precision over a history that is generated again token by token.
// Nothing here sees a cache or a backend. Where a kernel keeps sums relative to a power of e so
// that f32 holds them, the sums here are the plain ones.
#pragma once

#include "kernels/reference_state.h"

namespace kvcaliper::kernels {

/// Makes one token's numbers beside the convolution, in the order of the view.
using TokenRows = std::function<void(std::int64_t token, float* rows)>;

/// Steps on the chunks of StateReference with the rows of its tokens beside them.
class RecurrentReference : public StateReference {
  protected:
    RecurrentReference(ConvProblem conv, std::int64_t row, TokenRows source)
        : StateReference(std::move(conv)), row_(row), source_(std::move(source)) {}

    struct Chunk {
        std::int64_t count;
        const double* mixed;     ///< [count][channels]
        bool wanted;             ///< the output of the last token
        std::vector<float> rows; ///< [count][row]
    };
    virtual void advance(const Chunk& chunk) = 0;

    std::int64_t row_;

  private:
    void advance(std::int64_t first, std::int64_t count, const double* mixed, bool wanted) final;

    TokenRows source_;
};

/// RG-LRU as views_recurrent.h defines it; the convolution's output is x.
class RglruReference final : public RecurrentReference {
  public:
    RglruReference(std::vector<float> decay, ConvProblem conv, TokenRows gates);

  private:
    void advance(const Chunk& chunk) override;

    std::vector<float> decay_;
};

/// RWKV 4. The output begins with what the token shift, the convolution, gave.
class Rwkv4Reference final : public RecurrentReference {
  public:
    Rwkv4Reference(std::vector<float> decay, std::vector<float> bonus, ConvProblem shift,
                   TokenRows rows);

  private:
    void advance(const Chunk& chunk) override;
    void advance_channel(std::int64_t channel, const Chunk& chunk);

    std::vector<float> decay_, bonus_;
};

/// RWKV 5 to 7, with a bonus or, where that is empty, with a and b. The output begins with what the
/// token shift gave.
class RwkvReference final : public RecurrentReference {
  public:
    RwkvReference(std::int64_t heads, std::int64_t width, std::vector<float> bonus,
                  ConvProblem shift, TokenRows rows);

  private:
    void advance(const Chunk& chunk) override;
    void advance_head(std::int64_t head, const Chunk& chunk);

    std::int64_t heads_, width_;
    std::vector<float> bonus_;
};

/// The mLSTM cell; the convolution's output is q, k and v of all heads.
class XlstmReference final : public RecurrentReference {
  public:
    struct Shape {
        std::int64_t heads = 0, key_width = 0, value_width = 0;
    };
    XlstmReference(Shape shape, ConvProblem conv, TokenRows gates);

  private:
    void advance(const Chunk& chunk) override;
    void advance_head(std::int64_t head, const Chunk& chunk);
    void read_out(std::int64_t head, const double* mixed);

    Shape shape_;
    std::vector<double> largest_; ///< m of each head
};

} // namespace kvcaliper::kernels
