// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"
#include "core/catalog.h"
#include "core/stored_components.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

namespace kvcaliper::cli {

namespace {

struct Curve {
    ModelPtr model;
    std::vector<CurvePoint> points;
};

constexpr Tokens usual_limit{131'072}; ///< where no model states its maximum context

Tokens last_tokens(const std::vector<ModelPtr>& models) {
    Tokens last{0};
    for (const ModelPtr& model : models) {
        last = std::max(last, model->plan.max_context.value_or(Tokens(0)));
    }
    return last > Tokens(0) ? last : usual_limit;
}

std::vector<Curve> make_curves(const Options& options) {
    std::vector<ModelPtr> models;
    for (const std::string& name : options.models) {
        models.push_back(apply_settings(load_model(name), options.settings));
    }
    const Tokens from = options.from.value_or(Tokens(1));
    const Tokens to = options.to.value_or(std::max(from, last_tokens(models)));
    std::vector<Curve> curves;
    for (const ModelPtr& model : models) {
        curves.push_back({model, curve(*model, options.settings, from, to, options.points)});
    }
    return curves;
}

/// Rows of all token counts of all curves; a model is computed where another has its knee, too.
Table curve_table(const std::vector<Curve>& curves, const Settings& settings, TableStyle style) {
    Table table{{{"tokens", true}}, {}};
    std::set<Tokens> tokens;
    std::map<Tokens, std::string> knees;
    for (const Curve& one : curves) {
        table.columns.push_back({one.model->plan.name, true});
        for (const CurvePoint& point : one.points) {
            tokens.insert(point.tokens);
            if (point.is_knee) {
                std::string& names = knees[point.tokens];
                names += (names.empty() ? "" : " ") + one.model->plan.name;
            }
        }
    }
    table.columns.push_back({"knee"});
    for (const Tokens at : tokens) {
        std::vector<std::string> row{style == TableStyle::csv ? std::to_string(at.count())
                                                              : format_integer(at.count())};
        for (const Curve& one : curves) {
            const CacheFormats formats = resolve_formats(settings, one.model->plan);
            const Bytes bytes =
                cache_bytes(one.model->spec, formats, at).bytes() * settings.sequences;
            row.push_back(exact_cell(bytes.count(), style));
        }
        row.push_back(knees[at]);
        table.rows.push_back(std::move(row));
    }
    return table;
}

/// A table has a few counts of a curve that falls again and again.
void write_note_of_teeth(const std::vector<Curve>& curves, const Settings& settings, Io& io) {
    for (const Curve& curve : curves) {
        const CacheFormats formats = resolve_formats(settings, curve.model->plan);
        if (packs(curve.model->spec, formats, Role::key)) {
            io.out << "note: " << formats.k->name << " keeps up to "
                   << formats.k->residual_length - 1 << " recent tokens of K as "
                   << formats.k->residual_format
                   << ": between two counts a cache may be larger than at both\n";
            return;
        }
    }
}

JsonValue curves_json(const std::vector<Curve>& curves) {
    JsonValue::Array models;
    for (const Curve& one : curves) {
        JsonValue::Array points;
        for (const CurvePoint& point : one.points) {
            JsonValue json;
            json.set("tokens", point.tokens.count());
            json.set("required_bytes", point.required.count());
            json.set("knee", point.is_knee);
            points.push_back(std::move(json));
        }
        JsonValue json;
        json.set("name", one.model->plan.name);
        json.set("points", std::move(points));
        models.push_back(std::move(json));
    }
    JsonValue json;
    json.set("schema", 1);
    json.set("command", "curve");
    json.set("models", std::move(models));
    return json;
}

} // namespace

int curve_command(const Options& options, Io& io) {
    const auto curves = make_curves(options);
    const TableStyle style = options.output.style();
    if (options.output.json) {
        JsonValue json = curves_json(curves);
        json.set("settings", settings_json(estimate(curves.front().model, options.settings)));
        io.out << dump_json(json) << "\n";
        return answered;
    }
    if (style != TableStyle::csv) {
        Settings settings = options.settings;
        settings.context = curves.front().points.back().tokens;
        io.out << "bytes against tokens, " << heading(estimate(curves.front().model, settings))
               << "\n\n";
    }
    io.out << format_table(curve_table(curves, options.settings, style), style);
    if (style != TableStyle::csv) {
        write_note_of_teeth(curves, options.settings, io);
    }
    return answered;
}

} // namespace kvcaliper::cli
