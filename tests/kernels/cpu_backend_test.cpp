// SPDX-License-Identifier: Apache-2.0
// The native CPU backend in every build this processor can run, against plain double code.
#include "kernels/backend_cpu.h"

#include "core/error.h"
#include "kernels/generator.h"
#include "kernels/half.h"
#include "kernels/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace kvcaliper::kernels {
namespace {

using Halves = std::vector<std::uint16_t>;

std::size_t size_of(std::int64_t count) {
    return static_cast<std::size_t>(count);
}

Halves random_halves(std::int64_t count, std::uint64_t key, Element element) {
    Halves halves(size_of(count));
    normal_halves(key, 0, count, element, halves.data());
    return halves;
}

double value_of(std::uint16_t half, Element element) {
    return static_cast<double>(element == Element::f16 ? f16_to_float(half) : bf16_to_float(half));
}

class CpuBackendTest : public testing::TestWithParam<const VectorKernels*> {
  protected:
    std::unique_ptr<Backend> backend_ = make_cpu_backend(*GetParam());

    template <typename View> void attend(const View& view) {
        std::vector<unsigned char> workspace(size_of(backend_->workspace_bytes(view)));
        backend_->attend(view, workspace.data());
    }
};

struct Shape {
    std::int64_t sequences, heads, kv_heads, key_width, value_width, slots, valid;
};

/// One head, from the raw bits of the cache.
std::vector<double> head_by_definition(const AttentionView& v, std::int64_t sequence,
                                       std::int64_t head) {
    const auto* q =
        static_cast<const std::uint16_t*>(v.q) + (sequence * v.heads + head) * v.key_width;
    const std::int64_t plane = sequence * v.kv_heads + head / (v.heads / v.kv_heads);
    const auto* k = static_cast<const std::uint16_t*>(v.k) + plane * v.slots * v.key_width;
    const auto* values = static_cast<const std::uint16_t*>(v.v) + plane * v.slots * v.value_width;
    std::vector<double> scores(size_of(v.valid)), out(size_of(v.value_width));
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::int64_t t = 0; t < v.valid; ++t) {
        double dot = 0;
        for (std::int64_t i = 0; i < v.key_width; ++i)
            dot += value_of(q[i], v.element) * value_of(k[t * v.key_width + i], v.element);
        top = std::max(top, scores[size_of(t)] = dot * static_cast<double>(v.scale));
    }
    for (std::int64_t t = 0; t < v.valid; ++t) {
        const double weight = std::exp(scores[size_of(t)] - top);
        sum += weight;
        for (std::int64_t i = 0; i < v.value_width; ++i)
            out[size_of(i)] += weight * value_of(values[t * v.value_width + i], v.element);
    }
    for (double& o : out)
        o /= sum;
    return out;
}

TEST_P(CpuBackendTest, AttentionIsRightOnOddShapes) {
    const Shape shapes[] = {
        {1, 1, 1, 1, 1, 1, 1},     {1, 4, 4, 64, 64, 300, 300},  {2, 12, 4, 80, 96, 130, 129},
        {1, 7, 1, 72, 40, 65, 65}, {3, 10, 2, 33, 17, 70, 64},   {1, 8, 1, 128, 128, 2000, 1999},
        {2, 5, 5, 256, 3, 260, 1}, {1, 20, 4, 100, 100, 97, 90}, {1, 6, 2, 16, 512, 63, 63},
    };
    for (const Element element : {Element::f16, Element::bf16})
        for (const Shape& s : shapes) {
            const Halves q = random_halves(s.sequences * s.heads * s.key_width, 1, element);
            Halves k = random_halves(s.sequences * s.kv_heads * s.slots * s.key_width, 2, element);
            Halves v =
                random_halves(s.sequences * s.kv_heads * s.slots * s.value_width, 3, element);
            // Slots that are not valid hold NaN: whoever reads them shows it.
            for (std::int64_t p = 0; p < s.sequences * s.kv_heads; ++p)
                for (std::int64_t t = s.valid; t < s.slots; ++t) {
                    std::fill_n(k.begin() + (p * s.slots + t) * s.key_width, s.key_width, 0xffff);
                    std::fill_n(v.begin() + (p * s.slots + t) * s.value_width, s.value_width,
                                0xffff);
                }
            std::vector<float> out(size_of(s.sequences * s.heads * s.value_width), NAN);
            const AttentionView view{q.data(), k.data(),   v.data(),    out.data(),    s.sequences,
                                     s.heads,  s.kv_heads, s.key_width, s.value_width, s.slots,
                                     s.valid,  0.25f,      element};
            attend(view);
            for (std::int64_t i = 0; i < s.sequences * s.heads; ++i) {
                const auto wanted = head_by_definition(view, i / s.heads, i % s.heads);
                const std::vector<float> got(out.begin() + i * s.value_width,
                                             out.begin() + (i + 1) * s.value_width);
                ASSERT_LE(largest_relative_error(got, wanted, s.value_width), 3e-6)
                    << GetParam()->name << " heads " << s.heads << " width " << s.key_width;
            }
        }
}

