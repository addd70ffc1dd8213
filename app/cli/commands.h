// SPDX-License-Identifier: Apache-2.0
// What the commands of kvcaliper take and do. command_options.h fills the options in, one
// function each answers.
#pragma once

#include "app/cli/cli.h"
#include "core/estimate.h"
#include "core/report.h"
#include "core/verify_request.h"

#include <optional>
#include <string>
#include <vector>

namespace kvcaliper::cli {

/// How an answer is written.
struct Output {
    bool json = false;
    bool csv = false;
    bool markdown = false;
    /// The style of a table; json is asked for apart.
    TableStyle style() const {
        return csv ? TableStyle::csv : markdown ? TableStyle::markdown : TableStyle::text;
    }
};

/// What `fit` takes beside the settings.
struct FitOptions {
    std::string gpu;
    std::string memory;
    std::string weights = "auto";
    std::string workspace; ///< empty: what is assumed for the engine
    std::optional<Ratio> utilization;
    Tokens shared_prefix{0};
    std::optional<Tokens> cartridge;
    std::optional<Tokens> document;
    std::optional<Tokens> training_tokens;
};

struct Options {
    std::vector<std::string> models;
    Settings settings;
    bool context_given = false;
    bool sequences_given = false;
    FitOptions fit;
    Output output;
    bool layers = false;
    bool explain = false;
    std::string baseline;
    std::optional<Tokens> from;
    std::optional<Tokens> to;
    int points = 32;
    std::string subject; ///< claims: a file or bundled name; log: a file; list: what
    std::string log_model;
    VerifyOptions verify;
    std::string record;
    bool without_cache = false;  ///< verify: the baseline, too
    bool measure_claims = false; ///< verify: the claims of `subject` instead of a model
    std::string chart_file;
    std::string chart_kind = "per-token";
    std::string chart_theme = "light";
    std::string chart_size;
    std::vector<std::string> chart_gpus; ///< context: lines; budget: the one device
    bool chart_linear = false;
    bool chart_recompute = false;
};

int estimate_command(const Options& options, Io& io);
int compare_command(const Options& options, Io& io);
int curve_command(const Options& options, Io& io);
int fit_command(const Options& options, Io& io);
int claims_command(const Options& options, Io& io);
int log_command(const Options& options, Io& io);
int verify_command(const Options& options, Io& io);
int verify_claims_command(const Options& options, Io& io);
int quality_command(const Options& options, Io& io);
int chart_command(const Options& options, Io& io);
int list_command(const Options& options, Io& io);

/// What `quality --json` prints, measured now.
JsonValue quality_answer(const Options& options, Io& io);

/// The claims file that a user means: a bundled name (none: the seed) or a path.
std::string claims_path(const std::string& subject);
/// "2.34 GiB" and "300 KiB" for people; "12.5 B" for a slope that is no whole number.
std::string bytes_cell(const Ratio& bytes);
/// Exact bytes with separators for text, plain digits for CSV.
std::string exact_cell(const Ratio& bytes, TableStyle style);
/// "required view, engine ideal, K bf16, V bf16, 8,192 tokens × 1 sequence".
std::string heading(const Estimate& estimate);

} // namespace kvcaliper::cli
