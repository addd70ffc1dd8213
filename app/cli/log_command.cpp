// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"
#include "core/engine_log.h"
#include "core/error.h"

#include <algorithm>
#include <ostream>

namespace kvcaliper::cli {

namespace {

std::int64_t count(const std::vector<LogResult>& results, LogVerdict verdict) {
    return std::count_if(results.begin(), results.end(),
                         [&](const LogResult& result) { return result.verdict == verdict; });
}

std::string summary(const std::vector<LogResult>& results) {
    return std::to_string(results.size()) + (results.size() == 1 ? " figure: " : " figures: ") +
           std::to_string(count(results, LogVerdict::equal)) + " equal, " +
           std::to_string(count(results, LogVerdict::explained)) + " explained, " +
           std::to_string(count(results, LogVerdict::unexplained)) + " unexplained" +
           (count(results, LogVerdict::unchecked) == 0
                ? ""
                : ", " + std::to_string(count(results, LogVerdict::unchecked)) + " unchecked");
}

std::string why(const LogResult& result) {
    std::string text = result.difference;
    for (const std::string& one : result.explanation) {
        text += (text.empty() ? "" : "; ") + one;
    }
    return text;
}

std::string line_cell(const LogResult& result, TableStyle style) {
    const std::string line = std::to_string(result.line);
    return result.times == 1 || style == TableStyle::csv
               ? line
               : line + " (" + std::to_string(result.times) + " times)";
}

Table log_table(const std::vector<LogResult>& results, TableStyle style) {
    Table table{{{"line", true},
                 {"engine"},
                 {"model"},
                 {"quantity"},
                 {"logged", true},
                 {"computed", true},
                 {"verdict"},
                 {"why"}},
                {}};
    if (style == TableStyle::csv) {
        table.columns.push_back({"text"});
    }
    for (const LogResult& result : results) {
        table.rows.push_back({line_cell(result, style), std::string(result.engine),
                              result.model->plan.name, result.quantity, result.logged,
                              result.computed, std::string(to_string(result.verdict)),
                              why(result)});
        if (style == TableStyle::csv) {
            table.rows.back().push_back(result.text);
        }
    }
    return table;
}

/// A log says which engine wrote it, and each line is of one rank.
void check_settings(const Settings& settings) {
    if (settings.engine != "ideal") {
        throw Error("--engine: a log says itself which engine wrote it, expected none, found " +
                    settings.engine);
    }
    const Parallelism tensor_alone{settings.parallel.tensor, 1, 1, 1};
    if (settings.parallel != tensor_alone) {
        throw Error("log: expected ranks of --tp alone, found " + to_string(settings.parallel));
    }
}

} // namespace

int log_command(const Options& options, Io& io) {
    check_settings(options.settings);
    const EngineLog log = read_engine_log(options.subject);
    const auto results =
        check_engine_log(log, {options.log_model, options.settings, options.context_given});
    const TableStyle style = options.output.style();
    if (options.output.json) {
        io.out << dump_json(log_json(log, results)) << "\n";
    } else {
        io.out << format_table(log_table(results, style), style);
    }
    if (!options.output.json && style != TableStyle::csv) {
        io.out << "\n" << summary(results) << "\n";
    }
    return count(results, LogVerdict::unexplained) == 0 ? answered : answered_no;
}

} // namespace kvcaliper::cli
