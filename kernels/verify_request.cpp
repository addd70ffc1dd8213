// SPDX-License-Identifier: Apache-2.0
#include "kernels/verify_request.h"

#include "core/error.h"
#include "kernels/geometry.h"
#include "kernels/state_layout.h"

#include <algorithm>
#include <set>

namespace kvcaliper::kernels {
namespace {

std::int64_t integer_or(const JsonValue& json, std::string_view key, std::int64_t fallback) {
    return json.find(key) == nullptr ? fallback : json.integer_at(key);
}

std::vector<std::int64_t> contexts_from(const JsonValue& json) {
    std::vector<std::int64_t> contexts;
    for (const JsonValue& item : json.array_at("contexts")) {
        const std::int64_t* value = item.if_integer();
        if (value == nullptr)
            throw Error("/contexts: expected integers, found " + describe(item));
        contexts.push_back(*value);
    }
    return contexts;
}

bool flag(const JsonValue& json, std::string_view key) {
    const JsonValue* value = json.find(key);
    if (value == nullptr)
        return false;
    if (value->if_bool() == nullptr)
        throw Error("/" + std::string(key) + ": expected true or false, found " + describe(*value));
    return *value->if_bool();
}

Depth depth_from(const JsonValue& json) {
    if (json.find("depth") == nullptr)
        return Depth::use;
    for (const Depth depth : {Depth::layout, Depth::device, Depth::use})
        if (json.string_at("depth") == to_string(depth))
            return depth;
    throw Error("/depth: expected layout, device or use, found " + describe(json.at("depth")));
}

void require(bool condition, const std::string& message) {
    if (!condition)
        throw Error(message);
}

void refuse_format(std::set<std::string>& reasons, const NumericFormat& format,
                   std::initializer_list<std::string_view> kernels, std::string_view use) {
    if (std::find(kernels.begin(), kernels.end(), format.name) == kernels.end())
        reasons.insert("no kernel for " + std::string(format.name) + " yet (" + std::string(use) +
                       ")");
}

/// A plane of attention rows: its format must have a kernel and divide the row.
void refuse_rows(std::set<std::string>& reasons, const NumericFormat& format, std::int64_t width,
                 const std::string& use) {
    const std::optional<Format> known = cache_format(format.name);
    if (!known)
        reasons.insert("no kernel for " + std::string(format.name) + " yet (" + use + ")");
    else if (!divides(*known, width))
        reasons.insert("no kernel for " + use + " of " + std::to_string(width) + " in " +
                       std::string(format.name) + ": blocks of " +
                       std::to_string(block_of(*known).elements));
}

} // namespace

std::string_view to_string(Depth depth) {
    constexpr std::string_view names[] = {"layout", "device", "use"};
    return names[static_cast<int>(depth)];
}

VerifyRequest verify_request_from_json(const JsonValue& json) {
    require(json.is_object(), "expected a request object, found " + describe(json));
    require(json.integer_at("schema") == 1,
            "/schema: expected 1, found " + describe(json.at("schema")));
    VerifyRequest request;
    request.plan = model_plan_from_json(json.at("config"));
    request.spec = cache_spec_from_json(json.at("spec"));
    if (const JsonValue* formats = json.find("formats"))
        request.formats = cache_formats_from_json(*formats);
    request.contexts = contexts_from(json);
    request.sequences = integer_or(json, "sequences", request.sequences);
    request.steps = integer_or(json, "steps", request.steps);
    request.seed = integer_or(json, "seed", request.seed);
    request.repeats = integer_or(json, "repeats", request.repeats);
    request.depth = depth_from(json);
    request.cartridge = integer_or(json, "cartridge", request.cartridge);
    request.page = integer_or(json, "page", request.page);
    request.baseline = integer_or(json, "baseline", request.baseline);
    if (json.find("backend") != nullptr)
        request.backend = json.string_at("backend");
    if (json.find("memory_limit") != nullptr)
        request.memory_limit = json.integer_at("memory_limit");
    request.cancel_on_eof = flag(json, "cancel_on_eof");
    check_request(request);
    return request;
}

JsonValue to_json(const VerifyRequest& request) {
    JsonValue::Array contexts;
    for (const std::int64_t context : request.contexts)
        contexts.emplace_back(context);
    JsonValue json;
    json.set("schema", 1);
    json.set("config", to_json(request.plan));
    json.set("spec", to_json(request.spec));
    json.set("contexts", std::move(contexts));
    json.set("sequences", request.sequences);
    json.set("formats", to_json(request.formats));
    json.set("steps", request.steps);
    json.set("seed", request.seed);
    json.set("repeats", request.repeats);
    json.set("depth", to_string(request.depth));
    if (request.cartridge > 0)
        json.set("cartridge", request.cartridge);
    if (request.page > 0)
        json.set("page", request.page);
    if (request.baseline > 0)
        json.set("baseline", request.baseline);
    json.set("backend", request.backend);
    if (request.memory_limit)
        json.set("memory_limit", *request.memory_limit);
    if (request.cancel_on_eof)
        json.set("cancel_on_eof", true);
    return json;
}

namespace {

bool keeps_rows(const LayerPlan& layer) {
    return !layer.parts.empty() &&
           (std::holds_alternative<AttentionDims>(layer.parts.front().dims) ||
            std::holds_alternative<LatentDims>(layer.parts.front().dims));
}

/// A layer that borrows has nothing of its own and reads the rows of a layer before it.
void check_sharing(const std::vector<LayerPlan>& layers) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (!layers[i].shared_with)
            continue;
        const int owner = *layers[i].shared_with;
        const std::string at = "/config/layers/" + std::to_string(i);
        require(layers[i].parts.empty(),
                at + "/parts: expected none beside shared_with, found " + kind_text(layers[i]));
        require(owner >= 0 && owner < static_cast<int>(i) &&
                    keeps_rows(layers[static_cast<std::size_t>(owner)]),
                at + "/shared_with: expected a layer before it that keeps rows of tokens, found " +
                    std::to_string(owner));
    }
}

} // namespace

