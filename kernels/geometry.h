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
};

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
