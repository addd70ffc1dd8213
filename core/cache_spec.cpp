// SPDX-License-Identifier: Apache-2.0
#include "core/cache_spec.h"

#include "core/error.h"
#include "core/stored_components.h"

#include <algorithm>
#include <set>

namespace kvcaliper {

std::int64_t Units::at(Tokens tokens) const {
    switch (kind) {
    case Kind::tokens:
        return tokens.count();
    case Kind::window:
    case Kind::chunk:
        return std::min(tokens.count(), n);
    case Kind::groups:
        return tokens.count() / n;
    case Kind::constant:
        return n;
    case Kind::remainder:
        return tokens.count() % n;
    case Kind::past:
        return std::max<std::int64_t>(tokens.count() - n, 0);
    }
    throw Error("no such kind of units");
}

Ratio Units::slope_at(Tokens tokens) const {
    if (kind == Kind::groups) {
        return Ratio(1, n);
    }
    return kind == Kind::remainder ? Ratio(0) : Ratio(at(tokens + Tokens(1)) - at(tokens));
}

std::string Units::to_string() const {
    switch (kind) {
    case Kind::tokens:
        return "T";
    case Kind::window:
    case Kind::chunk:
        return "min(T," + std::to_string(n) + ")";
    case Kind::groups:
        return "floor(T/" + std::to_string(n) + ")";
    case Kind::constant:
        return std::to_string(n);
    case Kind::remainder:
        return "T mod " + std::to_string(n);
    case Kind::past:
        return "max(T-" + std::to_string(n) + ",0)";
    }
    throw Error("no such kind of units");
}

const NumericFormat& CacheFormats::of(FormatClass format_class) const {
    switch (format_class) {
    case FormatClass::k:
        return *k;
    case FormatClass::v:
        return *v;
    case FormatClass::index:
        return *index;
    case FormatClass::conv:
        return *conv;
    case FormatClass::state:
        return *state;
    }
    throw Error("no such format class");
}

CacheFormats ideal_formats() {
    const NumericFormat& bf16 = numeric_format("bf16");
    return {&bf16, &bf16, &bf16, &bf16, &numeric_format("f32")};
}

std::vector<ComponentGroup> group_components(const CacheSpec& spec) {
    std::vector<ComponentGroup> groups;
    for (const LayerCache& layer : spec.layers) {
        for (const Component& component : layer.components) {
            const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
                return group.component == component;
            });
            if (same != groups.end()) {
                ++same->layers;
            } else {
                groups.push_back({component, 1});
            }
        }
    }
    return groups;
}

namespace {

/// Where the slope of long sequences is read: the model's limit, or beyond every window.
Tokens slope_context(const CacheSpec& spec, const CacheFormats& formats) {
    if (spec.max_context) {
        return *spec.max_context;
    }
    std::int64_t beyond = 1;
    for (const ComponentGroup& group : group_components(spec, formats)) {
        beyond = std::max(beyond, group.component.units.n);
    }
    return Tokens(beyond);
}

/// The factors that make one stored unit into bytes: rows, then the row in its format.
std::vector<Factor> unit_factors(const Component& component, const CacheFormats& formats) {
    const NumericFormat& format = format_of(component, formats);
    const Bytes row = row_bytes(format, component.width);
    std::vector<Factor> factors;
    if (component.rows != 1) {
        factors.push_back({component.rows_name, component.rows});
    }
    if (format.row_side_bytes == 0 && format.elements_per_block == 1) {
        factors.push_back({component.width_name, component.width});
        factors.push_back(
            {"bytes per element (" + std::string(format.name) + ")", format.bytes_per_block});
        return factors;
    }
    factors.push_back({"bytes per row of " + std::to_string(component.width) + " " +
                           component.width_name + " (" + std::string(format.name) + ")",
                       row.count()});
    return factors;
}

std::string term_label(const ComponentGroup& group) {
    std::string label = std::string(to_string(group.component.kind)) + ", " +
                        std::string(to_string(group.component.role));
    std::replace(label.begin(), label.end(), '_', ' ');
    return label;
}

/// layers × units × unit bytes; `units_name` says what the units count.
Term make_term(const ComponentGroup& group, const CacheFormats& formats, const Ratio& units,
               const std::string& units_name) {
    Term term{term_label(group), {{"layers", group.layers}}};
    if (!units_name.empty()) {
        term.factors.push_back({units_name, units});
    }
    for (Factor& factor : unit_factors(group.component, formats)) {
        term.factors.push_back(std::move(factor));
    }
    return term;
}

/// What groups are called: packed tokens of K, or entries that stand for several tokens.
std::string groups_word(const Component& component) {
    return component.role == Role::key ? "groups" : "entries";
}

std::string units_name(const Component& component) {
    const Units& units = component.units;
    switch (units.kind) {
    case Units::Kind::tokens:
        return "tokens";
    case Units::Kind::window:
    case Units::Kind::chunk:
    case Units::Kind::remainder:
    case Units::Kind::past:
        return "tokens = " + units.to_string();
    case Units::Kind::groups:
        return groups_word(component) + " = " + units.to_string();
    case Units::Kind::constant:
        return units.n == 1 ? "" : "units";
    }
    throw Error("no such kind of units");
}

/// Units added per token as long as no window is full and no token too recent to be packed; 0 for
/// what is constant.
Ratio uncapped_slope(const Component& component) {
    switch (component.units.kind) {
    case Units::Kind::window:
    case Units::Kind::chunk:
        return is_residual(component.role) ? Ratio(0) : Ratio(1);
    case Units::Kind::tokens:
    case Units::Kind::past:
        return Ratio(1);
    case Units::Kind::groups:
        return Ratio(1, component.units.n);
    case Units::Kind::constant:
    case Units::Kind::remainder:
        return Ratio(0);
    }
    throw Error("no such kind of units");
}

/// Units at `limit` that the slope there does not account for; negative where it counts tokens
/// that are not packed yet.
Ratio constant_units(const Units& units, Tokens limit) {
    if (units.kind == Units::Kind::groups || units.kind == Units::Kind::remainder) {
        return Ratio(0);
    }
    return Ratio(units.at(limit)) - units.slope_at(limit) * Ratio(limit.count());
}

std::string constant_name(const Component& component) {
    return component.units.kind == Units::Kind::past ? "tokens of the growth that are not packed"
                                                     : units_name(component);
}

/// A slope of 1 goes without saying; others are units per token.
std::string slope_name(const Component& component, const Ratio& slope) {
    return slope == Ratio(1) ? "" : groups_word(component) + " per token";
}

} // namespace

