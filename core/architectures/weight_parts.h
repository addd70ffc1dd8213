// SPDX-License-Identifier: Apache-2.0
// What the readers of weight matrices share. Inside core/architectures only.
#pragma once

#include "core/architectures/weight_table.h"
#include "core/layer_plan.h"
#include "core/model_config.h"
#include "core/weight_plan.h"
#include "core/weight_quantization.h"

#include <string>
#include <string_view>

namespace kvcaliper {

/// Collects matrices, equal ones together, each in the format of its module.
class TensorList {
  public:
    explicit TensorList(const WeightQuantization& quantization) : quantization_(quantization) {}

    /// `tensors` linear layers [rows][columns], of which a token reads `read`; `module` tells their
    /// format.
    void linear(std::string_view label, const std::string& module, std::int64_t rows,
                std::int64_t columns, std::int64_t tensors = 1);
    void experts(std::string_view label, const std::string& module, std::int64_t rows,
                 std::int64_t columns, std::int64_t tensors, std::int64_t read);
    /// Anything that is never quantised: norms, biases, embeddings, convolutions.
    void plain(std::string_view label, std::int64_t rows, std::int64_t columns = 1,
               std::int64_t tensors = 1);
    /// The same where a token reads a row of it at most.
    void table(std::string_view label, std::int64_t rows, std::int64_t columns);
    /// False where all is plain: then nobody needs to name modules.
    bool is_quantised() const { return !quantization_.rules.empty(); }
    std::vector<TensorGroup> take() { return std::move(groups_); }

  private:
    void add(std::string_view label, std::int64_t rows, std::int64_t columns, std::int64_t tensors,
             std::int64_t read, const WeightFormat& format);

    const WeightQuantization& quantization_;
    std::vector<TensorGroup> groups_; ///< a few dozen: looked through, without a key to be made
};

/// What the readers work with: one layer of one model.
struct WeightReading {
    const ModelConfig& config;
    const WeightRow& row;
    TensorList& to;
    std::int64_t hidden = 0;
    std::int64_t layer = 0;

    /// "layers.3.self_attn.q_proj".
    std::string module(std::string_view name) const {
        return "layers." + std::to_string(layer) + "." + std::string(name);
    }
    bool has_bias(const BiasRule& rule) const {
        return rule.key.empty() ? rule.absent : config.flag(rule.key, rule.absent);
    }
    /// A linear layer of this layer and, where `bias`, its bias.
    void linear(std::string_view label, std::string_view name, std::int64_t rows,
                std::int64_t columns, bool bias = false) const;
    /// Norms of so many elements each.
    void norm(std::string_view label, std::int64_t width, std::int64_t count = 1) const;
};

/// The matrices of what a layer keeps a cache or a state for (weight_layers.cpp). Throws Error for
/// a kind without a formula.
void add_layer_part(const WeightReading& reading, const LayerPart& part);
/// The MLP or the experts of a layer (weight_mlp.cpp).
void add_mlp(const WeightReading& reading);

/// plan_weights, where the text config is `text` at `pointer` of the file.
WeightPlan read_weights(const ConfigFile& file, const JsonValue& text, const std::string& pointer,
                        const ModelPlan& plan);

} // namespace kvcaliper
