// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference_index.h"

#include "kernels/parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kvcaliper::kernels {

std::vector<double> index_scores_reference(std::span<const double> q,
                                           std::span<const float> weights, std::int64_t count,
                                           const IndexKeys& keys) {
    constexpr std::int64_t piece = 64;
    const std::size_t heads = weights.size(), width = q.size() / heads;
    std::vector<double> scores(static_cast<std::size_t>(count));
    parallel_for((count + piece - 1) / piece, [&](std::int64_t i) {
        std::vector<double> key(width);
        for (std::int64_t row = i * piece; row < std::min(count, (i + 1) * piece); ++row) {
            keys(row, key.data());
            double score = 0;
            for (std::size_t h = 0; h < heads; ++h) {
                double dot = 0;
                for (std::size_t c = 0; c < width; ++c)
                    dot += q[h * width + c] * key[c];
                score += static_cast<double>(weights[h]) * std::max(dot, 0.0);
            }
            scores[static_cast<std::size_t>(row)] = score;
        }
    });
    return scores;
}

bool holds_greatest(std::span<const double> scores, std::span<const std::int32_t> chosen,
                    std::int64_t count, double tolerance) {
    std::vector<bool> taken(scores.size(), false);
    double worst = std::numeric_limits<double>::infinity();
    std::int32_t before = -1;
    for (const std::int32_t row : chosen) {
        if (row <= before || row >= std::ssize(scores))
            return false;
        before = row;
        taken[static_cast<std::size_t>(row)] = true;
        worst = std::min(worst, scores[static_cast<std::size_t>(row)]);
    }
    for (std::size_t row = 0; row < scores.size(); ++row)
        if (!taken[row] && scores[row] > worst + tolerance)
            return false;
    return std::ssize(chosen) == count;
}

std::vector<double> pool_reference(std::int64_t entry, std::int64_t group, std::int64_t parts,
                                   std::int64_t width, const PooledRows& rows) {
    const std::int64_t own = entry * group;
    const std::int64_t begin = parts == 2 && entry > 0 ? own - group : own;
    const std::int64_t size = 2 * parts * width;
    std::vector<float> data(static_cast<std::size_t>((own + group - begin) * size));
    for (std::int64_t token = begin; token < own + group; ++token)
        rows(token, data.data() + (token - begin) * size);
    std::vector<double> out(static_cast<std::size_t>(width));
    for (std::int64_t c = 0; c < width; ++c) {
        const auto number = [&](std::int64_t token, bool gate) {
            const std::int64_t part = token < own ? 0 : parts - 1;
            const std::int64_t at = (gate ? parts : 0) + part;
            return static_cast<double>(
                data[static_cast<std::size_t>((token - begin) * size + at * width + c)]);
        };
        double top = -std::numeric_limits<double>::infinity(), sum = 0, total = 0;
        for (std::int64_t token = begin; token < own + group; ++token)
            top = std::max(top, number(token, true));
        for (std::int64_t token = begin; token < own + group; ++token) {
            const double weight = std::exp(number(token, true) - top);
            sum += weight * number(token, false);
            total += weight;
        }
        out[static_cast<std::size_t>(c)] = sum / total;
    }
    return out;
}

} // namespace kvcaliper::kernels
