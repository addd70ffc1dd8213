// SPDX-License-Identifier: Apache-2.0
#include "core/layer_plan.h"

#include "core/error.h"

#include <algorithm>
#include <limits>

namespace kvcaliper {

std::string_view to_string(LayerKind kind) {
    switch (kind) {
    case LayerKind::full_attention:
        return "full_attention";
    case LayerKind::sliding_attention:
        return "sliding_attention";
    case LayerKind::chunked_attention:
        return "chunked_attention";
    case LayerKind::cross_attention:
        return "cross_attention";
    case LayerKind::mla:
        return "mla";
    case LayerKind::compressed_attention:
        return "compressed_attention";
    case LayerKind::mamba1:
        return "mamba1";
    case LayerKind::mamba2:
        return "mamba2";
    case LayerKind::gated_delta:
        return "gated_delta";
    case LayerKind::kda:
        return "kda";
    case LayerKind::lightning:
        return "lightning";
    case LayerKind::gla:
        return "gla";
    case LayerKind::rglru:
        return "rglru";
    case LayerKind::short_conv:
        return "short_conv";
    case LayerKind::rwkv4:
        return "rwkv4";
    case LayerKind::rwkv:
        return "rwkv";
    case LayerKind::xlstm:
        return "xlstm";
    case LayerKind::kv_conv:
        return "kv_conv";
    }
    throw Error("no such layer kind");
}

std::optional<LayerKind> layer_kind_from(std::string_view name) {
    for (const LayerKind kind : all_layer_kinds) {
        if (to_string(kind) == name) {
            return kind;
        }
    }
    return std::nullopt;
}

std::string_view to_string(Confidence confidence) {
    return confidence == Confidence::rule ? "rule" : "generic";
}

bool needs_encoder_tokens(const LayerPlan& layer) {
    return std::any_of(layer.parts.begin(), layer.parts.end(), [](const LayerPart& part) {
        return part.kind == LayerKind::cross_attention &&
               std::get<AttentionDims>(part.dims).encoder_tokens == 0;
    });
}

std::string kind_text(const LayerPlan& layer) {
    if (layer.parts.empty()) {
        return layer.shared_with ? "shared" : "none";
    }
    std::string text;
    for (const LayerPart& part : layer.parts) {
        text += (text.empty() ? "" : " + ") + std::string(to_string(part.kind));
    }
    return text;
}

namespace {

/// One dimension's name in JSON, its place in the struct, and the least it may be.
template <typename Dims> struct Field {
    std::string_view name;
    std::int64_t Dims::*member;
    std::int64_t least = 1;
};

template <typename Dims> struct Fields;

template <> struct Fields<AttentionDims> {
    static constexpr Field<AttentionDims> list[] = {
        {"heads", &AttentionDims::heads},
        {"kv_heads", &AttentionDims::kv_heads},
        {"key_width", &AttentionDims::key_width},
        {"value_width", &AttentionDims::value_width},
        {"index_width", &AttentionDims::index_width, 0},
        {"encoder_tokens", &AttentionDims::encoder_tokens, 0},
        {"sinks", &AttentionDims::sinks, 0},
        {"index_heads", &AttentionDims::index_heads, 0},
        {"index_top", &AttentionDims::index_top, 0}};
};
template <> struct Fields<LatentDims> {
    static constexpr Field<LatentDims> list[] = {{"heads", &LatentDims::heads},
                                                 {"rank", &LatentDims::rank},
                                                 {"rope_width", &LatentDims::rope_width},
                                                 {"nope_width", &LatentDims::nope_width, 0},
                                                 {"value_width", &LatentDims::value_width},
                                                 {"index_width", &LatentDims::index_width, 0},
                                                 {"index_heads", &LatentDims::index_heads, 0},
                                                 {"index_top", &LatentDims::index_top, 0}};
};
template <> struct Fields<CompressedDims> {
    static constexpr Field<CompressedDims> list[] = {
        {"heads", &CompressedDims::heads},
        {"width", &CompressedDims::width},
        {"window", &CompressedDims::window, 0},
        {"group", &CompressedDims::group, 0},
        {"index_width", &CompressedDims::index_width, 0},
        {"index_heads", &CompressedDims::index_heads, 0},
        {"index_top", &CompressedDims::index_top, 0}};
};
template <> struct Fields<Mamba1Dims> {
    static constexpr Field<Mamba1Dims> list[] = {{"inner", &Mamba1Dims::inner},
                                                 {"state_size", &Mamba1Dims::state_size},
                                                 {"conv_kernel", &Mamba1Dims::conv_kernel}};
};
template <> struct Fields<Mamba2Dims> {
    static constexpr Field<Mamba2Dims> list[] = {
        {"inner", &Mamba2Dims::inner},           {"heads", &Mamba2Dims::heads},
        {"head_width", &Mamba2Dims::head_width}, {"groups", &Mamba2Dims::groups, 0},
        {"state_size", &Mamba2Dims::state_size}, {"conv_kernel", &Mamba2Dims::conv_kernel}};
};
template <> struct Fields<DeltaDims> {
    static constexpr Field<DeltaDims> list[] = {{"key_heads", &DeltaDims::key_heads},
                                                {"value_heads", &DeltaDims::value_heads},
                                                {"key_width", &DeltaDims::key_width},
                                                {"value_width", &DeltaDims::value_width},
                                                {"conv_kernel", &DeltaDims::conv_kernel}};
};
template <> struct Fields<RglruDims> {
    static constexpr Field<RglruDims> list[] = {{"width", &RglruDims::width},
                                                {"conv_kernel", &RglruDims::conv_kernel}};
};
template <> struct Fields<ConvDims> {
    static constexpr Field<ConvDims> list[] = {{"channels", &ConvDims::channels},
                                               {"columns", &ConvDims::columns},
                                               {"in_state_format", &ConvDims::in_state_format, 0}};
};
template <> struct Fields<RwkvDims> {
    static constexpr Field<RwkvDims> list[] = {{"hidden", &RwkvDims::hidden},
                                               {"attention_hidden", &RwkvDims::attention_hidden, 0},
                                               {"head_width", &RwkvDims::head_width, 0},
                                               {"version", &RwkvDims::version, 0}};
};
template <> struct Fields<XlstmDims> {
    static constexpr Field<XlstmDims> list[] = {{"heads", &XlstmDims::heads},
                                                {"key_width", &XlstmDims::key_width},
                                                {"value_width", &XlstmDims::value_width}};
};

template <typename Dims> void write(JsonValue& json, const Dims& dims) {
    for (const auto& field : Fields<Dims>::list) {
        if (field.least > 0 || dims.*field.member != 0) {
            json.set(std::string(field.name), dims.*field.member);
        }
    }
}

template <typename Dims> Dims read(const JsonValue& json) {
    Dims dims;
    for (const auto& field : Fields<Dims>::list) {
        if (field.least == 0 && json.find(field.name) == nullptr) {
            continue;
        }
        dims.*field.member = json.integer_at(field.name);
        if (dims.*field.member < field.least) {
            throw Error("/" + std::string(field.name) + ": expected at least " +
                        std::to_string(field.least) + ", found " +
                        std::to_string(dims.*field.member));
        }
    }
    return dims;
}

AttentionDims read_attention(const JsonValue& json, bool windowed) {
    auto dims = read<AttentionDims>(json);
    if (windowed) {
        dims.window = json.integer_at("window");
        if (*dims.window < 1) {
            throw Error("/window: expected at least 1, found " + std::to_string(*dims.window));
        }
    }
    return dims;
}

LayerDims read_dims(const JsonValue& json, LayerKind kind) {
    switch (kind) {
    case LayerKind::full_attention:
    case LayerKind::cross_attention:
        return read_attention(json, false);
    case LayerKind::sliding_attention:
    case LayerKind::chunked_attention:
        return read_attention(json, true);
    case LayerKind::mla:
        return read<LatentDims>(json);
    case LayerKind::compressed_attention:
        return read<CompressedDims>(json);
    case LayerKind::mamba1:
        return read<Mamba1Dims>(json);
    case LayerKind::mamba2:
        return read<Mamba2Dims>(json);
    case LayerKind::gated_delta:
    case LayerKind::kda:
    case LayerKind::lightning:
    case LayerKind::gla:
        return read<DeltaDims>(json);
    case LayerKind::rglru:
        return read<RglruDims>(json);
    case LayerKind::short_conv:
    case LayerKind::kv_conv:
        return read<ConvDims>(json);
    case LayerKind::rwkv4:
    case LayerKind::rwkv:
        return read<RwkvDims>(json);
    case LayerKind::xlstm:
        return read<XlstmDims>(json);
    }
    throw Error("no such layer kind");
}

JsonValue part_to_json(const LayerPart& part) {
    JsonValue json;
    json.set("kind", to_string(part.kind));
    std::visit([&](const auto& dims) { write(json, dims); }, part.dims);
    if (const auto* attention = std::get_if<AttentionDims>(&part.dims);
        attention && attention->window) {
        json.set("window", *attention->window);
    }
    return json;
}

LayerPart part_from_json(const JsonValue& json) {
    const auto kind = layer_kind_from(json.string_at("kind"));
    if (!kind) {
        throw Error("/kind: expected a layer kind, found " + describe(json.at("kind")));
    }
    return {*kind, read_dims(json, *kind)};
}

JsonValue layer_to_json(const LayerPlan& layer) {
    JsonValue::Array parts;
    for (const LayerPart& part : layer.parts) {
        parts.push_back(part_to_json(part));
    }
    JsonValue json;
    json.set("parts", std::move(parts));
    if (layer.shared_with) {
        json.set("shared_with", *layer.shared_with);
    }
    json.set("decided_by", layer.decided_by);
    return json;
}

LayerPlan layer_from_json(const JsonValue& json) {
    LayerPlan layer;
    for (const JsonValue& part : json.array_at("parts")) {
        layer.parts.push_back(part_from_json(part));
    }
    if (json.find("shared_with") != nullptr) {
        const std::int64_t owner = json.integer_at("shared_with");
        if (owner < 0 || owner > std::numeric_limits<int>::max()) {
            throw Error("/shared_with: expected a layer, found " + std::to_string(owner));
        }
        layer.shared_with = static_cast<int>(owner);
    }
    if (const JsonValue* decided = json.find("decided_by"); decided && decided->if_string()) {
        layer.decided_by = *decided->if_string();
    }
    return layer;
}

} // namespace

JsonValue to_json(const ModelPlan& plan) {
    JsonValue json;
    json.set("name", plan.name);
    json.set("model_type", plan.model_type);
    if (plan.max_context) {
        json.set("max_context", plan.max_context->count());
    }
    JsonValue::Array layers;
    for (const LayerPlan& layer : plan.layers) {
        layers.push_back(layer_to_json(layer));
    }
    json.set("layers", std::move(layers));
    return json;
}

ModelPlan model_plan_from_json(const JsonValue& json) {
    ModelPlan plan;
    plan.name = json.string_at("name");
    plan.display_name = plan.name;
    plan.model_type = json.string_at("model_type");
    if (json.find("max_context") != nullptr) {
        plan.max_context = Tokens(json.integer_at("max_context"));
    }
    for (const JsonValue& layer : json.array_at("layers")) {
        plan.layers.push_back(layer_from_json(layer));
    }
    return plan;
}

} // namespace kvcaliper
