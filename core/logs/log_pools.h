// SPDX-License-Identifier: Apache-2.0
// The parts of a model's cache that engines put into pools of their own, and their bytes at a
// number of cells. Inside core only.
#pragma once

#include "core/estimate.h"

#include <functional>

namespace kvcaliper::logs {

/// Components that are kept alike, with their layers. Every unit is a cell, window or not: how many
/// cells there are is the engine's choice.
struct Pool {
    std::string name; ///< "sliding attention"
    std::vector<ComponentGroup> groups;
    std::int64_t layers = 0; ///< that keep any of them
};

/// K-like and V-like bytes: an index key counts as K, a latent too.
struct PoolBytes {
    Ratio k;
    Ratio v;
    Ratio total() const { return k + v; }
};

Pool pool_of(const CacheSpec& spec, const std::string& name,
             const std::function<bool(const Component&)>& belongs);

Pool full_pool(const CacheSpec& spec);   ///< attention to everything
Pool window_pool(const CacheSpec& spec); ///< sliding and chunked
Pool every_pool(const CacheSpec& spec);  ///< both
Pool latent_pool(const CacheSpec& spec, bool with_index);
Pool state_pool(const CacheSpec& spec); ///< convolution history as K, states as V

/// Latent attention as K and V of every head, as programs without rules for it keep it.
Pool expanded_pool(const Model& model);
/// V of the latent's width beside latent and rotary key.
Pool doubled_latent_pool(const Model& model);

/// Throws Error where a format can not store a row.
PoolBytes pool_bytes(const Pool& pool, const CacheFormats& formats, std::int64_t cells);

} // namespace kvcaliper::logs