TEST_P(CpuBackendTest, PeakyScoresStayWithinTheBound) {
    const Shape s{1, 4, 1, 128, 128, 500, 500};
    const Halves q = random_halves(s.heads * s.key_width, 1, Element::f16);
    const Halves k = random_halves(s.slots * s.key_width, 2, Element::f16);
    const Halves v = random_halves(s.slots * s.value_width, 3, Element::f16);
    std::vector<float> out(size_of(s.heads * s.value_width));
    const AttentionView view{q.data(), k.data(),   v.data(),    out.data(),    s.sequences,
                             s.heads,  s.kv_heads, s.key_width, s.value_width, s.slots,
                             s.valid,  1.5f,       Element::f16};
    attend(view);
    for (std::int64_t h = 0; h < s.heads; ++h)
        EXPECT_LE(largest_relative_error({out.data() + h * s.value_width, size_of(s.value_width)},
                                         head_by_definition(view, 0, h), s.value_width),
                  backend_->attention_bound(view));
}

TEST_P(CpuBackendTest, ANanInAnyValidKeyOrValueReachesTheOutput) {
    const std::int64_t slots = 70, width = 24;
    const Halves q = random_halves(2 * width, 1, Element::f16);
    for (std::int64_t slot = 0; slot < slots; ++slot)
        for (const bool in_key : {true, false}) {
            Halves k = random_halves(slots * width, 2, Element::f16), v = k;
            (in_key ? k : v)[size_of(slot * width + width - 1)] = 0x7e00;
            std::vector<float> out(size_of(2 * width));
            attend(AttentionView{q.data(), k.data(), v.data(), out.data(), 1, 2, 1, width, width,
                                 slots, slots, 0.2f, Element::f16});
            ASSERT_TRUE(std::isnan(out.back())) << slot << in_key;
        }
}

TEST_P(CpuBackendTest, LatentAttentionIsAttentionOverJoinedKeys) {
    struct Latent {
        std::int64_t sequences, heads, rank, rope, slots, valid;
    };
    for (const Latent& s : {Latent{1, 16, 512, 64, 200, 200}, Latent{2, 5, 40, 12, 77, 70},
                            Latent{1, 3, 33, 7, 10, 1}}) {
        const std::int64_t wide = s.rank + s.rope;
        const Element element = Element::bf16;
        const Halves ql = random_halves(s.sequences * s.heads * s.rank, 1, element);
        const Halves qr = random_halves(s.sequences * s.heads * s.rope, 2, element);
        const Halves latent = random_halves(s.sequences * s.slots * s.rank, 3, element);
        const Halves rope = random_halves(s.sequences * s.slots * s.rope, 4, element);
        const auto join = [&](const Halves& a, const Halves& b, std::int64_t rows) {
            Halves joined;
            for (std::int64_t r = 0; r < rows; ++r) {
                joined.insert(joined.end(), a.begin() + r * s.rank, a.begin() + (r + 1) * s.rank);
                joined.insert(joined.end(), b.begin() + r * s.rope, b.begin() + (r + 1) * s.rope);
            }
            return joined;
        };
        std::vector<float> out(size_of(s.sequences * s.heads * s.rank), NAN);
        const LatentView view{ql.data(),   qr.data(), latent.data(), rope.data(), out.data(),
                              s.sequences, s.heads,   s.rank,        s.rope,      s.slots,
                              s.valid,     0.1f,      element};
        attend(view);
        const Halves q = join(ql, qr, s.sequences * s.heads),
                     k = join(latent, rope, s.sequences * s.slots);
        const AttentionView plain{q.data(), k.data(), latent.data(), nullptr, s.sequences,
                                  s.heads,  1,        wide,          s.rank,  s.slots,
                                  s.valid,  0.1f,     element};
        for (std::int64_t i = 0; i < s.sequences * s.heads; ++i)
            ASSERT_LE(largest_relative_error({out.data() + i * s.rank, size_of(s.rank)},
                                             head_by_definition(plain, i / s.heads, i % s.heads),
                                             s.rank),
                      3e-6);
    }
}

