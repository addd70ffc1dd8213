// SPDX-License-Identifier: Apache-2.0
// Caches that sequences have in common: a shared prompt, and a cartridge in place of a document.
#pragma once

#include "core/cache_spec.h"

#include <optional>

namespace kvcaliper {

/// Bytes of `sequences` sequences of `context` tokens whose first `prefix` tokens are the same and
/// stored once; required view. A window's last rows of the prefix stay, for the next sequence to
/// begin with. States are each sequence's own, and so are recent tokens that a format has not
/// packed yet. Throws Error when the prefix is longer than the context.
Figure shared_prefix_bytes(const CacheSpec& spec, const CacheFormats& formats, Tokens context,
                           Tokens prefix, std::int64_t sequences);

/// How many such sequences so many bytes hold, on the way to the context too; nothing where a
/// sequence needs none of its own.
std::optional<std::int64_t> sequences_in(const CacheSpec& spec, const CacheFormats& formats,
                                         Tokens context, Tokens prefix, std::int64_t bytes);

/// A cartridge: `slots` trained rows of K and V in every layer that take the place of a document's
/// (Cartridges, arXiv 2506.06266). It is a prefix that all sequences read.
struct CartridgeQuestion {
    Tokens slots;
    Tokens document;                       ///< tokens it takes the place of
    Tokens conversation;                   ///< tokens of each sequence behind it
    std::optional<Tokens> training_tokens; ///< tokens it was trained on, all epochs together
};

/// One way to give all sequences a document: what they take, and how many fit.
struct CartridgeWay {
    Figure bytes;
    std::optional<std::int64_t> most_sequences; ///< nothing: any number
};

struct CartridgeAnswer {
    Figure slots;            ///< bytes of the cartridge
    Figure document;         ///< bytes of the document's cache
    CartridgeWay repeated;   ///< each sequence has the document in its own context
    CartridgeWay shared;     ///< all behind one stored document
    CartridgeWay cartridges; ///< all behind one cartridge
    std::optional<std::int64_t> break_even_queries;
};

/// A query that would otherwise read the document costs `document` forward passes of a token; a
/// training token costs three (forward, and twice that backward). `room` is what a device leaves to
/// the cache, in bytes.
CartridgeAnswer answer_cartridge(const CacheSpec& spec, const CacheFormats& formats,
                                 const CartridgeQuestion& question, std::int64_t sequences,
                                 std::int64_t room);

} // namespace kvcaliper
