// SPDX-License-Identifier: Apache-2.0
// Components as they are stored in formats that keep recent tokens as they are. KIVI (arXiv
// 2402.02750; models/llama_kivi.py of jy-yuan/KIVI) with a residual length of R, at T tokens:
// K: floor(T/R) × R tokens are packed by channel, in groups of consecutive tokens; T mod R are not.
// V: max(T - R, 0) tokens are packed by token, in groups of channels; the last min(T, R) are not.
#pragma once

#include "core/cache_spec.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace kvcaliper {

/// True of what holds recent tokens beside the packed ones.
bool is_residual(Role role);

/// True where K or V is packed in groups of tokens or once a token is old enough.
bool has_residual(const CacheFormats& formats);

/// True where the spec holds components of that role, key or value, that are packed so.
bool packs(const CacheSpec& spec, const CacheFormats& formats, Role role);

/// The packed tokens and behind them the recent ones, for a key or value of every token in a format
/// with a residual; nothing for a component that is stored as it is, those two included. A packed
/// key's row is one channel over R tokens, a packed value's one head of one token.
std::optional<std::array<Component, 2>> split_component(const Component& component,
                                                        const CacheFormats& formats);

/// Visits every component as it is stored, in order. Copies only what is split.
template <class Visit>
void for_each_stored(const std::vector<Component>& components, const CacheFormats& formats,
                     Visit visit) {
    for (const Component& component : components) {
        if (const auto parts = split_component(component, formats)) {
            visit((*parts)[0]);
            visit((*parts)[1]);
        } else {
            visit(component);
        }
    }
}

/// The spec with every component as it is stored.
CacheSpec stored_spec(const CacheSpec& spec, const CacheFormats& formats);
/// Equal components of stored_spec(), counted.
std::vector<ComponentGroup> group_components(const CacheSpec& spec, const CacheFormats& formats);

/// Why a component's format can not hold it, all it is stored as ("kivi_2bit keeps groups of
/// consecutive tokens, which a window does not", "32 does not divide 80"), or nothing.
std::optional<std::string> storage_problem(const Component& component, const CacheFormats& formats);

/// Bytes that a token adds to one head's K and V, on average over the groups of tokens that K may
/// be packed in; what is not packed yet is not counted. Throws Error for widths not storable.
Ratio pair_bytes_per_token(const NumericFormat& k, std::int64_t key_width, const NumericFormat& v,
                           std::int64_t value_width);

/// The last count of at most `tokens` at which most of K waits to be packed (R - 1 of every R);
/// `tokens` where there is none. A cache shrinks when these are packed, so the most it takes on the
/// way to `tokens` is what it takes there or at this count.
Tokens fullest_context(const CacheFormats& formats, Tokens tokens);

} // namespace kvcaliper