void check_request(const VerifyRequest& request) {
    require(!request.plan.layers.empty(),
            "/config/layers: expected at least one layer, found none");
    require(request.sequences >= 1,
            "/sequences: expected at least 1, found " + std::to_string(request.sequences));
    require(request.steps >= 1,
            "/steps: expected at least 1, found " + std::to_string(request.steps));
    require(request.repeats >= 1 && request.repeats <= 1000,
            "/repeats: expected 1 to 1000, found " + std::to_string(request.repeats));
    require(request.cartridge >= 0,
            "/cartridge: expected 0 or more, found " + std::to_string(request.cartridge));
    require(request.page >= 0 && request.page % 4 == 0,
            "/page: expected 0 or a multiple of 4, found " + std::to_string(request.page));
    require(request.page == 0 || request.cartridge == 0,
            "/cartridge: expected 0 where there are pages, found " +
                std::to_string(request.cartridge));
    require(request.baseline == 0 || request.baseline >= 2,
            "/baseline: expected 0 or at least 2, found " + std::to_string(request.baseline));
    require(!request.contexts.empty(), "/contexts: expected at least one, found none");
    std::int64_t before = checked_add(request.cartridge, request.steps);
    for (const std::int64_t context : request.contexts) {
        require(context > before, "/contexts: expected ascending numbers above steps, found " +
                                      std::to_string(context) + " after " + std::to_string(before));
        before = context;
    }
    check_sharing(request.plan.layers);
    require(request.backend == "auto" || request.backend == "cuda" || request.backend == "cpu",
            "/backend: expected auto, cuda or cpu, found \"" + request.backend + "\"");
}

