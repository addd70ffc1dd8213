// SPDX-License-Identifier: Apache-2.0
#include "core/estimate.h"

#include "core/engines/engine.h"
#include "core/error.h"
#include "core/rank_estimate.h"
#include "core/stored_components.h"
#include "core/token_curve.h"

#include <algorithm>
#include <cmath>

namespace kvcaliper {

namespace {

const NumericFormat* resolve(const std::string& name, const NumericFormat* automatic,
                             const ModelPlan& plan) {
    if (name == "checkpoint") {
        if (!plan.checkpoint_kv_format) {
            throw Error(plan.name + ": expected a KV scheme in the file (--kv checkpoint), found "
                                    "none");
        }
        return &numeric_format(*plan.checkpoint_kv_format);
    }
    return name == "auto" ? automatic : &numeric_format(name);
}

/// The chunk of a model with chunked attention.
std::optional<std::int64_t> chunk_of(const CacheSpec& spec) {
    for (const ComponentGroup& group : group_components(spec)) {
        if (group.component.units.kind == Units::Kind::chunk) {
            return group.component.units.n;
        }
    }
    return std::nullopt;
}

std::vector<std::string> setting_notes(const Estimate& estimate) {
    std::vector<std::string> notes;
    if (std::string note = larger_before(estimate); !note.empty()) {
        notes.push_back(std::move(note));
    }
    const auto& limit = estimate.model->plan.max_context;
    if (limit && estimate.settings.context > *limit) {
        notes.push_back("context " + format_integer(estimate.settings.context.count()) +
                        " is beyond the model's " + format_integer(limit->count()) +
                        " (max_position_embeddings): arithmetic only");
    }
    if (const auto chunk = chunk_of(estimate.model->spec)) {
        const std::int64_t exact = (estimate.settings.context.count() - 1) % *chunk + 1;
        notes.push_back("chunked layers are counted at their bound, min(T," +
                        std::to_string(*chunk) + "); ((T-1) mod " + std::to_string(*chunk) +
                        ")+1 = " + format_integer(exact) +
                        " tokens are exactly needed at this context");
    }
    const auto& layers = estimate.model->plan.layers;
    if (estimate.settings.encoder_tokens == Tokens(0) &&
        std::any_of(layers.begin(), layers.end(), needs_encoder_tokens)) {
        notes.push_back("cross-attention keeps K and V of the encoder's tokens, which are "
                        "not counted: give their number with --encoder-tokens");
    }
    return notes;
}

/// Throws for settings no cache can have.
void check_settings(const Settings& settings) {
    if (settings.sequences < 1) {
        throw Error("--sequences: expected at least 1, found " +
                    std::to_string(settings.sequences));
    }
    if (settings.context < Tokens(1)) {
        throw Error("--context: expected at least 1, found " +
                    std::to_string(settings.context.count()));
    }
}

Figure required_figure(const CacheSpec& spec, const CacheFormats& formats, const Settings& settings,
                       Tokens tokens) {
    return times_sequences(cache_bytes(spec, formats, tokens), settings.sequences);
}

std::string joined(const std::vector<std::string>& texts) {
    std::string text;
    for (const std::string& one : texts) {
        text += (text.empty() ? "" : "; ") + one;
    }
    return text;
}

/// The engine's view beside the required one.
void add_reserved(Estimate& estimate) {
    estimate.reserved_formats = estimate.formats;
    auto reservation = reserve(*estimate.model, estimate.settings);
    if (!reservation) {
        return;
    }
    const Bytes bytes = reservation->figure.bytes();
    estimate.notes.insert(estimate.notes.end(), reservation->notes.begin(),
                          reservation->notes.end());
    if (bytes < estimate.required.bytes()) {
        estimate.notes.push_back("reserved is less than required: " +
                                 (reservation->savings.empty() ? "the engine's formats are smaller"
                                                               : joined(reservation->savings)));
    }
    estimate.reserved_formats = reservation->formats;
    estimate.reserved = std::move(reservation->figure);
}

/// `points` counts from `from` to `to`, evenly spaced in their logarithm; ascending, ends included.
std::vector<Tokens> curve_tokens(Tokens from, Tokens to, int points) {
    std::vector<Tokens> tokens{from};
    const double first = std::log(static_cast<double>(from.count()));
    const double last = std::log(static_cast<double>(to.count()));
    for (int i = 1; i + 1 < points; ++i) {
        const double at = std::exp(first + (last - first) * i / (points - 1));
        tokens.push_back(std::clamp(Tokens(std::llround(at)), from, to));
    }
    tokens.push_back(to);
    return tokens;
}

/// The knees from `from` to `to`, ascending.
std::vector<Tokens> knees_between(const CacheSpec& spec, const CacheFormats& formats, Tokens from,
                                  Tokens to) {
    std::vector<Tokens> tokens;
    for (const Knee& knee : knees(spec, formats)) {
        if (knee.tokens >= from && knee.tokens <= to) {
            tokens.push_back(knee.tokens);
        }
    }
    std::sort(tokens.begin(), tokens.end());
    return tokens;
}

} // namespace

std::string larger_before(const Estimate& estimate) {
    const Settings& settings = estimate.settings;
    const Tokens fullest = fullest_context(estimate.formats, settings.context);
    if (fullest == settings.context) {
        return "";
    }
    const Bytes most =
        cache_bytes(estimate.model->spec, estimate.formats, fullest).bytes() * settings.sequences;
    if (most <= estimate.required.bytes()) {
        return "";
    }
    const NumericFormat& format = *estimate.formats.k;
    return "K keeps up to " + format_integer(format.residual_length - 1) + " recent tokens in " +
           std::string(format.residual_format) + ": the most on the way to " +
           format_integer(settings.context.count()) + " tokens is " + format_bytes_exact(most) +
           " at " + format_integer(fullest.count()) +
           (settings.parallel.is_one() ? "" : ", in the whole model");
}

CacheFormats resolve_formats(const Settings& settings, const ModelPlan& plan,
                             const CacheFormats& automatic) {
    return {resolve(settings.k_format, automatic.k, plan),
            resolve(settings.v_format, automatic.v, plan),
            resolve(settings.index_format, automatic.index, plan),
            resolve(settings.conv_format, automatic.conv, plan),
            resolve(settings.state_format, automatic.state, plan)};
}

CacheFormats resolve_formats(const Settings& settings, const ModelPlan& plan) {
    if (find_engine(settings.engine).name != "ideal") {
        throw Error("--engine: expected ideal (other engines are known to estimate and compare), "
                    "found \"" +
                    settings.engine + "\"");
    }
    if (!settings.parallel.is_one()) {
        throw Error("--tp, --pp, --cp, --dp: expected 1 (ranks are known to estimate and compare), "
                    "found " +
                    to_string(settings.parallel));
    }
    return resolve_formats(settings, plan, ideal_formats());
}

Figure times_sequences(Figure figure, std::int64_t sequences) {
    if (sequences != 1) {
        figure.name += " × " + format_integer(sequences) + " sequences";
        for (Term& term : figure.terms) {
            term.factors.push_back({"sequences", sequences});
        }
    }
    return figure;
}

ModelPtr apply_settings(const ModelPtr& model, const Settings& settings) {
    const auto& layers = model->plan.layers;
    if (settings.encoder_tokens == Tokens(0) ||
        std::none_of(layers.begin(), layers.end(), needs_encoder_tokens)) {
        return model;
    }
    auto with_encoder = std::make_shared<Model>(*model);
    for (LayerPlan& layer : with_encoder->plan.layers) {
        for (LayerPart& part : layer.parts) {
            auto* dims = std::get_if<AttentionDims>(&part.dims);
            if (dims && part.kind == LayerKind::cross_attention && dims->encoder_tokens == 0) {
                dims->encoder_tokens = settings.encoder_tokens.count();
            }
        }
    }
    with_encoder->spec = build_cache_spec(with_encoder->plan);
    return with_encoder;
}

Estimate estimate_held(ModelPtr model, const Settings& settings) {
    check_settings(settings);
    Estimate result;
    result.settings = settings;
    result.formats = resolve_formats(settings, model->plan, ideal_formats());
    result.model = apply_settings(model, settings);
    const CacheSpec& spec = result.model->spec;
    if (const auto problem = storage_problem(spec, result.formats)) {
        throw Error(model->plan.name + ": " + *problem);
    }
    result.required = required_figure(spec, result.formats, settings, settings.context);
    result.required.bytes(); // an overflow is found here, not while printing
    add_reserved(result);
    result.per_rank = estimate_rank(result);
    return result;
}

Estimate estimate(ModelPtr model, const Settings& settings) {
    Estimate result = estimate_held(std::move(model), settings);
    const CacheSpec& spec = result.model->spec;
    result.uncapped = uncapped_bytes_per_token(spec, result.formats);
    result.growth = growth_bytes_per_token(spec, result.formats);
    result.constant = constant_bytes(spec, result.formats);
    result.knees = knees(spec, result.formats);
    std::vector<std::string> notes = setting_notes(result);
    notes.insert(notes.begin(), result.model->plan.notes.begin(), result.model->plan.notes.end());
    result.notes.insert(result.notes.begin(), std::make_move_iterator(notes.begin()),
                        std::make_move_iterator(notes.end()));
    return result;
}

std::vector<CurvePoint> curve(const Model& model, const Settings& settings, Tokens from, Tokens to,
                              int points) {
    if (from < Tokens(1) || to < from || points < 2 || points > 100'000) {
        throw Error("curve: expected 1 <= --from <= --to and 2 to 100000 --points, found from " +
                    std::to_string(from.count()) + " to " + std::to_string(to.count()) + " with " +
                    std::to_string(points) + " points");
    }
    check_settings(settings);
    const CacheFormats formats = resolve_formats(settings, model.plan);
    const TokenCurve bytes(model.spec, formats, settings.sequences);
    const std::vector<Tokens> bends = knees_between(model.spec, formats, from, to);
    std::vector<Tokens> tokens = curve_tokens(from, to, points);
    tokens.insert(tokens.end(), bends.begin(), bends.end());
    std::sort(tokens.begin(), tokens.end());
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    std::vector<CurvePoint> result;
    for (const Tokens at : tokens) {
        result.push_back({at, bytes.at(at), std::binary_search(bends.begin(), bends.end(), at)});
    }
    return result;
}

std::int64_t recomputed_tokens(Tokens tokens) {
    const std::int64_t n = tokens.count();
    return n % 2 == 0 ? checked_multiply(n / 2, checked_add(n, 1))
                      : checked_multiply(n, checked_add(n, 1) / 2);
}

} // namespace kvcaliper
