// SPDX-License-Identifier: Apache-2.0
// One of several ranks: what is left of a model and of what is asked for it.
#pragma once

#include "core/estimate.h"

namespace kvcaliper {

/// The rank that holds most of an estimate's model; nothing where there is one rank. Throws Error
/// where the model or the engine can not be spread like that.
std::optional<RankEstimate> estimate_rank(const Estimate& estimate);

} // namespace kvcaliper
