// SPDX-License-Identifier: Apache-2.0
#include "core/fit.h"
#include "core/report.h"

namespace kvcaliper {

namespace {

JsonValue device_json(const Deployment& deployment) {
    const Device& device = deployment.device;
    JsonValue json;
    json.set("name", device.name);
    json.set("display_name", device.display_name);
    json.set("devices", deployment.settings.parallel.ranks());
    json.set("memory_bytes", device.memory.count());
    json.set("nominal", device.nominal);
    json.set("source", device.source);
    return json;
}

std::int64_t whole(const Figure& figure) {
    return figure.value().ceiling();
}

JsonValue budget_json(const FitAnswer& answer) {
    const Budget& budget = answer.budget;
    JsonValue json;
    json.set("usable_bytes", whole(budget.usable));
    json.set("weights_bytes", whole(budget.weights));
    json.set("weights_source", to_string(answer.deployment.weights.source));
    json.set("workspace_bytes", whole(budget.workspace));
    json.set("left_for_cache_bytes", budget.left_for_cache());
    json.set("cache_bytes", whole(budget.cache));
    json.set("headroom_bytes", budget.headroom());
    return json;
}

JsonValue suggestion_json(const Suggestion& suggestion) {
    JsonValue json;
    json.set("change", suggestion.change);
    json.set("option", suggestion.option);
    json.set("cache_bytes", suggestion.cache.count());
    json.set("headroom_bytes", suggestion.headroom);
    return json;
}

JsonValue command_json(const EngineCommand& command) {
    JsonValue json;
    json.set("engine", command.engine);
    json.set("command", command.command);
    json.set("problem", command.problem);
    json.set("headroom_bytes", command.headroom ? JsonValue(*command.headroom) : JsonValue());
    return json;
}

JsonValue table_json(const FitTable& table) {
    JsonValue::Array columns;
    for (std::size_t i = 0; i < table.formats.size(); ++i) {
        JsonValue::Array rows;
        for (std::size_t row = 0; row < table.contexts.size(); ++row) {
            JsonValue json;
            json.set("context", table.contexts[row].count());
            json.set("sequences", table.sequences[row][i]);
            rows.push_back(std::move(json));
        }
        JsonValue json;
        json.set("k_format", table.formats[i].k);
        json.set("v_format", table.formats[i].v);
        json.set("rows", std::move(rows));
        json.set("longest_context", table.longest[i].count());
        columns.push_back(std::move(json));
    }
    return columns;
}

JsonValue way_json(const CartridgeWay& way) {
    JsonValue json;
    json.set("bytes", whole(way.bytes));
    json.set("most_sequences", way.most_sequences ? JsonValue(*way.most_sequences) : JsonValue());
    return json;
}

JsonValue cartridge_json(const CartridgeAnswer& answer) {
    JsonValue json;
    json.set("slots_bytes", whole(answer.slots));
    json.set("document_bytes", whole(answer.document));
    json.set("repeated", way_json(answer.repeated));
    json.set("shared", way_json(answer.shared));
    json.set("cartridge", way_json(answer.cartridges));
    json.set("break_even_queries",
             answer.break_even_queries ? JsonValue(*answer.break_even_queries) : JsonValue());
    return json;
}

template <class Item>
JsonValue array_of(const std::vector<Item>& items, JsonValue (*json)(const Item&)) {
    JsonValue::Array array;
    for (const Item& item : items) {
        array.push_back(json(item));
    }
    return array;
}

} // namespace

JsonValue fit_json(const FitAnswer& answer) {
    const ModelPlan& plan = answer.deployment.model->plan;
    JsonValue model;
    model.set("name", plan.name);
    model.set("display_name", plan.display_name);
    model.set("confidence", to_string(plan.confidence));
    JsonValue json;
    json.set("schema", 1);
    json.set("command", "fit");
    json.set("question", to_string(answer.kind));
    json.set("model", std::move(model));
    json.set("settings", settings_json(answer.budget.estimate));
    json.set("device", device_json(answer.deployment));
    json.set("fits", answer.fits);
    json.set("budget", budget_json(answer));
    json.set("most_sequences", answer.most_sequences);
    json.set("longest_context", answer.longest_context.count());
    json.set("table", table_json(answer.table));
    json.set("suggestions", array_of(answer.suggestions, suggestion_json));
    json.set("equal_types",
             answer.equal_types ? suggestion_json(*answer.equal_types) : JsonValue());
    json.set("commands", array_of(answer.commands, command_json));
    json.set("naive_bytes_per_token",
             answer.naive ? JsonValue(answer.naive->value().to_string()) : JsonValue());
    json.set("cartridge", answer.cartridge ? cartridge_json(*answer.cartridge) : JsonValue());
    json.set("notes", JsonValue::Array(answer.notes.begin(), answer.notes.end()));
    return json;
}

} // namespace kvcaliper
