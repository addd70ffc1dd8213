// SPDX-License-Identifier: Apache-2.0
// What is to be verified: a model's layers, what core predicts they keep, and where to measure.
#pragma once

#include "core/cache_spec.h"
#include "core/json_value.h"
#include "core/layer_plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvcaliper::kernels {

/// How deep a prediction is checked.
enum class Depth {
    layout, ///< allocated, counted and held against the geometry
    device, ///< and against what the system says
    use,    ///< and by running decode steps
};
std::string_view to_string(Depth depth);

struct VerifyRequest {
    ModelPlan plan; ///< gives the geometry
    CacheSpec spec; ///< gives the prediction
    CacheFormats formats = ideal_formats();
    std::vector<std::int64_t> contexts; ///< ascending, each larger than cartridge and steps
    std::int64_t sequences = 1;
    std::int64_t steps = 4; ///< decode steps at the end of each context
    std::int64_t seed = 1;
    std::int64_t repeats = 3; ///< timings of the last step of each context
    Depth depth = Depth::use;
    /// The first so many tokens of every context are trained slots, the same for every sequence:
    /// filled once, never written again, attended with all that follow.
    std::int64_t cartridge = 0;
    std::int64_t page = 0;        ///< tokens per page of caches that grow; 0: they lie in one piece
    std::int64_t baseline = 0;    ///< tokens made with and without a cache; 0: none
    std::string backend = "auto"; ///< "auto", "cuda" or "cpu"
    std::optional<std::int64_t> memory_limit; ///< bytes; lowers what the device offers
    bool cancel_on_eof = false;               ///< end when the sender closes its end or dies
};

/// Reads the request object; throws Error naming the key.
VerifyRequest verify_request_from_json(const JsonValue& json);
JsonValue to_json(const VerifyRequest& request);

/// Throws Error for contexts, steps and sequences that make no sense together.
void check_request(const VerifyRequest& request);

/// True for kinds that never overwrite their first rows.
bool holds_cartridge(LayerKind kind);

/// Why no kernel can run this request yet ("no kernel for mxfp4 yet (keys)"), or nothing.
std::vector<std::string> unsupported(const VerifyRequest& request);

} // namespace kvcaliper::kernels
