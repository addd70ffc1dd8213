// SPDX-License-Identifier: Apache-2.0
#include "app/cli/cli.h"

#include "app/cli/command_options.h"
#include "core/catalog.h"
#include "core/error.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <ostream>
#include <sstream>

namespace kvcaliper::cli {

namespace {

const char* const program_text =
    "KV-cache memory of language models: computed to the byte, and measured.";

const char* const footer_text =
    "MODEL is a config.json, a folder that holds one, - (standard input) or a bundled name.\n"
    "Examples:\n"
    "  kvcaliper estimate llama-3-8b -c 32K --k q8_0 --v q4_0\n"
    "  kvcaliper compare gpt2-xl llama-3-8b gemma-3-27b deepseek-v3 falcon-mamba-7b\n"
    "  kvcaliper fit llama-3.3-70b --gpu h100-80 --tp 2 -c 32K --engine vllm --kv fp8_e4m3\n"
    "  kvcaliper claims\n"
    "  kvcaliper log server.log --model gemma-3-27b\n"
    "  kvcaliper verify gpt2-xl -c 1000\n"
    "  kvcaliper verify --claims\n"
    "  kvcaliper quality --k q8_0\n"
    "Exit codes: 0 answered, 1 answered no, 2 usage or bad input, 3 impossible here.";

/// One line for any error of the parser.
std::string one_line(std::string text) {
    for (char& c : text) {
        c = c == '\n' ? ' ' : c;
    }
    while (!text.empty() && text.back() == ' ') {
        text.pop_back();
    }
    return text;
}

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({})) {
        names.push_back(command->get_name());
    }
    return names;
}

/// Empty when the first word is a command or an option; otherwise what to tell.
std::string command_problem(const CLI::App& app, const std::vector<std::string>& arguments) {
    const auto names = command_names(app);
    const auto known = [&](const std::string& word) {
        return std::find(names.begin(), names.end(), word) != names.end();
    };
    if (arguments.empty()) {
        return "expected a command, found none; try kvcaliper --help";
    }
    if (arguments.front()[0] == '-' || known(arguments.front())) {
        return "";
    }
    const std::string near = nearest_word(arguments.front(), names);
    return "expected a command, found \"" + arguments.front() + "\"; " +
           (near.empty() ? "try kvcaliper --help" : "did you mean " + near + "?");
}

int fail(Io& io, const std::string& message, int code) {
    io.err << "kvcaliper: " << one_line(message) << "\n";
    return code;
}

int parse_and_run(CLI::App& app, const std::vector<std::string>& arguments, const Options& options,
                  Command& chosen, Io& io) {
    try {
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
        if (chosen == nullptr) {
            return fail(io, "expected a command, found none; try kvcaliper --help", bad_input);
        }
        return chosen(options, io);
    } catch (const CLI::Success& success) {
        return app.exit(success, io.out, io.err);
    } catch (const CLI::ParseError& error) {
        return fail(io, error.what(), bad_input);
    } catch (const Error& error) {
        return fail(io, error.what(),
                    error.kind() == ErrorKind::input ? bad_input : impossible_here);
    } catch (const std::bad_alloc&) {
        return fail(io, "out of memory", impossible_here);
    } catch (const std::exception& error) {
        return fail(io, error.what(), bad_input);
    }
}

} // namespace

int run(const std::vector<std::string>& arguments, Io& io) {
    CLI::App app{program_text, "kvcaliper"};
    app.footer(footer_text);
    app.set_version_flag("--version", "kvcaliper " + std::string(version));
    Options options;
    Command chosen = nullptr;
    add_commands(app, options, chosen);
    if (const std::string problem = command_problem(app, arguments); !problem.empty()) {
        return fail(io, problem, bad_input);
    }
    return parse_and_run(app, arguments, options, chosen, io);
}

} // namespace kvcaliper::cli
