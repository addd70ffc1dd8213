// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference.h"

#include "kernels/parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kvcaliper::kernels {
namespace {

constexpr std::int64_t block = 32; ///< tokens generated and scored together; a multiple of 4

/// Two doubles: what every 64-bit processor of today has as one register.
typedef double Pair __attribute__((vector_size(16)));

inline Pair load(const double* from) {
    Pair value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

/// Dot products of q with four rows; an odd last element is added apart.
void dot4(const double* q, const double* rows, std::int64_t stride, std::int64_t width,
          double* out) {
    Pair sums[4] = {};
    std::int64_t i = 0;
    for (; i + 2 <= width; i += 2) {
        const Pair value = load(q + i);
        for (int t = 0; t < 4; ++t)
            sums[t] += value * load(rows + t * stride + i);
    }
    for (int t = 0; t < 4; ++t) {
        out[t] = sums[t][0] + sums[t][1];
        if (i < width)
            out[t] += q[i] * rows[t * stride + i];
    }
}

/// out += Σ p[t] · rows[t] over four rows.
void add4(const double* p, const double* rows, std::int64_t stride, std::int64_t width,
          double* __restrict out) {
    const double* r1 = rows + stride;
    const double* r2 = r1 + stride;
    const double* r3 = r2 + stride;
    for (std::int64_t i = 0; i < width; ++i)
        out[i] += (p[0] * rows[i] + p[1] * r1[i]) + (p[2] * r2[i] + p[3] * r3[i]);
}

/// The running softmax of one head of one question.
struct Running {
    const double* q;
    double* out;
    std::int64_t first, last; ///< visible tokens
    double maximum = -std::numeric_limits<double>::infinity();
    double sum = 0;
    std::optional<double> sink{};
};

/// One block of generated rows.
struct Block {
    std::vector<double> keys, values;
    std::int64_t first = 0, count = 0;
};

/// Weights of the block's tokens for one query; masked ones get 0. False when none is visible.
bool weigh(const AttentionProblem& problem, const Block& rows, Running& run, double* weights) {
    const std::int64_t from = std::max<std::int64_t>(run.first - rows.first, 0);
    const std::int64_t to = std::min(run.last - rows.first, rows.count);
    if (from >= to)
        return false;
    double top = run.maximum;
    for (std::int64_t t = 0; t < rows.count; t += 4)
        dot4(run.q, rows.keys.data() + t * problem.key_width, problem.key_width, problem.key_width,
             weights + t);
    for (std::int64_t t = from; t < to; ++t)
        top = std::max(top, weights[t] *= problem.scale);
    if (top > run.maximum) {
        const double factor = std::exp(run.maximum - top);
        for (std::int64_t i = 0; i < problem.value_width; ++i)
            run.out[i] *= factor;
        run.sum *= factor;
        run.maximum = top;
    }
    for (std::int64_t t = 0; t < block; ++t)
        weights[t] = t >= from && t < to ? std::exp(weights[t] - top) : 0;
    for (std::int64_t t = from; t < to; ++t)
        run.sum += weights[t];
    return true;
}

void attend_block(const AttentionProblem& problem, const Block& rows, Running& run) {
    double weights[block];
    if (!weigh(problem, rows, run, weights))
        return;
    const std::vector<double>& values = problem.value_in_key ? rows.keys : rows.values;
    const std::int64_t stride = problem.value_in_key ? problem.key_width : problem.value_width;
    for (std::int64_t t = 0; t < rows.count; t += 4)
        add4(weights + t, values.data() + t * stride, stride, problem.value_width, run.out);
}

/// All queries that read one group's keys, over the whole history.
void attend_group(const AttentionProblem& problem, std::int64_t group, std::vector<Running>& runs) {
    std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
    for (const Running& run : runs) {
        first = std::min(first, run.first);
        last = std::max(last, run.last);
    }
    Block rows;
    rows.keys.resize(static_cast<std::size_t>(block * problem.key_width));
    rows.values.resize(static_cast<std::size_t>(block * problem.value_width));
    for (rows.first = first; rows.first < last; rows.first += block) {
        rows.count = std::min(block, last - rows.first);
        for (std::int64_t t = 0; t < rows.count; ++t)
            problem.rows(rows.first + t, group, rows.keys.data() + t * problem.key_width,
                         rows.values.data() + t * problem.value_width);
        for (Running& run : runs)
            attend_block(problem, rows, run);
    }
    for (Running& run : runs) {
        const double sum = run.sum + (run.sink ? std::exp(*run.sink - run.maximum) : 0);
        for (std::int64_t i = 0; i < problem.value_width; ++i)
            run.out[i] /= sum;
    }
}

/// The visible tokens of head `head` of a question, and where its answer goes.
Running running(const AttentionProblem& problem, const Question& question, std::int64_t head,
                double* answer) {
    Running run{question.q.data() + head * problem.key_width, answer + head * problem.value_width,
                0, problem.memory.value_or(question.tokens)};
    if (problem.window)
        run.first = std::max<std::int64_t>(0, question.tokens - *problem.window);
    if (problem.chunk)
        run.first = (question.tokens - 1) / *problem.chunk * *problem.chunk;
    if (!problem.sinks.empty())
        run.sink = problem.sinks[static_cast<std::size_t>(head)];
    return run;
}

} // namespace

std::vector<std::vector<double>> attend_reference(const AttentionProblem& problem,
                                                  std::span<const Question> questions) {
    std::vector<std::vector<double>> answers(
        questions.size(),
        std::vector<double>(static_cast<std::size_t>(problem.heads * problem.value_width)));
    const std::int64_t per_group = problem.heads / problem.groups;
    const std::int64_t chunk = std::min<std::int64_t>(per_group, 32);
    const std::int64_t chunks = (per_group + chunk - 1) / chunk;
    parallel_for(problem.groups * chunks, [&](std::int64_t task) {
        const std::int64_t group = task / chunks;
        const std::int64_t from = group * per_group + task % chunks * chunk;
        const std::int64_t to = std::min(from + chunk, (group + 1) * per_group);
        std::vector<Running> runs;
        for (std::size_t i = 0; i < questions.size(); ++i)
            for (std::int64_t h = from; h < to; ++h)
                runs.push_back(running(problem, questions[i], h, answers[i].data()));
        attend_group(problem, group, runs);
    });
    return answers;
}

double largest_relative_error(std::span<const float> got, std::span<const double> wanted,
                              std::int64_t row_width) {
    double worst = 0;
    const auto width = static_cast<std::size_t>(row_width);
    for (std::size_t row = 0; row + width <= wanted.size(); row += width) {
        double off = 0, size = 0;
        for (std::size_t i = row; i < row + width; ++i) {
            const double difference = static_cast<double>(got[i]) - wanted[i];
            off += difference * difference;
            size += wanted[i] * wanted[i];
        }
        const double error = off == 0 ? 0 : std::sqrt(off / size); // a row may be all zeros
        worst =
            std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
    }
    return worst;
}

} // namespace kvcaliper::kernels
