// SPDX-License-Identifier: Apache-2.0
// Bytes against tokens as a function to be asked many times, and where it meets another one or a
// capacity. Every count found is exact: integers are searched, nothing is solved in floating point.
#pragma once

#include "core/cache_spec.h"
#include "core/units.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace kvcaliper {

/// The bytes of `sequences` sequences at any token count: cache_bytes() without its words.
class TokenCurve {
  public:
    /// Throws Error for a format that can not store the cache's rows.
    TokenCurve(const CacheSpec& spec, const CacheFormats& formats, std::int64_t sequences);

    /// Throws Error when the number does not fit 64 bits.
    Bytes at(Tokens tokens) const;
    /// The most on the way to that many tokens: a cache that packs tokens of K in groups shrinks at
    /// each of them.
    Bytes most_until(Tokens tokens) const;
    /// Where the slope changes: full windows and chunks, the first token that is packed; ascending.
    std::vector<Tokens> bends() const;
    /// The tokens after which the steps of compressed entries and of packed groups repeat; 1 where
    /// there are none.
    /// Throws Error for steps too long to be looked through.
    std::int64_t period() const;

  private:
    struct Part {
        Units units;
        Bytes per_unit; ///< of all layers and sequences
    };
    std::vector<Part> parts_;
    CacheFormats formats_;
};

/// The last count of `from` to `to` tokens up to which the bytes never exceed `capacity`; none
/// where not even the first is within, or where all are: then nothing is met.
std::optional<Tokens> last_within(const TokenCurve& curve, Bytes capacity, Tokens from, Tokens to);

/// Two curves change places.
struct Crossing {
    Tokens tokens; ///< the first count from which on the other one takes more
    Bytes first;
    Bytes second;
};
/// Every place from `from` to `to` where the curves change places, ascending. Curves that touch and
/// part again, or run together, do not; nor do the steps of compressed entries on their way over.
std::vector<Crossing> crossings(const TokenCurve& first, const TokenCurve& second, Tokens from,
                                Tokens to);

} // namespace kvcaliper
