// SPDX-License-Identifier: Apache-2.0
// How a model is spread over devices, and what one of them holds of its layers.
#pragma once

#include "core/layer_plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kvcaliper {

/// Ways a model is divided; every combination of one part of each is a rank with a device of its
/// own.
struct Parallelism {
    std::int64_t tensor = 1;   ///< heads of every layer
    std::int64_t pipeline = 1; ///< contiguous layers
    std::int64_t context = 1;  ///< tokens of every sequence
    std::int64_t data = 1;     ///< whole sequences

    std::int64_t ranks() const;
    bool is_one() const { return *this == Parallelism{}; }
    friend bool operator==(const Parallelism&, const Parallelism&) = default;
};

/// Throws Error naming the option that is below 1.
void check_parallelism(const Parallelism& parallel);

/// "TP 8, PP 2": the ways that are not 1.
std::string to_string(const Parallelism& parallel);

/// Layers [first, last) of a pipeline stage.
struct StageLayers {
    std::int64_t first = 0;
    std::int64_t last = 0;
};

/// The layers of each stage: as many for each, what is left over one by one to the last stages but
/// the very last (vLLM 0.22 distributed/utils.py, get_pp_indices). Throws Error for more stages
/// than layers.
std::vector<StageLayers> split_layers(std::int64_t layers, std::int64_t stages);

/// Every layer with the dimensions it has on one of `tensor` ranks: query heads divided, KV heads
/// divided as long as there are enough and replicated beyond, latents and index keys whole, states
/// divided by their heads or channels, groups of Mamba-2 replicated (vLLM 0.22
/// layers/mamba/mamba_utils.py). Throws Error where heads or channels do not divide, or no engine
/// says how.
ModelPlan divide_heads(const ModelPlan& plan, std::int64_t tensor);

/// The plan with nothing kept in the layers outside a stage; indices stay those of the model.
ModelPlan keep_stage(const ModelPlan& plan, const StageLayers& stage);

/// Throws Error when a layer reads the cache of one on another stage.
void check_sharing(const ModelPlan& plan, const std::vector<StageLayers>& stages);

} // namespace kvcaliper
