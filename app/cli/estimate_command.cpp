// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"
#include "core/catalog.h"
#include "core/error.h"
#include "core/growth_mark.h"
#include "core/kind_notes.h"
#include "core/stored_components.h"

#include <algorithm>
#include <ostream>

namespace kvcaliper::cli {

std::string bytes_cell(const Ratio& bytes) {
    return format_bytes(bytes);
}

std::string exact_cell(const Ratio& bytes, TableStyle style) {
    return style == TableStyle::csv || !bytes.is_integer() ? bytes.to_string()
                                                           : format_integer(bytes.numerator());
}

namespace {

/// "K bf16, V bf16", and what else differs from the usual.
std::string formats_text(const CacheFormats& formats, const CacheFormats& usual) {
    std::string text = "K " + std::string(formats.k->name) + ", V " + std::string(formats.v->name);
    const auto add = [&](const char* name, const NumericFormat* format,
                         const NumericFormat* usual_format) {
        text += format != usual_format ? ", " + std::string(name) + " " + std::string(format->name)
                                       : "";
    };
    add("index", formats.index, usual.index);
    add("conv", formats.conv, usual.conv);
    add("state", formats.state, usual.state);
    return text;
}

/// What the reserved view need not name: the required formats, and those of nothing the model
/// keeps.
CacheFormats unremarkable_formats(const Estimate& estimate) {
    CacheFormats usual = estimate.reserved_formats;
    for (const ComponentGroup& group : group_components(estimate.model->spec)) {
        switch (group.component.format_class) {
        case FormatClass::k:
        case FormatClass::v:
            break;
        case FormatClass::index:
            usual.index = estimate.formats.index;
            break;
        case FormatClass::conv:
            usual.conv = estimate.formats.conv;
            break;
        case FormatClass::state:
            usual.state = estimate.formats.state;
            break;
        }
    }
    return usual;
}

} // namespace

std::string heading(const Estimate& estimate) {
    std::string text =
        "required view, engine ideal, " + formats_text(estimate.formats, ideal_formats());
    if (estimate.reserved) {
        text += "; reserved view, engine " + estimate.settings.engine + ", " +
                formats_text(estimate.reserved_formats, unremarkable_formats(estimate));
    }
    const std::int64_t sequences = estimate.settings.sequences;
    text += "; " + format_integer(estimate.settings.context.count()) + " tokens × " +
            format_integer(sequences) + (sequences == 1 ? " sequence" : " sequences");
    return estimate.per_rank ? text + "; " + to_string(estimate.settings.parallel) : text;
}

namespace {

/// "10 full_attention + 52 sliding_attention", kinds of layers in the order they appear.
std::string kinds_text(const Model& model) {
    std::vector<std::pair<std::string, std::int64_t>> counts;
    for (const LayerCache& layer : model.spec.layers) {
        const auto same = std::find_if(counts.begin(), counts.end(), [&](const auto& count) {
            return count.first == layer.kind;
        });
        if (same == counts.end()) {
            counts.emplace_back(layer.kind, 1);
        } else {
            ++same->second;
        }
    }
    std::string text;
    for (const auto& [kind, count] : counts) {
        const bool compound = kind.find('+') != std::string::npos;
        text += (text.empty() ? "" : " + ") + std::to_string(count) + " " +
                (compound ? "(" + kind + ")" : kind);
    }
    return text;
}

std::string model_line(const Estimate& estimate) {
    const ModelPlan& plan = estimate.model->plan;
    std::string text = plan.display_name + " (" +
                       (plan.model_type.empty() ? "no model_type" : plan.model_type) +
                       "): " + kinds_text(*estimate.model) + " layers";
    if (plan.max_context) {
        text += ", context up to " + format_integer(plan.max_context->count());
    }
    return text;
}

void add_figure_row(Table& table, const std::string& name, const Ratio& bytes, TableStyle style) {
    table.rows.push_back({name, bytes_cell(bytes), exact_cell(bytes, style)});
}

/// The rank that holds most, and all together.
void add_rank_rows(Table& table, const Estimate& estimate, TableStyle style) {
    if (!estimate.per_rank) {
        return;
    }
    const RankEstimate& rank = *estimate.per_rank;
    const std::string all = "all " + format_integer(estimate.settings.parallel.ranks()) + " ranks";
    add_figure_row(table, "required per rank", rank.required.value(), style);
    add_figure_row(table, "required, " + all, rank.required_total.count(), style);
    if (rank.reserved) {
        add_figure_row(table, "reserved per rank", rank.reserved->value(), style);
        add_figure_row(table, "reserved, " + all, rank.reserved_total->count(), style);
    }
}

Table figure_table(const Estimate& estimate, TableStyle style) {
    Table table{{{"figure"}, {"size", true}, {"bytes", true}}, {}};
    add_figure_row(table, "per token, uncapped", estimate.uncapped.value(), style);
    add_figure_row(table, "per token, growth", estimate.growth.value(), style);
    add_figure_row(table, "constant per sequence", estimate.constant.value(), style);
    add_figure_row(table,
                   "total at " + format_tokens(estimate.settings.context) + " × " +
                       format_integer(estimate.settings.sequences),
                   estimate.required.value(), style);
    if (estimate.reserved) {
        add_figure_row(table, "reserved by " + estimate.settings.engine, estimate.reserved->value(),
                       style);
    }
    add_rank_rows(table, estimate, style);
    return table;
}

/// All figures of an answer, for explanations.
std::vector<const Figure*> figures(const Estimate& estimate) {
    std::vector<const Figure*> list = {&estimate.uncapped, &estimate.growth, &estimate.constant,
                                       &estimate.required};
    if (estimate.reserved) {
        list.push_back(&*estimate.reserved);
    }
    if (estimate.per_rank) {
        list.push_back(&estimate.per_rank->required);
        if (estimate.per_rank->reserved) {
            list.push_back(&*estimate.per_rank->reserved);
        }
    }
    return list;
}

std::string component_text(const Component& component) {
    const std::string size = component.rows == 1 ? std::to_string(component.width)
                                                 : std::to_string(component.rows) + "×" +
                                                       std::to_string(component.width);
    return std::string(to_string(component.role)) + " " + size + " · " +
           component.units.to_string();
}

Table component_table(const Estimate& estimate, TableStyle style) {
    Table table{{{"component"},
                 {"kind"},
                 {"layers", true},
                 {"elements", true},
                 {"units"},
                 {"format"},
                 {"size", true},
                 {"bytes", true}},
                {}};
    for (const ComponentGroup& group : group_components(estimate.model->spec, estimate.formats)) {
        const Component& component = group.component;
        const Bytes bytes =
            component_bytes(component, estimate.formats, estimate.settings.context) * group.layers *
            estimate.settings.sequences;
        table.rows.push_back({std::string(to_string(component.role)),
                              std::string(to_string(component.kind)), std::to_string(group.layers),
                              std::to_string(component.elements()), component.units.to_string(),
                              std::string(format_of(component, estimate.formats).name),
                              bytes_cell(bytes.count()), exact_cell(bytes.count(), style)});
    }
    return table;
}

Table layer_table(const Estimate& estimate, TableStyle style) {
    Table table{{{"layer", true}, {"kind"}, {"components"}, {"bytes", true}, {"decided by"}}, {}};
    for (std::size_t i = 0; i < estimate.model->spec.layers.size(); ++i) {
        const LayerCache& layer = estimate.model->spec.layers[i];
        Bytes bytes;
        std::string components;
        for_each_stored(layer.components, estimate.formats, [&](const Component& component) {
            bytes += component_bytes(component, estimate.formats, estimate.settings.context) *
                     estimate.settings.sequences;
            components += (components.empty() ? "" : ", ") + component_text(component);
        });
        if (layer.shared_with) {
            components = "reads layer " + std::to_string(*layer.shared_with);
        }
        table.rows.push_back({std::to_string(i), layer.kind, components,
                              exact_cell(bytes.count(), style), layer.decided_by});
    }
    return table;
}

void write_knees(const Estimate& estimate, Io& io) {
    for (const Knee& knee : estimate.knees) {
        io.out << "knee at " << format_integer(knee.tokens.count()) << " tokens: from "
               << bytes_cell(knee.bytes_per_token_before) << " to "
               << bytes_cell(knee.bytes_per_token_after) << " per token\n";
    }
}

void write_explanations(const Estimate& estimate, Io& io) {
    for (const Figure* figure : figures(estimate)) {
        io.out << "\n" << explain(*figure);
    }
    for (const KindNote* note : notes_of(estimate)) {
        io.out << "\n" << note_text(*note);
    }
}

void write_notes(const std::vector<std::string>& notes, std::ostream& stream) {
    for (const std::string& note : notes) {
        stream << "note: " << note << "\n";
    }
}

/// Those of the rank that the whole does not have.
std::vector<std::string> rank_notes(const Estimate& estimate) {
    std::vector<std::string> notes;
    for (const std::string& note : estimate.per_rank->notes) {
        if (std::find(estimate.notes.begin(), estimate.notes.end(), note) == estimate.notes.end()) {
            notes.push_back("per rank: " + note);
        }
    }
    return notes;
}

JsonValue answer_json(const Estimate& estimate, const Options& options) {
    JsonValue json = estimate_json(estimate, options.layers);
    if (options.explain) {
        JsonValue::Array explained;
        for (const Figure* figure : figures(estimate)) {
            explained.push_back(figure_json(*figure));
        }
        json.set("explain", std::move(explained));
        JsonValue::Array kinds;
        for (const KindNote* note : notes_of(estimate)) {
            kinds.push_back(note_json(*note));
        }
        json.set("kinds_explained", std::move(kinds));
    }
    return json;
}

/// A generic reading is said where it can not be missed, whatever the output.
void warn_generic(const Estimate& estimate, Io& io) {
    if (estimate.model->plan.confidence == Confidence::generic) {
        io.err << "kvcaliper: warning: " << estimate.model->plan.name << ": "
               << "unknown model_type, read as a plain transformer\n";
    }
}

} // namespace

int estimate_command(const Options& options, Io& io) {
    const Estimate answer = estimate(load_model(options.models.front()), options.settings);
    warn_generic(answer, io);
    const TableStyle style = options.output.style();
    if (options.output.json) {
        io.out << dump_json(answer_json(answer, options)) << "\n";
        return answered;
    }
    if (style == TableStyle::csv) {
        io.out << format_table(
            options.layers ? layer_table(answer, style) : figure_table(answer, style), style);
        return answered;
    }
    io.out << model_line(answer) << "\n"
           << heading(answer) << "\n\n"
           << format_table(figure_table(answer, style), style) << "\n"
           << format_table(component_table(answer, style), style);
    write_knees(answer, io);
    if (options.layers) {
        io.out << "\n" << format_table(layer_table(answer, style), style);
    }
    if (options.explain) {
        write_explanations(answer, io);
    }
    write_notes(answer.notes, io.out);
    if (answer.per_rank) {
        write_notes(rank_notes(answer), io.out);
    }
    return answered;
}

// ---- compare ------------------------------------------------------------------------------------

namespace {

struct Comparison {
    std::vector<Estimate> models;
    std::size_t baseline = 0;

