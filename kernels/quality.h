// SPDX-License-Identifier: Apache-2.0
// What a cache's formats cost in the outputs of attention: every pair of a K and a V format runs
// one step through the backend's own kernels over the same numbers, and the outputs are held
// against those of the numbers themselves.
//
// The numbers: queries, keys and values are roughly normal (generator.h). Keys come twice, plain,
// and with one channel in 32 of each head eight times as large, the same for all tokens: in real
// caches a few fixed channels of the keys are far larger than the rest, while values show no such
// pattern (KIVI, arXiv 2402.02750, section 3 and figure 2). The factor is ours. The scale of the
// scores is chosen so that they spread by 4 (peaky: a few tokens take nearly all the weight) or by
// 0.5 (flat: nearly all tokens take part).
#pragma once

#include "core/json_value.h"
#include "kernels/backend.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kvcaliper::kernels {

/// The largest cache that is measured: tokens · heads · width of K or V.
inline constexpr std::int64_t most_quality_numbers = std::int64_t{1} << 24;
inline constexpr std::int64_t outlier_period = 32; ///< one channel in so many is larger
inline constexpr float outlier_factor = 8;

struct QualityRequest {
    std::int64_t tokens = 1024;
    std::int64_t heads = 32;
    std::int64_t kv_heads = 8;
    std::int64_t key_width = 128;
    std::int64_t value_width = 128;
    std::int64_t seed = 1;
    std::vector<Format> k_formats, v_formats; ///< empty: see measure_quality
    bool cancel_on_eof = false;
};

/// Which keys, and how far their scores spread (standard deviation).
struct QualityCondition {
    const char* name;
    bool outliers;
    double spread;
};
inline constexpr std::array<QualityCondition, 4> quality_conditions{{{"channels_peaky", true, 4},
                                                                     {"channels_flat", true, 0.5},
                                                                     {"plain_peaky", false, 4},
                                                                     {"plain_flat", false, 0.5}}};

/// Of each condition the relative error (Euclidean) of all heads' outputs together.
struct QualityPair {
    Format k, v;
    std::array<double, quality_conditions.size()> errors;
};

struct QualityResult {
    QualityRequest request; ///< with the formats that were run
    DeviceInfo device;
    /// Tokens that share the weight evenly would be so many: 1 / Σ weight², averaged over heads.
    std::array<double, quality_conditions.size()> attended;
    std::vector<QualityPair> pairs; ///< K by K, in the order of the request's formats
    bool cancelled = false;
};

/// True for a request object of this kind, and not of a verification.
bool asks_for_quality(const JsonValue& json);
/// Reads {"schema": 1, "quality": {tokens, heads, …, k_formats, v_formats}}; throws Error naming
/// what is wrong.
QualityRequest quality_request_from_json(const JsonValue& json);
/// The result line; errors in the order of `conditions`.
JsonValue to_json(const QualityResult& result);

/// The channels of a head's keys that are larger than the others.
std::vector<std::int64_t> outlier_channels(std::int64_t seed, std::int64_t head,
                                           std::int64_t width);

/// Runs all pairs; where no formats are named, all that divide the width, and of KIVI, which keeps
/// recent tokens in f16 as it would after `tokens` tokens, the two of its paper's setting.
/// `progress` hears how many of how many steps are done. Deterministic: the same request on the
/// same build gives the same numbers.
QualityResult
measure_quality(const QualityRequest& request, Backend& backend,
                const std::function<void(std::int64_t done, std::int64_t total)>& progress = {},
                const std::atomic<bool>* cancel = nullptr);

} // namespace kvcaliper::kernels
