// SPDX-License-Identifier: Apache-2.0
// Index scores, selections and compressed entries in double precision. Nothing here sees a cache.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace kvcaliper::kernels {

/// Writes the key of one row, `width` numbers. Called from many threads.
using IndexKeys = std::function<void(std::int64_t row, double* key)>;

/// Σ_h weights[h] · max(0, q_h · key) of rows 0 … count - 1; q is [heads][width].
std::vector<double> index_scores_reference(std::span<const double> q,
                                           std::span<const float> weights, std::int64_t count,
                                           const IndexKeys& keys);

/// True when `chosen` are ascending rows, as many as `count`, none of which is worse than one left
/// out by more than `tolerance`.
bool holds_greatest(std::span<const double> scores, std::span<const std::int32_t> chosen,
                    std::int64_t count, double tolerance);

/// The rows that entries are pooled of: writes a token's values and gates, [2][parts][width].
using PooledRows = std::function<void(std::int64_t token, float* row)>;

/// Entry `entry` as views.h defines it, [width].
std::vector<double> pool_reference(std::int64_t entry, std::int64_t group, std::int64_t parts,
                                   std::int64_t width, const PooledRows& rows);

} // namespace kvcaliper::kernels
