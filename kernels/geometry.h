// SPDX-License-Identifier: Apache-2.0
// What the kernels will really write: the planes of a layer, from its dimensions alone. The
// prediction (core's components) is deliberately unknown here, so that the two can disagree.
#pragma once

#include "core/layer_plan.h"
#include "kernels/views.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kvcaliper::kernels {

/// The element types of the planes, from the formats that were asked for. Key and value are what
/// rows come in before they are stored; queries come in the key's.
struct PlaneElements {
    Element key = Element::bf16; ///< latent and rotary key too
    Element value = Element::bf16;
    Element conv = Element::bf16;
    Element state = Element::f32;
    Format key_format = format_of(key);
    Format value_format = format_of(value);
    std::int64_t page = 0; ///< tokens per page of caches that grow; 0: they lie in one piece
    Element index = Element::bf16; ///< of index keys and their queries
    Format index_format = format_of(index);
};

/// The cache format of that name, where kernels have it.
std::optional<Format> cache_format(std::string_view name);

/// One tensor of one layer and sequence: [rows][slots][width].
struct Plane {
    std::string_view
        role; ///< "key", "value", "cross_key", "cross_value", "latent", "rope_key", "conv_state", …
    std::int64_t rows = 0;
    std::int64_t slots = 0;
    std::int64_t width = 0;
    Element element = Element::bf16; ///< of what is written to it
    Format format = format_of(element);
    bool per_channel = false; ///< packed so, in groups of slots; see PackView
};

/// Queries that score a plane of index keys, and how many rows of the others they choose.
struct IndexShape {
    std::int64_t heads = 0, width = 0, top = 0;
};
/// Of a part that keeps index keys. A config that does not say takes 64 heads and the 2,048 best
/// tokens, or 512 entries where they are compressed (DeepSeek-V3.2 and V4-Flash).
std::optional<IndexShape> index_shape(const LayerPart& layer);

/// Values that a token of compressed attention has per column: one for the entry of its own group
/// and, where entries have index keys, another for the next one.
std::int64_t pooled_parts(const CompressedDims& dims);

/// Tokens that the query of the last of `tokens` tokens sees: all, those of the window, those since
/// the chunk boundary, or the encoder's.
std::int64_t visible_tokens(const LayerPart& layer, std::int64_t tokens);

/// Bytes the kernels may touch in a plane of so many sequences. Throws Error on overflow.
std::int64_t extent_bytes(const Plane& plane, std::int64_t sequences);

/// The planes of one part of a layer that holds `tokens` tokens, in the order the kernels take
/// them.
std::vector<Plane> layer_planes(const LayerPart& layer, std::int64_t tokens,
                                const PlaneElements& elements);

} // namespace kvcaliper::kernels
