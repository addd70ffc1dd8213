// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/command_line.h"

#include "app/gui/language.h"
#include "app/gui/log_slider.h"
#include "app/gui/main_window.h"
#include "app/gui/text.h"
#include "core/device.h"
#include "core/engines/engine.h"
#include "core/error.h"

#include <QCommandLineParser>
#include <QRegularExpression>

namespace kvcaliper::gui {

namespace {

constexpr int largest_side = 16384;

void add_options(QCommandLineParser& parser) {
    parser.setApplicationDescription(QStringLiteral(
        "KV cache memory of language models, in a window. Without --chart, --report, --table and "
        "--screenshot the window opens."));
    parser.addPositionalArgument(
        QStringLiteral("MODEL"),
        QStringLiteral("config.json, folder or bundled name, or one study file, report or table "
                       "that was exported"),
        QStringLiteral("[MODEL…]"));
    const auto add = [&](const QStringList& names, const char* help, const char* value = "") {
        parser.addOption({names, QString::fromUtf8(help), QString::fromUtf8(value)});
    };
    add({QStringLiteral("chart")}, "write a chart as .svg, .pdf or .png and exit", "FILE");
    add({QStringLiteral("kind")},
        "chart: per-token (default), context, layers, budget, or quality (figures on standard "
        "input)",
        "KIND");
    add({QStringLiteral("report")}, "write a report as .html or .pdf and exit", "FILE");
    add({QStringLiteral("table")}, "write the table of --tab as .csv, .tsv, .md or .json and exit",
        "FILE");
    add({QStringLiteral("screenshot")}, "write a picture of the window as .png and exit", "FILE");
    add({QStringLiteral("tab")},
        "page to show: compare (default), context, layers, budget, claims or verify", "TAB");
    add({QStringLiteral("theme")}, "light, dark, contrast or system", "THEME");
    add({QStringLiteral("language")}, "system (default of the window), en (default of files) or ko",
        "LANGUAGE");
    add({QStringLiteral("size")}, "size in pixels, as in 960x540", "WxH");
    add({QStringLiteral("c"), QStringLiteral("context")}, "tokens (default 8192)", "TOKENS");
    add({QStringLiteral("n"), QStringLiteral("sequences")}, "sequences (default 1)", "N");
    add({QStringLiteral("kv")}, "format of K and V", "FORMAT");
    add({QStringLiteral("k")}, "format of K", "FORMAT");
    add({QStringLiteral("v")}, "format of V", "FORMAT");
    add({QStringLiteral("index")}, "format of index keys", "FORMAT");
    add({QStringLiteral("conv")}, "format of convolution history", "FORMAT");
    add({QStringLiteral("state")}, "format of recurrent states", "FORMAT");
    add({QStringLiteral("gpu")},
        "device of the budget (default h100-80); context: a line at its memory, several apart by "
        "commas",
        "NAME");
    add({QStringLiteral("linear")}, "context: linear axes");
    add({QStringLiteral("recompute")}, "context: tokens read without a cache, in a chart below");
    add({QStringLiteral("engine")}, "engine of the budget (default ideal)", "NAME");
    add({QStringLiteral("engine-opt")}, "an option of the engine under its own name (repeatable)",
        "KEY=VALUE");
    add({QStringLiteral("tp")}, "tensor ranks of the budget (default 1)", "N");
    add({QStringLiteral("pp")}, "pipeline stages of the budget (default 1)", "N");
    add({QStringLiteral("cp")}, "ranks that divide tokens, of the budget (default 1)", "N");
    add({QStringLiteral("dp")}, "ranks that divide sequences, of the budget (default 1)", "N");
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
    for (const auto& [name, member] : other_formats) {
        if (parser.isSet(QLatin1String(name))) {
            settings.*member = utf8(parser.value(QLatin1String(name)));
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
        options.theme = theme_from(one_of(QStringLiteral("theme"), value("theme"), theme_names()));
    }
    if (is_set("language")) {
        options.language = one_of(QStringLiteral("language"), value("language"), language_names());
    }
    if (is_set("size")) {
        options.size = parse_size(value("size"));
    }
}

/// Every --gpu, and every name of one that holds several.
QStringList gpu_names(const QCommandLineParser& parser) {
    QStringList names;
    for (const QString& written : parser.values(QStringLiteral("gpu"))) {
        for (const QString& name : written.split(u',')) {
            names << text(find_device(utf8(name)).name);
        }
    }
    return names;
}

void read_context_view(Options& options, const QCommandLineParser& parser) {
    const QStringList devices = gpu_names(parser);
    ContextView& view = options.context_view;
    view.linear = parser.isSet(QStringLiteral("linear"));
    view.recompute = parser.isSet(QStringLiteral("recompute"));
    if (options.ofContext()) {
        view.devices = devices;
        return;
    }
    if (view.linear || view.recompute) {
        throw Error("--linear, --recompute: expected with --kind context or --tab context");
    }
    if (devices.size() > 1) {
        fail(QStringLiteral("gpu"), QStringLiteral("one device (several with --kind context)"),
             devices.join(u','));
    }
}

/// Devices, engines and sizes nobody knows are found here, not in the middle of a chart.
BudgetState read_budget(const QCommandLineParser& parser, const QStringList& models) {
    BudgetState budget;
    const auto value = [&](const char* name) { return parser.value(QLatin1String(name)); };
    if (const QStringList devices = gpu_names(parser); !devices.isEmpty()) {
        budget.device = devices.first();
    }
    if (parser.isSet(QStringLiteral("engine"))) {
        budget.engine = text(find_engine(utf8(value("engine"))).name);
    }
    for (const auto& [name, member] : rank_options) {
        if (parser.isSet(QLatin1String(name))) {
            budget.*member = parse_number(QLatin1String(name), value(name));
        }
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
         {"context", "sequences", "kv", "k", "v", "index", "conv", "state", "gpu", "engine", "tp",
          "pp", "cp", "dp", "weights", "linear", "recompute"}) {
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
    for (const auto& [name, task] :
         {std::pair("chart", Options::Task::chart), std::pair("report", Options::Task::report),
          std::pair("table", Options::Task::table),
          std::pair("screenshot", Options::Task::screenshot)}) {
        if (parser.isSet(QLatin1String(name))) {
            options.file = parser.value(QLatin1String(name));
            return task;
        }
    }
    return Options::Task::window;
}

} // namespace

QString help_text() {
    QCommandLineParser parser;
    add_options(parser);
    return parser.helpText();
}

bool Options::ofContext() const {
    return task == Task::chart ? kind == QLatin1String("context") : tab == QLatin1String("context");
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
    options.engine_options = parser.values(QStringLiteral("engine-opt"));
    read_looks(options, parser);
    read_context_view(options, parser);
    return options;
}

} // namespace kvcaliper::gui
