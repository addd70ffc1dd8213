// SPDX-License-Identifier: Apache-2.0
#include "core/table_file.h"

#include "core/error.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

namespace kvcaliper {

namespace {

constexpr std::string_view study_mark = "study: ";
constexpr std::int64_t file_schema = 1;

std::string lower_case(std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower;
}

std::string one_line(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    return text;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
        text.replace(at, from.size(), to);
    }
    return text;
}

std::vector<std::string> origin_lines(const TableOrigin& origin) {
    std::vector<std::string> lines{"kvcaliper " + std::string(version) + ", table " + origin.name,
                                   origin.title};
    for (const std::string& command : origin.commands) {
        lines.push_back("command: " + command);
    }
    lines.push_back(std::string(study_mark) + markup_json(origin.study));
    return lines;
}

std::string hash_comment(const TableOrigin& origin) {
    std::string text;
    for (const std::string& line : origin_lines(origin)) {
        text += "# " + one_line(line) + "\n";
    }
    return text;
}

std::string markup_comment(const TableOrigin& origin) {
    std::string text;
    for (const std::string& line : origin_lines(origin)) {
        text += (text.empty() ? "" : "\n") + replaced(one_line(line), "-->", "-- >");
    }
    return "<!-- " + text + "\n-->\n\n";
}

JsonValue cell_json(const std::string& cell, bool number) {
    std::int64_t value = 0;
    const char* const end = cell.data() + cell.size();
    const auto [stop, error] = std::from_chars(cell.data(), end, value);
    if (number && error == std::errc() && stop == end) {
        return value;
    }
    return number && cell.empty() ? JsonValue() : JsonValue(cell);
}

JsonValue table_json(const Table& table, const TableOrigin& origin) {
    JsonValue::Array columns, rows;
    for (const Table::Column& column : table.columns) {
        columns.emplace_back(column.title);
    }
    for (const auto& row : table.rows) {
        JsonValue::Array cells;
        for (std::size_t i = 0; i < row.size(); ++i) {
            cells.push_back(cell_json(row[i], table.columns[i].number));
        }
        rows.emplace_back(std::move(cells));
    }
    JsonValue json;
    json.set("kvcaliper_table", file_schema);
    json.set("version", version);
    json.set("table", origin.name);
    json.set("title", origin.title);
    json.set("commands", JsonValue::Array(origin.commands.begin(), origin.commands.end()));
    json.set("study", origin.study);
    json.set("columns", std::move(columns));
    json.set("rows", std::move(rows));
    return json;
}

[[noreturn]] void fail_without_study(const std::string& source) {
    throw Error(source + ": expected a table that kvcaliper exported, found no study in it");
}

} // namespace

std::optional<TableFormat> table_format_of(std::string_view file_name) {
    constexpr std::array<std::pair<std::string_view, TableFormat>, 4> endings{
        {{".csv", TableFormat::csv},
         {".tsv", TableFormat::tsv},
         {".md", TableFormat::markdown},
         {".json", TableFormat::json}}};
    const std::string name = lower_case(file_name);
    for (const auto& [ending, format] : endings) {
        if (name.ends_with(ending)) {
            return format;
        }
    }
    return std::nullopt;
}

std::string write_table_file(const Table& table, const TableOrigin& origin, TableFormat format) {
    switch (format) {
    case TableFormat::csv:
        return hash_comment(origin) + format_table(table, TableStyle::csv);
    case TableFormat::tsv:
        return hash_comment(origin) + format_table(table, TableStyle::tsv);
    case TableFormat::markdown:
        return markup_comment(origin) + format_table(table, TableStyle::markdown);
    case TableFormat::json:
        return dump_json(table_json(table, origin)) + "\n";
    }
    return "";
}

JsonValue study_of_table_file(std::string_view text, const std::string& source) {
    if (text.starts_with('{')) {
        const JsonValue file = parse_json(text, source).value;
        if (file.find("kvcaliper_table") == nullptr || file.find("study") == nullptr) {
            fail_without_study(source);
        }
        return file.at("study");
    }
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t end = std::min(text.find('\n', from), text.size());
        std::string_view line = text.substr(from, end - from);
        line.remove_prefix(line.starts_with("# ") ? 2 : 0);
        if (line.starts_with(study_mark)) {
            return parse_json(line.substr(study_mark.size()), source).value;
        }
        from = end + 1;
    }
    fail_without_study(source);
}

std::string markup_json(const JsonValue& value) {
    const std::string text = dump_json(value, -1);
    return replaced(replaced(replaced(text, "<", "\\u003c"), ">", "\\u003e"), "&", "\\u0026");
}

} // namespace kvcaliper
