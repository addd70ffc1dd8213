// SPDX-License-Identifier: Apache-2.0
#include "app/cli/command_options.h"

#include "core/error.h"

#include <CLI/CLI.hpp>

#include <functional>

namespace kvcaliper::cli {

namespace {

/// An option whose text is turned into tokens; errors name the option.
void add_tokens(CLI::App& app, const std::string& name, std::function<void(Tokens)> set,
                const std::string& help) {
    app.add_option_function<std::string>(
           name,
           [set = std::move(set), name](const std::string& text) {
               try {
                   set(parse_tokens(text));
               } catch (const Error& error) {
                   throw Error(name.substr(name.rfind("--")) + ": " + error.what());
               }
           },
           help)
        ->type_name("TOKENS");
}

void add_format_options(CLI::App& app, Settings& settings) {
    app.add_option_function<std::string>(
           "--kv",
           [&settings](const std::string& format) {
               settings.k_format = format;
               settings.v_format = format;
           },
           "number format of K and V (see list formats), or checkpoint: what the file asks for")
        ->type_name("FORMAT")
        ->trigger_on_parse();
    app.add_option("--k", settings.k_format, "number format of K alone")->type_name("FORMAT");
    app.add_option("--v", settings.v_format, "number format of V alone")->type_name("FORMAT");
    app.add_option("--index", settings.index_format, "format of index keys")->type_name("FORMAT");
    app.add_option("--state", settings.state_format, "format of recurrent states")
        ->type_name("FORMAT");
    app.add_option("--conv", settings.conv_format, "format of convolution history")
        ->type_name("FORMAT");
}

/// KEY=VALUE; the engine's profile knows the keys.
void add_engine_options(CLI::App& app, Settings& settings) {
    app.add_option_function<std::vector<std::string>>(
           "--engine-opt",
           [&settings](const std::vector<std::string>& texts) {
               for (const std::string& text : texts) {
                   const auto at = text.find('=');
                   if (at == std::string::npos || at == 0) {
                       throw Error("--engine-opt: expected KEY=VALUE, found \"" + text + "\"");
                   }
                   settings.engine_options.push_back({text.substr(0, at), text.substr(at + 1)});
               }
           },
           "an option of the engine under its own name (repeatable; see list engines)")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
}

void add_parallelism(CLI::App& app, Parallelism& parallel) {
    app.add_option("--tp", parallel.tensor, "ranks that divide the heads (default 1)")
        ->type_name("N");
    app.add_option("--pp", parallel.pipeline, "ranks that divide the layers (default 1)")
        ->type_name("N");
    app.add_option("--cp", parallel.context, "ranks that divide the tokens (default 1)")
        ->type_name("N");
    app.add_option("--dp", parallel.data, "ranks that divide the sequences (default 1)")
        ->type_name("N");
}

void add_settings(CLI::App& app, Options& options) {
    Settings& settings = options.settings;
    add_tokens(
        app, "-c,--context",
        [&options](Tokens tokens) {
            options.settings.context = tokens;
            options.context_given = true;
        },
        "tokens held per sequence: 8192, 128K (default 8192)");
    app.add_option_function<std::int64_t>(
           "-n,--sequences",
           [&options](std::int64_t sequences) {
               options.settings.sequences = sequences;
               options.sequences_given = true;
           },
           "sequences held at once (default 1)")
        ->type_name("N");
    add_format_options(app, options.settings);
    add_tokens(
        app, "--encoder-tokens", [&settings](Tokens tokens) { settings.encoder_tokens = tokens; },
        "rows of cross-attention, where the model does not fix them");
    app.add_option("--engine", options.settings.engine,
                   "whose reservation beside what is required: ideal (none, default), see list "
                   "engines")
        ->type_name("NAME");
    add_engine_options(app, options.settings);
    add_parallelism(app, options.settings.parallel);
}

void add_output(CLI::App& app, Output& output) {
    auto* json = app.add_flag("--json", output.json, "the answer as JSON");
    auto* csv = app.add_flag("--csv", output.csv, "the table as CSV, exact bytes");
    auto* markdown = app.add_flag("--markdown", output.markdown, "the table as Markdown");
    json->excludes(csv)->excludes(markdown);
    csv->excludes(markdown);
}

void add_model(CLI::App& app, Options& options) {
    app.add_option("MODEL", options.models, "config.json, folder, - or bundled name")
        ->required()
        ->expected(1);
}

/// verify: a MODEL, or the claims of a file.
void add_model_or_claims(CLI::App& app, Options& options) {
    auto* model = app.add_option("MODEL", options.models, "config.json, folder, - or bundled name")
                      ->expected(1);
    auto* claims = app.add_option("--claims", options.subject,
                                  "instead of a MODEL: measure the claims of seed (default), "
                                  "gallery or a file")
                       ->expected(0, 1)
                       ->type_name("FILE");
    claims->excludes(model);
    app.parse_complete_callback([model, claims, &options] {
        options.measure_claims = claims->count() > 0;
        if (model->count() + claims->count() == 0) {
            throw CLI::RequiredError("MODEL");
        }
    });
}

CLI::Option* add_models(CLI::App& app, Options& options) {
    return app.add_option("MODEL", options.models, "config.json files, folders or bundled names")
        ->required();
}

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& help,
                      Command command, Command& chosen) {
    CLI::App* added = app.add_subcommand(name, help);
    added->callback([command, &chosen] { chosen = command; });
    return added;
}

void add_figure_commands(CLI::App& app, Options& options, Command& chosen) {
    CLI::App* estimate =
        add_command(app, "estimate", "Bytes per token, constant and in total of one model",
                    estimate_command, chosen);
    add_model(*estimate, options);
    add_settings(*estimate, options);
    add_output(*estimate, options.output);
    estimate->add_flag("--layers", options.layers, "what every layer keeps, and what decided it");
    estimate->add_flag("--explain", options.explain,
                       "every term of every figure, and what is published of each kind of cache");

    CLI::App* compare =
        add_command(app, "compare", "Several models in one table", compare_command, chosen);
    add_models(*compare, options);
    add_settings(*compare, options);
    add_output(*compare, options.output);
    compare
        ->add_option("--baseline", options.baseline,
                     "the model that ratios refer to (default: the first)")
        ->type_name("MODEL");

    CLI::App* curve =
        add_command(app, "curve", "Bytes against tokens, knees included", curve_command, chosen);
    add_models(*curve, options);
    add_settings(*curve, options);
    add_output(*curve, options.output);
    add_tokens(
        *curve, "--from", [&options](Tokens tokens) { options.from = tokens; },
        "first token count (default 1)");
    add_tokens(
        *curve, "--to", [&options](Tokens tokens) { options.to = tokens; },
        "last token count (default: the models' limit)");
    curve->add_option("--points", options.points, "points between them, logarithmic (default 32)")
        ->type_name("N");
}

/// A decimal from 0 to 1, as the engines write it.
Ratio parse_share(const std::string& text) {
    const Ratio share = parse_written_number(text).value;
    if (share <= Ratio(0) || share > Ratio(1)) {
        throw Error("--utilization: expected more than 0 and at most 1, found " + text);
    }
    return share;
}

void add_fit_options(CLI::App& app, FitOptions& fit) {
    app.add_option("--gpu", fit.gpu, "the device, all of them alike (see list gpus)")
        ->type_name("NAME");
    app.add_option("--memory", fit.memory, "memory of a device that is not listed: 24GiB")
        ->type_name("SIZE");
    app.add_option("--weights", fit.weights,
                   "bytes of the weights, or auto (default): from the files beside the config, "
                   "else by formula")
        ->type_name("SIZE|auto");
    app.add_option("--workspace", fit.workspace,
                   "activations, graphs and device context, per device (default: assumed for the "
                   "engine, and said)")
        ->type_name("SIZE");
    app.add_option_function<std::string>(
           "--utilization",
           [&fit](const std::string& text) { fit.utilization = parse_share(text); },
           "share of a device's memory the engine may take (default: the engine's)")
        ->type_name("0..1");
    add_tokens(
        app, "--shared-prefix", [&fit](Tokens tokens) { fit.shared_prefix = tokens; },
        "tokens at the start of the context that all sequences share");
    add_tokens(
        app, "--cartridge", [&fit](Tokens tokens) { fit.cartridge = tokens; },
        "trained slots in place of a document");
    add_tokens(
        app, "--document", [&fit](Tokens tokens) { fit.document = tokens; },
        "tokens of that document");
    add_tokens(
        app, "--training-tokens", [&fit](Tokens tokens) { fit.training_tokens = tokens; },
        "tokens the cartridge is trained on: says after how many queries that is paid back");
}

void add_fit_command(CLI::App& app, Options& options, Command& chosen) {
    CLI::App* fit = add_command(
        app, "fit", "What fits on a GPU: with -c most sequences, with -n longest context",
        fit_command, chosen);
    add_model(*fit, options);
    add_settings(*fit, options);
    add_fit_options(*fit, options.fit);
    add_output(*fit, options.output);
}

void add_proof_commands(CLI::App& app, Options& options, Command& chosen) {
    CLI::App* claims =
        add_command(app, "claims", "Check published figures: seed (default), gallery or a file",
                    claims_command, chosen);
    claims->add_option("FILE", options.subject, "a claims file, or the bundled seed or gallery");
    add_output(*claims, options.output);

    CLI::App* log =
        add_command(app, "log", "Check the memory lines of an engine's log", log_command, chosen);
    log->add_option("FILE", options.subject, "a log, or - (standard input)")->required();
    log->add_option("--model", options.log_model,
                    "the model of the log (default: the bundled one that the log names)")
        ->type_name("MODEL");
    add_settings(*log, options);
    add_output(*log, options.output);

    CLI::App* verify = add_command(app, "verify", "Run decode steps and measure the cache",
                                   verify_command, chosen);
    add_model_or_claims(*verify, options);
    add_settings(*verify, options);
    add_output(*verify, options.output);
    verify->add_option("--backend", options.verify.backend, "auto (default), cuda or cpu")
        ->check(CLI::IsMember({"auto", "cuda", "cpu"}))
        ->type_name("NAME");
    verify->add_option("--steps", options.verify.steps, "decode steps at each context (default 4)")
        ->type_name("N");
    verify->add_option("--seed", options.verify.seed, "seed of the generated tokens (default 1)")
        ->type_name("N");
    verify
        ->add_option("--repeats", options.verify.repeats,
                     "timings of the last step of each context (default 3): median and spread")
        ->type_name("N");
    verify
        ->add_option("--depth", options.verify.depth,
                     "layout (allocate and count), device (and ask the system) or use (and run "
                     "decode steps, default)")
        ->check(CLI::IsMember({"layout", "device", "use"}))
        ->type_name("NAME");
    add_tokens(
        *verify, "--cartridge", [&options](Tokens tokens) { options.verify.cartridge = tokens; },
        "trained slots in front of every context, filled once and never written again");
    verify
        ->add_option("--paged", options.verify.page,
                     "tokens per page (16): growing caches lie in shuffled pages")
        ->type_name("N");
    verify->add_flag("--baseline", options.without_cache,
                     "also make the tokens without a cache, every step from the first one on");
    verify->add_option("--record", options.record, "also write the result to a file")
        ->type_name("FILE");
}

/// NAME or NAME,NAME; may be repeated.
void add_chart_gpus(CLI::App& chart, Options& options) {
    chart
        .add_option_function<std::vector<std::string>>(
            "--gpu",
            [&options](const std::vector<std::string>& texts) {
                for (const std::string& text : texts) {
                    std::istringstream names(text);
                    for (std::string name; std::getline(names, name, ',');) {
                        options.chart_gpus.push_back(name);
                    }
                }
            },
            "the device of a budget (default h100-80); context: a line at its memory (repeatable, "
            "or apart by commas)")
        ->type_name("NAME")
        ->allow_extra_args(false);
}

void add_quality_command(CLI::App& app, Options& options, Command& chosen) {
    CLI::App* quality =
        add_command(app, "quality", "What K and V formats cost in outputs, beside their bytes",
                    quality_command, chosen);
    quality
        ->add_option("MODEL", options.models,
                     "whose heads, widths and bytes: config.json, folder, - or bundled name "
                     "(default llama-3-8b)")
        ->expected(1);
    add_tokens(
        *quality, "-c,--context",
        [&options](Tokens tokens) {
            options.settings.context = tokens;
            options.context_given = true;
        },
        "tokens that are attended to (default 1024)");
    quality
        ->add_option("--k", options.settings.k_format,
                     "number format of K alone (default: every one that has kernels)")
        ->type_name("FORMAT");
    quality->add_option("--v", options.settings.v_format, "number format of V alone")
        ->type_name("FORMAT");
    quality->add_option("--seed", options.verify.seed, "seed of the generated numbers (default 1)")
        ->type_name("N");
    add_output(*quality, options.output);
}

void add_other_commands(CLI::App& app, Options& options, Command& chosen) {
    CLI::App* chart =
        add_command(app, "chart", "Draw a chart of the window into a file", chart_command, chosen);
    add_models(*chart, options)
        ->description("config.json files, folders or bundled names, or one study of the window "
                      "(.kvstudy.json)");
    add_settings(*chart, options);
    chart->add_option("-o,--output", options.chart_file, "FILE.svg, FILE.pdf or FILE.png")
        ->required()
        ->type_name("FILE");
    chart
        ->add_option(
            "--kind", options.chart_kind,
            "per-token (default), context, layers, budget or quality (of one model's formats)")
        ->check(CLI::IsMember({"per-token", "context", "layers", "budget", "quality"}))
        ->type_name("NAME");
    add_chart_gpus(*chart, options);
    chart->add_flag("--linear", options.chart_linear, "context: linear axes");
    chart->add_flag("--recompute", options.chart_recompute,
                    "context: tokens read without a cache, in a chart below");
    chart->add_option("--weights", options.fit.weights, "bytes of the weights of a budget")
        ->type_name("SIZE|auto");
    chart->add_option("--theme", options.chart_theme, "light (default) or dark")
        ->check(CLI::IsMember({"light", "dark"}))
        ->type_name("NAME");
    chart->add_option("--size", options.chart_size, "width and height in pixels: 1200x700")
        ->type_name("WxH");

    CLI::App* list = add_command(app, "list", "What is bundled and known", list_command, chosen);
    list->add_option("WHAT", options.subject,
                     "models, gpus, formats, engines, architectures or kinds")
        ->required()
        ->check(CLI::IsMember({"models", "gpus", "formats", "engines", "architectures", "kinds"}));
    add_output(*list, options.output);
}

} // namespace

void add_commands(CLI::App& app, Options& options, Command& chosen) {
    add_figure_commands(app, options, chosen);
    add_fit_command(app, options, chosen);
    add_proof_commands(app, options, chosen);
    add_quality_command(app, options, chosen);
    add_other_commands(app, options, chosen);
}

} // namespace kvcaliper::cli
