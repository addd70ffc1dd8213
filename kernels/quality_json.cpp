// SPDX-License-Identifier: Apache-2.0
// The request for a measurement of quality, and its answer, as JSON.
#include "core/error.h"
#include "kernels/geometry.h"
#include "kernels/quality.h"

#include <cmath>

namespace kvcaliper::kernels {
namespace {

std::int64_t positive(const JsonValue& json, const char* key) {
    const std::int64_t value = json.integer_at(key);
    if (value < 1 || value > most_quality_numbers)
        throw Error("/quality/" + std::string(key) + ": expected 1 to " +
                    std::to_string(most_quality_numbers) + ", found " + std::to_string(value));
    return value;
}

std::vector<Format> formats_at(const JsonValue& json, const char* key, std::int64_t width) {
    const bool keys = std::string_view(key) == "k_formats";
    std::vector<Format> formats;
    for (const JsonValue& entry : json.array_at(key)) {
        const std::string where = "/quality/" + std::string(key) + ": ";
        const std::optional<Format> format =
            entry.if_string() != nullptr ? cache_format(*entry.if_string()) : std::nullopt;
        if (!format)
            throw Error(where + "expected a format that has kernels, found " + describe(entry));
        const bool per_channel = keys && keeps_residual(*format); // whatever the width
        if (!per_channel && !divides(*format, width))
            throw Error(where + "expected rows that blocks of " +
                        std::to_string(block_of(*format).elements) + " divide, found " +
                        std::to_string(width) + " in " + name_of(*format));
        formats.push_back(*format);
    }
    return formats;
}

/// Factors are at most 2^24 each: products of two fit 64 bits.
void check_size(const QualityRequest& r) {
    for (const std::int64_t width : {r.key_width, r.value_width})
        if (r.heads * width > most_quality_numbers ||
            r.kv_heads * width > most_quality_numbers / r.tokens)
            throw Error("/quality: expected at most " + std::to_string(most_quality_numbers) +
                        " numbers, found " + std::to_string(r.tokens) + " tokens of " +
                        std::to_string(r.kv_heads) + " heads of " + std::to_string(width));
    if (r.heads % r.kv_heads != 0)
        throw Error("/quality/heads: expected a multiple of " + std::to_string(r.kv_heads) +
                    ", found " + std::to_string(r.heads));
}

JsonValue names_of(const std::vector<Format>& formats) {
    JsonValue::Array names;
    for (const Format format : formats)
        names.emplace_back(name_of(format));
    return names;
}

JsonValue conditions_of(const QualityResult& result) {
    JsonValue::Array conditions;
    for (std::size_t i = 0; i < quality_conditions.size(); ++i) {
        JsonValue condition;
        condition.set("name", quality_conditions[i].name);
        condition.set("score_deviation", quality_conditions[i].spread);
        condition.set("large_channels", quality_conditions[i].outliers);
        condition.set("attended_tokens", result.attended[i]);
        conditions.push_back(std::move(condition));
    }
    return conditions;
}

JsonValue pair_json(const QualityPair& pair) {
    JsonValue::Array errors;
    for (const double error : pair.errors) // JSON has no infinity
        errors.push_back(std::isfinite(error) ? JsonValue(error) : JsonValue());
    JsonValue json;
    json.set("k", name_of(pair.k));
    json.set("v", name_of(pair.v));
    json.set("errors", std::move(errors));
    return json;
}

} // namespace

bool asks_for_quality(const JsonValue& json) {
    return json.find("quality") != nullptr;
}

QualityRequest quality_request_from_json(const JsonValue& json) {
    if (json.integer_at("schema") != 1)
        throw Error("/schema: expected 1, found " + describe(json.at("schema")));
    const JsonValue& asked = json.at("quality");
    QualityRequest request;
    request.tokens = positive(asked, "tokens");
    request.heads = positive(asked, "heads");
    request.kv_heads = positive(asked, "kv_heads");
    request.key_width = positive(asked, "key_width");
    request.value_width = positive(asked, "value_width");
    request.seed = asked.integer_at("seed");
    check_size(request);
    request.k_formats = formats_at(asked, "k_formats", request.key_width);
    request.v_formats = formats_at(asked, "v_formats", request.value_width);
    const JsonValue* cancel = json.find("cancel_on_eof");
    request.cancel_on_eof = cancel != nullptr && cancel->if_bool() != nullptr && *cancel->if_bool();
    return request;
}

JsonValue to_json(const QualityResult& result) {
    const QualityRequest& request = result.request;
    JsonValue::Array pairs;
    for (const QualityPair& pair : result.pairs)
        pairs.push_back(pair_json(pair));
    JsonValue json;
    json.set("type", "result");
    json.set("verdict", result.cancelled ? "cancelled" : "measured");
    json.set("backend", result.device.backend);
    json.set("device", result.device.name);
    json.set("tokens", request.tokens);
    json.set("heads", request.heads);
    json.set("kv_heads", request.kv_heads);
    json.set("key_width", request.key_width);
    json.set("value_width", request.value_width);
    json.set("seed", request.seed);
    json.set("outlier_period", outlier_period);
    json.set("outlier_factor", static_cast<double>(outlier_factor));
    json.set("k_formats", names_of(request.k_formats));
    json.set("v_formats", names_of(request.v_formats));
    json.set("conditions", conditions_of(result));
    json.set("pairs", std::move(pairs));
    return json;
}

} // namespace kvcaliper::kernels
