// SPDX-License-Identifier: Apache-2.0
#include "core/claim_measurement.h"

#include "core/error.h"

#include <algorithm>

namespace kvcaliper {

namespace {

/// Where nothing else asks for more tokens: enough that every page and block is crossed, and within
/// the limit of every bundled model.
constexpr std::int64_t usual_context = 1024;

struct Segment {
    std::int64_t from;
    std::int64_t to;
};

/// Two contexts at which every layer still grows.
Segment below_windows(const ModelPlan& plan) {
    const std::set<std::int64_t> windows = window_sizes(plan);
    const std::int64_t to =
        windows.empty() ? usual_context : std::min(usual_context, *windows.begin());
    return {to / 2, to};
}

/// Two contexts at which every window that the model's own context fills is full.
Segment beyond_windows(const ModelPlan& plan) {
    std::int64_t from = usual_context / 2;
    for (const std::int64_t window : window_sizes(plan)) {
        if (!plan.max_context || window <= plan.max_context->count()) {
            from = std::max(from, window);
        }
    }
    return {from, 2 * from};
}

bool of_growth(const Claim& claim, const ClaimBasis& basis) {
    return basis.growth || claim.quantity == "growth" || claim.quantity == "fixed" ||
           claim.quantity == "layer_ratio" || claim.quantity == "window";
}

Segment segment_of(const Claim& claim, const ClaimBasis& basis) {
    return of_growth(claim, basis) ? beyond_windows(basis.model->plan)
                                   : below_windows(basis.model->plan);
}

std::vector<MeasuredComponent> at_context(const Measurement& run, std::int64_t context) {
    std::vector<MeasuredComponent> found;
    std::copy_if(run.components.begin(), run.components.end(), std::back_inserter(found),
                 [&](const MeasuredComponent& c) { return c.context == context; });
    if (found.empty()) {
        throw Error("expected a measurement at " + std::to_string(context) + " tokens, found none");
    }
    return found;
}

std::int64_t bytes_at(const Measurement& run, std::int64_t context, const std::string& kind = "") {
    std::int64_t bytes = 0;
    for (const MeasuredComponent& c : at_context(run, context)) {
        bytes = checked_add(bytes, kind.empty() || c.kind == kind ? c.used : 0);
    }
    return bytes;
}

Ratio slope(const Measurement& run, const Segment& segment, const std::string& kind = "") {
    return Ratio(bytes_at(run, segment.to, kind) - bytes_at(run, segment.from, kind),
                 segment.to - segment.from);
}

/// Layers whose keys stopped growing, per layer whose keys did not.
std::optional<Ratio> layer_ratio(const Measurement& run, const Segment& segment) {
    const auto before = at_context(run, segment.from);
    const auto after = at_context(run, segment.to);
    std::int64_t full = 0, growing = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
        if (after[i].component == "key") {
            (after[i].used == before.at(i).used ? full : growing) += after[i].layers;
        }
    }
    return growing == 0 ? std::nullopt : std::optional(Ratio(full, growing));
}

/// What full windows hold, in tokens of what they took while they filled.
std::optional<Ratio> window_tokens(const Measurement& run, const Segment& segment) {
    const std::string sliding(to_string(LayerKind::sliding_attention));
    const Ratio filling = slope(run, {segment.from / 2, segment.from}, sliding);
    return filling == Ratio(0) ? std::nullopt
                               : std::optional(Ratio(bytes_at(run, segment.to, sliding)) / filling);
}

} // namespace

Measurement measurement_from_result(const JsonValue& result) {
    Measurement run;
    for (const JsonValue& sample : result.array_at("samples")) {
        const auto role = role_from(sample.string_at("component"));
        const bool ring = role == Role::tail || role == Role::index_tail; // no claim counts them
        if (sample.string_at("component") != "total" && !ring) {
            run.components.push_back({sample.integer_at("context"), sample.string_at("kind"),
                                      sample.string_at("component"), sample.integer_at("layers"),
                                      sample.integer_at("used")});
        }
    }
    if (const JsonValue* rows = result.find("baseline"); rows && rows->if_array()) {
        for (const JsonValue& row : *rows->if_array()) {
            run.recomputed[row.integer_at("tokens")] =
                row.at("without_cache").integer_at("token_rows");
        }
    }
    return run;
}

std::string unmeasurable(const Claim& claim, const ClaimBasis& basis) {
    const auto keeps_rows = [](const LayerPart& part) {
        return std::holds_alternative<LatentDims>(part.dims) ||
               (std::holds_alternative<AttentionDims>(part.dims) &&
                part.kind != LayerKind::cross_attention);
    };
    for (const LayerPlan& layer : basis.model->plan.layers) {
        if (claim.quantity != "recomputation" ||
            std::any_of(layer.parts.begin(), layer.parts.end(), keeps_rows)) {
            return "";
        }
    }
    return "nothing is kept per token: there are no rows to make again";
}

Tokens measured_baseline(const Claim& claim) {
    return claim.quantity == "recomputation" ? claim.context : Tokens(0);
}

std::vector<std::int64_t> measured_contexts(const Claim& claim, const ClaimBasis& basis) {
    if (claim.quantity == "total" || claim.quantity == "recomputation") {
        return {claim.context.count()};
    }
    const Segment segment = segment_of(claim, basis);
    if (claim.quantity == "window") {
        return {segment.from / 2, segment.from, segment.to};
    }
    return {segment.from, segment.to};
}

ClaimBasis against_basis(const ClaimBasis& basis) {
    return {basis.against, nullptr, "auto", "auto", basis.growth, "", std::nullopt};
}

std::optional<Ratio> measured_value(const Claim& claim, const ClaimBasis& basis,
                                    const Measurement& own, const Measurement& against) {
    if (claim.quantity == "total") {
        return Ratio(bytes_at(own, claim.context.count()));
    }
    if (claim.quantity == "recomputation") {
        const auto made = own.recomputed.find(claim.context.count());
        if (made == own.recomputed.end()) {
            throw Error("expected a baseline of " + format_integer(claim.context.count()) +
                        " tokens, found none: it would take too long here");
        }
        return Ratio(made->second);
    }
    const Segment segment = segment_of(claim, basis);
    if (claim.quantity == "layer_ratio") {
        return layer_ratio(own, segment);
    }
    if (claim.quantity == "window") {
        return window_tokens(own, segment);
    }
    const Ratio growth = slope(own, segment);
    if (claim.quantity == "fixed") {
        return growth == Ratio(0) ? std::optional(Ratio(bytes_at(own, segment.to))) : std::nullopt;
    }
    if (!basis.against) {
        return growth;
    }
    const Ratio other = slope(against, segment_of(claim, against_basis(basis)));
    return other == Ratio(0) ? std::nullopt : std::optional(growth / other);
}

} // namespace kvcaliper
