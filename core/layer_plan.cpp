// SPDX-License-Identifier: Apache-2.0
#include "core/layer_plan.h"

#include "core/error.h"

namespace kvcaliper {

std::string_view to_string(LayerKind kind) {
    switch (kind) {
    case LayerKind::full_attention:
        return "full_attention";
    case LayerKind::sliding_attention:
        return "sliding_attention";
    case LayerKind::mla:
        return "mla";
    case LayerKind::mamba1:
        return "mamba1";
    case LayerKind::mamba2:
        return "mamba2";
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

namespace {

/// One dimension's name in JSON and its place in the struct.
template <typename Dims> struct Field {
    std::string_view name;
    std::int64_t Dims::*member;
};

constexpr Field<AttentionDims> attention_fields[] = {{"heads", &AttentionDims::heads},
                                                     {"kv_heads", &AttentionDims::kv_heads},
                                                     {"key_width", &AttentionDims::key_width},
                                                     {"value_width", &AttentionDims::value_width}};
constexpr Field<LatentDims> latent_fields[] = {{"heads", &LatentDims::heads},
                                               {"rank", &LatentDims::rank},
                                               {"rope_width", &LatentDims::rope_width},
                                               {"nope_width", &LatentDims::nope_width},
                                               {"value_width", &LatentDims::value_width}};
constexpr Field<Mamba1Dims> mamba1_fields[] = {{"inner", &Mamba1Dims::inner},
                                               {"state_size", &Mamba1Dims::state_size},
                                               {"conv_kernel", &Mamba1Dims::conv_kernel}};
constexpr Field<Mamba2Dims> mamba2_fields[] = {
    {"inner", &Mamba2Dims::inner},           {"heads", &Mamba2Dims::heads},
    {"head_width", &Mamba2Dims::head_width}, {"groups", &Mamba2Dims::groups},
    {"state_size", &Mamba2Dims::state_size}, {"conv_kernel", &Mamba2Dims::conv_kernel}};

template <typename Dims, std::size_t n>
void write(JsonValue& json, const Dims& dims, const Field<Dims> (&fields)[n]) {
    for (const auto& field : fields) {
        json.set(std::string(field.name), dims.*field.member);
    }
}

template <typename Dims, std::size_t n>
Dims read(const JsonValue& json, const Field<Dims> (&fields)[n]) {
    Dims dims;
    for (const auto& field : fields) {
        dims.*field.member = json.integer_at(field.name);
        if (dims.*field.member < 1) {
            throw Error("/" + std::string(field.name) + ": expected at least 1, found " +
                        std::to_string(dims.*field.member));
        }
    }
    return dims;
}

JsonValue layer_to_json(const LayerPlan& layer) {
    JsonValue json;
    json.set("kind", to_string(layer.kind));
    if (const auto* attention = std::get_if<AttentionDims>(&layer.dims)) {
        write(json, *attention, attention_fields);
        if (attention->window) {
            json.set("window", *attention->window);
        }
    } else if (const auto* latent = std::get_if<LatentDims>(&layer.dims)) {
        write(json, *latent, latent_fields);
    } else if (const auto* mamba1 = std::get_if<Mamba1Dims>(&layer.dims)) {
        write(json, *mamba1, mamba1_fields);
    } else if (const auto* mamba2 = std::get_if<Mamba2Dims>(&layer.dims)) {
        write(json, *mamba2, mamba2_fields);
    }
    json.set("decided_by", layer.decided_by);
    return json;
}

AttentionDims read_attention(const JsonValue& json, LayerKind kind) {
    auto dims = read(json, attention_fields);
    if (kind == LayerKind::sliding_attention) {
        dims.window = json.integer_at("window");
    }
    return dims;
}

LayerDims read_dims(const JsonValue& json, LayerKind kind) {
    switch (kind) {
    case LayerKind::full_attention:
    case LayerKind::sliding_attention:
        return read_attention(json, kind);
    case LayerKind::mla:
        return read(json, latent_fields);
    case LayerKind::mamba1:
        return read(json, mamba1_fields);
    case LayerKind::mamba2:
        return read(json, mamba2_fields);
    }
    throw Error("no such layer kind");
}

LayerPlan layer_from_json(const JsonValue& json) {
    const auto kind = layer_kind_from(json.string_at("kind"));
    if (!kind) {
        throw Error("/kind: expected a layer kind, found " + describe(json.at("kind")));
    }
    LayerPlan layer{*kind, read_dims(json, *kind), {}};
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
