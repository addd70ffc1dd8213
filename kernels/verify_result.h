// SPDX-License-Identifier: Apache-2.0
// What a verification found, as values and as the protocol's JSON.
#pragma once

#include "core/json_value.h"
#include "core/units.h"
#include "kernels/backend.h"
#include "kernels/verify_request.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvcaliper::kernels {

enum class Verdict { equal, refuted, disturbed, refused, cancelled };
std::string_view to_string(Verdict verdict);
/// 0 equal or disturbed (nothing contradicts), 1 refuted, 3 refused or cancelled.
int exit_code(Verdict verdict);

/// One component of the layers of one shape at one context, or their total.
struct Sample {
    std::int64_t context = 0;
    std::string kind;      ///< layer kind; empty for the total
    std::string component; ///< role, or "total"
    std::int64_t layers = 0;
    std::int64_t predicted = 0; ///< bytes core predicts, all layers and sequences
    std::int64_t requested = 0; ///< bytes asked of the backend, counted
    /// Bytes the kernels touched, inside and behind the payload; nothing where none ran.
    std::optional<std::int64_t> used;
    bool refuted = false; ///< bytes, a guard zone, the geometry or an output contradict
    std::optional<std::int64_t> device_delta; ///< of the total only
    /// Median, of one step of the attended layers that read this shape.
    std::optional<double> seconds;
    std::int64_t bytes_read = 0; ///< of this component in that step
    std::int64_t flops = 0;
    std::optional<double> max_error; ///< worst head of the layers that stand for the others
    std::optional<double> bound;
    /// Of the stored rows against what was stored, relative; no part of any verdict.
    std::optional<double> quantisation_error;
    std::string note;
    int shape = -1; ///< which group of equal layers; not part of the JSON
};

/// Several timings of the same thing.
struct Timing {
    double median = 0, least = 0, most = 0; ///< seconds
    std::int64_t repeats = 0;
};
/// Of at least one measurement; of an even number the lower middle one is the median.
Timing timing_of(std::vector<double> seconds);

/// The step of the layers of one shape at one context.
struct KernelRow {
    std::int64_t context = 0;
    std::string kind;
    std::int64_t layers = 0;          ///< of this shape
    std::int64_t attended_layers = 0; ///< of which ran in every step
    Timing timing;
    std::int64_t bytes_read = 0;
    std::int64_t flops = 0;
    std::optional<double> read_fraction; ///< of the device's own read ceiling
    double max_error = 0;
    double bound = 0;
    bool shared = false; ///< these layers keep nothing: they read the cache of others
};

/// What making one sequence token by token took.
struct BaselineSide {
    std::int64_t token_rows = 0; ///< token positions whose rows were made
    double seconds = 0;
    std::int64_t bytes_written = 0, bytes_read = 0; ///< of the cache
};

/// One layer with and without a cache.
struct BaselineRow {
    std::string kind;
    std::int64_t tokens = 0;
    BaselineSide with_cache, without_cache;
    double max_error = 0, bound = 0; ///< of the last output, the worse of both
};

/// Bytes at the largest context, by what they are for; never mixed. Counted, but for the last two,
/// which are what the system says and absent where it says nothing.
struct MemoryTotals {
    std::int64_t cache = 0, state = 0, workspace = 0, io = 0, guards = 0;
    /// In use before anything was allocated: the program or, on a GPU, its context.
    std::optional<std::int64_t> context;
    /// Grown while kernels ran for the first time: code that is loaded late, stacks, lists.
    std::optional<std::int64_t> library;
};

struct VerifyResult {
    Verdict verdict = Verdict::equal;
    Depth depth = Depth::use;
    std::vector<std::string> reasons;
    std::vector<std::string> notes;
    DeviceInfo device;
    std::vector<Sample> samples;
    std::vector<KernelRow> kernels;
    std::vector<BaselineRow> baseline;
    MemoryTotals memory;
    double read_bandwidth = 0; ///< bytes per second, 0 when not measured
    std::int64_t bytes_needed = 0, limit = 0;
    // Per sequence, on the last segment of the curve: bytes = intercept + slope · tokens.
    std::optional<Ratio> slope, intercept;                     ///< of used bytes
    std::optional<Ratio> predicted_slope, predicted_intercept; ///< of predicted bytes
    std::int64_t slope_from = 0, slope_to = 0;                 ///< the two contexts
};

JsonValue to_json(const DeviceInfo& device);
JsonValue to_json(const Sample& sample);
JsonValue to_json(const KernelRow& row);
JsonValue to_json(const BaselineRow& row);
/// The last line of a run.
JsonValue to_json(const VerifyResult& result);

} // namespace kvcaliper::kernels
