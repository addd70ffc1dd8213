// SPDX-License-Identifier: Apache-2.0
// What a cache saves: one sequence made token by token, once with it and once without, where every
// step makes the rows of all tokens again. One layer and its attention; the weights in front of
// them are not run.
#pragma once

#include "kernels/allocator.h"
#include "kernels/layout.h"
#include "kernels/verify_result.h"

#include <atomic>
#include <cstdint>

namespace kvcaliper::kernels {

/// True for kinds that append a row per token.
bool appends_rows(LayerKind kind);

/// How many tokens a baseline of such a layer takes: those wished for, or as many as a run of
/// seconds can write n(n+1)/2 rows for.
std::int64_t baseline_tokens(const LayerPart& layer, const PlaneElements& elements,
                             std::int64_t wished, const DeviceInfo& device);
/// Bytes it needs beside its inputs and outputs: the cache and a copy of every row.
std::int64_t baseline_bytes(const LayerPart& layer, const PlaneElements& elements,
                            std::int64_t tokens);

/// Runs the first layer of the group both ways. Throws Cancelled.
BaselineRow run_baseline(const VerifyRequest& request, const LayerGroup& group, std::int64_t tokens,
                         CountingAllocator& allocator, const std::atomic<bool>* cancel);

} // namespace kvcaliper::kernels
