// SPDX-License-Identifier: Apache-2.0
#include "core/stored_components.h"

#include <algorithm>

namespace kvcaliper {

namespace {

std::int64_t residual_length(const Component& component, const CacheFormats& formats) {
    return formats.of(component.format_class).residual_length;
}

/// A row is one channel over all tokens of a group.
std::array<Component, 2> split_key(const Component& key, std::int64_t residual) {
    Component packed = key;
    packed.rows = key.elements();
    packed.rows_name = key.rows_name + " × " + key.width_name;
    packed.width = residual;
    packed.width_name = "residual_length";
    packed.units = {Units::Kind::groups, residual};
    Component recent = key;
    recent.role = Role::key_residual;
    recent.units = {Units::Kind::remainder, residual};
    return {packed, recent};
}

std::array<Component, 2> split_value(const Component& value, std::int64_t residual) {
    Component packed = value;
    packed.units = {Units::Kind::past, residual};
    Component recent = value;
    recent.role = Role::value_residual;
    recent.units = {Units::Kind::window, residual};
    return {packed, recent};
}

/// A key or value that was split before.
bool is_packed(const Component& component, std::int64_t residual) {
    const Units groups{Units::Kind::groups, residual};
    const Units past{Units::Kind::past, residual};
    return (component.role == Role::key && component.units == groups &&
            component.width == residual) ||
           (component.role == Role::value && component.units == past);
}

} // namespace

bool is_residual(Role role) {
    return role == Role::key_residual || role == Role::value_residual;
}

bool has_residual(const CacheFormats& formats) {
    return formats.k->residual_length > 0 || formats.v->residual_length > 0;
}

std::optional<std::array<Component, 2>> split_component(const Component& component,
                                                        const CacheFormats& formats) {
    const std::int64_t residual = residual_length(component, formats);
    if (residual == 0 || component.units.kind != Units::Kind::tokens) {
        return std::nullopt;
    }
    if (component.role == Role::key) {
        return split_key(component, residual);
    }
    if (component.role == Role::value) {
        return split_value(component, residual);
    }
    return std::nullopt;
}

bool packs(const CacheSpec& spec, const CacheFormats& formats, Role role) {
    if (!has_residual(formats)) {
        return false;
    }
    const std::vector<ComponentGroup> groups = group_components(spec);
    return std::any_of(groups.begin(), groups.end(), [&](const ComponentGroup& group) {
        return group.component.role == role && split_component(group.component, formats);
    });
}

CacheSpec stored_spec(const CacheSpec& spec, const CacheFormats& formats) {
    CacheSpec stored = spec;
    for (std::size_t i = 0; i < spec.layers.size(); ++i) {
        stored.layers[i].components.clear();
        for_each_stored(spec.layers[i].components, formats, [&](const Component& component) {
            stored.layers[i].components.push_back(component);
        });
    }
    return stored;
}

std::vector<ComponentGroup> group_components(const CacheSpec& spec, const CacheFormats& formats) {
    std::vector<ComponentGroup> groups = group_components(spec);
    if (!has_residual(formats)) {
        return groups;
    }
    std::vector<ComponentGroup> stored;
    for (ComponentGroup& group : groups) {
        if (const auto parts = split_component(group.component, formats)) {
            stored.push_back({(*parts)[0], group.layers});
            stored.push_back({(*parts)[1], group.layers});
        } else {
            stored.push_back(std::move(group));
        }
    }
    return stored;
}

namespace {

/// Why a format with a residual does not hold such a component, whatever its width.
std::optional<std::string> residual_problem(const Component& component,
                                            const NumericFormat& format) {
    const std::string name(format.name);
    const Units::Kind units = component.units.kind;
    if (units == Units::Kind::window || units == Units::Kind::chunk) {
        const std::string what = units == Units::Kind::window ? "window" : "chunk";
        return component.role == Role::key
                   ? name + " keeps groups of consecutive tokens, which a " + what + " does not"
                   : name + " packs tokens that stay, which a " + what + "'s do not";
    }
    return name + " packs K and V of every token, each on its own";
}

} // namespace

std::optional<std::string> storage_problem(const Component& component,
                                           const CacheFormats& formats) {
    const auto parts = split_component(component, formats);
    const Component& packed = parts ? (*parts)[0] : component;
    const NumericFormat& format = format_of(packed, formats);
    if (format.residual_length > 0 && !is_packed(packed, format.residual_length)) {
        return residual_problem(component, format);
    }
    if (storable(format, packed.width)) {
        return std::nullopt;
    }
    return not_storable_reason(format, packed.width);
}

Ratio pair_bytes_per_token(const NumericFormat& k, std::int64_t key_width, const NumericFormat& v,
                           std::int64_t value_width) {
    const Ratio values(row_bytes(v, value_width).count());
    if (k.residual_length > 0) {
        return values + Ratio(k.bytes_per_block, k.elements_per_block) * key_width;
    }
    return values + Ratio(row_bytes(k, key_width).count());
}

Tokens fullest_context(const CacheFormats& formats, Tokens tokens) {
    const std::int64_t residual = formats.k->residual_length;
    const std::int64_t beyond = residual == 0 ? 0 : (tokens.count() + 1) % residual;
    return tokens.count() > beyond ? tokens - Tokens(beyond) : tokens;
}

} // namespace kvcaliper
