// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference.h"

#include "kernels/generator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kvcaliper::kernels {
namespace {

using Values = std::vector<double>;

Values random_values(std::int64_t token, std::int64_t count, Purpose purpose) {
    Values values(static_cast<std::size_t>(count));
    normal_values(token_key({11, 0, 0, purpose}, token), 0, count, Element::f16, values.data());
    return values;
}

AttentionProblem make_problem(std::int64_t heads, std::int64_t groups, std::int64_t key_width,
                              std::int64_t value_width) {
    AttentionProblem problem;
    problem.heads = heads;
    problem.groups = groups;
    problem.key_width = key_width;
    problem.value_width = value_width;
    problem.scale = 0.3;
    problem.rows = [=](std::int64_t token, std::int64_t group, double* key, double* value) {
        const Values k = random_values(token, groups * key_width, Purpose::key);
        const Values v = random_values(token, groups * value_width, Purpose::value);
        std::copy_n(k.begin() + group * key_width, key_width, key);
        std::copy_n(v.begin() + group * value_width, value_width, value);
    };
    return problem;
}

/// The textbook: all scores, the largest, all weights, the sum.
Values naive(const AttentionProblem& p, const Question& question) {
    Values out;
    for (std::int64_t h = 0; h < p.heads; ++h) {
        Values weights, sum(static_cast<std::size_t>(p.value_width));
        double top = -std::numeric_limits<double>::infinity(), total = 0;
        const std::int64_t first =
            p.window ? std::max<std::int64_t>(0, question.tokens - *p.window) : 0;
        const auto key_of = [&](std::int64_t t) {
            Values key(static_cast<std::size_t>(p.key_width)), value(sum.size());
            p.rows(t, h / (p.heads / p.groups), key.data(), value.data());
            return std::pair(key, p.value_in_key ? key : value);
        };
        for (std::int64_t t = first; t < question.tokens; ++t) {
            double dot = 0;
            const Values key = key_of(t).first;
            for (std::size_t i = 0; i < key.size(); ++i)
                dot += key[i] * question.q[static_cast<std::size_t>(h * p.key_width) + i];
            weights.push_back(dot * p.scale);
            top = std::max(top, weights.back());
        }
        for (std::size_t t = 0; t < weights.size(); ++t) {
            const double weight = std::exp(weights[t] - top);
            total += weight;
            const Values value = key_of(first + static_cast<std::int64_t>(t)).second;
            for (std::size_t i = 0; i < sum.size(); ++i)
                sum[i] += weight * value[i];
        }
        for (const double s : sum)
            out.push_back(s / total);
    }
    return out;
}

void expect_like_naive(const AttentionProblem& problem, const std::vector<std::int64_t>& tokens) {
    std::vector<Question> questions;
    for (const std::int64_t count : tokens)
        questions.push_back(
            {count, random_values(count, problem.heads * problem.key_width, Purpose::query)});
    const auto answers = attend_reference(problem, questions);
    for (std::size_t i = 0; i < questions.size(); ++i) {
        const Values wanted = naive(problem, questions[i]);
        ASSERT_EQ(answers[i].size(), wanted.size());
        for (std::size_t j = 0; j < wanted.size(); ++j)
            ASSERT_NEAR(answers[i][j], wanted[j], 1e-13) << tokens[i] << " " << j;
    }
}

TEST(Reference, EqualsANaiveSoftmaxOnOddShapes) {
    expect_like_naive(make_problem(1, 1, 1, 1), {1});
    expect_like_naive(make_problem(6, 2, 7, 5), {1, 2, 31, 33});
    expect_like_naive(make_problem(3, 3, 16, 9), {64, 65, 100});
    expect_like_naive(make_problem(40, 1, 12, 8), {97}); // more heads than one chunk
}

TEST(Reference, MasksEverythingOlderThanTheWindow) {
    AttentionProblem problem = make_problem(4, 2, 8, 8);
    for (const std::int64_t window : {1, 3, 32, 40, 1000}) {
        problem.window = window;
        expect_like_naive(problem, {1, 35, 90});
    }
}

TEST(Reference, TakesTheValueFromTheKeyOfALatentCache) {
    AttentionProblem problem = make_problem(5, 1, 24, 16);
    problem.value_in_key = true;
    expect_like_naive(problem, {1, 50});
}

TEST(Reference, ItsExponentialIsFarBetterThanAnyBound) {
    Values x, y;
    for (double v = -690; v < 690; v += 0.0137)
        x.push_back(v);
    y.resize(x.size());
    exponentials(x, y);
    for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_NEAR(y[i] / std::exp(x[i]), 1, 1e-12) << x[i];
}

/// The recurrence as views.h writes it, without any rearrangement.
TEST(Reference, Mamba1EqualsItsDefinition) {
    const std::int64_t inner = 150, states = 5, kernel = 4, tokens = 23;
    Mamba1Reference::Weights w;
    const auto floats = [](std::int64_t count, float scale) {
        std::vector<float> v(static_cast<std::size_t>(count));
        normal_floats(token_key({5, 0, 0, Purpose::ssm_d}, count), 0, count, scale, v.data());
        return v;
    };
    w.a = floats(inner * states, 1);
    for (float& a : w.a)
        a = -std::abs(a) - 0.1f;
    w.d = floats(inner, 1);
    w.bias = floats(inner + 0, 0.2f);
    w.weight = floats(inner * kernel, 0.5f);
    const auto x = [&](std::int64_t t, std::int64_t i) {
        return t < 0 ? 0.0 : std::sin(static_cast<double>(t * 31 + i * 7));
    };
    const auto dt = [](std::int64_t t, std::int64_t i) {
        return 0.01f + 0.001f * static_cast<float>((t * 5 + i) % 17);
    };
    const auto mix = [](std::int64_t t, std::int64_t n) {
        return static_cast<float>((t + n) % 3) - 1;
    };
    Mamba1Reference reference({inner, states, kernel}, w,
                              [&](std::int64_t t, std::int64_t first, std::int64_t count,
                                  const Mamba1Reference::Inputs& in) {
                                  for (std::int64_t i = 0; i < count; ++i) {
                                      in.x[i] = x(t, first + i);
                                      in.dt[i] = dt(t, first + i);
                                  }
                                  for (std::int64_t n = 0; n < states; ++n) {
                                      in.b[n] = mix(t, n);
                                      in.c[n] = mix(t, n + 1);
                                  }
                              });
    reference.advance_to(9); // in two goes
    const Values out = reference.advance_to(tokens);
    for (std::int64_t i = 0; i < inner; ++i) {
        Values state(static_cast<std::size_t>(states));
        double y = 0;
        for (std::int64_t t = 0; t < tokens; ++t) {
            const auto at = static_cast<std::size_t>(i);
            double sum = static_cast<double>(w.bias[at]);
            for (std::int64_t j = 0; j < kernel; ++j)
                sum += static_cast<double>(w.weight[static_cast<std::size_t>(i * kernel + j)]) *
                       x(t - (kernel - 1) + j, i);
            const double u = sum / (1 + std::exp(-sum)), step = static_cast<double>(dt(t, i));
            y = static_cast<double>(w.d[at]) * u;
            for (std::int64_t n = 0; n < states; ++n) {
                double& s = state[static_cast<std::size_t>(n)];
                s = std::exp(step *
                             static_cast<double>(w.a[static_cast<std::size_t>(i * states + n)])) *
                        s +
                    step * u * static_cast<double>(mix(t, n));
                y += s * static_cast<double>(mix(t, n + 1));
            }
        }
        ASSERT_NEAR(out[static_cast<std::size_t>(i)], y, 1e-12) << i;
    }
}

TEST(Reference, TheErrorIsThatOfTheWorstRowAndANanIsInfinite) {
    const std::vector<float> got{1, 0, 1, 1.5f};
    const Values wanted{1, 0, 1, 1};
    EXPECT_NEAR(largest_relative_error(got, wanted, 2), 0.5 / std::sqrt(2.0), 1e-12);
    const std::vector<float> broken{1, std::numeric_limits<float>::quiet_NaN(), 1, 1};
    EXPECT_EQ(largest_relative_error(broken, wanted, 2), std::numeric_limits<double>::infinity());
}

} // namespace
} // namespace kvcaliper::kernels
