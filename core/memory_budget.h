// SPDX-License-Identifier: Apache-2.0
// Weights, cache and workspace against the memory of one device: does a deployment fit?
#pragma once

#include "core/device.h"
#include "core/estimate.h"
#include "core/weights.h"

#include <optional>
#include <string>
#include <vector>

namespace kvcaliper {

/// A model under settings on devices that are all alike, settings.parallel.ranks() of them.
struct Deployment {
    ModelPtr model;
    Settings settings;
    Device device;
    Weights weights;
    std::optional<Ratio> utilization{}; ///< of a device's memory; else what the engine takes
    std::optional<Bytes> workspace{};   ///< per device; else what is assumed for the engine
    Tokens shared_prefix{0};            ///< of the context, the same for all sequences
};

/// The rank with the most to hold. All figures are of one device.
struct Budget {
    Estimate estimate;
    Figure usable; ///< what the engine may take
    Figure weights;
    Figure workspace; ///< activations, graphs and the context of the device: assumed unless given
    Figure cache;     ///< reserved, or required where no engine is named: the most on the way to
                      ///< the context, where a cache shrinks as it packs tokens
    Ratio cache_share{1}; ///< of what weights and workspace leave, how much the cache may take
    std::vector<std::string> notes; ///< what was assumed; the estimate has notes of its own

    /// What weights and workspace leave to the cache; negative when they do not fit themselves.
    std::int64_t left_for_cache() const;
    /// Bytes that stay free, or are missing when negative.
    std::int64_t headroom() const;
    bool fits() const { return headroom() >= 0; }
};

/// Metal's flash attention wants K and V of one type, and a quantised V needs flash attention
/// (llama.cpp, ggml-metal).
bool leaves_fast_path(const Device& device, const CacheFormats& formats);

/// Throws Error where the engine has no rule for the settings, for a shared prefix beside an
/// engine, and for what estimate() refuses.
Budget make_budget(const Deployment& deployment);

/// The two sides of make_budget(), each alone, for whoever asks many contexts and numbers of
/// sequences: only the cache depends on them. Throw as make_budget() does.
std::int64_t left_for_cache(const Deployment& deployment);
Figure cache_on_device(const Deployment& deployment);

} // namespace kvcaliper