namespace {

constexpr std::int64_t most_index_width = 128;

void refuse_shape(std::set<std::string>& reasons, const LayerPart& part) {
    if (const std::string reason = state_refusal(part); !reason.empty())
        reasons.insert(reason);
}

/// An indexer chooses tokens by their slots, so they must keep them.
void refuse_index(std::set<std::string>& reasons, const LayerPart& part,
                  const CacheFormats& formats) {
    const auto shape = index_shape(part);
    if (!shape)
        return;
    refuse_rows(reasons, *formats.index, shape->width, "index keys");
    if (shape->width > most_index_width)
        reasons.insert("no kernel for index keys of " + std::to_string(shape->width) + " yet");
    if (part.kind != LayerKind::full_attention && part.kind != LayerKind::mla &&
        part.kind != LayerKind::compressed_attention)
        reasons.insert("no kernel for index keys of " + std::string(to_string(part.kind)) +
                       " layers yet");
}

/// Entries of every token are pooled of nothing, and nothing pools without a window.
void refuse_compressed(std::set<std::string>& reasons, const LayerPart& part,
                       const CacheFormats& formats) {
    const auto& dims = std::get<CompressedDims>(part.dims);
    refuse_rows(reasons, *formats.k, dims.width, "compressed entries");
    refuse_index(reasons, part, formats);
    if (dims.group > 0)
        refuse_format(reasons, *formats.state, {"f32"}, "rows to be compressed");
    if (dims.group == 1)
        reasons.insert("no kernel for compressed entries of every token yet");
    if (dims.window == 0)
        reasons.insert("no kernel for compressed entries without a window yet");
}

/// Only a cache that grows by every token packs its older ones.
void refuse_residual(std::set<std::string>& reasons, const LayerPart& part,
                     const VerifyRequest& request) {
    const bool attends = std::holds_alternative<AttentionDims>(part.dims) ||
                         std::holds_alternative<LatentDims>(part.dims) ||
                         std::holds_alternative<CompressedDims>(part.dims);
    if (!attends)
        return;
    for (const NumericFormat* format : {request.formats.k, request.formats.v}) {
        const std::optional<Format> known = cache_format(format->name);
        if (!known || !keeps_residual(*known))
            continue;
        const std::string name(format->name);
        if (part.kind != LayerKind::full_attention)
            reasons.insert("no kernel for " + name + " in " + std::string(to_string(part.kind)) +
                           " layers");
        else if (index_shape(part))
            reasons.insert("no kernel for " + name + " in layers with index keys yet");
        if (request.page > 0)
            reasons.insert("no kernel for pages of " + name + " yet");
        if (request.cartridge > 0)
            reasons.insert("no cartridge in " + name + ": its tokens are packed as they grow old");
        if (request.baseline > 0)
            reasons.insert("no baseline in " + name + " yet");
    }
}

/// Why one part of a layer can not be run, added to `reasons`.
void refuse_part(std::set<std::string>& reasons, const LayerPart& part,
                 const CacheFormats& formats) {
    switch (part.kind) {
    case LayerKind::full_attention:
    case LayerKind::sliding_attention:
    case LayerKind::chunked_attention:
    case LayerKind::cross_attention: {
        const auto& dims = std::get<AttentionDims>(part.dims);
        if (part.kind == LayerKind::cross_attention && dims.encoder_tokens == 0)
            reasons.insert("cross-attention needs a number of encoder tokens (--encoder-tokens)");
        if (const auto known = cache_format(formats.k->name); !known || !keeps_residual(*known))
            refuse_rows(reasons, *formats.k, dims.key_width, "keys"); // else packed per channel
        refuse_rows(reasons, *formats.v, dims.value_width, "values");
        refuse_index(reasons, part, formats);
        return;
    }
    case LayerKind::mla: {
        const auto& dims = std::get<LatentDims>(part.dims);
        refuse_rows(reasons, *formats.k, dims.rank, "latent");
        if (formats.k->rope_format.empty()) // else it stays as it comes
            refuse_rows(reasons, *formats.k, dims.rope_width, "rotary keys");
        refuse_index(reasons, part, formats);
        return;
    }
    case LayerKind::mamba1:
        refuse_format(reasons, *formats.conv, {"f16", "bf16"}, "convolution history");
        refuse_format(reasons, *formats.state, {"f32"}, "recurrent state");
        return;
    case LayerKind::short_conv:
    case LayerKind::kv_conv:
        if (std::get<ConvDims>(part.dims).in_state_format != 0)
            refuse_format(reasons, *formats.state, {"f32"}, "convolution history");
        else
            refuse_format(reasons, *formats.conv, {"f16", "bf16"}, "convolution history");
        refuse_shape(reasons, part);
        return;
    case LayerKind::mamba2:
    case LayerKind::gated_delta:
    case LayerKind::kda:
    case LayerKind::lightning:
    case LayerKind::gla:
    case LayerKind::rglru:
    case LayerKind::rwkv4:
    case LayerKind::rwkv:
    case LayerKind::xlstm:
        refuse_format(reasons, *formats.conv, {"f16", "bf16"}, "convolution history");
        refuse_format(reasons, *formats.state, {"f32"}, "recurrent state");
        refuse_shape(reasons, part);
        return;
    case LayerKind::compressed_attention:
        refuse_compressed(reasons, part, formats);
        return;
    }
}

} // namespace

bool holds_cartridge(LayerKind kind) {
    return kind == LayerKind::full_attention || kind == LayerKind::mla ||
           kind == LayerKind::cross_attention; // beside the encoder's rows there is nothing to do
}

std::vector<std::string> unsupported(const VerifyRequest& request) {
    std::set<std::string> reasons;
    bool runs = false;
    for (const LayerPlan& layer : request.plan.layers) {
        for (const LayerPart& part : layer.parts) {
            refuse_part(reasons, part, request.formats);
            refuse_residual(reasons, part, request);
            if (request.cartridge > 0 && !holds_cartridge(part.kind))
                reasons.insert("no cartridge in " + std::string(to_string(part.kind)) +
                               " layers: they do not keep their first tokens");
            if (request.page > 0 && part.kind == LayerKind::mla)
                reasons.insert("no kernel for pages of mla layers yet");
            else if (request.page > 0 && index_shape(part))
                reasons.insert("no kernel for pages of layers with index keys yet");
        }
        runs = runs || !layer.parts.empty();
    }
    if (!runs)
        reasons.insert("no layer keeps anything");
    return {reasons.begin(), reasons.end()};
}

} // namespace kvcaliper::kernels
