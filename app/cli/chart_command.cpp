// SPDX-License-Identifier: Apache-2.0
#include "app/cli/child_process.h"
#include "app/cli/commands.h"
#include "core/catalog.h"
#include "core/device.h"
#include "core/error.h"
#include "core/weights.h"

#include <ostream>

namespace kvcaliper::cli {

namespace {

bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void check_file_name(const std::string& file) {
    if (!ends_with(file, ".svg") && !ends_with(file, ".pdf") && !ends_with(file, ".png")) {
        throw Error("--output: expected a name ending in .svg, .pdf or .png, found \"" + file +
                    "\"");
    }
}

/// A study of the window, or a report that holds one, carries its own settings; those that are
/// written here stand over them.
bool is_study(const std::string& model) {
    return ends_with(model, ".kvstudy.json") || ends_with(model, ".html") ||
           ends_with(model, ".pdf");
}

std::vector<std::string> chart_arguments(const Options& options) {
    const Settings& settings = options.settings;
    std::vector<std::string> arguments{"--chart",          options.chart_file, "--kind",
                                       options.chart_kind, "--theme",          options.chart_theme};
    const auto add = [&](const char* name, const std::string& value, const std::string& usual) {
        if (value != usual) {
            arguments.insert(arguments.end(), {name, value});
        }
    };
    add("-c", options.context_given ? std::to_string(settings.context.count()) : "", "");
    add("-n", options.sequences_given ? std::to_string(settings.sequences) : "", "");
    add("--k", settings.k_format, "auto");
    add("--v", settings.v_format, "auto");
    add("--index", settings.index_format, "auto");
    add("--conv", settings.conv_format, "auto");
    add("--state", settings.state_format, "auto");
    add("--size", options.chart_size, "");
    if (options.chart_kind == "budget" || options.chart_kind == "context") {
        for (const std::string& gpu : options.chart_gpus) {
            add("--gpu", gpu, "");
        }
    }
    if (options.chart_linear) {
        arguments.emplace_back("--linear");
    }
    if (options.chart_recompute) {
        arguments.emplace_back("--recompute");
    }
    if (options.chart_kind == "budget") {
        add("--engine", settings.engine, "ideal");
        add("--tp", std::to_string(settings.parallel.tensor), "1");
        add("--pp", std::to_string(settings.parallel.pipeline), "1");
        add("--cp", std::to_string(settings.parallel.context), "1");
        add("--dp", std::to_string(settings.parallel.data), "1");
        for (const EngineSetting& option : settings.engine_options) {
            add("--engine-opt", option.name + "=" + option.value, "");
        }
        add("--weights", options.fit.weights, "auto");
    }
    arguments.push_back("--");
    arguments.insert(arguments.end(), options.models.begin(), options.models.end());
    return arguments;
}

/// What is not of that kind of chart is refused, not left out.
void check_context_options(const Options& options) {
    const std::string& kind = options.chart_kind;
    if ((options.chart_linear || options.chart_recompute) && kind != "context") {
        throw Error("--linear, --recompute: expected with --kind context, found --kind " + kind);
    }
    if (options.chart_gpus.size() > 1 && kind != "context") {
        throw Error("--gpu: expected one device with --kind " + kind + ", found " +
                    std::to_string(options.chart_gpus.size()));
    }
    for (const std::string& gpu : options.chart_gpus) {
        find_device(gpu);
    }
}

/// The figures go to the window's program as one line.
int draw(const std::vector<std::string>& arguments, const std::string& figures, Io& io) {
    const std::string program = find_program("KVCALIPER_GUI", "kvcaliper-gui");
    const int code = run_child(program, arguments, figures,
                               [&](const std::string& line) { io.out << line << "\n"; });
    if (code > impossible_here) {
        throw Error(program + ": ended with code " + std::to_string(code),
                    ErrorKind::impossible_here);
    }
    return code;
}

/// Measured here: the window's program draws it and knows no kernels.
int chart_quality(const Options& options, Io& io) {
    if (options.models.size() != 1 || is_study(options.models[0])) {
        throw Error("--kind quality: expected one model");
    }
    find_program("KVCALIPER_GUI", "kvcaliper-gui"); // before anything is measured for it
    std::vector<std::string> arguments{"--chart", options.chart_file, "--kind",
                                       "quality", "--theme",          options.chart_theme};
    if (!options.chart_size.empty()) {
        arguments.insert(arguments.end(), {"--size", options.chart_size});
    }
    return draw(arguments, dump_json(quality_answer(options, io), -1) + "\n", io);
}

} // namespace

int chart_command(const Options& options, Io& io) {
    check_file_name(options.chart_file);
    check_context_options(options);
    if (options.chart_kind == "quality") {
        return chart_quality(options, io);
    }
    for (const std::string& model : options.models) {
        if (is_study(model)) {
            continue; // the window's program reads it
        }
        // Errors are this command's, in its words.
        const ModelPtr read = load_model(model);
        estimate(read, options.settings);
        if (options.chart_kind == "budget") {
            weights_of(*read, options.fit.weights);
        } else {
            resolve_formats(options.settings, read->plan); // the required view alone
        }
    }
    return draw(chart_arguments(options), "", io);
}

} // namespace kvcaliper::cli
