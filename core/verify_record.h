// SPDX-License-Identifier: Apache-2.0
// What a run of the verifier leaves behind: one JSON file with the request, the result, and who
// measured when. Written, read and held against today's prediction here alone.
#pragma once

#include "core/estimate.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kvcaliper {

/// Bytes of one component of the layers of one shape at one context, all sequences.
struct RecordedSample {
    std::int64_t context = 0;
    std::string kind;      ///< "full_attention"
    std::string component; ///< "key"
    std::int64_t layers = 0;
    std::int64_t predicted = 0;
    std::int64_t requested = 0;       ///< counted by the allocator
    std::optional<std::int64_t> used; ///< touched by the kernels; nothing where none ran
    bool equal = true;

    /// What was measured: what was touched, or only counted.
    std::int64_t measured() const { return used.value_or(requested); }
};

struct VerifyRecord {
    JsonValue json;      ///< the whole file, as it is exported again
    std::string version; ///< of the program that measured
    std::string date;    ///< UTC, "2026-11-30T00:54:12Z": sorts as text
    // The request.
    ModelPlan plan;
    CacheSpec spec; ///< as it was predicted then
    CacheFormats formats;
    std::int64_t sequences = 1;
    std::int64_t steps = 0;
    std::int64_t seed = 0;
    std::int64_t cartridge = 0, page = 0; ///< tokens; with either, the caches held something else
    std::string depth;                    ///< "use" where decode steps ran
    // The result.
    std::string verdict; ///< equal, refuted or disturbed
    std::vector<std::string> reasons;
    std::string backend, device, driver;
    std::vector<RecordedSample> samples; ///< by context ascending; totals left out
    std::set<LayerKind> kinds_run;       ///< of which a kernel was executed

    /// "NVIDIA H200 (cuda)".
    std::string device_text() const { return device + " (" + backend + ")"; }
    /// What was measured at one context, all components and sequences; nothing where it was not.
    std::optional<Bytes> measured_at(std::int64_t context) const;
    /// Ascending.
    std::vector<std::int64_t> contexts() const;
};
using VerifyRecordPtr = std::shared_ptr<const VerifyRecord>;

/// The record of a run, schema 1: the request it was sent and the last line it said.
JsonValue verify_record_json(const JsonValue& request, const JsonValue& result,
                             std::string_view date);
/// Now, as records write it.
std::string record_date_now();

/// Whether a JSON file means to be a record, whatever is wrong with it.
bool looks_like_record(const JsonValue& json);
/// Throws Error naming source and key; also for a verdict that measured nothing (refused,
/// cancelled) or that its own samples contradict.
VerifyRecord verify_record_from_json(JsonValue json, std::string_view source);
VerifyRecord read_verify_record(const std::string& path);

enum class RecordStatus {
    equal,
    refuted,   ///< what was measured contradicts what was predicted
    disturbed, ///< counts and outputs agree, but somebody else moved the device's memory
    stale,     ///< this version predicts something else than the record was held against
};
std::string_view to_string(RecordStatus status);

struct RecordCheck {
    RecordStatus status = RecordStatus::equal;
    std::string reason; ///< of stale and refuted
};
/// Against what this version makes of `today`, the record's model as it is read now, under the
/// record's own settings.
RecordCheck check_record(const VerifyRecord& record, const Model& today);
/// The recorded layers with components as this version builds them: for check_record where the
/// model itself is not at hand.
Model rebuilt_model(const VerifyRecord& record);

/// Whether a record is about that model: its name and model_type. Another reading of it makes the
/// record stale, not one of another model.
bool same_model(const VerifyRecord& record, const ModelPlan& plan);
/// Whether the caches held what `estimate` is about: the same sequences, the same format of every
/// component, in one piece and without trained slots.
bool same_settings(const VerifyRecord& record, const Estimate& estimate);

/// Kinds whose CUDA kernels have run on a GPU: those with a record in kernel_proofs(), and those of
/// `records`. Of all others holds `emulation_only` (kernel_proof.h).
std::set<LayerKind> kinds_run_on_gpu(const std::vector<VerifyRecordPtr>& records);

} // namespace kvcaliper
