// SPDX-License-Identifier: Apache-2.0
#include "core/claim.h"

#include "core/error.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

namespace kvcaliper {

std::string_view to_string(ClaimVerdict verdict) {
    switch (verdict) {
    case ClaimVerdict::consistent:
        return "consistent";
    case ClaimVerdict::only_if:
        return "only if";
    case ClaimVerdict::refuted:
        return "not consistent";
    }
    return "";
}

// ---- checking -----------------------------------------------------------------------------------

namespace {

struct Interval {
    Ratio low;
    Ratio high;
    bool holds(const Ratio& value) const { return low <= value && value <= high; }
};

/// What the written digits allow: "68.6" is 68.55 to 68.65; "about" widens to ±5 %.
Interval allowed(const Claim& claim) {
    const WrittenNumber number = parse_written_number(claim.value);
    Interval interval{number.value - number.step * Ratio(1, 2),
                      number.value + number.step * Ratio(1, 2)};
    if (claim.about) {
        interval.low = std::min(interval.low, number.value * Ratio(95, 100));
        interval.high = std::max(interval.high, number.value * Ratio(105, 100));
    }
    return interval;
}

/// One way to understand a claim. Each departure from what is written costs.
struct Reading {
    ModelPtr model;
    ModelPtr against;
    std::int64_t unit = 1;
    std::string unit_note;
    std::string k_format;
    std::string v_format;
    std::string format_note;
    bool other_model = false;
    bool other_against = false;
    bool growth_basis = false;

