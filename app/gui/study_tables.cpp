// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/study_tables.h"

#include "app/gui/budget.h"
#include "app/gui/chart_builder.h"
#include "app/gui/chart_export.h"
#include "app/gui/rebuild.h"
#include "app/gui/text.h"
#include "core/error.h"
#include "core/stored_components.h"

#include <map>
#include <set>

namespace kvcaliper::gui {

namespace {

// ---- curves -------------------------------------------------------------------------------------

struct CurveColumn {
    const Estimate* estimate;
    std::vector<CurvePoint> points;
};

/// Curves of the models that have one up to there; a number beyond 64 bits has none.
std::vector<CurveColumn> curve_columns(const Study& study) {
    std::vector<CurveColumn> columns;
    for (const StudyRow& row : study.rows()) {
        if (!row.estimate) {
            continue;
        }
        try {
            columns.push_back(
                {&*row.estimate, curve(*row.estimate->model, study.settings(), Tokens(1),
                                       longest_context(study), table_points)});
        } catch (const Error&) {
            continue;
        }
    }
    return columns;
}

std::string bytes_at(const Estimate& estimate, Tokens tokens) {
    const Bytes one = cache_bytes(estimate.model->spec, estimate.formats, tokens).bytes();
    return std::to_string((one * estimate.settings.sequences).count());
}

// ---- layers -------------------------------------------------------------------------------------

std::vector<std::string> component_cells(const Component& component, const Estimate& estimate) {
    const Bytes bytes = component_bytes(component, estimate.formats, estimate.settings.context) *
                        estimate.settings.sequences;
    return {std::string(to_string(component.kind)),
            std::string(to_string(component.role)),
            std::to_string(component.elements()),
            component.units.to_string(),
            std::string(format_of(component, estimate.formats).name),
            std::to_string(bytes.count())};
}

/// A layer that keeps nothing has one row that says why.
std::vector<std::string> empty_cells(const LayerCache& layer) {
    const std::string reads =
        layer.shared_with ? "reads layer " + std::to_string(*layer.shared_with) : std::string();
    return {layer.kind, reads, "0", "", "", "0"};
}

void add_layer(Table& table, const StudyRow& row, std::size_t index) {
    const LayerCache& layer = row.estimate->model->spec.layers[index];
    const auto add = [&](const std::vector<std::string>& cells) {
        auto& added = table.rows.emplace_back();
        added = {utf8(row.name), std::to_string(index)};
        added.insert(added.end(), cells.begin(), cells.end());
        added.push_back(layer.decided_by);
    };
    for_each_stored(layer.components, row.estimate->formats, [&](const Component& component) {
        add(component_cells(component, *row.estimate));
    });
    if (layer.components.empty()) {
        add(empty_cells(layer));
    }
}

// ---- origins ------------------------------------------------------------------------------------

std::vector<std::string> fit_commands(const Study& study) {
    std::vector<std::string> commands;
    for (const StudyRow& row : study.rows()) {
        try {
            if (row.model) {
                const Settings settings = deployment_of(study, row).settings;
                commands.push_back(utf8(fit_command(study, row, settings)));
            }
        } catch (const std::exception&) {
            continue; // the table's row says why there is no answer
        }
    }
    return commands;
}

std::vector<std::string> page_commands(const Study& study, const QString& page) {
    if (page == QLatin1String("budget")) {
        return fit_commands(study);
    }
    if (page == QLatin1String("context")) {
        return {utf8(curve_command(study))};
    }
    if (page != QLatin1String("layers")) {
        return {utf8(compare_command(study))};
    }
    std::vector<std::string> commands;
    for (const QString& command : layer_commands(study)) {
        commands.push_back(utf8(command));
    }
    return commands;
}

} // namespace

Table curve_table(const Study& study) {
    const auto columns = curve_columns(study);
    Table table{{{"tokens", true}}, {}};
    std::set<Tokens> tokens;
    std::map<Tokens, std::string> knees;
    for (const CurveColumn& column : columns) {
        const std::string& name = column.estimate->model->plan.name;
        table.columns.push_back({name, true});
        for (const CurvePoint& point : column.points) {
            tokens.insert(point.tokens);
            std::string& names = knees[point.tokens];
            names += !point.is_knee ? "" : (names.empty() ? "" : " ") + name;
        }
    }
    table.columns.push_back({"knee"});
    for (const Tokens at : tokens) {
        auto& cells = table.rows.emplace_back();
        cells.push_back(std::to_string(at.count()));
        for (const CurveColumn& column : columns) {
            cells.push_back(bytes_at(*column.estimate, at));
        }
        cells.push_back(knees[at]);
    }
    return table;
}

Table layer_table(const Study& study) {
    const Settings& settings = study.settings();
    const QString bytes = tr("Bytes at %1 tokens, %2 sequence(s) (B)")
                              .arg(settings.context.count())
                              .arg(settings.sequences);
    Table table{{{utf8(tr("Model"))},
                 {utf8(tr("Layer")), true},
                 {utf8(tr("Kind"))},
                 {utf8(tr("Component"))},
                 {utf8(tr("Elements")), true},
                 {utf8(tr("Units"))},
                 {utf8(tr("Format"))},
                 {utf8(bytes), true},
                 {utf8(tr("Decided by"))}},
                {}};
    for (const StudyRow& row : study.rows()) {
        const std::size_t layers = row.estimate ? row.estimate->model->spec.layers.size() : 0;
        for (std::size_t layer = 0; layer < layers; ++layer) {
            add_layer(table, row, layer);
        }
    }
    return table;
}

TableOrigin table_origin(const Study& study, const QString& page, const QString& file,
                         JsonValue document) {
    const QString view = view_text(study);
    TableOrigin origin;
    origin.name = utf8(page);
    origin.title = utf8(
        page == QLatin1String("budget") ? view + QStringLiteral("; ") + place_text(study) : view);
    origin.commands = has_named_models(study)
                          ? page_commands(study, page)
                          : std::vector<std::string>{utf8(table_command(page, file))};
    origin.study = std::move(document);
    return origin;
}

std::optional<QString> export_table(const StudyTable& table, const QString& path) {
    const auto format = table_format_of(utf8(path));
    if (!format) {
        return tr("%1: expected a name ending in .csv, .tsv, .md or .json").arg(path);
    }
    return write_file(
        path, QByteArray::fromStdString(write_table_file(table.table, table.origin, *format)));
}

} // namespace kvcaliper::gui
