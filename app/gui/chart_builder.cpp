// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/chart_builder.h"

#include "app/gui/chart_layout.h"
#include "app/gui/context_extras.h"
#include "app/gui/curve_teeth.h"
#include "app/gui/format_setting.h"
#include "app/gui/text.h"
#include "core/error.h"
#include "core/report.h"

#include <QStringList>

#include <algorithm>
#include <set>

namespace kvcaliper::gui {

namespace {

constexpr int curve_points = 200;

QString kv_text(const Study& study) {
    try {
        const CacheFormats formats = resolve_formats(study.settings(), ModelPlan{});
        return formats.k == formats.v
                   ? tr("%1 K/V").arg(text(formats.k->name))
                   : tr("%1 K, %2 V").arg(text(formats.k->name), text(formats.v->name));
    } catch (const Error& error) {
        return text(error.what());
    }
}

QString name_of(const Study& study, const QString& id) {
    const StudyRow* row = study.row(id);
    return row != nullptr ? row->name : id;
}

// --- bars

/// What stands under the number: "80 KiB past 1,024 tokens", "35 MiB fixed".
QString bar_detail(const Estimate& estimate) {
    const Ratio uncapped = estimate.uncapped.value();
    const Ratio growth = estimate.growth.value();
    const Ratio constant = estimate.constant.value();
    if (uncapped == Ratio(0)) {
        return constant == Ratio(0) ? QString() : tr("%1 fixed").arg(bytes_text(constant));
    }
    if (uncapped == growth) {
        return {};
    }
    return estimate.knees.empty()
               ? tr("%1 past its windows").arg(bytes_text(growth))
               : tr("%1 past %2 tokens")
                     .arg(bytes_text(growth), integer_text(estimate.knees.back().tokens.count()));
}

Bar make_bar(const StudyRow& row, int series) {
    Bar bar;
    bar.name = row.name;
    bar.series = series;
    if (!row.estimate) {
        bar.label = tr("no answer");
        bar.detail = row.error;
        bar.tooltip = row.error;
        return bar;
    }
    const Ratio uncapped = row.estimate->uncapped.value();
    bar.solid = std::min(row.estimate->growth.value(), uncapped);
    bar.hatched = uncapped - bar.solid;
    bar.label = uncapped == Ratio(0) ? tr("0 B/token") : bytes_text(uncapped);
    bar.detail = bar_detail(*row.estimate);
    bar.tooltip = tr("%1: uncapped %2 per token, growth %3 per token, constant %4 per sequence")
                      .arg(row.name, exact_text(uncapped), exact_text(row.estimate->growth.value()),
                           exact_text(row.estimate->constant.value()));
    return bar;
}

std::vector<LegendEntry> bar_legend(const BarChart& chart) {
    const bool windows = std::any_of(chart.bars.begin(), chart.bars.end(),
                                     [](const Bar& bar) { return bar.hatched != Ratio(0); });
    if (!windows) {
        return {};
    }
    const Ink solid{Ink::Group::series, -1, Hatch::none};
    const Ink hatched{Ink::Group::series, -1, Hatch::diagonal};
    return {{tr("grows with every token"), solid},
            {tr("stops growing when its window is full"), hatched}};
}

// --- curves

std::vector<CurvePointData> points_between(const StudyRow& row, Tokens from, Tokens to,
                                           const std::vector<Tokens>& shown) {
    return drawn_points(*row.estimate,
                        curve(*row.model, row.estimate->settings, from, to, curve_points), shown);
}

QString teeth_remark(const Study& study) {
    const auto& rows = study.rows();
    return std::any_of(rows.begin(), rows.end(),
                       [](const StudyRow& row) { return row.estimate && has_teeth(*row.estimate); })
               ? tr("; teeth: K is packed (further right their tips alone)")
               : QString();
}

std::vector<CurvePointData> knee_points(const StudyRow& row, Tokens until) {
    std::vector<CurvePointData> points;
    for (const Knee& knee : row.estimate->knees) {
        if (knee.tokens <= until) {
            const auto at = curve(*row.model, row.estimate->settings, knee.tokens, knee.tokens, 2);
            points.push_back({knee.tokens, at.front().required});
        }
    }
    return points;
}

/// The curve of a row from 1 token to `end`, through the counts that are shown as points. A number
/// past 64 bits ends it early, not the chart.
Curve make_curve(const StudyRow& row, int series, Tokens end,
                 const std::vector<Tokens>& shown = {}) {
    Curve result;
    result.name = row.name;
    result.series = series;
    const Tokens limit = std::min(end, row.model->plan.max_context.value_or(end));
    try {
        result.points = points_between(row, Tokens(1), limit, shown);
        result.knees = knee_points(row, limit);
        if (limit < end) {
            result.beyond = points_between(row, limit, end, shown);
        }
    } catch (const Error&) {
        result.beyond.clear();
    }
    return result;
}

QString curve_summary(const Study& study) {
    QStringList parts;
    for (const StudyRow& row : study.rows()) {
        if (row.estimate) {
            parts << tr("%1 %2").arg(row.name,
                                     text(format_bytes_exact(row.estimate->required.bytes())));
        }
    }
    return parts.join(QStringLiteral("; "));
}

/// The next power of two, so that curves reach the edge of a chart ruled in powers of two.
Tokens power_of_two_from(Tokens tokens) {
    std::int64_t power = 2;
    while (power < tokens.count() && power < (std::int64_t{1} << 61)) {
        power *= 2;
    }
    return std::max(Tokens(power), tokens);
}

// --- layers

double layer_bytes(const LayerCache& layer, const Estimate& estimate) {
    double bytes = 0;
    for (const Component& component : layer.components) {
        bytes += static_cast<double>(
            component_bytes(component, estimate.formats, estimate.settings.context).count());
    }
    return bytes;
}

LayerRow make_layer_row(const StudyRow& row) {
    LayerRow result;
    result.name = row.name;
    if (!row.model) {
        result.caption = row.error;
        return result;
    }
    result.caption = row.estimate ? layers_text(row.model->spec) : row.error;
    double largest = 0;
    for (const LayerCache& layer : row.model->spec.layers) {
        result.cells.push_back({layer_text(layer), layer_ink(layer),
                                row.estimate ? layer_bytes(layer, *row.estimate) : 0,
                                layer.shared_with});
        largest = std::max(largest, result.cells.back().fill);
    }
    for (LayerCell& cell : result.cells) {
        cell.fill = largest > 0 ? cell.fill / largest : 0;
    }
    return result;
}

std::vector<LegendEntry> kind_legend(const LayerChart& chart) {
    std::vector<LegendEntry> legend;
    for (const LayerRow& row : chart.rows) {
        for (const LayerCell& cell : row.cells) {
            const auto same = [&](const LegendEntry& entry) { return entry.text == cell.kind; };
            if (std::none_of(legend.begin(), legend.end(), same)) {
                legend.push_back({cell.kind, cell.ink});
            }
        }
    }
    return legend;
}

QString layer_summary(const LayerChart& chart) {
    QStringList parts;
    for (const LayerRow& row : chart.rows) {
        parts << tr("%1: %2").arg(row.name, row.caption);
    }
    return parts.join(QStringLiteral("; "));
}

/// Title, and what the numbers are numbers of; both say so when there is nothing to show.
ChartData titled(const Study& study, const QString& title, const QString& remark = {}) {
    ChartData data;
    data.title = title;
    data.subtitle = study.rows().empty() ? tr("No model is ticked.") : view_text(study) + remark;
    data.description = view_text(study);
    return data;
}

} // namespace

Ink kind_ink(LayerKind kind) {
    const auto ink = [](int colour, Hatch hatch) { return Ink{Ink::Group::kind, colour, hatch}; };
    switch (kind) {
    case LayerKind::full_attention:
        return ink(0, Hatch::none);
    case LayerKind::sliding_attention:
        return ink(1, Hatch::diagonal);
    case LayerKind::chunked_attention:
        return ink(1, Hatch::cross);
    case LayerKind::cross_attention:
        return ink(4, Hatch::horizontal);
    case LayerKind::mla:
        return ink(2, Hatch::horizontal);
    case LayerKind::compressed_attention:
        return ink(2, Hatch::cross);
    case LayerKind::mamba1:
        return ink(3, Hatch::back_diagonal);
    case LayerKind::mamba2:
        return ink(3, Hatch::cross);
    case LayerKind::gated_delta:
        return ink(3, Hatch::diagonal);
    case LayerKind::kda:
        return ink(3, Hatch::vertical);
    case LayerKind::lightning:
        return ink(3, Hatch::horizontal);
    case LayerKind::gla:
        return ink(3, Hatch::none);
    case LayerKind::rglru:
        return ink(4, Hatch::diagonal);
    case LayerKind::short_conv:
        return ink(4, Hatch::back_diagonal);
    case LayerKind::rwkv4:
        return ink(4, Hatch::vertical);
    case LayerKind::rwkv:
        return ink(4, Hatch::cross);
    case LayerKind::xlstm:
        return ink(4, Hatch::none);
    case LayerKind::kv_conv:
        return ink(2, Hatch::vertical);
    }
    return {};
}

Ink layer_ink(const LayerCache& layer) {
    const auto kinds = kinds_of(layer);
    if (kinds.empty()) {
        const Hatch hatch = layer.shared_with ? Hatch::back_diagonal : Hatch::none;
        return {Ink::Group::kind, -1, hatch};
    }
    return kinds.size() == 1 ? kind_ink(kinds.front()) : Ink{Ink::Group::kind, 0, Hatch::cross};
}

QString other_formats_text(const Settings& settings) {
    QString result;
    for (const FormatClass one : {FormatClass::index, FormatClass::conv, FormatClass::state}) {
        const std::string& format = settings.*format_member(one);
        if (format != "auto") {
            result += QStringLiteral(", %1 %2").arg(format_class_text(one), text(format));
        }
    }
    return result;
}

QString view_text(const Study& study) {
    const Settings& settings = study.settings();
    QString result = tr("required, engine %1, %2%3, context %4")
                         .arg(text(settings.engine), kv_text(study), other_formats_text(settings),
                              integer_text(settings.context.count()));
    if (settings.sequences != 1) {
        result += tr(", %1 sequences").arg(integer_text(settings.sequences));
    }
    return result;
}

ChartData per_token_chart(const Study& study) {
    BarChart chart;
    QStringList parts;
    for (const StudyRow& row : study.rows()) {
        chart.bars.push_back(make_bar(row, static_cast<int>(chart.bars.size())));
        parts << chart.bars.back().tooltip;
    }
    chart.axis = tr("bytes per token, uncapped");
    ChartData data = titled(study, tr("KV cache per token"));
    data.description += QStringLiteral("; ") + parts.join(QStringLiteral("; "));
    data.legend = bar_legend(chart);
    data.body = std::move(chart);
    return data;
}

Tokens longest_context(const Study& study) {
    Tokens longest = study.settings().context;
    for (const StudyRow& row : study.rows()) {
        if (row.model && row.model->plan.max_context) {
            longest = std::max(longest, *row.model->plan.max_context);
        }
    }
    return longest;
}

ChartData context_chart(const Study& study) {
    CurveChart chart;
    const Tokens end = power_of_two_from(longest_context(study));
    int series = 0;
    for (const StudyRow& row : study.rows()) {
        if (row.estimate) {
            chart.curves.push_back(make_curve(row, series, end));
        }
        ++series;
    }
    const Tokens context = study.settings().context;
    chart.guides.push_back({context, tr("context %1").arg(text(format_tokens(context)))});
    chart.x_axis = tr("tokens");
    chart.y_axis = tr("bytes, all sequences");
    const ContextExtras extras = add_context_extras(study, end, chart);
    ChartData data = titled(study, tr("Cache over context"),
                            tr("; ◇ a window is full; dotted past a model's own maximum") +
                                teeth_remark(study) + extras.remark);
    data.description += tr("; at the context: %1").arg(curve_summary(study)) + extras.description;
    data.body = std::move(chart);
    return data;
}

ChartData layers_chart(const Study& study) {
    LayerChart chart;
    for (const StudyRow& row : study.rows()) {
        chart.rows.push_back(make_layer_row(row));
    }
    chart.axis = tr("layer");
    const bool shares = std::any_of(chart.rows.begin(), chart.rows.end(), borrows);
    ChartData data = titled(study, tr("What each layer keeps"),
                            tr("; height: bytes as a share of the model's largest layer") +
                                (shares ? tr("; ↑ the layer whose cache others read") : QString()));
    data.description += QStringLiteral("; ") + layer_summary(chart);
    data.legend = kind_legend(chart);
    data.body = std::move(chart);
    return data;
}

ChartData verify_chart(const Study& study, const QString& id,
                       const std::vector<CurvePointData>& measured) {
    CurveChart chart;
    const StudyRow* row = study.row(id);
    if (row != nullptr && row->estimate) {
        Tokens end = study.settings().context;
        std::vector<Tokens> shown;
        for (const CurvePointData& point : measured) {
            end = std::max(end, point.tokens);
            shown.push_back(point.tokens);
        }
        chart.curves.push_back(make_curve(*row, 0, power_of_two_from(end), shown));
        chart.curves.back().measured = measured;
    }
    chart.x_axis = tr("tokens");
    chart.y_axis = tr("bytes, all sequences");
    ChartData data =
        titled(study, tr("%1: predicted line, measured points").arg(name_of(study, id)));
    data.description += tr("; points measured: %1").arg(measured.size());
    data.body = std::move(chart);
    return data;
}

} // namespace kvcaliper::gui
