// SPDX-License-Identifier: Apache-2.0
// Is it much, what a cache grows by? Low, moderate or high, by one rule for all models.
#pragma once

#include "core/units.h"

#include <string_view>

namespace kvcaliper {

/// By the growth per token, so that a window or a state weighs what it costs once it is full, in
/// the formats it is stored in.
enum class GrowthMark { none, low, moderate, high };
/// "none", "low", "moderate", "high".
std::string_view to_string(GrowthMark mark);

/// What a sequence of so many tokens may add: up to 10 GiB is low, an eighth of a device of 80 GB,
/// up to 20 GiB moderate. Per token that is 80 and 160 KiB. The same bounds part the words that
/// S. Raschka's LLM Architecture Gallery (list of June 2026) gives uncapped figures: low to it are
/// 30 to 72 KiB, moderate 84 to 160, high 184 to 300; its "very low" and "very high" are low and
/// high here.
inline constexpr Tokens marked_tokens{131'072};
inline constexpr Bytes low_at_most{std::int64_t{10} << 30};
inline constexpr Bytes moderate_at_most{std::int64_t{20} << 30};

/// The mark of a growth in bytes per token.
GrowthMark growth_mark(const Ratio& bytes_per_token);

} // namespace kvcaliper
