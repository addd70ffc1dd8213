// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/report_document.h"

#include "app/gui/budget_page.h"
#include "app/gui/chart_builder.h"
#include "app/gui/compare_model.h"
#include "app/gui/rebuild.h"
#include "app/gui/table_text.h"
#include "app/gui/text.h"
#include "app/gui/text_table.h"
#include "core/catalog.h"
#include "core/engines/engine.h"
#include "core/error.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

namespace kvcaliper::gui {

namespace {

// ---- the answer ---------------------------------------------------------------------------------

std::vector<const StudyRow*> answered_rows(const Study& study) {
    std::vector<const StudyRow*> rows;
    for (const StudyRow& row : study.rows()) {
        if (row.estimate) {
            rows.push_back(&row);
        }
    }
    return rows;
}

QString load_text(const Study& study) {
    const Settings& settings = study.settings();
    return tr("%1 of %2 tokens")
        .arg(sequences_words(settings.sequences), integer_text(settings.context.count()));
}

QString total_text(const StudyRow& row) {
    return bytes_text(row.estimate->required.value());
}

QString fit_text(const Study& study, const BudgetRow& row) {
    if (!row.budget) {
        return tr("whether it fits %1 can not be told").arg(place_text(study));
    }
    const std::int64_t headroom = row.budget->headroom();
    return headroom >= 0 ? tr("fits %1 with %2 free").arg(place_text(study), signed_text(headroom))
                         : tr("does not fit %1: %2 are missing")
                               .arg(place_text(study), signed_text(-headroom));
}

QString one_answer(const Study& study, const StudyRow& row, const BudgetRow& budget) {
    return tr("%1 keeps %2 for %3, and %4.")
        .arg(row.name, total_text(row), load_text(study), fit_text(study, budget));
}

QString many_answer(const Study& study, const std::vector<const StudyRow*>& rows,
                    const std::vector<BudgetRow>& budgets) {
    const auto [least, most] =
        std::minmax_element(rows.begin(), rows.end(), [](const StudyRow* a, const StudyRow* b) {
            return a->estimate->required.value() < b->estimate->required.value();
        });
    const auto fitting = std::count_if(budgets.begin(), budgets.end(), [](const BudgetRow& row) {
        return row.budget && row.budget->fits();
    });
    return tr("For %1, %2 keeps least with %3 and %4 keeps most with %5; %6 of %7 models fit %8.")
        .arg(load_text(study), (*least)->name, total_text(**least), (*most)->name,
             total_text(**most), QString::number(fitting), QString::number(budgets.size()),
             place_text(study));
}

QString answer_text(const Study& study, const std::vector<BudgetRow>& budgets) {
    const auto rows = answered_rows(study);
    if (rows.empty()) {
        return study.rows().empty() ? tr("No model is ticked, so there is nothing to answer.")
                                    : tr("None of the models has an answer.");
    }
    return study.rows().size() == 1 ? one_answer(study, *rows.front(), budgets.front())
                                    : many_answer(study, rows, budgets);
}

QString title_text(const Study& study, const ReportOrigin& origin) {
    const QString subject = study.rows().size() == 1 ? study.rows().front().name
                                                     : tr("%1 models").arg(study.rows().size());
    const QString title = tr("Cache memory of %1").arg(subject);
    return origin.study_name.isEmpty() ? title : tr("%1: %2").arg(origin.study_name, title);
}

// ---- figures ------------------------------------------------------------------------------------

/// A chart or table with the line that makes it again.
ReportCommand again(const QString& line) {
    return {tr("Again:"), line};
}

ReportSection compare_section(const Study& study, const ReportOrigin& origin) {
    CompareModel model(study);
    model.finishSequences();
    ReportSection section{tr("Comparison"), {}};
    section.blocks.push_back(ReportChart{per_token_chart(study)});
    section.blocks.push_back(again(chart_command(QStringLiteral("per-token"), origin.file)));
    section.blocks.push_back(ReportTable{shown_table(model)});
    section.blocks.push_back(again(has_named_models(study)
                                       ? compare_command(study)
                                       : table_command(QStringLiteral("compare"), origin.file)));
    return section;
}

/// The study's context among powers of four, up to the longest maximum context.
std::vector<Tokens> report_contexts(const Study& study) {
    std::vector<Tokens> contexts{study.settings().context};
    for (Tokens tokens{2048}; tokens <= longest_context(study) && contexts.size() < 7;
         tokens = tokens * 4) {
        contexts.push_back(tokens);
    }
    std::sort(contexts.begin(), contexts.end());
    contexts.erase(std::unique(contexts.begin(), contexts.end()), contexts.end());
    return contexts;
}

std::string total_cell(const StudyRow& row, Tokens tokens) {
    const Estimate& estimate = *row.estimate;
    try {
        const Bytes one = cache_bytes(estimate.model->spec, estimate.formats, tokens).bytes();
        const std::string bytes = format_bytes(one * estimate.settings.sequences);
        const auto& most = estimate.model->plan.max_context;
        return most && tokens > *most ? "(" + bytes + ")" : bytes;
    } catch (const Error&) {
        return "–"; // beyond 64 bits
    }
}

Table context_table(const Study& study) {
    Table table{{{utf8(tr("Model"))}}, {}};
    const auto contexts = report_contexts(study);
    for (const Tokens tokens : contexts) {
        table.columns.push_back({format_tokens(tokens), true});
    }
    for (const StudyRow* row : answered_rows(study)) {
        auto& cells = table.rows.emplace_back();
        cells.push_back(utf8(row->name));
        for (const Tokens tokens : contexts) {
            cells.push_back(total_cell(*row, tokens));
        }
    }
    return table;
}

ReportSection context_section(const Study& study, const ReportOrigin& origin) {
    ReportSection section{tr("Over the context"), {}};
    section.blocks.push_back(ReportChart{context_chart(study)});
    section.blocks.push_back(again(chart_command(QStringLiteral("context"), origin.file)));
    section.blocks.push_back(ReportTable{context_table(study)});
    section.blocks.push_back(
        ReportText{tr("Bytes of all sequences. In brackets: past the model's own maximum.")});
    section.blocks.push_back(again(has_named_models(study)
                                       ? curve_command(study)
                                       : table_command(QStringLiteral("context"), origin.file)));
    return section;
}

ReportSection layers_section(const Study& study, const ReportOrigin& origin) {
    ReportSection section{tr("Layer by layer"), {}};
    section.blocks.push_back(ReportChart{layers_chart(study)});
    section.blocks.push_back(again(chart_command(QStringLiteral("layers"), origin.file)));
    return section;
}

ReportSection budget_section(const Study& study, const std::vector<BudgetRow>& budgets,
                             const ReportOrigin& origin) {
    const std::unique_ptr<TextTable> table(make_budget_table(nullptr));
    table->setRows(budget_table_rows(budgets));
    ReportSection section{tr("On the device"), {}};
    section.blocks.push_back(ReportChart{budget_chart(study, budgets)});
    section.blocks.push_back(again(chart_command(QStringLiteral("budget"), origin.file)));
    section.blocks.push_back(ReportTable{shown_table(*table)});
    section.blocks.push_back(again(table_command(QStringLiteral("budget"), origin.file)));
    return section;
}

// ---- settings, notes, sources -------------------------------------------------------------------

void add_setting(Table& table, const QString& name, const QString& value) {
    table.rows.push_back({utf8(name), utf8(value)});
}

/// "auto: bf16": what was asked for, and what that means for the models.
QString format_text(const Study& study, const std::string& asked, FormatClass format_class) {
    QStringList names;
    for (const StudyRow* row : answered_rows(study)) {
        names << text(row->estimate->formats.of(format_class).name);
    }
    names.removeDuplicates();
    return names.isEmpty() || names == QStringList(text(asked))
               ? text(asked)
               : tr("%1: %2").arg(text(asked), names.join(QStringLiteral(", ")));
}

ReportSection settings_section(const Study& study) {
    const Settings& settings = study.settings();
    const BudgetState& place = study.state().budget;
    Table table{{{utf8(tr("Setting"))}, {utf8(tr("Value"))}}, {}};
    add_setting(table, tr("Context"), tr("%1 tokens").arg(integer_text(settings.context.count())));
    add_setting(table, tr("Sequences"), integer_text(settings.sequences));
    for (const auto& [name, asked, format_class] :
         {std::tuple(tr("K format"), &settings.k_format, FormatClass::k),
          std::tuple(tr("V format"), &settings.v_format, FormatClass::v),
          std::tuple(tr("Index key format"), &settings.index_format, FormatClass::index),
          std::tuple(tr("Convolution format"), &settings.conv_format, FormatClass::conv),
          std::tuple(tr("State format"), &settings.state_format, FormatClass::state)}) {
        add_setting(table, name, format_text(study, *asked, format_class));
    }
    const StudyRow* baseline = study.row(study.effectiveBaseline());
    add_setting(table, tr("Baseline"), baseline != nullptr ? baseline->name : tr("none"));
    add_setting(table, tr("Budget"), place_text(study));
    for (auto one = place.weights.begin(); one != place.weights.end(); ++one) {
        const StudyRow* row = study.row(one.key());
        add_setting(table, tr("Weights of %1").arg(row != nullptr ? row->name : one.key()),
                    one.value());
    }
    return {tr("Settings"), {ReportTable{std::move(table)}}};
}

QStringList notes_of(const StudyRow& row) {
    if (!row.estimate) {
        return {row.error};
    }
    const ModelPlan& plan = row.model->plan;
    QStringList notes = {tr("read as %1 (%2): %3")
                             .arg(text(plan.model_type), text(to_string(plan.confidence)),
                                  layers_text(row.estimate->model->spec))};
    for (const std::string& note : row.estimate->notes) {
        notes << text(note);
    }
    return notes;
}

ReportSection notes_section(const Study& study) {
    ReportSection section{tr("Notes on the models"), {}};
    for (const StudyRow& row : study.rows()) {
        section.blocks.push_back(ReportHeading{row.name});
        section.blocks.push_back(ReportList{notes_of(row)});
    }
    return section;
}

/// Where the published configs of bundled models are from, by the bundled names.
std::map<QString, QString> bundled_sources() {
    std::map<QString, QString> sources;
    for (const CatalogEntry& entry : bundled_models()) {
        sources[text(entry.name)] = text(entry.source);
    }
    return sources;
}

QString model_source(const Study& study, const StudyRow& row,
                     const std::map<QString, QString>& bundled) {
    const auto own = study.state().configs.constFind(row.id);
    if (own != study.state().configs.constEnd()) {
        return own->from.isEmpty() ? tr("%1: a config of this study").arg(row.name)
                                   : tr("%1: an edited copy of %2").arg(row.name, own->from);
    }
    const auto known = bundled.find(row.id);
    return tr("%1: %2").arg(row.name, known != bundled.end() ? known->second : row.id);
}

ReportSection sources_section(const Study& study) {
    QStringList items;
    try {
        const auto bundled = bundled_sources();
        for (const StudyRow& row : study.rows()) {
            items << model_source(study, row, bundled);
        }
        const Device device = find_device(utf8(study.state().budget.device));
        items << tr("%1: %2").arg(text(device.display_name), text(device.source));
        const EngineInfo& engine = find_engine(utf8(study.state().budget.engine));
        items << tr("engine %1: %2").arg(text(engine.name), text(engine.version));
    } catch (const std::exception& exception) {
        items << text(exception.what());
    }
    items << tr("Rules of the architectures and all figures: kvcaliper %1").arg(text(version));
    return {tr("Sources"), {ReportList{items}}};
}

ReportSection again_section(const ReportOrigin& origin) {
    const QString file = origin.file;
    return {tr("This report again"),
            {ReportText{tr("This file carries the whole study. It opens in the window, and charts, "
                           "tables and reports are made from it:")},
             ReportCommand{tr("Open:"), shell_line({QStringLiteral("kvcaliper-gui"), file})},
             ReportCommand{tr("Report:"),
                           shell_line({QStringLiteral("kvcaliper-gui"), QStringLiteral("--report"),
                                       QStringLiteral("again.pdf"), file})}}};
}

} // namespace

QString formats_text(const CacheFormats& formats) {
    return tr("%1 K, %2 V").arg(text(formats.k->name), text(formats.v->name));
}

QString sequences_words(std::int64_t sequences) {
    return sequences == 1 ? tr("1 sequence") : tr("%1 sequences").arg(sequences_text(sequences));
}

Report make_report(const Study& study, const ReportOrigin& origin) {
    const auto budgets = budget_rows(study);
    Report report;
    report.title = title_text(study, origin);
    report.answer = answer_text(study, budgets);
    report.view = view_text(study);
    report.made = tr("kvcaliper %1, %2").arg(text(version), origin.date.toString(Qt::ISODate));
    report.study = origin.document;
    if (!study.rows().empty()) {
        report.sections = {compare_section(study, origin), context_section(study, origin),
                           layers_section(study, origin),  budget_section(study, budgets, origin),
                           checklist_section(study),       settings_section(study),
                           notes_section(study),           sources_section(study)};
    }
    report.sections.push_back(again_section(origin));
    return report;
}

} // namespace kvcaliper::gui
