// SPDX-License-Identifier: Apache-2.0
// What fits on a device: the question with its open ends, and everything that is said to it.
#pragma once

#include "core/engine_flags.h"
#include "core/json_value.h"
#include "core/memory_budget.h"
#include "core/prefix.h"
#include "core/solve.h"

#include <optional>
#include <string>
#include <vector>

namespace kvcaliper {

struct FitQuestion {
    Deployment deployment;
    bool context_given = false;   ///< else the longest context is asked for
    bool sequences_given = false; ///< else the most sequences are; both open: a table
    std::optional<CartridgeQuestion> cartridge{};
};

enum class FitKind { check, sequences, context, table };
/// "check", "sequences", "context" or "table".
std::string_view to_string(FitKind kind);

/// Most sequences at each context (rows) in each pair of formats (columns); `longest` is the
/// longest context of one sequence.
struct FitTable {
    std::vector<FormatPair> formats;
    std::vector<Tokens> contexts;
    std::vector<std::vector<std::int64_t>> sequences;
    std::vector<Tokens> longest;
};

struct FitAnswer {
    FitKind kind = FitKind::check;
    Deployment deployment; ///< with the answer filled in; as asked where nothing fits
    Budget budget;         ///< of that deployment
    bool fits = false;
    std::int64_t most_sequences = 0; ///< at the context; of check and sequences
    Tokens longest_context{0};       ///< with the sequences; of check, context and what fits not
    FitTable table;                  ///< of table
    std::vector<Suggestion> suggestions{};
    std::optional<Suggestion> equal_types{}; ///< where Metal wants them
    std::vector<EngineCommand> commands{};   ///< where it fits
    std::optional<Figure> naive{};           ///< bytes per token
    std::optional<CartridgeAnswer> cartridge{};
    std::vector<std::string> notes{};
};

FitAnswer answer_fit(const FitQuestion& question);

/// `fit --json`, schema 1.
JsonValue fit_json(const FitAnswer& answer);

} // namespace kvcaliper
