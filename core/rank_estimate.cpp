// SPDX-License-Identifier: Apache-2.0
#include "core/rank_estimate.h"

#include "core/engines/engine.h"
#include "core/error.h"
#include "core/stored_components.h"

#include <algorithm>
#include <functional>

namespace kvcaliper {

namespace {

/// A model over its ranks: heads divided, layers still all there.
struct Spread {
    const Estimate& whole;
    Model divided;
    std::vector<StageLayers> stages;
    std::int64_t context_ranks = 1;

    const Settings& settings() const { return whole.settings; }
    const Parallelism& parallel() const { return whole.settings.parallel; }
};

Model with_plan(ModelPlan plan, const Settings& settings) {
    CacheSpec spec = build_cache_spec(plan, settings.encoder_tokens);
    return {std::move(plan), std::move(spec)};
}

Spread spread_of(const Estimate& whole) {
    const Settings& settings = whole.settings;
    const ModelPlan& plan = whole.model->plan;
    return {whole, with_plan(divide_heads(plan, settings.parallel.tensor), settings),
            split_for_engine(plan, settings), context_ranks(settings)};
}

/// Groups of consecutive tokens do not lie on one rank where token i is on rank i mod ranks.
void check_context_ranks(const Spread& spread) {
    const CacheFormats& formats = spread.whole.formats;
    const CacheSpec& spec = spread.whole.model->spec;
    const bool keys = packs(spec, formats, Role::key);
    if (spread.context_ranks > 1 && (keys || packs(spec, formats, Role::value))) {
        const NumericFormat& format = keys ? *formats.k : *formats.v;
        throw Error("--cp: expected 1 with " + std::string(format.name) +
                    " (no rule for how ranks divide its tokens), found " +
                    std::to_string(spread.context_ranks));
    }
}

// ---- required ----------------------------------------------------------------------------------

/// Only what grows by the token is divided among context ranks: token i is on rank i mod ranks.
CacheSpec part_of(const CacheSpec& spec, bool divided) {
    CacheSpec part = spec;
    for (LayerCache& layer : part.layers) {
        std::erase_if(layer.components, [&](const Component& component) {
            return (component.units.kind == Units::Kind::tokens) != divided;
        });
    }
    return part;
}

Figure required_of(const CacheSpec& spec, const Spread& spread, std::int64_t sequences) {
    const CacheFormats& formats = spread.whole.formats;
    check_storable(spec, formats);
    const Tokens context = spread.settings().context;
    Figure figure;
    if (spread.context_ranks == 1) {
        figure = cache_bytes(spec, formats, context);
    } else {
        const Tokens here((context.count() - 1) / spread.context_ranks + 1);
        figure = cache_bytes(part_of(spec, true), formats, here);
        for (Term& term : cache_bytes(part_of(spec, false), formats, context).terms) {
            figure.terms.push_back(std::move(term));
        }
    }
    figure = times_sequences(std::move(figure), sequences);
    figure.name = "bytes per rank at " + format_integer(context.count()) + " tokens × " +
                  format_integer(sequences);
    return figure;
}

// ---- one stage ---------------------------------------------------------------------------------

RankEstimate on_stage(const Spread& spread, std::size_t stage, std::int64_t sequences) {
    const StageLayers& layers = spread.stages[stage];
    Settings settings = spread.settings();
    settings.sequences = sequences;
    RankEstimate rank;
    rank.stage = static_cast<std::int64_t>(stage);
    rank.layers = layers;
    const CacheSpec spec =
        build_cache_spec(keep_stage(spread.divided.plan, layers), spread.settings().encoder_tokens);
    rank.required = required_of(spec, spread, sequences);
    if (auto reservation = reserve_stage(spread.divided, settings, layers)) {
        rank.reserved = std::move(reservation->figure);
        rank.reserved->name += ", per rank";
        rank.notes = std::move(reservation->notes);
    }
    return rank;
}

std::int64_t weight_of(const RankEstimate& rank) {
    return (rank.reserved ? *rank.reserved : rank.required).bytes().count();
}

/// The total over all ranks of so many sequences in one copy of the model.
void add_copies(RankEstimate& worst, const Spread& spread, std::int64_t sequences,
                std::int64_t copies) {
    if (sequences == 0 || copies == 0) {
        return;
    }
    const std::int64_t ranks = checked_multiply(
        copies, checked_multiply(spread.parallel().tensor, spread.parallel().context));
    for (std::size_t stage = 0; stage < spread.stages.size(); ++stage) {
        const RankEstimate rank = on_stage(spread, stage, sequences);
        worst.required_total += rank.required.bytes() * ranks;
        if (rank.reserved) {
            worst.reserved_total =
                worst.reserved_total.value_or(Bytes(0)) + rank.reserved->bytes() * ranks;
        }
    }
}

// ---- notes -------------------------------------------------------------------------------------

bool any_part(const ModelPlan& plan, const std::function<bool(const LayerPart&)>& holds) {
    return std::any_of(plan.layers.begin(), plan.layers.end(), [&](const LayerPlan& layer) {
        return std::any_of(layer.parts.begin(), layer.parts.end(), holds);
    });
}

bool replicates_heads(const LayerPart& part, std::int64_t tensor) {
    const auto* dims = std::get_if<AttentionDims>(&part.dims);
    return dims != nullptr && dims->kv_heads < tensor;
}

bool replicates_groups(const LayerPart& part, std::int64_t tensor) {
    const auto* dims = std::get_if<Mamba2Dims>(&part.dims);
    return dims != nullptr && dims->groups % tensor != 0;
}

bool is_single(const LayerPart& part) {
    return part.kind == LayerKind::mla || part.kind == LayerKind::compressed_attention;
}

/// What is kept more than once.
std::vector<std::string> replicas(const Spread& spread) {
    std::vector<std::string> list;
    const ModelPlan& plan = spread.whole.model->plan;
    const std::int64_t tensor = spread.parallel().tensor;
    if (tensor > 1 && any_part(plan, is_single)) {
        list.emplace_back("latents and index keys are whole on every tensor rank");
    }
    if (any_part(plan, [&](const LayerPart& part) { return replicates_heads(part, tensor); })) {
        list.emplace_back("there are fewer KV heads than tensor ranks");
    }
    if (any_part(plan, [&](const LayerPart& part) { return replicates_groups(part, tensor); })) {
        list.emplace_back("groups of mamba2 are replicated");
    }
    if (spread.parallel().context > 1) {
        list.emplace_back("tokens are rounded up on context ranks, and what does not grow by the "
                          "token is whole on each");
    }
    return list;
}

void add_notes(RankEstimate& worst, const Spread& spread) {
    if (spread.stages.size() > 1) {
        worst.notes.push_back("pipeline stage " + std::to_string(worst.stage) + " of " +
                              std::to_string(spread.stages.size()) + " holds most: layers " +
                              std::to_string(worst.layers.first) + " to " +
                              std::to_string(worst.layers.last - 1));
    }
    const Bytes whole = spread.whole.required.bytes();
    if (worst.required_total <= whole) {
        return;
    }
    std::string reasons;
    for (const std::string& reason : replicas(spread)) {
        reasons += (reasons.empty() ? ": " : "; ") + reason;
    }
    worst.notes.push_back("all ranks together keep " + format_bytes_exact(worst.required_total) +
                          " where one device would keep " + format_bytes_exact(whole) + reasons);
}

} // namespace

std::optional<RankEstimate> estimate_rank(const Estimate& estimate) {
    const Parallelism& parallel = estimate.settings.parallel;
    check_parallelism(parallel);
    check_spread(estimate.settings, *estimate.model);
    if (parallel.is_one()) {
        return std::nullopt;
    }
    const Spread spread = spread_of(estimate);
    check_context_ranks(spread);
    const std::int64_t sequences = estimate.settings.sequences;
    const std::int64_t most = (sequences - 1) / parallel.data + 1;
    RankEstimate worst = on_stage(spread, 0, most);
    for (std::size_t stage = 1; stage < spread.stages.size(); ++stage) {
        RankEstimate other = on_stage(spread, stage, most);
        if (weight_of(other) > weight_of(worst)) {
            worst = std::move(other);
        }
    }
    const std::int64_t fuller = sequences % parallel.data;
    add_copies(worst, spread, sequences / parallel.data + 1, fuller);
    add_copies(worst, spread, sequences / parallel.data, parallel.data - fuller);
    add_notes(worst, spread);
    return worst;
}

} // namespace kvcaliper
