// SPDX-License-Identifier: Apache-2.0
// What the engine profiles share. Inside core/engines only.
#pragma once

#include "core/engines/engine.h"
#include "core/error.h"

#include <array>

namespace kvcaliper {

/// The options of one engine as set: names and values checked, defaults filled in.
class OptionValues {
  public:
    /// Throws Error naming the option that is unknown or the value that does not fit.
    OptionValues(const EngineInfo& engine, const std::vector<EngineSetting>& settings);

    std::int64_t number(std::string_view name) const;
    const std::string& word(std::string_view name) const;
    bool flag(std::string_view name) const { return word(name) == "on"; }
    Ratio ratio(std::string_view name) const; ///< of an option of values "R"
    const std::map<std::string, std::string, std::less<>>& all() const { return values_; }

  private:
    std::map<std::string, std::string, std::less<>> values_;
};

/// "engine vllm: no rule for … yet".
Error no_rule(std::string_view engine, const std::string& what);
/// The same for the model_type of a plan.
Error no_rule_for_type(std::string_view engine, const ModelPlan& plan);

std::int64_t divide_up(std::int64_t value, std::int64_t by);
std::int64_t round_up(std::int64_t value, std::int64_t multiple);

/// The model_type whose row of the architecture table a plan was read with.
std::string_view canonical_type(const ModelPlan& plan);

/// True when some layer keeps components of that kind.
bool has_kind(const CacheSpec& spec, LayerKind kind);

/// The plan's row in an engine's table of types; throws no_rule naming the model_type when `row` is
/// null.
template <class Row>
const Row& known_type(const Row* row, std::string_view engine, const ModelPlan& plan) {
    if (row == nullptr) {
        throw no_rule_for_type(engine, plan);
    }
    return *row;
}

/// The row of that model_type; null when there is none.
template <class Row, std::size_t N>
const Row* find_type_row(const Row (&table)[N], std::string_view model_type) {
    for (const Row& row : table) {
        if (row.model_type == model_type) {
            return &row;
        }
    }
    return nullptr;
}

/// "full attention, key".
std::string component_label(const Component& component);

/// rows × bytes of one row in a format.
std::vector<Factor> row_factors(const Component& component, const NumericFormat& format);

/// The dimensions of a model's latent attention; throws Error when there is none.
const LatentDims& latent_dims(const ModelPlan& plan);

/// Key and value of every head, as engines keep them that do not keep the latent.
std::array<Component, 2> expanded_latent(const LatentDims& dims);

/// The sequences a cache of llama.cpp and its kin is made for: the option `parallel`, at least the
/// settings' sequences; "auto" is just these.
std::int64_t llama_parallel(const Settings& settings, const OptionValues& options);

// ---- the profiles ------------------------------------------------------------------------------

std::span<const EngineOption> llama_cpp_options();
Reservation reserve_llama_cpp(const Model& model, const Settings& settings,
                              const OptionValues& options);
Reservation reserve_llama_cpp_stage(const Model& model, const Settings& settings,
                                    const OptionValues& options, const StageLayers& layers);
/// Layers of each of equal devices: layer i of n goes to device floor(i · devices / (n + 1)), the
/// output being the last of the n + 1 (src/llama-model.cpp, load_tensors).
std::vector<StageLayers> split_llama_cpp(std::int64_t layers, std::int64_t devices);

std::span<const EngineOption> vllm_options();
Reservation reserve_vllm(const Model& model, const Settings& settings, const OptionValues& options);
Reservation reserve_vllm_stage(const Model& divided, const Settings& settings,
                               const OptionValues& options, const StageLayers& layers);
void check_vllm_spread(const Model& model, const Settings& settings, const OptionValues& options);

std::span<const EngineOption> sglang_options();
Reservation reserve_sglang(const Model& model, const Settings& settings,
                           const OptionValues& options);
/// As many layers for each stage, what is left over one by one to the last ones
/// (srt/distributed/utils.py, get_pp_indices). Throws Error for more stages than layers.
std::vector<StageLayers> split_sglang(std::int64_t layers, std::int64_t stages);

std::span<const EngineOption> transformers_options();
Reservation reserve_transformers(const Model& model, const Settings& settings,
                                 const OptionValues& options);

std::span<const EngineOption> mlx_options();
Reservation reserve_mlx(const Model& model, const Settings& settings, const OptionValues& options);

std::span<const EngineOption> ik_llama_options();
Reservation reserve_ik_llama(const Model& model, const Settings& settings,
                             const OptionValues& options);

std::span<const EngineOption> tensorrt_llm_options();
Reservation reserve_tensorrt_llm(const Model& model, const Settings& settings,
                                 const OptionValues& options);

} // namespace kvcaliper
