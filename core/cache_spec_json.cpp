// SPDX-License-Identifier: Apache-2.0
// The names of what a cache is made of, and specs as the verifier's protocol writes them.
#include "core/cache_spec.h"
#include "core/error.h"

#include <array>

namespace kvcaliper {

namespace {

/// A closed set of values and their names.
template <typename Value, std::size_t n>
using Names = std::array<std::pair<Value, std::string_view>, n>;

constexpr Names<Role, 16> role_names = {{{Role::key, "key"},
                                         {Role::value, "value"},
                                         {Role::key_value, "key_value"},
                                         {Role::latent, "latent"},
                                         {Role::rope_key, "rope_key"},
                                         {Role::index_key, "index_key"},
                                         {Role::cross_key, "cross_key"},
                                         {Role::cross_value, "cross_value"},
                                         {Role::compressed, "compressed"},
                                         {Role::conv_state, "conv_state"},
                                         {Role::recurrent_state, "recurrent_state"},
                                         {Role::shift, "shift"},
                                         {Role::tail, "tail"},
                                         {Role::index_tail, "index_tail"},
                                         {Role::key_residual, "key_residual"},
                                         {Role::value_residual, "value_residual"}}};
constexpr Names<FormatClass, 5> class_names = {{{FormatClass::k, "k"},
                                                {FormatClass::v, "v"},
                                                {FormatClass::index, "index"},
                                                {FormatClass::conv, "conv"},
                                                {FormatClass::state, "state"}}};
constexpr Names<Units::Kind, 7> unit_names = {{{Units::Kind::tokens, "tokens"},
                                               {Units::Kind::window, "window"},
                                               {Units::Kind::chunk, "chunk"},
                                               {Units::Kind::groups, "groups"},
                                               {Units::Kind::constant, "constant"},
                                               {Units::Kind::remainder, "remainder"},
                                               {Units::Kind::past, "past"}}};

template <typename Value, std::size_t n>
std::string_view name_of(const Names<Value, n>& names, Value value) {
    for (const auto& [known, name] : names) {
        if (known == value) {
            return name;
        }
    }
    throw Error("a value without a name");
}

template <typename Value, std::size_t n>
std::optional<Value> value_of(const Names<Value, n>& names, std::string_view name) {
    for (const auto& [value, known] : names) {
        if (known == name) {
            return value;
        }
    }
    return std::nullopt;
}

} // namespace

std::string_view to_string(Role role) {
    return name_of(role_names, role);
}
std::optional<Role> role_from(std::string_view name) {
    return value_of(role_names, name);
}
std::string_view to_string(FormatClass format_class) {
    return name_of(class_names, format_class);
}
std::optional<FormatClass> format_class_from(std::string_view name) {
    return value_of(class_names, name);
}

namespace {

JsonValue component_to_json(const Component& component) {
    JsonValue json;
    json.set("kind", to_string(component.kind));
    json.set("role", to_string(component.role));
    json.set("rows", component.rows);
    json.set("width", component.width);
    json.set("format_class", to_string(component.format_class));
    json.set("units", name_of(unit_names, component.units.kind));
    json.set("n", component.units.n);
    return json;
}

template <typename Value, std::size_t n>
Value named(const JsonValue& json, std::string_view key, const Names<Value, n>& names) {
    if (const auto value = value_of(names, json.string_at(key))) {
        return *value;
    }
    throw Error("/" + std::string(key) + ": expected one of our names, found " +
                describe(json.at(key)));
}

Units units_from_json(const JsonValue& json) {
    const Units units{named(json, "units", unit_names), json.integer_at("n")};
    const bool divides = units.kind == Units::Kind::groups || units.kind == Units::Kind::remainder;
    if (units.n < (divides ? 1 : 0)) {
        throw Error("/n: expected at least " + std::to_string(divides ? 1 : 0) + ", found " +
                    std::to_string(units.n));
    }
    return units;
}

std::int64_t not_negative(const JsonValue& json, std::string_view key) {
    const std::int64_t value = json.integer_at(key);
    if (value < 0) {
        throw Error("/" + std::string(key) + ": expected at least 0, found " +
                    std::to_string(value));
    }
    return value;
}

Component component_from_json(const JsonValue& json) {
    Component component;
    const auto kind = layer_kind_from(json.string_at("kind"));
    if (!kind) {
        throw Error("/kind: expected a layer kind, found " + describe(json.at("kind")));
    }
    component.kind = *kind;
    component.role = named(json, "role", role_names);
    component.rows = not_negative(json, "rows");
    component.width = not_negative(json, "width");
    component.format_class = named(json, "format_class", class_names);
    component.units = units_from_json(json);
    return component;
}

} // namespace

JsonValue to_json(const CacheSpec& spec) {
    JsonValue::Array layers;
    for (const LayerCache& layer : spec.layers) {
        JsonValue::Array components;
        for (const Component& component : layer.components) {
            components.push_back(component_to_json(component));
        }
        JsonValue json;
        json.set("kind", layer.kind);
        json.set("components", std::move(components));
        layers.push_back(std::move(json));
    }
    JsonValue json;
    json.set("layers", std::move(layers));
    if (spec.max_context) {
        json.set("max_context", spec.max_context->count());
    }
    return json;
}

CacheSpec cache_spec_from_json(const JsonValue& json) {
    CacheSpec spec;
    for (const JsonValue& layer : json.array_at("layers")) {
        LayerCache cache{layer.string_at("kind"), {}, std::nullopt, {}};
        for (const JsonValue& component : layer.array_at("components")) {
            cache.components.push_back(component_from_json(component));
        }
        spec.layers.push_back(std::move(cache));
    }
    if (json.find("max_context") != nullptr) {
        spec.max_context = Tokens(json.integer_at("max_context"));
    }
    return spec;
}

JsonValue to_json(const CacheFormats& formats) {
    JsonValue json;
    for (const auto& [format_class, name] : class_names) {
        json.set(std::string(name), formats.of(format_class).name);
    }
    return json;
}

CacheFormats cache_formats_from_json(const JsonValue& json) {
    const auto format = [&](std::string_view key) { return &numeric_format(json.string_at(key)); };
    return {format("k"), format("v"), format("index"), format("conv"), format("state")};
}

} // namespace kvcaliper
