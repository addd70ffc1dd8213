// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/command_line.h"

#include "app/gui/budget.h"
#include "app/gui/chart_builder.h"
#include "app/gui/chart_export.h"
#include "app/gui/log_slider.h"
#include "app/gui/main_window.h"
#include "app/gui/text.h"
#include "core/engines/engine.h"
#include "core/error.h"
#include "core/report.h"

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QPixmap>
#include <QRegularExpression>
#include <QUndoStack>

#include <string_view>

namespace kvcaliper::gui {

namespace {

constexpr int largest_side = 16384;

void add_options(QCommandLineParser& parser) {
    parser.setApplicationDescription(QStringLiteral(
        "KV cache memory of language models, in a window. Without --chart and --screenshot the "
        "window opens."));
    parser.addPositionalArgument(QStringLiteral("MODEL"),
                                 QStringLiteral("config.json, folder or bundled name"),
                                 QStringLiteral("[MODEL…]"));
    const auto add = [&](const QStringList& names, const char* help, const char* value = "") {
        parser.addOption({names, QString::fromUtf8(help), QString::fromUtf8(value)});
    };
    add({QStringLiteral("chart")}, "write a chart as .svg, .pdf or .png and exit", "FILE");
    add({QStringLiteral("kind")}, "chart: per-token (default), context, layers or budget", "KIND");
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
        options.kind = one_of(QStringLiteral("kind"), value("kind"),
                              {QStringLiteral("per-token"), QStringLiteral("context"),
                               QStringLiteral("layers"), QStringLiteral("budget")});
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

/// The study the options describe. A model that has no answer is an error here, not a row.
void fill_study(Study& study, const Options& options) {
    if (options.models.isEmpty()) {
        open_seed(study);
    } else {
        study.setModels(options.models);
    }
    study.setContext(options.settings.context);
    study.setSequences(options.settings.sequences);
    study.setKFormat(text(options.settings.k_format));
    study.setVFormat(text(options.settings.v_format));
    study.setBudget(options.budget);
    study.undoStack()->clear();
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

void throw_if(const std::optional<QString>& problem) {
    if (problem) {
        throw Error(utf8(*problem));
    }
}

void make_screenshot(const Options& options) {
    MainWindow window;
    fill_study(window.study(), options);
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
    options.settings = read_settings(parser);
    options.budget = read_budget(parser, options.models);
    read_looks(options, parser);
    return options;
}

void run_headless(const Options& options) {
    if (options.task == Options::Task::screenshot) {
        make_screenshot(options);
        return;
    }
    Study study;
    fill_study(study, options);
    const bool dark = options.theme == AppTheme::dark;
    const ChartData data = make_chart(study, options.kind);
    throw_if(export_chart(data, dark ? dark_chart_theme() : light_chart_theme(),
                          options.size.value_or(export_size(data)), options.file));
}

} // namespace kvcaliper::gui
