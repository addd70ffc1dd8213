// SPDX-License-Identifier: Apache-2.0
// From a config to a plan of layers: one table row per model_type, about a dozen plan rules.
#pragma once

#include "core/layer_plan.h"
#include "core/model_config.h"
#include "core/weight_plan.h"

#include <string>
#include <vector>

namespace kvcaliper {

/// Steps 1 and 2 of reading a model, which keeps its file. Throws Error with file, pointer,
/// expected and found.
ModelPlan plan_model(ConfigFile config);

/// The weight matrices of a planned model. Most of the work of reading a model, so it is done when
/// somebody asks. Never throws for what the file says: what stands in the way of a formula is in
/// `missing`.
WeightPlan plan_weights(const ModelPlan& plan);

struct Architecture;

/// Where a config keeps its language model, and the table's row it is read with.
struct TextConfigPlace {
    std::string pointer; ///< "" or "/text_config": keys of objects in objects
    const Architecture* row = nullptr;
};
TextConfigPlace text_config_place(const ConfigFile& config);

/// A row of the architecture table, for `list architectures`.
struct ArchitectureInfo {
    std::string model_type;
    std::string rule; ///< name of the plan rule, in words
    std::string keys; ///< the keys it reads, comma separated
    Confidence confidence = Confidence::rule;
    /// What its layers may keep, as subjects of the table of kernel proofs.
    std::vector<std::string> keeps{};
};
std::vector<ArchitectureInfo> known_architectures();

} // namespace kvcaliper
