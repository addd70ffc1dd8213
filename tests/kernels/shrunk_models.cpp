// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/shrunk_models.h"

#include "core/verify_request.h"
#include "kernels/verify_runner.h"

#include <algorithm>

namespace kvcaliper::kernels {
namespace {

/// A layer of that plan, its windows cut to what a short context fills.
LayerPlan short_windows(LayerPlan layer) {
    for (LayerPart& part : layer.parts)
        if (auto* dims = std::get_if<AttentionDims>(&part.dims); dims && dims->window)
            dims->window = std::min(*dims->window, shrunk_window);
    layer.decided_by.clear();
    return layer;
}

std::string shape_of(const LayerPlan& layer) {
    ModelPlan one;
    one.layers = {layer};
    return dump_json(to_json(one), -1);
}

/// Where a layer of that shape is among the kept ones, put there if it is new.
int place_of(ModelPlan& kept, std::map<std::string, int>& places, const LayerPlan& layer) {
    const auto [place, is_new] =
        places.try_emplace(shape_of(layer), static_cast<int>(kept.layers.size()));
    if (is_new)
        kept.layers.push_back(layer);
    return place->second;
}

VerifyRequest request_of(const ModelPlan& plan, const std::string& format) {
    Settings settings;
    settings.k_format = settings.v_format = format;
    settings.encoder_tokens = Tokens(shrunk_encoder_tokens);
    const auto raw = std::make_shared<const Model>(Model{plan, build_cache_spec(plan)});
    const ModelPtr model = apply_settings(raw, settings);
    VerifyOptions options;
    options.backend = "cpu";
    options.steps = 2;
    options.repeats = 1;
    // Through JSON and back, as a front end sends it.
    return verify_request_from_json(verify_request(*model, settings, options, {64, 210}));
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines)
        text += (text.empty() ? "" : "; ") + line;
    return text;
}

std::set<std::string> kinds_of(const ModelPlan& plan) {
    std::set<std::string> kinds;
    for (const LayerPlan& layer : plan.layers) {
        for (const LayerPart& part : layer.parts)
            kinds.insert(std::string(to_string(part.kind)));
        if (layer.shared_with)
            kinds.insert("shared");
    }
    return kinds;
}

} // namespace

ModelPlan shrink(const ModelPlan& plan) {
    ModelPlan kept;
    kept.name = kept.model_type = "shrunk"; // the same for all: equal ones are run once
    std::map<std::string, int> places;
    for (const LayerPlan& original : plan.layers) {
        LayerPlan layer = short_windows(original);
        if (layer.parts.empty() && !layer.shared_with)
            continue; // an MLP
        if (layer.shared_with) {
            const auto owner = static_cast<std::size_t>(*layer.shared_with);
            layer.shared_with = place_of(kept, places, short_windows(plan.layers[owner]));
        }
        place_of(kept, places, layer);
    }
    return kept;
}

Outcome ShrunkVerifier::verify(const Model& model, Prediction prediction,
                               const std::string& format) {
    VerifyRequest request = request_of(shrink(model.plan), format);
    if (prediction == Prediction::wrong)
        for (LayerCache& layer : request.spec.layers)
            for (Component& component : layer.components)
                component.rows += 1;
    const auto [known, is_new] = known_.try_emplace(dump_json(to_json(request), -1));
    if (is_new) {
        const std::unique_ptr<Backend> backend = make_cpu_backend();
        Hooks hooks;
        hooks.measure_bandwidth = false;
        const VerifyResult result = kernels::verify(request, *backend, hooks);
        known->second = {std::string(to_string(result.verdict)), result.reasons};
    }
    return known->second;
}

void Tally::add(const std::string& name, const ModelPlan& plan, const Outcome& outcome) {
    if (outcome.verdict == "equal") {
        ++equal;
        equal_types.insert(plan.model_type);
        for (const std::string& kind : kinds_of(plan))
            ++equal_by_kind[kind];
    } else if (outcome.verdict == "refused") {
        ++refusals;
        for (const std::string& reason : outcome.reasons)
            ++refused[reason];
    } else {
        failed.push_back(name + ": " + outcome.verdict + ": " + joined(outcome.reasons));
    }
}

std::string Tally::text() const {
    std::string text = std::to_string(equal) + " models of " + std::to_string(equal_types.size()) +
                       " types are equal, " + std::to_string(refusals) + " refused\n";
    for (const auto& [kind, models] : equal_by_kind)
        text += "  " + kind + ": " + std::to_string(models) + "\n";
    for (const auto& [reason, models] : refused)
        text += "  refused, " + reason + ": " + std::to_string(models) + "\n";
    return text;
}

const std::set<std::string>& known_refusals() {
    static const std::set<std::string> reasons; // every kind has a kernel
    return reasons;
}

} // namespace kvcaliper::kernels
