// SPDX-License-Identifier: Apache-2.0
#include "kernels/geometry.h"

#include "core/units.h"
#include "kernels/views_recurrent.h"

#include <algorithm>

namespace kvcaliper::kernels {
namespace {

/// Packed planes in the place of key and value; behind them the recent rows of each.
std::vector<Plane> residual_planes(const AttentionDims& d, std::int64_t tokens,
                                   const PlaneElements& e) {
    Plane key{"key", d.kv_heads, tokens, d.key_width, e.key, e.key_format};
    Plane value{"value", d.kv_heads, tokens, d.value_width, e.value, e.value_format};
    std::vector<Plane> planes{key, value};
    if (keeps_residual(e.key_format)) {
        planes[0].per_channel = true;
        planes[0].slots = packed_keys(e.key_format, tokens);
        planes.push_back(
            {"key_residual", d.kv_heads, tokens - planes[0].slots, d.key_width, e.key});
    }
    if (keeps_residual(e.value_format)) {
        planes[1].slots = packed_values(e.value_format, tokens);
        planes.push_back(
            {"value_residual", d.kv_heads, tokens - planes[1].slots, d.value_width, e.value});
    }
    return planes;
}

std::vector<Plane> planes_of(const AttentionDims& d, std::int64_t tokens, const PlaneElements& e) {
    if (keeps_residual(e.key_format) || keeps_residual(e.value_format))
        return residual_planes(d, tokens, e);
    const std::int64_t whole = e.page > 0 ? (tokens + e.page - 1) / e.page * e.page : tokens;
    const std::int64_t slots = d.window ? std::min(tokens, *d.window) : whole;
    std::vector<Plane> planes{{"key", d.kv_heads, slots, d.key_width, e.key, e.key_format},
                              {"value", d.kv_heads, slots, d.value_width, e.value, e.value_format}};
    if (d.index_width > 0)
        planes.push_back({"index_key", 1, slots, d.index_width, e.index, e.index_format});
    return planes;
}

std::vector<Plane> cross_planes(const AttentionDims& d, const PlaneElements& e) {
    return {{"cross_key", d.kv_heads, d.encoder_tokens, d.key_width, e.key, e.key_format},
            {"cross_value", d.kv_heads, d.encoder_tokens, d.value_width, e.value, e.value_format}};
}

std::vector<Plane> planes_of(const LatentDims& d, std::int64_t tokens, const PlaneElements& e) {
    std::vector<Plane> planes{
        {"latent", 1, tokens, d.rank, e.key, e.key_format},
        {"rope_key", 1, tokens, d.rope_width, e.key, rope_format(e.key_format)}};
    if (d.index_width > 0)
        planes.push_back({"index_key", 1, tokens, d.index_width, e.index, e.index_format});
    return planes;
}

/// A window of vectors; entries of whole groups; and rings of what the next entry is made of, a
/// value and a gate for each part.
std::vector<Plane> planes_of(const CompressedDims& d, std::int64_t tokens, const PlaneElements& e) {
    std::vector<Plane> planes{
        {"key_value", 1, std::min(tokens, d.window), d.width, e.key, e.key_format}};
    if (d.group == 0)
        return planes;
    const std::int64_t entries = tokens / d.group, parts = pooled_parts(d);
    const std::int64_t kept = std::min(tokens, parts * d.group);
    const bool waits = d.group > 1; // an entry of one token waits for none
    planes.push_back({"compressed", 1, entries, d.width, e.key, e.key_format});
    if (d.index_width > 0)
        planes.push_back({"index_key", 1, entries, d.index_width, e.index, e.index_format});
    if (waits)
        planes.push_back({"tail", 1, kept, 2 * parts * d.width, e.state});
    if (waits && d.index_width > 0)
        planes.push_back({"index_tail", 1, kept, 2 * parts * d.index_width, e.state});
    return planes;
}

/// A convolution of one column remembers nothing, so it has no plane.
std::vector<Plane> state_planes(std::int64_t channels, std::int64_t conv_kernel,
                                std::int64_t state_rows, std::int64_t state_size,
                                const PlaneElements& e) {
    std::vector<Plane> planes;
    if (conv_kernel > 1)
        planes.push_back({"conv_state", channels, 1, conv_kernel - 1, e.conv});
    planes.push_back({"recurrent_state", state_rows, 1, state_size, e.state});
    return planes;
}

std::vector<Plane> planes_of(const Mamba1Dims& d, std::int64_t, const PlaneElements& e) {
    return state_planes(d.inner, d.conv_kernel, d.inner, d.state_size, e);
}

std::vector<Plane> planes_of(const Mamba2Dims& d, std::int64_t, const PlaneElements& e) {
    return state_planes(d.inner + 2 * d.groups * d.state_size, d.conv_kernel,
                        d.heads * d.head_width, d.state_size, e);
}

/// The convolution runs over q, k and v.
std::vector<Plane> planes_of(const DeltaDims& d, std::int64_t, const PlaneElements& e) {
    return state_planes(2 * d.key_heads * d.key_width + d.value_heads * d.value_width,
                        d.conv_kernel, d.value_heads * d.key_width, d.value_width, e);
}

std::vector<Plane> planes_of(const ConvDims& d, std::int64_t, const PlaneElements& e) {
    return {{"conv_state", d.channels, 1, d.columns, d.in_state_format ? e.state : e.conv}};
}

std::vector<Plane> planes_of(const RglruDims& d, std::int64_t, const PlaneElements& e) {
    return state_planes(d.width, d.conv_kernel, 1, d.width, e);
}

/// Two vectors that tokens are shifted with, then three vectors or a square matrix per head.
std::vector<Plane> planes_of(const RwkvDims& d, std::int64_t, const PlaneElements& e) {
    const bool vectors = d.attention_hidden > 0;
    return {{"shift", 2, 1, d.hidden, e.conv},
            {"recurrent_state", vectors ? 3 : d.hidden, 1,
             vectors ? d.attention_hidden : d.head_width, e.state}};
}

/// A matrix, a vector and a number for every head.
std::vector<Plane> planes_of(const XlstmDims& d, std::int64_t, const PlaneElements& e) {
    return {{"recurrent_state", d.heads, 1, xlstm_state(d.key_width, d.value_width), e.state}};
}

/// Kinds that no kernel runs yet have no planes: such a model is refused before this matters.
template <typename Dims>
std::vector<Plane> planes_of(const Dims&, std::int64_t, const PlaneElements&) {
    return {};
}

} // namespace

std::optional<Format> cache_format(std::string_view name) {
    for (const Format format : cache_formats)
        if (name == name_of(format))
            return format;
    for (const Format format : residual_formats)
        if (name == name_of(format))
            return format;
    return std::nullopt;
}

std::optional<IndexShape> index_shape(const LayerPart& layer) {
    const auto shape = [](const auto& dims, std::int64_t top) -> std::optional<IndexShape> {
        if (dims.index_width == 0)
            return std::nullopt;
        return IndexShape{dims.index_heads > 0 ? dims.index_heads : 64, dims.index_width,
                          dims.index_top > 0 ? dims.index_top : top};
    };
    if (const auto* attention = std::get_if<AttentionDims>(&layer.dims))
        return shape(*attention, 2048);
    if (const auto* latent = std::get_if<LatentDims>(&layer.dims))
        return shape(*latent, 2048);
    if (const auto* compressed = std::get_if<CompressedDims>(&layer.dims))
        return shape(*compressed, 512);
    return std::nullopt;
}

std::int64_t pooled_parts(const CompressedDims& dims) {
    return dims.index_width > 0 ? 2 : 1;
}

std::int64_t visible_tokens(const LayerPart& layer, std::int64_t tokens) {
    const auto* dims = std::get_if<AttentionDims>(&layer.dims);
    if (dims == nullptr)
        return tokens;
    if (layer.kind == LayerKind::cross_attention)
        return dims->encoder_tokens;
    if (!dims->window)
        return tokens;
    return layer.kind == LayerKind::chunked_attention ? (tokens - 1) % *dims->window + 1
                                                      : std::min(tokens, *dims->window);
}

std::int64_t extent_bytes(const Plane& plane, std::int64_t sequences) {
    const std::int64_t rows = checked_multiply(sequences, plane.rows);
    if (plane.per_channel) {
        const Packing packing = packing_of(plane.format);
        return checked_multiply(checked_multiply(rows, plane.slots / packing.group),
                                plane.width * packing.group_bytes());
    }
    const FormatBlock block = block_of(plane.format);
    const std::int64_t row =
        checked_add(checked_multiply(plane.width / block.elements, block.bytes), block.row_bytes);
    return checked_multiply(checked_multiply(rows, plane.slots), row);
}

std::vector<Plane> layer_planes(const LayerPart& layer, std::int64_t tokens,
                                const PlaneElements& elements) {
    if (layer.kind == LayerKind::cross_attention)
        return cross_planes(std::get<AttentionDims>(layer.dims), elements);
    return std::visit([&](const auto& dims) { return planes_of(dims, tokens, elements); },
                      layer.dims);
}

} // namespace kvcaliper::kernels
