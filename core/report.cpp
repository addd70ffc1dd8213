// SPDX-License-Identifier: Apache-2.0
#include "core/report.h"

#include "core/engines/engine.h"
#include "core/stored_components.h"

#include <algorithm>

namespace kvcaliper {

namespace {

/// Characters of a UTF-8 text: bytes that do not continue another.
std::size_t text_width(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

std::string padded(const std::string& text, std::size_t width, bool right) {
    const std::size_t have = text_width(text);
    const std::string space(width > have ? width - have : 0, ' ');
    return right ? space + text : text + space;
}

std::string csv_cell(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) {
        return text;
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c;
        if (c == '"') {
            quoted += c;
        }
    }
    return quoted + "\"";
}

std::string csv_row(const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        line += (i == 0 ? "" : ",") + csv_cell(cells[i]);
    }
    return line + "\n";
}

std::vector<std::string> titles(const Table& table) {
    std::vector<std::string> result;
    for (const Table::Column& column : table.columns) {
        result.push_back(column.title);
    }
    return result;
}

std::vector<std::size_t> column_widths(const Table& table) {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        std::size_t width = text_width(table.columns[c].title);
        for (const auto& row : table.rows) {
            width = std::max(width, text_width(row[c]));
        }
        widths.push_back(width);
    }
    return widths;
}

std::string markdown_cell(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
        text.insert(at, "\\");
    }
    return text;
}

std::string csv(const Table& table) {
    std::string text = csv_row(titles(table));
    for (const auto& row : table.rows) {
        text += csv_row(row);
    }
    return text;
}

/// Tab-separated values know no quotes: a tab or a line's end in a cell becomes a space.
std::string tsv_row(const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        line += i == 0 ? "" : "\t";
        for (const char c : cells[i]) {
            line += c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
        }
    }
    return line + "\n";
}

std::string tsv(const Table& table) {
    std::string text = tsv_row(titles(table));
    for (const auto& row : table.rows) {
        text += tsv_row(row);
    }
    return text;
}

std::string markdown(const Table& table) {
    std::string text = "|";
    std::string rule = "|";
    for (const Table::Column& column : table.columns) {
        text += " " + markdown_cell(column.title) + " |";
        rule += column.number ? "---:|" : "---|";
    }
    text += "\n" + rule + "\n";
    for (const auto& row : table.rows) {
        text += "|";
        for (const std::string& cell : row) {
            text += " " + markdown_cell(cell) + " |";
        }
        text += "\n";
    }
    return text;
}

std::string aligned(const Table& table) {
    const auto widths = column_widths(table);
    const auto line = [&](const std::vector<std::string>& cells) {
        std::string text;
        for (std::size_t c = 0; c < cells.size(); ++c) {
            text += (c == 0 ? "" : "  ") + padded(cells[c], widths[c], table.columns[c].number);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        return text + "\n";
    };
    std::string text = line(titles(table));
    std::vector<std::string> rule;
    for (const std::size_t width : widths) {
        rule.push_back(std::string(width, '-'));
    }
    text += line(rule);
    for (const auto& row : table.rows) {
        text += line(row);
    }
    return text;
}

JsonValue strings(const std::vector<std::string>& texts) {
    return JsonValue::Array(texts.begin(), texts.end());
}

JsonValue model_json(const Estimate& estimate) {
    const ModelPlan& plan = estimate.model->plan;
    JsonValue json;
    json.set("name", plan.name);
    json.set("display_name", plan.display_name);
    json.set("source", plan.source);
    json.set("model_type", plan.model_type);
    json.set("layers", static_cast<std::int64_t>(plan.layers.size()));
    json.set("max_context", plan.max_context ? JsonValue(plan.max_context->count()) : JsonValue());
    json.set("confidence", to_string(plan.confidence));
    json.set("notes", strings(estimate.notes));
    return json;
}

JsonValue knees_json(const std::vector<Knee>& knees) {
    JsonValue::Array array;
    for (const Knee& knee : knees) {
        JsonValue json;
        json.set("tokens", knee.tokens.count());
        json.set("bytes_per_token_before", knee.bytes_per_token_before.to_string());
        json.set("bytes_per_token_after", knee.bytes_per_token_after.to_string());
        array.push_back(std::move(json));
    }
    return array;
}

/// Bytes of one component of one layer, all sequences, at the estimate's context.
std::int64_t at_context(const Estimate& estimate, const Component& component) {
    return (component_bytes(component, estimate.formats, estimate.settings.context) *
            estimate.settings.sequences)
        .count();
}

JsonValue components_json(const Estimate& estimate) {
    JsonValue::Array array;
    for (const ComponentGroup& group : group_components(estimate.model->spec, estimate.formats)) {
        JsonValue json;
        json.set("role", to_string(group.component.role));
        json.set("kind", to_string(group.component.kind));
        json.set("layers", group.layers);
        json.set("units", group.component.units.to_string());
        json.set("bytes_at_context",
                 checked_multiply(at_context(estimate, group.component), group.layers));
        array.push_back(std::move(json));
    }
    return array;
}

JsonValue layer_json(const Estimate& estimate, std::size_t index) {
    const LayerCache& layer = estimate.model->spec.layers[index];
    JsonValue::Array components;
    for_each_stored(layer.components, estimate.formats, [&](const Component& component) {
        JsonValue json;
        json.set("role", to_string(component.role));
        json.set("elements", component.elements());
        json.set("units", component.units.to_string());
        json.set("bytes_at_context", at_context(estimate, component));
        components.push_back(std::move(json));
    });
    JsonValue json;
    json.set("index", static_cast<std::int64_t>(index));
    json.set("kind", layer.kind);
    json.set("shared_with", layer.shared_with ? JsonValue(*layer.shared_with) : JsonValue());
    json.set("decided_by", layer.decided_by);
    json.set("components", std::move(components));
    return json;
}

JsonValue layers_json(const Estimate& estimate) {
    JsonValue::Array array;
    for (std::size_t i = 0; i < estimate.model->spec.layers.size(); ++i) {
        array.push_back(layer_json(estimate, i));
    }
    return array;
}

} // namespace

