// SPDX-License-Identifier: Apache-2.0
// Has one model verified and prints the result.
#include "app/cli/commands.h"
#include "app/cli/verifier.h"
#include "core/catalog.h"

#include <cmath>
#include <cstdio>
#include <ostream>

namespace kvcaliper::cli {

namespace {

std::int64_t integer_or(const JsonValue& json, std::string_view key, std::int64_t otherwise) {
    const JsonValue* value = json.find(key);
    return value && value->if_integer() ? *value->if_integer() : otherwise;
}

std::optional<double> number_at(const JsonValue& json, std::string_view key) {
    const JsonValue* value = json.find(key);
    if (value && value->if_double()) {
        return *value->if_double();
    }
    if (value && value->if_integer()) {
        return static_cast<double>(*value->if_integer());
    }
    return std::nullopt;
}

std::string text_or(const JsonValue& json, std::string_view key, const std::string& otherwise) {
    const JsonValue* value = json.find(key);
    return value && value->if_string() ? *value->if_string() : otherwise;
}

std::string formatted(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

// ---- the result for people ------------------------------------------------------------------

std::string optional_text(const std::optional<double>& value, const char* format, double scale) {
    return value ? formatted(format, *value * scale) : "-";
}

/// Nothing where no kernel ran.
std::string used_cell(const JsonValue& sample, TableStyle style) {
    const JsonValue* used = sample.find("used");
    return used && used->if_integer() ? exact_cell(Ratio(*used->if_integer()), style) : "-";
}

Table sample_table(const JsonValue& result, TableStyle style) {
    Table table{{{"context", true},
                 {"kind"},
                 {"component"},
                 {"layers", true},
                 {"predicted", true},
                 {"measured", true},
                 {"used", true},
                 {"verdict"},
                 {"lost by its format", true}},
                {}};
    const auto cell = [&](std::int64_t count) { return exact_cell(Ratio(count), style); };
    for (const JsonValue& sample : result.array_at("samples")) {
        const std::int64_t predicted = sample.integer_at("predicted");
        const std::int64_t requested = sample.integer_at("requested");
        const std::int64_t used = integer_or(sample, "used", requested);
        const bool equal = predicted == requested && predicted == used &&
                           text_or(sample, "verdict", "equal") == "equal";
        table.rows.push_back({cell(sample.integer_at("context")), text_or(sample, "kind", ""),
                              sample.string_at("component"), cell(integer_or(sample, "layers", 0)),
                              cell(predicted), cell(requested), used_cell(sample, style),
                              equal ? "equal" : "differs",
                              optional_text(number_at(sample, "quantisation_error"), "%.1e", 1)});
    }
    return table;
}

std::string device_line(const JsonValue& result) {
    const JsonValue& device = result.at("device");
    const std::string driver = text_or(device, "driver", "");
    return text_or(device, "backend", "?") + ": " + text_or(device, "name", "?") +
           (driver.empty() ? "" : ", driver " + driver);
}

void write_slope(const JsonValue& result, Io& io) {
    const std::string slope = text_or(result, "slope", "");
    if (slope.empty()) {
        return;
    }
    io.out << "slope: measured " << slope << " B/token, predicted "
           << text_or(result, "predicted_slope", "?") << " (" << integer_or(result, "slope_from", 0)
           << " to " << integer_or(result, "slope_to", 0) << " tokens); intercept: measured "
           << text_or(result, "intercept", "?") << " B, predicted "
           << text_or(result, "predicted_intercept", "?") << " B\n";
}

/// Outputs against the reference, and speed: memory-bound rows are read rates, compute-bound ones
/// arithmetic rates.
Table kernel_table(const JsonValue& kernels) {
    Table table{{{"context", true},
                 {"kind"},
                 {"worst head", true},
                 {"allowed", true},
                 {"ms", true},
                 {"GB/s", true},
                 {"from", true},
                 {"to", true},
                 {"of read ceiling", true},
                 {"GFLOP/s", true},
                 {"layers run"}},
                {}};
    for (const JsonValue& row : *kernels.if_array()) {
        const bool shared = row.find("shared") != nullptr; // read from the cache of other layers
        table.rows.push_back({format_integer(integer_or(row, "context", 0)),
                              text_or(row, "kind", "?") + (shared ? " (shared)" : ""),
                              optional_text(number_at(row, "max_error"), "%.1e", 1),
                              optional_text(number_at(row, "bound"), "%.0e", 1),
                              optional_text(number_at(row, "seconds"), "%.3g", 1e3),
                              optional_text(number_at(row, "bytes_per_second"), "%.1f", 1e-9),
                              optional_text(number_at(row, "bytes_per_second_least"), "%.1f", 1e-9),
                              optional_text(number_at(row, "bytes_per_second_most"), "%.1f", 1e-9),
                              optional_text(number_at(row, "read_fraction"), "%.0f %%", 100),
                              optional_text(number_at(row, "flops_per_second"), "%.1f", 1e-9),
                              std::to_string(integer_or(row, "attended_layers", 0)) + " of " +
                                  std::to_string(integer_or(row, "layers", 0))});
    }
    return table;
}

void write_kernels(const JsonValue& result, TableStyle style, Io& io) {
    const JsonValue* kernels = result.find("kernels");
    if (kernels != nullptr && kernels->if_array() != nullptr && !kernels->if_array()->empty()) {
        io.out << format_table(kernel_table(*kernels), style) << "\n";
    }
}

std::string baseline_text(const JsonValue& side) {
    return format_integer(side.integer_at("token_rows")) + " token positions, " +
           format_bytes(Bytes(side.integer_at("bytes_written"))) + " written and " +
           format_bytes(Bytes(side.integer_at("bytes_read"))) + " read in " +
           optional_text(number_at(side, "seconds"), "%.3g s", 1);
}

void write_baseline(const JsonValue& result, Io& io) {
    const JsonValue* rows = result.find("baseline");
    if (rows == nullptr || rows->if_array() == nullptr) {
        return;
    }
    for (const JsonValue& row : *rows->if_array()) {
        io.out << "baseline: " << format_integer(row.integer_at("tokens")) << " tokens of one "
               << row.string_at("kind")
               << " layer\n  with a cache: " << baseline_text(row.at("with_cache"))
               << "\n  without:      " << baseline_text(row.at("without_cache")) << "\n";
    }
}

/// What the system saw, beside what was counted.
void write_device_delta(const JsonValue& result, Io& io) {
    const JsonValue& last = result.array_at("samples").back();
    if (const JsonValue* delta = last.find("device_delta"); delta && delta->if_integer()) {
        io.out << "device: memory in use grew by " << format_integer(*delta->if_integer())
               << " B for " << format_integer(integer_or(last, "requested", 0)) << " B requested\n";
    }
}

void write_memory(const JsonValue& result, Io& io) {
    const JsonValue* memory = result.find("memory");
    if (memory == nullptr) {
        return;
    }
    io.out << "memory:";
    const char* separator = " ";
    for (const char* part : {"cache", "state", "workspace", "io", "guards", "context", "library"}) {
        if (const JsonValue* bytes = memory->find(part); bytes && bytes->if_integer()) {
            io.out << separator << part << " " << format_bytes(Bytes(*bytes->if_integer()));
            separator = ", ";
        }
    }
    io.out << "\n";
}

void write_texts(const JsonValue& result, const char* key, const char* heading, Io& io) {
    if (const JsonValue* texts = result.find(key); texts && texts->if_array()) {
        for (const JsonValue& text : *texts->if_array()) {
            io.out << heading << (text.if_string() ? *text.if_string() : "") << "\n";
        }
    }
}

std::string verdict_line(const std::string& verdict, const std::string& depth) {
    if (verdict == "equal" && depth != "use") {
        return "equal: allocated memory is what is required, to the byte; no decode step was run";
    }
    if (verdict == "equal") {
        return "equal: measured memory is what is required, to the byte";
    }
    return verdict == "refuted" ? "refuted: the prediction is wrong" : verdict;
}

void write_result(const Model& model, const Options& options, const JsonValue& result, Io& io) {
    const TableStyle style = options.output.style();
    if (style == TableStyle::csv) {
        io.out << format_table(sample_table(result, style), style);
        return;
    }
    io.out << model.plan.display_name << " on " << device_line(result) << "\n"
           << heading(estimate(std::make_shared<Model>(model), options.settings)) << "\n\n";
    if (!result.array_at("samples").empty()) {
        io.out << format_table(sample_table(result, style), style) << "\n";
        write_kernels(result, style, io);
        write_slope(result, io);
        write_baseline(result, io);
        write_device_delta(result, io);
        write_memory(result, io);
    }
    write_texts(result, "notes", "note: ", io);
    write_texts(result, "reasons", "reason: ", io);
    io.out << verdict_line(result.string_at("verdict"), text_or(result, "depth", "use")) << "\n";
}

} // namespace

int verify_command(const Options& options, Io& io) {
    if (options.measure_claims) {
        return verify_claims_command(options, io);
    }
    const ModelPtr model = apply_settings(load_model(options.models.front()), options.settings);
    VerifyOptions verify = options.verify;
    verify.baseline = options.without_cache ? options.settings.context : Tokens(0);
    const VerifierAnswer answer = run_verifier(verify_request(*model, options.settings, verify),
                                               "verifying", options.record, io);
    if (options.output.json) {
        io.out << dump_json(answer.result) << "\n";
    } else {
        write_result(*model, options, answer.result, io);
    }
    return answer.code;
}

} // namespace kvcaliper::cli