TEST_P(CpuBackendTest, AppendGoesRoundTheRing) {
    const std::int64_t sequences = 2, rows = 3, width = 5, slots = 7;
    Halves plane(size_of(sequences * rows * slots * width), 0xffff);
    std::int64_t position = 0;
    for (const std::int64_t count : {1, 3, 7, 20, 2}) {
        Halves source(size_of(sequences * count * rows * width));
        for (std::int64_t s = 0; s < sequences; ++s)
            for (std::int64_t t = 0; t < count; ++t)
                for (std::int64_t i = 0; i < rows * width; ++i)
                    source[size_of((s * count + t) * rows * width + i)] =
                        static_cast<std::uint16_t>((position + t) * 100 + s * 50 + i);
        backend_->append({source.data(), plane.data(), sequences, rows, width, slots, position,
                          count, Element::f16});
        position += count;
        for (std::int64_t p = std::max<std::int64_t>(0, position - slots); p < position; ++p)
            for (std::int64_t s = 0; s < sequences; ++s)
                for (std::int64_t i = 0; i < rows * width; ++i)
                    ASSERT_EQ(plane[size_of(((s * rows + i / width) * slots + p % slots) * width +
                                            i % width)],
                              static_cast<std::uint16_t>(p * 100 + s * 50 + i));
    }
}

TEST_P(CpuBackendTest, Mamba1StepsLikeTheReference) {
    struct Mamba {
        std::int64_t sequences, inner, states, kernel, tokens;
    };
    for (const Mamba& m :
         {Mamba{1, 300, 16, 4, 40}, Mamba{2, 70, 5, 2, 40}, Mamba{1, 33, 128, 1, 40},
          Mamba{1, 64, 17, 5, 40}, Mamba{2, 100, 16, 4, 1}, Mamba{1, 9, 3, 6, 2}})
        for (const Element element : {Element::f16, Element::bf16}) {
            const std::int64_t tokens = m.tokens;
            const auto floats = [](std::int64_t n, std::uint64_t key, float scale) {
                std::vector<float> v(size_of(n));
                normal_floats(key, 0, n, scale, v.data());
                return v;
            };
            Mamba1Reference::Weights w{std::vector<float>(size_of(m.inner * m.states)),
                                       floats(m.inner, 1, 1), floats(m.inner * m.kernel, 2, 0.5f),
                                       floats(m.inner, 3, 0.1f)};
            uniform_floats(4, 0, m.inner * m.states, -16, w.a.data());
            const Halves x = random_halves(m.sequences * tokens * m.inner, 5, element);
            std::vector<float> dt(x.size());
            uniform_floats(6, 0, static_cast<std::int64_t>(dt.size()), 0.1f, dt.data());
            const auto b = floats(m.sequences * tokens * m.states, 7, 1);
            const auto c = floats(m.sequences * tokens * m.states, 8, 1);
            Halves history(size_of(m.sequences * m.inner * (m.kernel - 1)));
            std::vector<float> state(size_of(m.sequences * m.inner * m.states));
            std::vector<float> out(size_of(m.sequences * m.inner), NAN);
            backend_->step({x.data(), dt.data(), b.data(), c.data(), w.a.data(), w.d.data(),
                            w.weight.data(), w.bias.data(), history.data(), state.data(),
                            out.data(), m.sequences, m.inner, m.states, m.kernel, tokens, element});
            for (std::int64_t s = 0; s < m.sequences; ++s) {
                Mamba1Reference reference(
                    {m.inner, m.states, m.kernel}, w,
                    [&](std::int64_t t, std::int64_t first, std::int64_t count,
                        const Mamba1Reference::Inputs& in) {
                        const std::int64_t row = s * tokens + t;
                        for (std::int64_t i = 0; i < count; ++i) {
                            in.x[i] = value_of(x[size_of(row * m.inner + first + i)], element);
                            in.dt[i] = dt[size_of(row * m.inner + first + i)];
                        }
                        std::copy_n(b.begin() + row * m.states, m.states, in.b);
                        std::copy_n(c.begin() + row * m.states, m.states, in.c);
                    });
                const auto& y = reference.advance_to(tokens);
                EXPECT_LE(largest_relative_error({out.data() + s * m.inner, size_of(m.inner)}, y,
                                                 m.inner),
                          2e-6);
                EXPECT_LE(largest_relative_error(
                              {state.data() + s * m.inner * m.states, size_of(m.inner * m.states)},
                              reference.state(), m.inner * m.states),
                          2e-6);
                for (std::int64_t i = 0; i < m.inner; ++i) // the history is exact, oldest first
                    for (std::int64_t j = 0; j < m.kernel - 1; ++j) {
                        const std::int64_t t = tokens - (m.kernel - 1) + j;
                        const int wanted = t < 0 ? 0 : x[size_of((s * tokens + t) * m.inner + i)];
                        ASSERT_EQ(history[size_of((s * m.inner + i) * (m.kernel - 1) + j)], wanted);
                    }
            }
        }
}

