// SPDX-License-Identifier: Apache-2.0
// A table as a file that says what it was made from, so that it can be made again.
#pragma once

#include "core/report.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvcaliper {

enum class TableFormat { csv, tsv, markdown, json };

/// By the ending of a file's name (.csv, .tsv, .md, .json, in any case); none for another.
std::optional<TableFormat> table_format_of(std::string_view file_name);

/// What a table was made from.
struct TableOrigin {
    std::string name;                  ///< "compare"
    std::string title;                 ///< what its numbers are numbers of
    std::vector<std::string> commands; ///< that give the same figures
    JsonValue study;                   ///< of the window, as its files hold it
};

/// The table with its origin and the version: lines that start with "# " above CSV and TSV, a
/// comment above Markdown, members beside the rows in JSON. There a cell of a column of numbers is
/// a number where it is a whole one, null where it is empty, and else its text.
std::string write_table_file(const Table& table, const TableOrigin& origin, TableFormat format);

/// The study that such a file holds; throws Error when it holds none.
JsonValue study_of_table_file(std::string_view text, const std::string& source);

/// One line of JSON without <, > and &, which then needs no escaping in HTML, XML and comments.
std::string markup_json(const JsonValue& value);

} // namespace kvcaliper
