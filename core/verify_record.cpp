// SPDX-License-Identifier: Apache-2.0
#include "core/verify_record.h"

#include "core/error.h"
#include "core/kernel_proof.h"
#include "core/report.h"
#include "core/stored_components.h"

#include <algorithm>
#include <ctime>
#include <map>

namespace kvcaliper {

namespace {

constexpr std::int64_t record_schema = 1;

// ---- reading ------------------------------------------------------------------------------------

std::string text_or(const JsonValue& json, std::string_view key, std::string otherwise) {
    const JsonValue* value = json.find(key);
    return value && value->if_string() ? *value->if_string() : std::move(otherwise);
}

std::int64_t integer_or(const JsonValue& json, std::string_view key, std::int64_t otherwise) {
    return json.find(key) == nullptr ? otherwise : json.integer_at(key);
}

/// Does `read`; an error gets `place` in front.
template <typename Read> auto within(std::string_view place, Read read) {
    try {
        return read();
    } catch (const Error& error) {
        throw Error(std::string(place) + error.what());
    }
}

RecordedSample sample_from_json(const JsonValue& json) {
    RecordedSample sample{json.integer_at("context"),
                          json.string_at("kind"),
                          json.string_at("component"),
                          json.integer_at("layers"),
                          json.integer_at("predicted"),
                          json.integer_at("requested"),
                          std::nullopt,
                          true};
    if (const JsonValue* used = json.find("used"); used && !used->is_null()) {
        sample.used = json.integer_at("used");
    }
    if (sample.context < 1 || sample.predicted < 0 || sample.requested < 0 ||
        sample.used.value_or(0) < 0) {
        throw Error("/samples: expected tokens and bytes, found a negative number");
    }
    sample.equal = text_or(json, "verdict", "equal") == "equal" &&
                   sample.predicted == sample.requested && sample.predicted == sample.measured();
    return sample;
}

void read_samples(const JsonValue& result, VerifyRecord& record) {
    for (const JsonValue& sample : result.array_at("samples")) {
        if (sample.string_at("component") != "total") {
            record.samples.push_back(sample_from_json(sample));
        }
    }
    if (record.samples.empty()) {
        throw Error("/samples: expected what was measured, found none");
    }
    std::stable_sort(record.samples.begin(), record.samples.end(),
                     [](const auto& a, const auto& b) { return a.context < b.context; });
    for (const std::int64_t context : record.contexts()) {
        record.measured_at(context); // a sum that overflows is found here, not while it is shown
    }
}

void read_kernels(const JsonValue& result, VerifyRecord& record) {
    const JsonValue* rows = result.find("kernels");
    for (const JsonValue& row : rows && rows->if_array() ? *rows->if_array() : JsonValue::Array{}) {
        const auto kind = layer_kind_from(row.string_at("kind"));
        if (kind && row.integer_at("attended_layers") > 0) {
            record.kinds_run.insert(*kind);
        }
    }
}

bool measured_something(std::string_view verdict) {
    return verdict == "equal" || verdict == "refuted" || verdict == "disturbed";
}

void read_result(const JsonValue& result, VerifyRecord& record) {
    record.verdict = result.string_at("verdict");
    const JsonValue* reasons = result.find("reasons");
    for (const JsonValue& reason :
         reasons && reasons->if_array() ? *reasons->if_array() : JsonValue::Array{}) {
        record.reasons.push_back(reason.if_string() ? *reason.if_string() : dump_json(reason, -1));
    }
    const JsonValue& device = result.at("device");
    record.backend = device.string_at("backend");
    record.device = device.string_at("name");
    record.driver = text_or(device, "driver", "");
    if (!measured_something(record.verdict)) {
        throw Error("/verdict: expected equal, refuted or disturbed, found " + record.verdict +
                    ": nothing was measured");
    }
    read_samples(result, record);
    read_kernels(result, record);
    const bool equal = std::all_of(record.samples.begin(), record.samples.end(),
                                   [](const RecordedSample& sample) { return sample.equal; });
    if (record.verdict == "equal" && !equal) {
        throw Error("/verdict: expected refuted where samples differ, found equal");
    }
}

void read_request(const JsonValue& request, VerifyRecord& record) {
    record.plan = within("/config", [&] { return model_plan_from_json(request.at("config")); });
    record.spec = within("/spec", [&] { return cache_spec_from_json(request.at("spec")); });
    record.formats =
        within("/formats", [&] { return cache_formats_from_json(request.at("formats")); });
    record.sequences = request.integer_at("sequences");
    record.steps = request.integer_at("steps");
    record.seed = request.integer_at("seed");
    record.cartridge = integer_or(request, "cartridge", 0);
    record.page = integer_or(request, "page", 0);
    record.depth = text_or(request, "depth", "use");
    if (record.sequences < 1) {
        throw Error("/sequences: expected at least 1, found " + std::to_string(record.sequences));
    }
}

/// "2026-11-30T00:54:12Z", so that dates sort as text.
void check_date(const std::string& date) {
    constexpr std::string_view shape = "dddd-dd-ddTdd:dd:ddZ";
    const bool fits = std::equal(
        shape.begin(), shape.end(), date.begin(), date.end(), [](char wanted, char found) {
            return wanted == 'd' ? found >= '0' && found <= '9' : wanted == found;
        });
    if (!fits) {
        throw Error("/date: expected a date like 2026-01-31T12:00:00Z, found \"" + date + "\"");
    }
}

// ---- against today's prediction -----------------------------------------------------------------

/// What a component is called in a sample, and where it was taken.
struct Where {
    std::int64_t context;
    std::string kind;
    std::string component;
    auto operator<=>(const Where&) const = default;
};

std::map<Where, std::int64_t> predicted_then(const VerifyRecord& record) {
    std::map<Where, std::int64_t> bytes;
    for (const RecordedSample& sample : record.samples) {
        std::int64_t& sum = bytes[{sample.context, sample.kind, sample.component}];
        sum = checked_add(sum, sample.predicted);
    }
    return bytes;
}

std::map<Where, std::int64_t> predicted_now(const VerifyRecord& record, const CacheSpec& spec) {
    std::map<Where, std::int64_t> bytes;
    for (const std::int64_t context : record.contexts()) {
        for (const ComponentGroup& group : group_components(spec, record.formats)) {
            const Component& component = group.component;
            std::int64_t& sum = bytes[{context, std::string(to_string(component.kind)),
                                       std::string(to_string(component.role))}];
            const Bytes one = component_bytes(component, record.formats, Tokens(context));
            sum =
                checked_add(sum, checked_multiply((one * group.layers).count(), record.sequences));
        }
    }
    return bytes;
}

std::string bytes_or_none(const std::map<Where, std::int64_t>& bytes, const Where& where) {
    const auto found = bytes.find(where);
    return found == bytes.end() ? "none" : format_integer(found->second) + " B";
}

/// The first component that is predicted otherwise today, or nothing.
std::string bytes_differ(const VerifyRecord& record, const CacheSpec& spec) {
    const auto then = predicted_then(record);
    const auto now = predicted_now(record, spec);
    std::set<Where> places;
    for (const auto* side : {&then, &now}) {
        for (const auto& [where, bytes] : *side) {
            places.insert(where);
        }
    }
    for (const Where& where : places) {
        const std::string before = bytes_or_none(then, where);
        const std::string after = bytes_or_none(now, where);
        if (before != after) {
            return where.component + " of " + where.kind + " layers at " +
                   format_integer(where.context) + " tokens: predicted " + before +
                   " when it was measured, " + after + " today";
        }
    }
    return "";
}

/// Layers as the verifier sees them: which key decided a layer is for people.
std::string layers_text(ModelPlan plan) {
    for (LayerPlan& layer : plan.layers) {
        layer.decided_by.clear();
    }
    return dump_json(to_json(plan).at("layers"), -1);
}

std::string components_text(CacheSpec spec) {
    spec.max_context.reset(); // nothing is measured there
    return dump_json(to_json(spec), -1);
}

std::string stale_reason(const VerifyRecord& record, const Model& today) {
    const bool plain = record.cartridge == 0 && record.page == 0;
    if (std::string reason = plain ? bytes_differ(record, today.spec) : ""; !reason.empty()) {
        return reason;
    }
    if (components_text(record.spec) != components_text(stored_spec(today.spec, record.formats))) {
        return "the layers keep other components today than when it was measured";
    }
    return layers_text(record.plan) == layers_text(today.plan)
               ? ""
               : "the model's layers are read otherwise today than when it was measured";
}

} // namespace

std::optional<Bytes> VerifyRecord::measured_at(std::int64_t context) const {
    std::optional<Bytes> bytes;
    for (const RecordedSample& sample : samples) {
        if (sample.context == context) {
            bytes = bytes.value_or(Bytes(0)) + Bytes(sample.measured());
        }
    }
    return bytes;
}

std::vector<std::int64_t> VerifyRecord::contexts() const {
    std::set<std::int64_t> seen;
    for (const RecordedSample& sample : samples) {
        seen.insert(sample.context);
    }
    return {seen.begin(), seen.end()};
}

JsonValue verify_record_json(const JsonValue& request, const JsonValue& result,
                             std::string_view date) {
    JsonValue record;
    record.set("schema", record_schema);
    record.set("version", version);
    record.set("date", date);
    record.set("request", request);
    record.set("result", result);
    return record;
}

std::string record_date_now() {
    char text[32];
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

bool looks_like_record(const JsonValue& json) {
    return json.find("request") != nullptr && json.find("result") != nullptr;
}

VerifyRecord verify_record_from_json(JsonValue json, std::string_view source) {
    return within(std::string(source) + ": ", [&] {
        if (json.integer_at("schema") != record_schema) {
            throw Error("/schema: expected " + std::to_string(record_schema) + ", found " +
                        describe(json.at("schema")));
        }
        VerifyRecord record;
        record.version = json.string_at("version");
        record.date = json.string_at("date");
        check_date(record.date);
        within("/request", [&] { read_request(json.at("request"), record); });
        within("/result", [&] { read_result(json.at("result"), record); });
        record.json = std::move(json);
        return record;
    });
}

VerifyRecord read_verify_record(const std::string& path) {
    return verify_record_from_json(read_json_file(path).value, path);
}

std::string_view to_string(RecordStatus status) {
    switch (status) {
    case RecordStatus::equal:
        return "equal";
    case RecordStatus::refuted:
        return "refuted";
    case RecordStatus::disturbed:
        return "disturbed";
    case RecordStatus::stale:
        return "stale";
    }
    return "stale";
}

RecordCheck check_record(const VerifyRecord& record, const Model& today) {
    try {
        if (std::string reason = stale_reason(record, today); !reason.empty()) {
            return {RecordStatus::stale, std::move(reason)};
        }
    } catch (const Error& error) { // what can not be computed today was predicted otherwise then
        return {RecordStatus::stale, error.what()};
    }
    if (record.verdict == "refuted") {
        return {RecordStatus::refuted, record.reasons.empty() ? "" : record.reasons.front()};
    }
    return {record.verdict == "equal" ? RecordStatus::equal : RecordStatus::disturbed, ""};
}

Model rebuilt_model(const VerifyRecord& record) {
    return {record.plan, build_cache_spec(record.plan)};
}

bool same_model(const VerifyRecord& record, const ModelPlan& plan) {
    return record.plan.name == plan.name && record.plan.model_type == plan.model_type;
}

bool same_settings(const VerifyRecord& record, const Estimate& estimate) {
    if (record.sequences != estimate.settings.sequences || record.cartridge > 0 ||
        record.page > 0) {
        return false;
    }
    const auto groups = group_components(estimate.model->spec);
    return std::all_of(groups.begin(), groups.end(), [&](const ComponentGroup& group) {
        return &format_of(group.component, record.formats) ==
               &format_of(group.component, estimate.formats);
    });
}

std::set<LayerKind> kinds_run_on_gpu(const std::vector<VerifyRecordPtr>& records) {
    std::set<LayerKind> kinds;
    for (const LayerKind kind : all_layer_kinds) {
        if (!proof_of(to_string(kind)).record.empty()) {
            kinds.insert(kind);
        }
    }
    for (const VerifyRecordPtr& record : records) {
        if (record->backend == "cuda") {
            kinds.insert(record->kinds_run.begin(), record->kinds_run.end());
        }
    }
    return kinds;
}

} // namespace kvcaliper