    int cost() const {
        return (other_model ? 1 : 0) + (other_against ? 1 : 0) + (unit_note.empty() ? 0 : 1) +
               (format_note.empty() ? 0 : 2) + (growth_basis ? 2 : 0);
    }
};

CacheFormats formats_of(const Reading& reading) {
    Settings settings;
    settings.k_format = reading.k_format;
    settings.v_format = reading.v_format;
    return resolve_formats(settings, reading.model->plan);
}

Ratio per_token(const Model& model, const CacheFormats& formats, bool growth) {
    check_storable(model.spec, formats);
    return growth ? growth_bytes_per_token(model.spec, formats).value()
                  : uncapped_bytes_per_token(model.spec, formats).value();
}

std::int64_t count_layers(const Model& model, LayerKind kind) {
    return std::count_if(
        model.plan.layers.begin(), model.plan.layers.end(), [&](const LayerPlan& layer) {
            return std::any_of(layer.parts.begin(), layer.parts.end(),
                               [&](const LayerPart& part) { return part.kind == kind; });
        });
}

std::optional<Ratio> layer_ratio(const Model& model) {
    const std::int64_t full = count_layers(model, LayerKind::full_attention);
    if (full == 0) {
        return std::nullopt;
    }
    return Ratio(count_layers(model, LayerKind::sliding_attention), full);
}

/// The one window of all sliding layers.
std::optional<Ratio> window(const Model& model) {
    const std::set<std::int64_t> windows = window_sizes(model.plan);
    return windows.size() == 1 ? std::optional(Ratio(*windows.begin())) : std::nullopt;
}

/// What a reading makes of the claim's quantity: bytes, or a pure number; nothing where the model
/// has no such thing (no windows, a cache that grows where it is said to be fixed).
std::optional<Ratio> measure(const Claim& claim, const Reading& reading) {
    const Model& model = *reading.model;
    const CacheFormats formats = formats_of(reading);
    if (claim.quantity == "recomputation") {
        return Ratio(recomputed_tokens(claim.context));
    }
    if (claim.quantity == "layer_ratio") {
        return layer_ratio(model);
    }
    if (claim.quantity == "window") {
        return window(model);
    }
    if (claim.quantity == "total") {
        check_storable(model.spec, formats);
        return cache_bytes(model.spec, formats, claim.context).value();
    }
    if (claim.quantity == "fixed") {
        const bool fixed = per_token(model, formats, true) == Ratio(0);
        return fixed ? std::optional(constant_bytes(model.spec, formats).value()) : std::nullopt;
    }
    const Ratio own = per_token(model, formats, reading.growth_basis || claim.quantity == "growth");
    if (needs_against(claim)) {
        const Ratio other = per_token(*reading.against, ideal_formats(), reading.growth_basis);
        return other == Ratio(0) ? std::nullopt : std::optional(own / other);
    }
    return own;
}

bool holds(const Claim& claim, const Reading& reading) {
    try {
        const auto value = measure(claim, reading);
        if (!value) {
            return false;
        }
        if (claim.quantity == "fixed" && claim.value.empty()) {
            return true;
        }
        const Interval interval = allowed(claim);
        if (claim.quantity == "at_most") {
            const Ratio most = needs_against(claim) ? parse_written_number(claim.value).value
                                                    : interval.high * reading.unit;
            return *value <= most;
        }
        return Interval{interval.low * reading.unit, interval.high * reading.unit}.holds(*value);
    } catch (const Error&) {
        return false; // a format this variant can not store is a reading that does not hold
    }
}

// ---- the readings that are tried ------------------------------------------------------------

struct UnitReading {
    std::int64_t bytes = 1;
    std::string note;
};

std::vector<UnitReading> unit_readings(const Claim& claim) {
    if (!counts_bytes(claim) || claim.value.empty()) {
        return {{1, ""}};
    }
    std::vector<UnitReading> readings{{bytes_of_unit(claim.unit), ""}};
    std::string other = claim.unit;
    if (claim.unit.size() == 2) {
        other.insert(1, "i");
        other[0] = other[0] == 'k' ? 'K' : other[0];
    } else if (claim.unit.size() == 3) {
        other.erase(1, 1);
    }
    if (other != claim.unit && claim.unit.size() <= 3) {
        readings.push_back({bytes_of_unit(other), claim.unit + " here means " + other});
    }
    return readings;
}

struct FormatReading {
    std::string k;
    std::string v;
    std::string note;
};

std::vector<FormatReading> format_readings(const Claim& claim) {
    std::vector<FormatReading> readings{{claim.k_format, claim.v_format, ""}};
    if (claim.k_format == "auto" && claim.v_format == "auto" && claim.unit.size() > 0 &&
        counts_bytes(claim)) {
        for (const char* format : {"f32", "fp8_e4m3", "q8_0", "q4_0"}) {
            readings.push_back({format, format, std::string("with K and V in ") + format});
        }
    }
    return readings;
}

/// The model as named, then the other variants of its family.
std::vector<ModelPtr> variants(const std::string& name, const std::vector<CatalogEntry>& catalog) {
    std::vector<ModelPtr> models;
    if (name.empty()) {
        return {nullptr};
    }
    models.push_back(load_model(name));
    for (const CatalogEntry& entry : catalog) {
        if (!entry.family.empty() && entry.family == models.front()->plan.family &&
            entry.name != models.front()->plan.name) {
            models.push_back(load_model(entry.name));
        }
    }
    return models;
}

bool has_growth_basis(const Claim& claim) {
    return claim.quantity == "per_token" || claim.quantity == "ratio" ||
           claim.quantity == "at_most";
}

struct Candidates {
    std::vector<ModelPtr> models;
    std::vector<ModelPtr> againsts;
    std::vector<UnitReading> units;
    std::vector<FormatReading> formats;
    std::vector<bool> growth;
};

template <typename Visit> void for_each_reading(const Candidates& all, Visit visit) {
    for (std::size_t m = 0; m < all.models.size(); ++m) {
        for (std::size_t a = 0; a < all.againsts.size(); ++a) {
            for (const UnitReading& unit : all.units) {
                for (const FormatReading& format : all.formats) {
                    for (const bool growth : all.growth) {
                        visit(Reading{all.models[m], all.againsts[a], unit.bytes, unit.note,
                                      format.k, format.v, format.note, m > 0, a > 0, growth});
                    }
                }
            }
        }
    }
}

/// The readings under which the claim is true with the fewest departures from its words.
std::vector<Reading> cheapest_true(const Claim& claim, const Candidates& candidates) {
    std::vector<Reading> best;
    int cost = std::numeric_limits<int>::max();
    for_each_reading(candidates, [&](const Reading& reading) {
        if (reading.cost() > cost || !holds(claim, reading)) {
            return;
        }
        if (reading.cost() < cost) {
            best.clear();
            cost = reading.cost();
        }
        best.push_back(reading);
    });
    return best;
}

std::string join_names(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
    }
    return text;
}

/// "true for GPT-2 XL only", over the readings that differ from one another in the model alone.
std::string variant_text(const std::vector<Reading>& readings, bool against) {
    std::vector<std::string> names;
    for (const Reading& reading : readings) {
        const bool departs = against ? reading.other_against : reading.other_model;
        const std::string& name = against && reading.against ? reading.against->plan.display_name
                                                             : reading.model->plan.display_name;
        if (departs && std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(name);
        }
    }
    if (names.empty()) {
        return "";
    }
    return std::string(against ? "true against " : "true for ") + join_names(names) +
           (names.size() == 1 ? " only" : "");
}

std::vector<std::string> reading_texts(const std::vector<Reading>& readings) {
    std::vector<std::string> texts;
    const auto add = [&](const std::string& text) {
        if (!text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end()) {
            texts.push_back(text);
        }
    };
    add(variant_text(readings, false));
    add(variant_text(readings, true));
    for (const Reading& reading : readings) {
        add(reading.unit_note);
        add(reading.format_note);
        add(reading.growth_basis ? "as growth once windows are full" : "");
    }
    return texts;
}

// ---- words for the result -------------------------------------------------------------------

std::string departure_text(const Reading& reading) {
    std::vector<std::string> texts;
    if (reading.other_model) {
        texts.push_back(reading.model->plan.display_name);
    }
    if (reading.other_against) {
        texts.push_back("against " + reading.against->plan.display_name);
    }
    if (!reading.format_note.empty()) {
        texts.push_back(reading.format_note);
    }
    if (reading.growth_basis) {
        texts.push_back("as growth once windows are full");
    }
    std::string all;
    for (const std::string& text : texts) {
        all += (all.empty() ? "" : ", ") + text;
    }
    return all.empty() ? "as written" : all;
}

std::optional<Ratio> value_or_nothing(const Claim& claim, const Reading& reading) {
    try {
        return measure(claim, reading);
    } catch (const Error&) {
        return std::nullopt; // rows that the format can not store
    }
}

/// As written, and each reading that is not told from it by its unit alone.
std::vector<ClaimBasis> bases_of(const Claim& claim, const Reading& as_written,
                                 const std::vector<Reading>& readings) {
    std::vector<ClaimBasis> bases;
    const auto add = [&](const Reading& reading) {
        const std::string text = departure_text(reading);
        const bool known = std::any_of(bases.begin(), bases.end(),
                                       [&](const ClaimBasis& basis) { return basis.text == text; });
        if (!known) {
            bases.push_back({reading.model, reading.against, reading.k_format, reading.v_format,
                             reading.growth_basis, text, value_or_nothing(claim, reading)});
        }
    };
    add(as_written);
    std::for_each(readings.begin(), readings.end(), add);
    return bases;
}

} // namespace

