// SPDX-License-Identifier: Apache-2.0
#include "core/engines/profile.h"

#include "core/architectures/table.h"
#include "core/catalog.h"

#include <algorithm>
#include <charconv>

namespace kvcaliper {

namespace {

const EngineOption& find_option(const EngineInfo& engine, const std::string& name) {
    std::vector<std::string> names;
    for (const EngineOption& option : engine.options) {
        if (name == option.name || (!option.short_name.empty() && name == option.short_name)) {
            return option;
        }
        names.emplace_back(option.name);
    }
    const std::string near = nearest_word(name, names);
    throw Error("--engine-opt: expected an option of " + std::string(engine.name) +
                " (see `list engines`), found \"" + name + "\"" +
                (near.empty() ? "" : "; did you mean " + near + "?"));
}

/// True for a decimal above 0 and up to 1.
bool is_share(const std::string& value) {
    try {
        const Ratio share = parse_written_number(value).value;
        return share > Ratio(0) && share <= Ratio(1);
    } catch (const Error&) {
        return false;
    }
}

/// True for one of "auto|on|off", for a number from 1 where the values are "N", for a share where
/// they are "R".
bool fits(std::string_view values, const std::string& value) {
    if (values == "R") {
        return is_share(value);
    }
    if (values.starts_with("N")) {
        std::int64_t number = 0;
        const auto [end, error] =
            std::from_chars(value.data(), value.data() + value.size(), number);
        const bool whole = error == std::errc() && end == value.data() + value.size();
        return (whole && number >= 1 && number <= 1'000'000'000) || values == "N|" + value;
    }
    return !value.empty() && value.find('|') == std::string::npos &&
           ("|" + std::string(values) + "|").find("|" + value + "|") != std::string::npos;
}

std::string values_text(std::string_view values) {
    return values == "N"              ? "a whole number from 1"
           : values.starts_with("N|") ? "a whole number from 1, or " + std::string(values.substr(2))
           : values == "R"            ? "a number above 0, at most 1"
                                      : std::string(values);
}

/// Switches may be written as the engines' command lines and Python write them.
std::string one_spelling(const EngineOption& option, const std::string& value) {
    if (option.values.find("on|off") == std::string_view::npos) {
        return value;
    }
    const bool on = value == "1" || value == "true" || value == "True";
    const bool off = value == "0" || value == "false" || value == "False";
    return on ? "on" : off ? "off" : value;
}

} // namespace

OptionValues::OptionValues(const EngineInfo& engine, const std::vector<EngineSetting>& settings) {
    for (const EngineOption& option : engine.options) {
        values_.emplace(option.name, option.by_default);
    }
    for (const auto& [name, written] : settings) {
        const EngineOption& option = find_option(engine, name);
        const std::string value = one_spelling(option, written);
        if (!fits(option.values, value)) {
            throw Error("--engine-opt " + std::string(option.name) + ": expected " +
                        values_text(option.values) + ", found \"" + written + "\"");
        }
        values_[std::string(option.name)] = value;
    }
}

const std::string& OptionValues::word(std::string_view name) const {
    return values_.find(name)->second;
}

std::int64_t OptionValues::number(std::string_view name) const {
    return std::stoll(word(name));
}

Ratio OptionValues::ratio(std::string_view name) const {
    return parse_written_number(word(name)).value;
}

Error no_rule(std::string_view engine, const std::string& what) {
    return Error("engine " + std::string(engine) + ": no rule for " + what + " yet");
}

Error no_rule_for_type(std::string_view engine, const ModelPlan& plan) {
    return no_rule(engine, plan.model_type.empty() ? "a model without model_type"
                                                   : "model_type " + plan.model_type);
}

std::array<Component, 2> expanded_latent(const LatentDims& dims) {
    const auto component = [&](Role role, std::int64_t width, const char* width_name,
                               FormatClass format) {
        return Component{LayerKind::mla, role, dims.heads, width, "heads", width_name, format, {}};
    };
    return {component(Role::key, checked_add(dims.nope_width, dims.rope_width),
                      "qk_nope + qk_rope_head_dim", FormatClass::k),
            component(Role::value, dims.value_width, "v_head_dim", FormatClass::v)};
}

std::int64_t llama_parallel(const Settings& settings, const OptionValues& options) {
    if (options.word("parallel") == "auto") {
        return settings.sequences;
    }
    if (options.number("parallel") < settings.sequences) {
        throw Error("--engine-opt parallel: expected at least --sequences " +
                    std::to_string(settings.sequences) + ", found " + options.word("parallel"));
    }
    return options.number("parallel");
}

std::int64_t divide_up(std::int64_t value, std::int64_t by) {
    return checked_add(value, by - 1) / by;
}

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
    return checked_multiply(divide_up(value, multiple), multiple);
}

std::string_view canonical_type(const ModelPlan& plan) {
    const Architecture* row = find_architecture(plan.model_type);
    return row ? row->model_type : std::string_view(plan.model_type);
}

bool has_kind(const CacheSpec& spec, LayerKind kind) {
    const auto groups = group_components(spec);
    return std::any_of(groups.begin(), groups.end(),
                       [&](const ComponentGroup& group) { return group.component.kind == kind; });
}

std::string component_label(const Component& component) {
    std::string label =
        std::string(to_string(component.kind)) + ", " + std::string(to_string(component.role));
    std::replace(label.begin(), label.end(), '_', ' ');
    return label;
}

std::vector<Factor> row_factors(const Component& component, const NumericFormat& format) {
    std::vector<Factor> factors;
    if (component.rows != 1) {
        factors.push_back({component.rows_name, component.rows});
    }
    factors.push_back({"bytes per row of " + format_integer(component.width) + " " +
                           component.width_name + " (" + std::string(format.name) + ")",
                       row_bytes(format, component.width).count()});
    return factors;
}

const LatentDims& latent_dims(const ModelPlan& plan) {
    for (const LayerPlan& layer : plan.layers) {
        for (const LayerPart& part : layer.parts) {
            if (const auto* dims = std::get_if<LatentDims>(&part.dims)) {
                return *dims;
            }
        }
    }
    throw Error(plan.name + ": expected latent attention, found none");
}

} // namespace kvcaliper
