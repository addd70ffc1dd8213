// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"
#include "core/architectures/architectures.h"
#include "core/catalog.h"
#include "core/device.h"
#include "core/engines/engine.h"
#include "core/verify_record.h"

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

/// One row per engine, one more per option.
Table engine_table() {
    Table table{{{"name"}, {"option"}, {"values"}, {"default"}, {"meaning"}}, {}};
    for (const EngineInfo& engine : engines()) {
        const std::string read =
            engine.version.empty() ? "" : " (" + std::string(engine.version) + ")";
        table.rows.push_back(
            {std::string(engine.name), "", "", "", std::string(engine.meaning) + read});
        for (const EngineOption& option : engine.options) {
            table.rows.push_back({std::string(engine.name), std::string(option.name),
                                  std::string(option.values), std::string(option.by_default),
                                  std::string(option.meaning)});
        }
    }
    return table;
}

Table architecture_table_of_types() {
    Table table{{{"model_type"}, {"confidence"}, {"rule"}, {"keys it reads"}}, {}};
    for (const ArchitectureInfo& info : known_architectures()) {
        table.rows.push_back(
            {info.model_type, std::string(to_string(info.confidence)), info.rule, info.keys});
    }
    return table;
}

Table device_table() {
    Table table{{{"name"},
                 {"device"},
                 {"vendor"},
                 {"kind"},
                 {"memory"},
                 {"memory_bytes", true},
                 {"usable_bytes", true},
                 {"size"},
                 {"bandwidth_bytes_per_second", true},
                 {"source"}},
                {}};
    for (const Device& device : known_devices()) {
        table.rows.push_back(
            {device.name, device.display_name, device.vendor, std::string(to_string(device.kind)),
             format_bytes(device.memory), std::to_string(device.memory.count()),
             std::to_string(device.usable.count()), device.nominal ? "nominal" : "driver",
             std::to_string(device.bandwidth), device.source});
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
    if (subject == "gpus") {
        return device_table();
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

/// Which CUDA kernels no GPU has run yet: a note for people, not part of the table.
void write_kernels_note(Io& io) {
    std::string kinds;
    for (const LayerKind kind : kinds_run_on_gpu({})) {
        kinds += (kinds.empty() ? "" : ", ") + std::string(to_string(kind));
    }
    io.out << "\nCUDA kernels"
           << (kinds.empty() ? "" : " of " + kinds + ": run on a GPU; all others") << ": "
           << emulation_only << "\n";
}

} // namespace

int list_command(const Options& options, Io& io) {
    const Table table = table_of(options.subject);
    if (options.output.json) {
        io.out << dump_json(table_json(table, options.subject)) << "\n";
    } else {
        io.out << format_table(table, options.output.style());
        if (options.subject == "architectures" && options.output.style() == TableStyle::text) {
            write_kernels_note(io);
        }
    }
    return answered;
}

} // namespace kvcaliper::cli