std::string format_table(const Table& table, TableStyle style) {
    switch (style) {
    case TableStyle::csv:
        return csv(table);
    case TableStyle::tsv:
        return tsv(table);
    case TableStyle::markdown:
        return markdown(table);
    case TableStyle::text:
        return aligned(table);
    }
    return "";
}

namespace {

/// All options of the engine, those that were not set at their defaults.
JsonValue engine_options_json(const Settings& settings) {
    JsonValue json;
    for (const auto& [name, value] : resolved_options(settings)) {
        json.set(name, value);
    }
    return json;
}

} // namespace

JsonValue settings_json(const Estimate& estimate) {
    JsonValue json;
    json.set("context", estimate.settings.context.count());
    json.set("sequences", estimate.settings.sequences);
    json.set("k_format", estimate.reserved_formats.k->name);
    json.set("v_format", estimate.reserved_formats.v->name);
    json.set("index_format", estimate.reserved_formats.index->name);
    json.set("conv_format", estimate.reserved_formats.conv->name);
    json.set("state_format", estimate.reserved_formats.state->name);
    json.set("engine", estimate.settings.engine);
    if (estimate.reserved) {
        json.set("engine_options", engine_options_json(estimate.settings));
        json.set("required_formats", to_json(estimate.formats));
    }
    json.set("encoder_tokens", estimate.settings.encoder_tokens.count());
    json.set("tp", estimate.settings.parallel.tensor);
    json.set("pp", estimate.settings.parallel.pipeline);
    json.set("cp", estimate.settings.parallel.context);
    json.set("dp", estimate.settings.parallel.data);
    return json;
}

namespace {

JsonValue bytes_or_null(const std::optional<Bytes>& bytes) {
    return bytes ? JsonValue(bytes->count()) : JsonValue();
}

/// The rank that holds most, and all ranks together.
JsonValue per_rank_json(const Estimate& estimate) {
    if (!estimate.per_rank) {
        return nullptr;
    }
    const RankEstimate& rank = *estimate.per_rank;
    JsonValue json;
    json.set("required_bytes", rank.required.bytes().count());
    json.set("reserved_bytes",
             rank.reserved ? JsonValue(rank.reserved->bytes().count()) : JsonValue());
    json.set("ranks", estimate.settings.parallel.ranks());
    json.set("stage", rank.stage);
    json.set("first_layer", rank.layers.first);
    json.set("last_layer", rank.layers.last - 1);
    json.set("required_total_bytes", rank.required_total.count());
    json.set("reserved_total_bytes", bytes_or_null(rank.reserved_total));
    json.set("notes", strings(rank.notes));
    return json;
}

} // namespace

JsonValue estimate_json(const Estimate& estimate, bool with_layers) {
    JsonValue json;
    json.set("schema", 1);
    json.set("command", "estimate");
    json.set("model", model_json(estimate));
    json.set("settings", settings_json(estimate));
    json.set("uncapped_bytes_per_token", estimate.uncapped.value().to_string());
    json.set("growth_bytes_per_token", estimate.growth.value().to_string());
    json.set("constant_bytes", estimate.constant.bytes().count());
    json.set("knees", knees_json(estimate.knees));
    json.set("required_bytes", estimate.required.bytes().count());
    json.set("reserved_bytes",
             estimate.reserved ? JsonValue(estimate.reserved->bytes().count()) : JsonValue());
    json.set("per_rank", per_rank_json(estimate));
    json.set("components", components_json(estimate));
    if (with_layers) {
        json.set("layers", layers_json(estimate));
    }
    return json;
}

JsonValue figure_json(const Figure& figure) {
    JsonValue::Array terms;
    for (const Term& term : figure.terms) {
        JsonValue json;
        json.set("label", term.label);
        json.set("value", term.value().to_string());
        json.set("text", explain(term));
        terms.push_back(std::move(json));
    }
    JsonValue json;
    json.set("name", figure.name);
    json.set("value", figure.value().to_string());
    json.set("terms", std::move(terms));
    return json;
}

JsonValue claims_json(const std::vector<ClaimResult>& results) {
    JsonValue::Array array;
    for (const ClaimResult& result : results) {
        JsonValue json;
        json.set("id", result.claim.id);
        json.set("text", result.claim.text);
        json.set("source", result.claim.source);
        json.set("model", result.claim.model);
        json.set("quantity", result.claim.quantity);
        json.set("claimed", result.claimed);
        json.set("computed", result.computed);
        json.set("verdict", to_string(result.verdict));
        json.set("reading", strings(result.reading));
        json.set("notes", strings(result.notes));
        array.push_back(std::move(json));
    }
    JsonValue json;
    json.set("schema", 1);
    json.set("command", "claims");
    json.set("claims", std::move(array));
    return json;
}

} // namespace kvcaliper
