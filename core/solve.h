// SPDX-License-Identifier: Apache-2.0
// The inverse questions: how many sequences, how long a context, and what would make it fit.
#pragma once

#include "core/memory_budget.h"

namespace kvcaliper {

/// The most sequences of the deployment's context that fit; 0 when not even one does. Stops at
/// `most`, which stands for "any number": a model that keeps nothing per sequence.
inline constexpr std::int64_t any_sequences = std::int64_t{1} << 20;
std::int64_t most_sequences(const Deployment& deployment);
/// The same where left_for_cache() of the deployment is known.
std::int64_t most_sequences(const Deployment& deployment, std::int64_t left_for_cache);

/// The longest context at which the deployment's sequences fit; 0 tokens when none does. At
/// `any_context` the cache has stopped growing: no context is too long.
inline constexpr Tokens any_context{std::int64_t{1} << 32};
Tokens longest_context(const Deployment& deployment);
Tokens longest_context(const Deployment& deployment, std::int64_t left_for_cache);

/// A change after which the deployment fits.
struct Suggestion {
    std::string change; ///< "K and V as q8_0 instead of f16"
    std::string option; ///< "--kv q8_0"
    std::int64_t headroom = 0;
    Bytes cache; ///< of the fullest rank then
};
/// The cheapest first: fewer bits, fewer sequences, a shorter context, more ranks, another device.
/// A deployment that fits gets none.
std::vector<Suggestion> suggestions(const Deployment& deployment);

/// Where K and V differ on Metal: both in K's format; its headroom may be negative.
std::optional<Suggestion> equal_types_on_metal(const Deployment& deployment);

/// Two formats of K and V that an engine's users choose between.
struct FormatPair {
    std::string k;
    std::string v;
};
/// From the largest to the smallest; "auto" first.
std::vector<FormatPair> usual_formats(std::string_view engine);

/// What a calculator says that knows layers, query heads and their width alone: every layer keeps
/// all heads' K and V of every token in 2 bytes. Bytes per token; none for a model without
/// attention.
std::optional<Figure> naive_bytes_per_token(const ModelPlan& plan);

} // namespace kvcaliper
