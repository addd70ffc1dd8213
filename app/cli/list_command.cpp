// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"
#include "core/architectures/architectures.h"
#include "core/catalog.h"

#include <ostream>

namespace kvcaliper::cli {

namespace {

Table model_table() {
    Table table{{{"name"}, {"model"}, {"vendor"}, {"model_type"}, {"family"}, {"source"}}, {}};
    for (const CatalogEntry& entry : bundled_models()) {
        table.rows.push_back({entry.name, entry.display_name, entry.vendor, entry.model_type,
                              entry.family, entry.source});
    }
    return table;
}

Table format_table_of_formats() {
    Table table{{{"name"},
                 {"elements/block", true},
                 {"bytes/block", true},
                 {"bytes/row", true},
                 {"used by"},
                 {"note"}},
                {}};
    for (const NumericFormat& format : numeric_formats()) {
        table.rows.push_back({std::string(format.name), std::to_string(format.elements_per_block),
                              std::to_string(format.bytes_per_block),
                              std::to_string(format.row_side_bytes), std::string(format.used_by),
                              std::string(format.note)});
    }
    return table;
}

Table engine_table() {
    return {{{"name"}, {"meaning"}},
            {{"ideal", "what the architecture needs: exact windows, one latent, no padding"}}};
}

Table architecture_table_of_types() {
    Table table{{{"model_type"}, {"confidence"}, {"rule"}, {"keys it reads"}}, {}};
    for (const ArchitectureInfo& info : known_architectures()) {
        table.rows.push_back(
            {info.model_type, std::string(to_string(info.confidence)), info.rule, info.keys});
    }
    return table;
}

Table table_of(const std::string& subject) {
    if (subject == "models") {
        return model_table();
    }
    if (subject == "formats") {
        return format_table_of_formats();
    }
    return subject == "engines" ? engine_table() : architecture_table_of_types();
}

JsonValue table_json(const Table& table, const std::string& subject) {
    JsonValue::Array rows;
    for (const auto& row : table.rows) {
        JsonValue json;
        for (std::size_t i = 0; i < row.size(); ++i) {
            json.set(table.columns[i].title, table.columns[i].number
                                                 ? JsonValue(std::int64_t{std::stoll(row[i])})
                                                 : JsonValue(row[i]));
        }
        rows.push_back(std::move(json));
    }
    JsonValue json;
    json.set("schema", 1);
    json.set("command", "list");
    json.set(subject, std::move(rows));
    return json;
}

} // namespace

int list_command(const Options& options, Io& io) {
    const Table table = table_of(options.subject);
    if (options.output.json) {
        io.out << dump_json(table_json(table, options.subject)) << "\n";
    } else {
        io.out << format_table(table, options.output.style());
    }
    return answered;
}

} // namespace kvcaliper::cli
