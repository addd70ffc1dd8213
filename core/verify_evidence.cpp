// SPDX-License-Identifier: Apache-2.0
#include "core/verify_evidence.h"

#include "core/error.h"

#include <algorithm>
#include <set>
#include <utility>

namespace kvcaliper {

namespace {

struct Judged {
    VerifyRecordPtr record;
    RecordCheck check;
};

bool covers(const VerifyRecord& record, const Estimate& estimate) {
    return record.depth == "use" && same_model(record, estimate.model->plan) &&
           same_settings(record, estimate) &&
           record.measured_at(estimate.settings.context.count()).has_value();
}

/// Covering records, the latest first; one that was disturbed proves nothing either way.
std::vector<VerifyRecordPtr> covering(const Estimate& estimate,
                                      const std::vector<VerifyRecordPtr>& records) {
    std::vector<VerifyRecordPtr> found;
    for (const VerifyRecordPtr& record : records) {
        if (record->verdict != "disturbed" && covers(*record, estimate)) {
            found.push_back(record);
        }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a->date > b->date; });
    return found;
}

/// Of every device the latest record that is not stale, and every one that is and came later.
std::vector<Judged> latest_per_device(const Estimate& estimate,
                                      const std::vector<VerifyRecordPtr>& records) {
    std::set<std::string> settled;
    std::vector<Judged> judged;
    for (const VerifyRecordPtr& record : covering(estimate, records)) {
        if (!settled.contains(record->device_text())) {
            judged.push_back({record, check_record(*record, *estimate.model)});
            if (judged.back().check.status != RecordStatus::stale) {
                settled.insert(record->device_text());
            }
        }
    }
    return judged;
}

/// The latest one of that status, or null.
const Judged* latest_of(const std::vector<Judged>& judged, RecordStatus status) {
    const auto found = std::find_if(judged.begin(), judged.end(),
                                    [&](const Judged& one) { return one.check.status == status; });
    return found == judged.end() ? nullptr : &*found;
}

/// Two neighbouring contexts of a run and what grew between them, per token and sequence.
struct Segment {
    std::int64_t from;
    std::int64_t to;
    Ratio slope;
    Ratio start; ///< bytes per sequence where the line through both meets zero tokens

    std::string words() const {
        return "between " + format_integer(from) + " and " + format_integer(to) + " tokens";
    }
};

Ratio per_sequence(const VerifyRecord& record, std::int64_t context) {
    return Ratio(record.measured_at(context).value_or(Bytes(0)).count(), record.sequences);
}

std::vector<Segment> segments_of(const VerifyRecord& record) {
    std::vector<Segment> segments;
    const std::vector<std::int64_t> contexts = record.contexts();
    for (std::size_t i = 0; i + 1 < contexts.size(); ++i) {
        const Ratio low = per_sequence(record, contexts[i]);
        const Ratio high = per_sequence(record, contexts[i + 1]);
        const Ratio slope = (high - low) / Ratio(contexts[i + 1] - contexts[i]);
        segments.push_back({contexts[i], contexts[i + 1], slope, low - slope * Ratio(contexts[i])});
    }
    return segments;
}

/// The last segment with that slope, or "".
std::string slope_measured(const VerifyRecord& record, const Ratio& slope) {
    std::string words;
    for (const Segment& segment : segments_of(record)) {
        words = segment.slope == slope ? segment.words() : words;
    }
    return words;
}

std::string constant_measured(const VerifyRecord& record, const Estimate& estimate) {
    std::string words;
    for (const Segment& segment : segments_of(record)) {
        const bool same =
            segment.slope == estimate.growth.value() && segment.start == estimate.constant.value();
        words = same ? "as what is left of the line " + segment.words() : words;
    }
    return words;
}

std::string total_measured(const VerifyRecord& record, const Estimate& estimate) {
    const std::int64_t context = estimate.settings.context.count();
    return Ratio(record.measured_at(context).value_or(Bytes(0)).count()) ==
                   estimate.required.value()
               ? "at " + format_integer(context) + " tokens"
               : "";
}

/// Where a run measured just this number, or "".
std::string measured_how(FigureKind figure, const Estimate& estimate, const VerifyRecord& record) {
    try {
        switch (figure) {
        case FigureKind::uncapped:
            return slope_measured(record, estimate.uncapped.value());
        case FigureKind::growth:
            return slope_measured(record, estimate.growth.value());
        case FigureKind::constant:
            return constant_measured(record, estimate);
        case FigureKind::total:
            return total_measured(record, estimate);
        }
    } catch (const Error&) { // numbers too large to be compared are no evidence
    }
    return "";
}

Evidence evidence_of(FigureKind figure, const Estimate& estimate,
                     const std::vector<Judged>& judged) {
    if (const Judged* refuted = latest_of(judged, RecordStatus::refuted)) {
        return {EvidenceStatus::refuted, refuted->record, refuted->check.reason};
    }
    if (const Judged* equal = latest_of(judged, RecordStatus::equal)) {
        std::string how = measured_how(figure, estimate, *equal->record);
        return how.empty() ? Evidence{}
                           : Evidence{EvidenceStatus::measured, equal->record, std::move(how)};
    }
    if (const Judged* stale = latest_of(judged, RecordStatus::stale)) {
        return {EvidenceStatus::stale, stale->record, stale->check.reason};
    }
    return {};
}

} // namespace

FigureEvidence figure_evidence(const Estimate& estimate,
                               const std::vector<VerifyRecordPtr>& records) {
    const std::vector<Judged> judged = latest_per_device(estimate, records);
    FigureEvidence evidence;
    for (const FigureKind figure : all_figure_kinds) {
        evidence[static_cast<std::size_t>(figure)] = evidence_of(figure, estimate, judged);
    }
    return evidence;
}

} // namespace kvcaliper
