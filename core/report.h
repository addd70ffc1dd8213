// SPDX-License-Identifier: Apache-2.0
// Answers as JSON (the contract of the command line), CSV, Markdown and aligned text.
#pragma once

#include "core/claim.h"
#include "core/estimate.h"
#include "core/json_value.h"

#include <string>
#include <vector>

namespace kvcaliper {

inline constexpr std::string_view version = "0.1.0";

enum class TableStyle { text, csv, tsv, markdown };

/// A table of strings. Columns of numbers are right-aligned in text and Markdown.
struct Table {
    struct Column {
        std::string title;
        bool number = false;
    };
    std::vector<Column> columns;
    std::vector<std::vector<std::string>> rows;
};
std::string format_table(const Table& table, TableStyle style);

/// `estimate --json`, schema 1.
JsonValue estimate_json(const Estimate& estimate, bool with_layers);
JsonValue settings_json(const Estimate& estimate);
JsonValue claims_json(const std::vector<ClaimResult>& results);
JsonValue figure_json(const Figure& figure);

} // namespace kvcaliper
