// SPDX-License-Identifier: Apache-2.0
// Records of runs that never took place, for tests of what is done with records. Their device says
// so. No figure in them is evidence of anything.
#pragma once

#include "core/stored_components.h"
#include "core/verify_record.h"
#include "core/verify_request.h"

#include <memory>
#include <string>

namespace kvcaliper::test {

inline constexpr const char* made_up_device = "made-up example device";

struct MadeUp {
    std::string verdict = "equal";
    std::string backend = "cpu";
    std::string date = "2026-01-02T03:04:05Z";
    std::string device = made_up_device;
    VerifyOptions options{};
    std::int64_t key_bytes_off = 0; ///< added to what every key is said to have used
};

inline JsonValue made_up_sample(std::int64_t context, JsonValue kind, std::string component,
                                std::int64_t layers, std::int64_t predicted, std::int64_t used) {
    JsonValue json;
    json.set("type", "sample");
    json.set("context", context);
    json.set("kind", std::move(kind));
    json.set("component", std::move(component));
    json.set("layers", layers);
    json.set("predicted", predicted);
    json.set("requested", predicted);
    json.set("used", used);
    json.set("verdict", used == predicted ? "equal" : "refuted");
    return json;
}

/// The samples of one context and, as the verifier sends it, their total.
inline void add_made_up_samples(JsonValue::Array& samples, const Model& model,
                                const Settings& settings, std::int64_t context,
                                const MadeUp& made_up) {
    const CacheFormats formats = resolve_formats(settings, model.plan);
    std::int64_t predicted = 0, used = 0;
    for (const ComponentGroup& group : group_components(model.spec, formats)) {
        const Component& component = group.component;
        const std::int64_t bytes = component_bytes(component, formats, Tokens(context)).count() *
                                   group.layers * settings.sequences;
        const std::int64_t touched =
            bytes + (component.role == Role::key ? made_up.key_bytes_off : 0);
        samples.push_back(made_up_sample(context, std::string(to_string(component.kind)),
                                         std::string(to_string(component.role)), group.layers,
                                         bytes, touched));
        predicted += bytes;
        used += touched;
    }
    samples.push_back(made_up_sample(context, {}, "total",
                                     static_cast<std::int64_t>(model.spec.layers.size()), predicted,
                                     used));
}

inline JsonValue made_up_kernels(const Model& model) {
    std::set<LayerKind> kinds;
    for (const LayerPlan& layer : model.plan.layers) {
        for (const LayerPart& part : layer.parts) {
            kinds.insert(part.kind);
        }
    }
    JsonValue::Array rows;
    for (const LayerKind kind : kinds) {
        JsonValue row;
        row.set("kind", to_string(kind));
        row.set("attended_layers", 1);
        rows.push_back(std::move(row));
    }
    return rows;
}

inline JsonValue made_up_result(const Model& model, const Settings& settings,
                                const MadeUp& made_up = {}) {
    JsonValue device;
    device.set("backend", made_up.backend);
    device.set("name", made_up.device);
    device.set("driver", "made-up driver");
    JsonValue::Array samples;
    for (const std::int64_t context :
         verify_contexts(model, resolve_formats(settings, model.plan), settings.context)) {
        add_made_up_samples(samples, model, settings, context, made_up);
    }
    JsonValue json;
    json.set("type", "result");
    json.set("verdict", made_up.verdict);
    json.set("depth", made_up.options.depth);
    json.set("reasons", made_up.verdict == "refuted" ? JsonValue::Array{"a made-up contradiction"}
                                                     : JsonValue::Array{});
    json.set("device", std::move(device));
    json.set("kernels", made_up_kernels(model));
    json.set("samples", std::move(samples));
    return json;
}

inline JsonValue made_up_record_json(const Model& model, const Settings& settings,
                                     const MadeUp& made_up = {}) {
    return verify_record_json(verify_request(model, settings, made_up.options),
                              made_up_result(model, settings, made_up), made_up.date);
}

inline VerifyRecordPtr made_up_record(const Model& model, const Settings& settings,
                                      const MadeUp& made_up = {}) {
    return std::make_shared<const VerifyRecord>(
        verify_record_from_json(made_up_record_json(model, settings, made_up), "a made-up record"));
}

} // namespace kvcaliper::test
