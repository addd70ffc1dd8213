// SPDX-License-Identifier: Apache-2.0
// Which matrices of a checkpoint are stored in which format: quantization_config of transformers,
// and the side file of ModelOpt.
#pragma once

#include "core/model_config.h"
#include "core/module_pattern.h"
#include "core/weight_plan.h"

#include <string>
#include <string_view>
#include <vector>

namespace kvcaliper {

/// A format and the modules it is for; no modules: every linear layer.
struct FormatRule {
    WeightFormat format;
    ModuleSet modules;
};

struct WeightQuantization {
    WeightFormat plain;            ///< of everything that is not quantised
    std::vector<FormatRule> rules; ///< the first that matches counts; none: nothing is quantised
    ModuleSet ignored;             ///< modules that stay plain
    bool experts_only = false;     ///< gpt-oss: nothing but the matrices of experts
    std::int64_t uncertainty_permille = 0;
    std::vector<std::string> notes;

    /// The format of a linear layer of that name ("layers.3.self_attn.q_proj").
    const WeightFormat& format_of(std::string_view module) const;
    /// Patterns that are tried one after the other for each module.
    std::size_t effort() const;
};

/// Reads the type of the weights and the quantisation of a file, whose text model's config is
/// `text`. Throws Error for a method or a scheme whose bits are not known.
WeightQuantization weight_quantization(const ConfigFile& file, const ModelConfig& text);

} // namespace kvcaliper