std::string claim_value_text(const Claim& claim, const std::optional<Ratio>& value) {
    if (!value) {
        return claim.quantity == "fixed" ? "it grows" : "there is none";
    }
    if (counts_bytes(claim)) {
        return value->is_integer() ? format_bytes_exact(Bytes(value->numerator()))
                                   : format_bytes(*value);
    }
    return value->is_integer() ? format_integer(value->numerator()) : format_decimal(*value, 4);
}

std::set<std::int64_t> window_sizes(const ModelPlan& plan) {
    std::set<std::int64_t> windows;
    for (const LayerPlan& layer : plan.layers) {
        for (const LayerPart& part : layer.parts) {
            if (const auto* dims = std::get_if<AttentionDims>(&part.dims); dims && dims->window) {
                windows.insert(*dims->window);
            }
        }
    }
    return windows;
}

namespace {

std::string claimed_text(const Claim& claim) {
    if (claim.quantity == "fixed" && claim.value.empty()) {
        return "fixed";
    }
    std::string text = (claim.about ? "about " : "") + claim.value;
    text += claim.unit.empty() ? "" : " " + claim.unit;
    if (claim.quantity == "at_most") {
        text = "at most " + text;
    }
    return claim.against.empty() ? text : text + " × " + claim.against;
}

std::vector<std::string> notes_for(const Claim& claim, const Model& model, bool refuted) {
    std::vector<std::string> notes;
    const auto& limit = model.plan.max_context;
    if (claim.quantity == "total" && limit && claim.context > *limit) {
        notes.push_back("the context of " + model.plan.display_name + " ends at " +
                        format_integer(limit->count()) + " tokens: " +
                        format_integer(claim.context.count()) + " is arithmetic only");
    }
    if (claim.quantity == "layer_ratio") {
        notes.push_back(
            std::to_string(count_layers(model, LayerKind::sliding_attention)) + " sliding and " +
            std::to_string(count_layers(model, LayerKind::full_attention)) + " full layers");
    }
    if (!claim.note.empty()) {
        notes.push_back(claim.note);
    }
    if (refuted && claim.quantity != "at_most" && !claim.value.empty()) {
        const Interval interval = allowed(claim);
        notes.push_back("its digits allow " + format_decimal(interval.low, 3) + " to " +
                        format_decimal(interval.high, 3) +
                        (claim.unit.empty() ? "" : " " + claim.unit));
    }
    return notes;
}

std::string computed_text(const Claim& claim, const Reading& as_written) {
    try {
        return claim_value_text(claim, measure(claim, as_written));
    } catch (const Error& error) {
        return error.what();
    }
}

} // namespace

ClaimResult check_claim(const Claim& claim, const std::vector<CatalogEntry>& catalog) {
    const Candidates candidates{variants(claim.model, catalog), variants(claim.against, catalog),
                                unit_readings(claim), format_readings(claim),
                                has_growth_basis(claim) ? std::vector{false, true}
                                                        : std::vector{false}};
    const Reading as_written{candidates.models.front(),
                             candidates.againsts.front(),
                             candidates.units.front().bytes,
                             "",
                             claim.k_format,
                             claim.v_format,
                             "",
                             false,
                             false,
                             false};
    formats_of(as_written); // a format that is none is the file's mistake, not a false claim
    const auto readings = cheapest_true(claim, candidates);
    ClaimResult result;
    result.claim = claim;
    result.claimed = claimed_text(claim);
    result.computed = computed_text(claim, as_written);
    result.notes = notes_for(claim, *as_written.model, readings.empty());
    result.bases = bases_of(claim, as_written, readings);
    if (!readings.empty()) {
        const bool as_is = readings.front().cost() == 0;
        result.verdict = as_is ? ClaimVerdict::consistent : ClaimVerdict::only_if;
        result.reading = reading_texts(readings);
    }
    return result;
}

} // namespace kvcaliper
