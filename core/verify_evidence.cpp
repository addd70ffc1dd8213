// SPDX-License-Identifier: Apache-2.0
#include "core/verify_evidence.h"

#include "core/error.h"

#include <map>
#include <tuple>
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

/// The latest covering record of every device, and the latest of those that are stale; one that was
/// disturbed proves nothing either way.
std::vector<Judged> latest_per_device(const Estimate& estimate,
                                      const std::vector<VerifyRecordPtr>& records) {
    std::map<std::tuple<std::string, std::string, bool>, Judged> latest;
    for (const VerifyRecordPtr& record : records) {
        if (record->verdict == "disturbed" || !covers(*record, estimate)) {
            continue;
        }
        Judged judged{record, check_record(*record, *estimate.model)};
        const bool stale = judged.check.status == RecordStatus::stale;
        Judged& known = latest[{record->backend, record->device, stale}];
        if (!known.record || known.record->date < record->date) {
            known = std::move(judged);
        }
    }
    std::vector<Judged> judged;
    for (auto& [device, one] : latest) {
        judged.push_back(std::move(one));
    }
    return judged;
}

/// The latest one of that status, or null.
const Judged* latest_of(const std::vector<Judged>& judged, RecordStatus status) {
    const Judged* found = nullptr;
    for (const Judged& one : judged) {
        if (one.check.status == status && (!found || found->record->date < one.record->date)) {
            found = &one;
        }
    }
    return found;
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
    const std::vector<Segment> segments = segments_of(record);
    const bool same = !segments.empty() && segments.back().slope == estimate.growth.value() &&
                      segments.back().start == estimate.constant.value();
    return same ? "as what is left of the line " + segments.back().words() : "";
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

} // namespace

Evidence figure_evidence(FigureKind figure, const Estimate& estimate,
                         const std::vector<VerifyRecordPtr>& records) {
    const std::vector<Judged> judged = latest_per_device(estimate, records);
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

} // namespace kvcaliper