TEST_P(CpuBackendTest, TheExponentialIsGoodToAFewUnitsInTheLastPlace) {
    std::vector<float> x, y;
    for (float v = -86.9f; v < 87; v += 0.00173f)
        x.push_back(v);
    x.push_back(0);
    y.resize(x.size());
    GetParam()->exponential(x.data(), y.data(), static_cast<std::int64_t>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_NEAR(static_cast<double>(y[i]) / std::exp(static_cast<double>(x[i])), 1, 2.5e-7)
            << x[i];
    EXPECT_EQ(y.back(), 1.0f);
    const float far[] = {-88, -1000, -std::numeric_limits<float>::infinity()};
    float zero[3] = {1, 1, 1};
    GetParam()->exponential(far, zero, 3);
    EXPECT_EQ(zero[0] + zero[1] + zero[2], 0.0f);
    const float odd[] = {std::numeric_limits<float>::quiet_NaN(), 1e30f};
    GetParam()->exponential(odd, zero, 2);
    EXPECT_TRUE(std::isnan(zero[0]));
    EXPECT_GT(zero[1], 1e38f);
}

TEST_P(CpuBackendTest, RefusesWhatItCanNotRun) {
    AttentionView view{nullptr, nullptr, nullptr, nullptr, 1, 3, 2, 64, 64, 8, 8, 1, Element::f16};
    EXPECT_THROW(backend_->attend(view, nullptr), Error); // 3 heads do not share 2 evenly
    view.heads = 4;
    view.valid = 9;
    EXPECT_THROW(backend_->attend(view, nullptr), Error);
    view.valid = 8;
    view.element = Element::f32;
    EXPECT_THROW(backend_->attend(view, nullptr), Error);
}

INSTANTIATE_TEST_SUITE_P(Builds, CpuBackendTest, testing::ValuesIn(usable_vector_kernels()),
                         [](const auto& param_info) {
                             std::string name = param_info.param->name;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST(CpuBackend, ResidentMemoryFollowsWhatIsAllocated) {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizer's own memory grows with it";
#endif
    const auto backend = make_cpu_backend();
    const std::int64_t bytes = 64 << 20;
    const auto before = backend->sample().used_bytes;
    if (!before)
        GTEST_SKIP() << backend->sample().unavailable;
    void* memory = backend->allocate(bytes);
    backend->fill(memory, 1, bytes);
    EXPECT_NEAR(static_cast<double>(*backend->sample().used_bytes - *before), bytes, 8 << 20);
    backend->release(memory, bytes);
#if !defined(__SANITIZE_ADDRESS__)
    EXPECT_NEAR(static_cast<double>(*backend->sample().used_bytes - *before), 0, 8 << 20);
#endif
}

} // namespace
} // namespace kvcaliper::kernels
