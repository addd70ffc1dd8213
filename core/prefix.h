// SPDX-License-Identifier: Apache-2.0
// Caches that sequences have in common: a shared prompt, and a cartridge in place of a document.
#pragma once

#include "core/cache_spec.h"

#include <optional>

namespace kvcaliper {

/// Bytes of `sequences` sequences of `context` tokens whose first `prefix` tokens are the same and
/// stored once; required view. A window's last rows of the prefix stay, for the next sequence to
/// begin with. States are each sequence's own. Throws Error when the prefix is longer than the
/// context.
Figure shared_prefix_bytes(const CacheSpec& spec, const CacheFormats& formats, Tokens context,
                           Tokens prefix, std::int64_t sequences);

/// A cartridge: `slots` trained rows of K and V in every layer that take the place of a document's
/// (Cartridges, arXiv 2506.06266). It is a prefix that all sequences read.
struct CartridgeQuestion {
    Tokens slots;
    Tokens document;                       ///< tokens it takes the place of
    Tokens conversation;                   ///< tokens of each sequence behind it
    std::optional<Tokens> training_tokens; ///< tokens it was trained on, all epochs together
};

struct CartridgeAnswer {
    Figure slots;      ///< bytes of the cartridge
    Figure document;   ///< bytes of the document's cache
    Figure repeated;   ///< all sequences, each with the document in its own context
    Figure shared;     ///< all sequences behind one stored document
    Figure cartridges; ///< all sequences behind one cartridge
    std::optional<std::int64_t> break_even_queries;
};

/// A query that would otherwise read the document costs `document` forward passes of a token; a
/// training token costs three (forward, and twice that backward).
CartridgeAnswer answer_cartridge(const CacheSpec& spec, const CacheFormats& formats,
                                 const CartridgeQuestion& question, std::int64_t sequences);

} // namespace kvcaliper
