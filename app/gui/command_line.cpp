// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/command_line.h"

#include "app/gui/budget.h"
#include "app/gui/chart_builder.h"
#include "app/gui/chart_export.h"
#include "app/gui/log_slider.h"
#include "app/gui/main_window.h"
#include "app/gui/quality_chart.h"
#include "app/gui/study_session.h"
#include "app/gui/text.h"
#include "core/engines/engine.h"
#include "core/error.h"
#include "core/report.h"

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QPixmap>
#include <QRegularExpression>

#include <algorithm>
#include <string_view>

namespace kvcaliper::gui {

namespace {

constexpr int largest_side = 16384;

void add_options(QCommandLineParser& parser) {
    parser.setApplicationDescription(QStringLiteral(
        "KV cache memory of language models, in a window. Without --chart and --screenshot the "
        "window opens."));
    parser.addPositionalArgument(
        QStringLiteral("MODEL"),
        QStringLiteral("config.json, folder or bundled name, or one study file"),
        QStringLiteral("[MODEL…]"));
    const auto add = [&](const QStringList& names, const char* help, const char* value = "") {
        parser.addOption({names, QString::fromUtf8(help), QString::fromUtf8(value)});
    };
    add({QStringLiteral("chart")}, "write a chart as .svg, .pdf or .png and exit", "FILE");
    add({QStringLiteral("kind")},
        "chart: per-token (default), context, layers, budget, or quality (figures on standard "
        "input)",
        "KIND");
    add({QStringLiteral("screenshot")}, "write a picture of the window as .png and exit", "FILE");
    add({QStringLiteral("tab")},
        "page to show: compare (default), context, layers, budget, claims or verify", "TAB");
    add({QStringLiteral("theme")}, "light, dark or system", "THEME");
    add({QStringLiteral("size")}, "size in pixels, as in 960x540", "WxH");
    add({QStringLiteral("c"), QStringLiteral("context")}, "tokens (default 8192)", "TOKENS");
    add({QStringLiteral("n"), QStringLiteral("sequences")}, "sequences (default 1)", "N");
    add({QStringLiteral("kv")}, "format of K and V", "FORMAT");
    add({QStringLiteral("k")}, "format of K", "FORMAT");
    add({QStringLiteral("v")}, "format of V", "FORMAT");
    add({QStringLiteral("gpu")}, "device of the budget (default h100-80)", "NAME");
    add({QStringLiteral("engine")}, "engine of the budget (default ideal)", "NAME");
    add({QStringLiteral("tp")}, "tensor ranks of the budget (default 1)", "N");
    add({QStringLiteral("weights")}, "bytes of each model's weights (default auto)", "SIZE");
    add({QStringLiteral("h"), QStringLiteral("help")}, "show this help");
    add({QStringLiteral("version")}, "show the version");
}

[[noreturn]] void fail(const QString& option, const QString& expected, const QString& found) {
    throw Error(
        utf8(QStringLiteral("--%1: expected %2, found \"%3\"").arg(option, expected, found)));
}

QSize parse_size(const QString& written) {
    const auto match = QRegularExpression(QStringLiteral("^(\\d{1,5})x(\\d{1,5})$")).match(written);
    const QSize size(match.captured(1).toInt(), match.captured(2).toInt());
    if (size.width() < 64 || size.height() < 64 || size.width() > largest_side ||
        size.height() > largest_side) {
        fail(QStringLiteral("size"), QStringLiteral("WxH, each from 64 to 16384"), written);
    }
    return size;
}

std::int64_t parse_number(const QString& option, const QString& written) {
    QString error;
    const auto value = parse_count(written, error);
    if (!value) {
        fail(option, QStringLiteral("a number of at least 1, as in 8192 or 128K"), written);
    }
    return *value;
}

QString one_of(const QString& option, const QString& written, const QStringList& known) {
    if (!known.contains(written)) {
        fail(option, known.join(QStringLiteral(", ")), written);
    }
    return written;
}

Settings read_settings(const QCommandLineParser& parser) {
    Settings settings;
    if (parser.isSet(QStringLiteral("context"))) {
        settings.context = Tokens(
            parse_number(QStringLiteral("context"), parser.value(QStringLiteral("context"))));
    }
    if (parser.isSet(QStringLiteral("sequences"))) {
        settings.sequences =
            parse_number(QStringLiteral("sequences"), parser.value(QStringLiteral("sequences")));
    }
    for (const char* name : {"kv", "k", "v"}) {
        const QString option = QLatin1String(name);
        if (!parser.isSet(option)) {
            continue;
        }
        const std::string format = utf8(parser.value(option));
        (name[0] == 'k' ? settings.k_format : settings.v_format) = format;
        if (option == QLatin1String("kv")) {
            settings.v_format = format;
        }
    }
    resolve_formats(settings, ModelPlan{}); // an unknown format is found here
    return settings;
}

void read_looks(Options& options, const QCommandLineParser& parser) {
    const auto value = [&](const char* name) { return parser.value(QLatin1String(name)); };
    const auto is_set = [&](const char* name) { return parser.isSet(QLatin1String(name)); };
    if (is_set("kind")) {
        options.kind =
            one_of(QStringLiteral("kind"), value("kind"),
                   {QStringLiteral("per-token"), QStringLiteral("context"),
                    QStringLiteral("layers"), QStringLiteral("budget"), QStringLiteral("quality")});
    }
    if (is_set("tab")) {
        options.tab = one_of(QStringLiteral("tab"), value("tab"), MainWindow::tabNames());
    }
    if (is_set("theme")) {
        options.theme = theme_from(
            one_of(QStringLiteral("theme"), value("theme"),
                   {QStringLiteral("light"), QStringLiteral("dark"), QStringLiteral("system")}));
    }
    if (is_set("size")) {
        options.size = parse_size(value("size"));
    }
}

/// Devices, engines and sizes nobody knows are found here, not in the middle of a chart.
BudgetState read_budget(const QCommandLineParser& parser, const QStringList& models) {
    BudgetState budget;
    const auto value = [&](const char* name) { return parser.value(QLatin1String(name)); };
    if (parser.isSet(QStringLiteral("gpu"))) {
        budget.device = text(find_device(utf8(value("gpu"))).name);
    }
    if (parser.isSet(QStringLiteral("engine"))) {
        budget.engine = text(find_engine(utf8(value("engine"))).name);
    }
    if (parser.isSet(QStringLiteral("tp"))) {
        budget.tensor = parse_number(QStringLiteral("tp"), value("tp"));
    }
    if (parser.isSet(QStringLiteral("weights")) && value("weights") != QLatin1String("auto")) {
        parse_bytes(utf8(value("weights")));
        for (const QString& model : models) {
            budget.weights.insert(model, value("weights"));
        }
    }
    return budget;
}

/// Which settings were written, and not left to a study file or to their defaults.
QStringList given_options(const QCommandLineParser& parser) {
    QStringList given;
    for (const char* name :
         {"context", "sequences", "kv", "k", "v", "gpu", "engine", "tp", "weights"}) {
        if (parser.isSet(QLatin1String(name))) {
            given << QLatin1String(name);
        }
    }
    return given;
}

Options::Task read_task(Options& options, const QCommandLineParser& parser) {
    if (parser.isSet(QStringLiteral("help"))) {
        return Options::Task::help;
    }
    if (parser.isSet(QStringLiteral("version"))) {
        return Options::Task::version;
    }
    for (const auto& [name, task] : {std::pair("chart", Options::Task::chart),
                                     std::pair("screenshot", Options::Task::screenshot)}) {
        if (parser.isSet(QLatin1String(name))) {
            options.file = parser.value(QLatin1String(name));
            return task;
        }
    }
    return Options::Task::window;
}

void throw_if(const std::optional<QString>& problem) {
    if (problem) {
        throw Error(utf8(*problem));
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
    take(given("gpu"), state.budget.device, options.budget.device);
    take(given("engine"), state.budget.engine, options.budget.engine);
    take(given("tp"), state.budget.tensor, options.budget.tensor);
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
            throw Error(utf8(row.model ? row.id + QStringLiteral(": ") + row.error : row.error));
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
    if (!window.grab().save(options.file, "PNG")) {
        throw Error(utf8(options.file) + ": the picture could not be written");
    }
}

} // namespace

QString help_text() {
    QCommandLineParser parser;
    add_options(parser);
    return parser.helpText();
}

Options parse_options(const QStringList& arguments) {
    QCommandLineParser parser;
    add_options(parser);
    if (!parser.parse(arguments)) {
        throw Error(utf8(parser.errorText()));
    }
    Options options;
    options.task = read_task(options, parser);
    options.models = parser.positionalArguments();
    options.given = given_options(parser);
    options.settings = read_settings(parser);
    options.budget = read_budget(parser, options.models);
    read_looks(options, parser);
    return options;
}

void start_study(StudySession& session, const Options& options) {
    const QStringList& models = options.models;
    if (std::any_of(models.begin(), models.end(), is_study_file)) {
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
    if (!options.given.isEmpty()) {
        apply_given(session.study(), options);
    }
}

void run_headless(const Options& options) {
    if (options.task == Options::Task::screenshot) {
        make_screenshot(options);
        return;
    }
    const bool dark = options.theme == AppTheme::dark;
    const ChartData data = options.kind == QLatin1String("quality")
                               ? quality_chart(read_quality_answer())
                               : study_chart(options);
    throw_if(export_chart(data, dark ? dark_chart_theme() : light_chart_theme(),
                          options.size.value_or(export_size(data)), options.file));
}

} // namespace kvcaliper::gui
