// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/headless.h"

#include "app/gui/budget.h"
#include "app/gui/chart_builder.h"
#include "app/gui/chart_export.h"
#include "app/gui/engine_options.h"
#include "app/gui/main_window.h"
#include "app/gui/pages.h"
#include "app/gui/quality_chart.h"
#include "app/gui/report_export.h"
#include "app/gui/study_session.h"
#include "app/gui/text.h"
#include "core/error.h"

#include <QApplication>
#include <QPixmap>

#include <algorithm>

namespace kvcaliper::gui {

namespace {

void throw_if(const std::optional<QString>& problem) {
    if (problem) {
        throw Error(utf8(*problem));
    }
}

/// Options belong to an engine, which a study may name: they are read when it is known.
void set_engine_options(BudgetState& budget, const QStringList& written) {
    for (const QString& one : written) {
        try {
            const EngineOptionChange option = read_engine_option(budget.engine, one);
            budget.options[budget.engine].insert(option.name, option.value);
            if (option.value.isEmpty()) { // the default
                budget.options[budget.engine].remove(option.name);
            }
        } catch (const Error& error) {
            const std::string reason = error.what();
            throw Error(reason.starts_with("--") ? reason : "--engine-opt: " + reason);
        }
    }
    if (budget.options.value(budget.engine).isEmpty()) {
        budget.options.remove(budget.engine);
    }
}

/// Options of the command line over what the study says, as a part of its start.
void apply_given(Study& study, const Options& options) {
    StudyState state = study.state();
    const auto given = [&](const char* name) {
        return options.given.contains(QLatin1String(name));
    };
    const auto take = [&](bool wanted, auto& target, const auto& value) {
        target = wanted ? value : target;
    };
    take(given("context"), state.settings.context, options.settings.context);
    take(given("sequences"), state.settings.sequences, options.settings.sequences);
    take(given("k") || given("kv"), state.settings.k_format, options.settings.k_format);
    take(given("v") || given("kv"), state.settings.v_format, options.settings.v_format);
    const bool lines = options.ofContext();
    take(given("gpu") && !lines, state.budget.device, options.budget.device);
    take(given("gpu") && lines, state.context_view.devices, options.context_view.devices);
    take(given("linear"), state.context_view.linear, options.context_view.linear);
    take(given("recompute"), state.context_view.recompute, options.context_view.recompute);
    take(given("engine"), state.budget.engine, options.budget.engine);
    for (const auto& [name, member] : other_formats) {
        take(given(name), state.settings.*member, options.settings.*member);
    }
    for (const auto& [name, member] : rank_options) {
        take(given(name), state.budget.*member, options.budget.*member);
    }
    set_engine_options(state.budget, options.engine_options);
    if (given("weights")) { // one size for all, as the option says; none is auto
        const auto& sizes = options.budget.weights;
        state.budget.weights.clear();
        for (const QString& model : sizes.isEmpty() ? QStringList() : state.models) {
            state.budget.weights.insert(model, sizes.first());
        }
    }
    study.reset(state);
}

/// A model that has no answer is an error without a window, not a row.
void require_answers(const Study& study) {
    for (const StudyRow& row : study.rows()) {
        if (!row.error.isEmpty()) {
            const QString name = row.id + QStringLiteral(": ");
            const bool unnamed = row.model && !row.error.startsWith(name);
            throw Error(utf8(unnamed ? name + row.error : row.error));
        }
    }
}

ChartData make_chart(const Study& study, const QString& kind) {
    if (kind == QLatin1String("context")) {
        return context_chart(study);
    }
    if (kind == QLatin1String("budget")) {
        return budget_chart(study, budget_rows(study));
    }
    return kind == QLatin1String("layers") ? layers_chart(study) : per_token_chart(study);
}

ChartData study_chart(const Options& options) {
    Study study;
    StudySession session(study);
    start_study(session, options);
    require_answers(study);
    return make_chart(study, options.kind);
}

void make_screenshot(const Options& options) {
    MainWindow window;
    start_study(window.session(), options);
    require_answers(window.study());
    window.showTab(options.tab);
    window.resize(options.size.value_or(QSize(1280, 800)));
    window.show();
    QCoreApplication::processEvents();
    window.comparePage().finish();
    if (!window.grab().save(options.file, "PNG")) {
        throw Error(utf8(options.file) + ": the picture could not be written");
    }
}

/// The table as the page has it.
void make_table(const Options& options) {
    if (options.tab == QLatin1String("verify")) {
        throw Error("--tab: expected a page whose table needs no run, found \"verify\"");
    }
    MainWindow window;
    start_study(window.session(), options);
    require_answers(window.study());
    window.showTab(options.tab);
    window.show();
    QCoreApplication::processEvents();
    throw_if(window.writeTable(options.file));
}

void make_report_file(const Options& options) {
    Study study;
    StudySession session(study);
    start_study(session, options);
    require_answers(study);
    throw_if(write_report(session, options.file));
}

} // namespace

void start_study(StudySession& session, const Options& options) {
    const QStringList& models = options.models;
    if (std::any_of(models.begin(), models.end(), opens_as_study)) {
        if (models.size() > 1) {
            throw Error("expected one study file alone, found " + std::to_string(models.size()) +
                        " files and models");
        }
        throw_if(session.open(models.front()));
    } else {
        StudyState state = seed_state();
        state.models = models.isEmpty() ? state.models : models;
        state.models.removeDuplicates();
        session.startNew(state);
    }
    if (!options.given.isEmpty() || !options.engine_options.isEmpty()) {
        apply_given(session.study(), options);
    }
}

void run_headless(const Options& options) {
    if (options.task == Options::Task::screenshot) {
        return make_screenshot(options);
    }
    if (options.task == Options::Task::table) {
        return make_table(options);
    }
    if (options.task == Options::Task::report) {
        return make_report_file(options);
    }
    const ChartData data = options.kind == QLatin1String("quality")
                               ? quality_chart(read_quality_answer())
                               : study_chart(options);
    throw_if(export_chart(data, chart_theme_for(QApplication::palette()),
                          options.size.value_or(export_size(data)), options.file));
}

} // namespace kvcaliper::gui
