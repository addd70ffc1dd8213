// SPDX-License-Identifier: Apache-2.0
// Runs a whole request on a backend.
#pragma once

#include "kernels/backend.h"
#include "kernels/verify_request.h"
#include "kernels/verify_result.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace kvcaliper::kernels {

/// One filled plane, for tests that damage it.
struct FilledPlane {
    std::int64_t context = 0;
    int layer = 0;
    std::string kind; ///< of the part it belongs to
    std::string role;
    void* memory = nullptr;
    std::int64_t bytes = 0;
};

struct Hooks {
    /// Receives the plan, progress and sample lines.
    std::function<void(const JsonValue& event)> event;
    const std::atomic<bool>* cancel = nullptr;
    /// Called for every plane between fill and decode. For tests only.
    std::function<void(Backend& backend, const FilledPlane& plane)> after_fill;
    bool measure_bandwidth = true;
};

/// Throws Error for a request that makes no sense; everything else is a verdict.
VerifyResult verify(const VerifyRequest& request, Backend& backend, const Hooks& hooks = {});

} // namespace kvcaliper::kernels