Bytes component_bytes(const Component& component, const CacheFormats& formats, Tokens tokens) {
    if (const auto parts = split_component(component, formats)) {
        return component_bytes((*parts)[0], formats, tokens) +
               component_bytes((*parts)[1], formats, tokens);
    }
    const ComponentGroup one{component, 1};
    const std::int64_t units = component.units.at(tokens);
    return Bytes(make_term(one, formats, units, "units").value().to_integer());
}

const NumericFormat& format_of(const Component& component, const CacheFormats& formats) {
    const NumericFormat& format = formats.of(component.format_class);
    if (component.role == Role::rope_key && !format.rope_format.empty()) {
        return numeric_format(format.rope_format);
    }
    if (is_residual(component.role) && !format.residual_format.empty()) {
        return numeric_format(format.residual_format);
    }
    return format;
}

std::optional<std::string> storage_problem(const CacheSpec& spec, const CacheFormats& formats) {
    for (const ComponentGroup& group : group_components(spec)) {
        const Component& component = group.component;
        if (const auto reason = storage_problem(component, formats)) {
            return std::string(to_string(component.role)) + " of " +
                   std::string(to_string(component.kind)) + " layers (" + component.width_name +
                   " " + std::to_string(component.width) + "): " + *reason;
        }
    }
    return std::nullopt;
}

void check_storable(const CacheSpec& spec, const CacheFormats& formats) {
    if (const auto problem = storage_problem(spec, formats)) {
        throw Error(*problem);
    }
}

Figure cache_bytes(const CacheSpec& spec, const CacheFormats& formats, Tokens tokens) {
    Figure figure{"bytes at " + format_integer(tokens.count()) + " tokens", {}};
    for (const ComponentGroup& group : group_components(spec, formats)) {
        const std::int64_t units = group.component.units.at(tokens);
        figure.terms.push_back(make_term(group, formats, units, units_name(group.component)));
    }
    return figure;
}

Figure uncapped_bytes_per_token(const CacheSpec& spec, const CacheFormats& formats) {
    Figure figure{"uncapped bytes per token", {}};
    for (const ComponentGroup& group : group_components(spec, formats)) {
        if (const Ratio slope = uncapped_slope(group.component); slope != Ratio(0)) {
            figure.terms.push_back(
                make_term(group, formats, slope, slope_name(group.component, slope)));
        }
    }
    return figure;
}

Figure growth_bytes_per_token(const CacheSpec& spec, const CacheFormats& formats) {
    Figure figure{"growth in bytes per token", {}};
    const Tokens limit = slope_context(spec, formats);
    for (const ComponentGroup& group : group_components(spec, formats)) {
        if (const Ratio slope = group.component.units.slope_at(limit); slope != Ratio(0)) {
            figure.terms.push_back(
                make_term(group, formats, slope, slope_name(group.component, slope)));
        }
    }
    return figure;
}

Figure constant_bytes(const CacheSpec& spec, const CacheFormats& formats) {
    Figure figure{"constant bytes per sequence", {}};
    const Tokens limit = slope_context(spec, formats);
    for (const ComponentGroup& group : group_components(spec, formats)) {
        const Ratio units = constant_units(group.component.units, limit);
        if (units != Ratio(0)) {
            figure.terms.push_back(
                make_term(group, formats, units, constant_name(group.component)));
        }
    }
    return figure;
}

namespace {

Ratio slope_at(const CacheSpec& spec, const CacheFormats& formats, Tokens tokens) {
    Ratio slope;
    for (const ComponentGroup& group : group_components(spec, formats)) {
        slope = slope +
                make_term(group, formats, group.component.units.slope_at(tokens), "units").value();
    }
    return slope;
}

} // namespace

std::vector<Knee> knees(const CacheSpec& spec, const CacheFormats& formats) {
    std::set<std::int64_t> windows;
    const Tokens limit = slope_context(spec, formats);
    for (const ComponentGroup& group : group_components(spec, formats)) {
        const Units& units = group.component.units;
        const bool fills = units.kind == Units::Kind::window || units.kind == Units::Kind::chunk;
        if (fills && units.n <= limit.count()) {
            windows.insert(units.n);
        }
    }
    std::vector<Knee> result;
    for (const std::int64_t window : windows) {
        result.push_back({Tokens(window), slope_at(spec, formats, Tokens(window - 1)),
                          slope_at(spec, formats, Tokens(window))});
    }
    return result;
}

} // namespace kvcaliper
