// SPDX-License-Identifier: Apache-2.0
// Layers of multi-token prediction, which vLLM caches once they draft. Read in 0.22: config/
// speculative.py (whose layers count), models/deepseek_mtp.py, qwen3_next_mtp.py, qwen3_5_mtp.py,
// glm4_moe_mtp.py and others (each an attention layer as the model's own).
#include "core/engines/vllm_layers.h"

#include <algorithm>

namespace kvcaliper::vllm {

namespace {

struct DraftType {
    std::string_view model_type;
    std::int64_t by_default = 0; ///< layers where the file states none
};
constexpr DraftType draft_types[] = {{"deepseek_v3"},  {"deepseek_v32"},    {"glm_moe_dsa"},
                                     {"glm4_moe"},     {"glm4_moe_lite"},   {"mimo"},
                                     {"ernie4_5_moe"}, {"hy_v3"},           {"qwen3_next", 1},
                                     {"qwen3_5_text"}, {"qwen3_5_moe_text"}};

std::int64_t draft_layers(const ModelPlan& plan) {
    const std::string_view type = canonical_type(plan);
    for (const DraftType& known : draft_types) {
        if (known.model_type == type) {
            return plan.draft_layers.value_or(known.by_default);
        }
    }
    throw no_rule(engine_name, "draft layers of model_type " + std::string(type));
}

bool attends(const LayerPlan& layer) {
    return std::any_of(layer.parts.begin(), layer.parts.end(), [](const LayerPart& part) {
        return part.kind == LayerKind::full_attention || part.kind == LayerKind::mla;
    });
}

} // namespace

Model with_draft_layers(const Model& model) {
    const std::int64_t count = draft_layers(model.plan);
    const auto& layers = model.plan.layers;
    const auto last = std::find_if(layers.rbegin(), layers.rend(), attends);
    if (count == 0 || last == layers.rend()) {
        throw Error(
            "--engine-opt num-speculative-tokens: expected a model with draft layers, found "
            "none in " +
            model.plan.name);
    }
    const auto index = static_cast<std::size_t>(std::distance(last, layers.rend()) - 1);
    Model drafting = model;
    for (std::int64_t i = 0; i < count; ++i) {
        drafting.plan.layers.push_back(model.plan.layers[index]);
        drafting.spec.layers.push_back(model.spec.layers[index]);
    }
    return drafting;
}

} // namespace kvcaliper::vllm