    std::optional<Ratio> ratio(std::size_t index) const {
        const Ratio base = models[baseline].required.value();
        if (base == Ratio(0)) {
            return std::nullopt;
        }
        return models[index].required.value() / base;
    }
};

Comparison make_comparison(const Options& options, Io& io) {
    Comparison comparison;
    for (const std::string& name : options.models) {
        comparison.models.push_back(estimate(load_model(name), options.settings));
        warn_generic(comparison.models.back(), io);
    }
    if (options.baseline.empty()) {
        return comparison;
    }
    for (std::size_t i = 0; i < options.models.size(); ++i) {
        if (options.models[i] == options.baseline) {
            comparison.baseline = i;
            return comparison;
        }
    }
    comparison.baseline = comparison.models.size();
    comparison.models.push_back(estimate(load_model(options.baseline), options.settings));
    return comparison;
}

Table comparison_table(const Comparison& comparison, TableStyle style) {
    const auto cell = [&](const Ratio& bytes) {
        return style == TableStyle::csv ? bytes.to_string() : bytes_cell(bytes);
    };
    const std::string total = "at " + format_tokens(comparison.models.front().settings.context);
    Table table{{{"model"},
                 {"model_type"},
                 {"layers"},
                 {"uncapped/token", true},
                 {"growth/token", true},
                 {"constant", true},
                 {total, true}},
                {}};
    const bool reserved = comparison.models.front().reserved.has_value();
    if (reserved) {
        table.columns.push_back({"reserved", true});
    }
    const bool ranks = comparison.models.front().per_rank.has_value();
    if (ranks) {
        table.columns.push_back({reserved ? "reserved/rank" : "per rank", true});
    }
    table.columns.push_back({"ratio", true});
    table.columns.push_back({"mark"});
    for (std::size_t i = 0; i < comparison.models.size(); ++i) {
        const Estimate& one = comparison.models[i];
        const auto ratio = comparison.ratio(i);
        std::vector<std::string> row{one.model->plan.display_name, one.model->plan.model_type,
                                     kinds_text(*one.model),       cell(one.uncapped.value()),
                                     cell(one.growth.value()),     cell(one.constant.value()),
                                     cell(one.required.value())};
        if (reserved) {
            row.push_back(cell(one.reserved->value()));
        }
        if (ranks) {
            const RankEstimate& rank = *one.per_rank;
            row.push_back(cell((reserved ? *rank.reserved : rank.required).value()));
        }
        row.push_back(ratio ? format_decimal(*ratio, 4) : "-");
        row.emplace_back(to_string(growth_mark(one.growth.value())));
        table.rows.push_back(std::move(row));
    }
    return table;
}

JsonValue comparison_json(const Comparison& comparison) {
    JsonValue::Array models;
    for (std::size_t i = 0; i < comparison.models.size(); ++i) {
        JsonValue json = estimate_json(comparison.models[i], false);
        const auto ratio = comparison.ratio(i);
        json.set("ratio_to_baseline", ratio ? JsonValue(ratio->to_string()) : JsonValue());
        json.set("growth_mark", to_string(growth_mark(comparison.models[i].growth.value())));
        models.push_back(std::move(json));
    }
    JsonValue json;
    json.set("schema", 1);
    json.set("command", "compare");
    json.set("baseline", comparison.models[comparison.baseline].model->plan.name);
    json.set("settings", settings_json(comparison.models.front()));
    json.set("models", std::move(models));
    return json;
}

} // namespace

int compare_command(const Options& options, Io& io) {
    const Comparison comparison = make_comparison(options, io);
    const TableStyle style = options.output.style();
    if (options.output.json) {
        io.out << dump_json(comparison_json(comparison)) << "\n";
        return answered;
    }
    if (style != TableStyle::csv) {
        io.out << heading(comparison.models.front()) << "; ratio to "
               << comparison.models[comparison.baseline].model->plan.display_name
               << " in total\n\n";
    }
    io.out << format_table(comparison_table(comparison, style), style);
    for (const Estimate& one : comparison.models) {
        for (std::size_t i = one.model->plan.notes.size();
             style != TableStyle::csv && i < one.notes.size(); ++i) {
            io.out << "note: " << one.model->plan.display_name << ": " << one.notes[i] << "\n";
        }
    }
    return answered;
}

} // namespace kvcaliper::cli
