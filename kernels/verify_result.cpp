// SPDX-License-Identifier: Apache-2.0
#include "kernels/verify_result.h"

#include <algorithm>
#include <cmath>

namespace kvcaliper::kernels {
namespace {

/// JSON has no infinity: what is not a finite number is null.
JsonValue number(std::optional<double> value) {
    return value && std::isfinite(*value) ? JsonValue(*value) : JsonValue();
}

JsonValue integer(std::optional<std::int64_t> value) {
    return value ? JsonValue(*value) : JsonValue();
}

JsonValue ratio(const std::optional<Ratio>& value) {
    return value ? JsonValue(value->to_string()) : JsonValue();
}

JsonValue texts(const std::vector<std::string>& lines) {
    JsonValue::Array array;
    for (const std::string& line : lines)
        array.emplace_back(line);
    return array;
}

template <typename Item> JsonValue::Array array_of(const std::vector<Item>& items) {
    JsonValue::Array array;
    for (const Item& item : items)
        array.push_back(to_json(item));
    return array;
}

/// The samples of the largest context, without the total: one entry per component.
JsonValue components_of(const VerifyResult& result) {
    JsonValue::Array array;
    for (const Sample& sample : result.samples)
        if (sample.context == result.samples.back().context && sample.component != "total")
            array.push_back(to_json(sample));
    return array;
}

JsonValue to_json(const MemoryTotals& memory) {
    JsonValue json;
    json.set("cache", memory.cache);
    json.set("state", memory.state);
    json.set("workspace", memory.workspace);
    json.set("io", memory.io);
    json.set("guards", memory.guards);
    json.set("context", integer(memory.context));
    json.set("library", integer(memory.library));
    return json;
}

double per_second(std::int64_t amount, double seconds) {
    return seconds > 0 ? static_cast<double>(amount) / seconds : 0;
}

} // namespace

std::string_view to_string(Verdict verdict) {
    switch (verdict) {
    case Verdict::equal:
        return "equal";
    case Verdict::refuted:
        return "refuted";
    case Verdict::disturbed:
        return "disturbed";
    case Verdict::refused:
        return "refused";
    case Verdict::cancelled:
        return "cancelled";
    }
    return "refused";
}

Timing timing_of(std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    return {seconds[(seconds.size() - 1) / 2], seconds.front(), seconds.back(),
            std::ssize(seconds)};
}

int exit_code(Verdict verdict) {
    switch (verdict) {
    case Verdict::equal:
    case Verdict::disturbed:
        return 0;
    case Verdict::refuted:
        return 1;
    case Verdict::refused:
    case Verdict::cancelled:
        return 3;
    }
    return 3;
}

JsonValue to_json(const DeviceInfo& device) {
    JsonValue json;
    json.set("backend", device.backend);
    json.set("name", device.name);
    json.set("driver", device.driver);
    json.set("memory_bytes", device.memory_bytes);
    json.set("available_bytes", device.available_bytes);
    json.set("multiprocessors", device.multiprocessors);
    return json;
}

JsonValue to_json(const Sample& sample) {
    JsonValue json;
    json.set("type", "sample");
    json.set("context", sample.context);
    json.set("kind", sample.kind.empty() ? JsonValue() : JsonValue(sample.kind));
    json.set("component", sample.component);
    json.set("layers", sample.layers);
    json.set("predicted", sample.predicted);
    json.set("requested", sample.requested);
    json.set("used", integer(sample.used));
    json.set("verdict", to_string(sample.refuted ? Verdict::refuted : Verdict::equal));
    json.set("device_delta", integer(sample.device_delta));
    json.set("seconds", number(sample.seconds));
    json.set("bytes_read", sample.bytes_read);
    json.set("flops", sample.flops);
    json.set("max_error", number(sample.max_error));
    json.set("bound", number(sample.bound));
    if (sample.quantisation_error)
        json.set("quantisation_error", number(sample.quantisation_error));
    if (!sample.note.empty())
        json.set("note", sample.note);
    return json;
}

JsonValue to_json(const KernelRow& row) {
    JsonValue json;
    json.set("context", row.context);
    json.set("kind", row.kind);
    if (row.shared)
        json.set("shared", true);
    json.set("layers", row.layers);
    json.set("attended_layers", row.attended_layers);
    json.set("seconds", row.timing.median);
    json.set("seconds_least", row.timing.least);
    json.set("seconds_most", row.timing.most);
    json.set("repeats", row.timing.repeats);
    json.set("bytes_read", row.bytes_read);
    json.set("flops", row.flops);
    json.set("bytes_per_second", per_second(row.bytes_read, row.timing.median));
    json.set("bytes_per_second_least", per_second(row.bytes_read, row.timing.most));
    json.set("bytes_per_second_most", per_second(row.bytes_read, row.timing.least));
    json.set("flops_per_second", per_second(row.flops, row.timing.median));
    json.set("read_fraction", number(row.read_fraction));
    json.set("max_error", number(row.max_error));
    json.set("bound", row.bound);
    return json;
}

JsonValue to_json(const BaselineRow& row) {
    const auto side_json = [](const BaselineSide& side) {
        JsonValue json;
        json.set("token_rows", side.token_rows);
        json.set("seconds", side.seconds);
        json.set("bytes_written", side.bytes_written);
        json.set("bytes_read", side.bytes_read);
        return json;
    };
    JsonValue json;
    json.set("kind", row.kind);
    json.set("tokens", row.tokens);
    json.set("with_cache", side_json(row.with_cache));
    json.set("without_cache", side_json(row.without_cache));
    json.set("max_error", number(row.max_error));
    json.set("bound", row.bound);
    return json;
}

JsonValue to_json(const VerifyResult& result) {
    JsonValue json;
    json.set("type", "result");
    json.set("verdict", to_string(result.verdict));
    json.set("depth", to_string(result.depth));
    json.set("reasons", texts(result.reasons));
    json.set("notes", texts(result.notes));
    json.set("device", to_json(result.device));
    json.set("components",
             result.samples.empty() ? JsonValue(JsonValue::Array{}) : components_of(result));
    json.set("slope", ratio(result.slope));
    json.set("intercept", ratio(result.intercept));
    json.set("predicted_slope", ratio(result.predicted_slope));
    json.set("predicted_intercept", ratio(result.predicted_intercept));
    json.set("slope_from", result.slope_from);
    json.set("slope_to", result.slope_to);
    json.set("kernels", array_of(result.kernels));
    if (!result.baseline.empty())
        json.set("baseline", array_of(result.baseline));
    json.set("memory", to_json(result.memory));
    json.set("read_bandwidth", result.read_bandwidth);
    json.set("bytes_needed", result.bytes_needed);
    json.set("limit", result.limit);
    json.set("samples", array_of(result.samples));
    return json;
}

} // namespace kvcaliper::kernels
