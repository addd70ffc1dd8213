// SPDX-License-Identifier: Apache-2.0
// What the engine profiles share. Inside core/engines only.
#pragma once

#include "core/engines/engine.h"
#include "core/error.h"

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

std::int64_t divide_up(std::int64_t value, std::int64_t by);
std::int64_t round_up(std::int64_t value, std::int64_t multiple);

/// The model_type whose row of the architecture table a plan was read with.
std::string_view canonical_type(const ModelPlan& plan);

/// True when some layer keeps components of that kind.
bool has_kind(const CacheSpec& spec, LayerKind kind);

/// "full attention, key".
std::string component_label(const Component& component);

/// rows × bytes of one row in a format.
std::vector<Factor> row_factors(const Component& component, const NumericFormat& format);

/// The dimensions of a model's latent attention; throws Error when there is none.
const LatentDims& latent_dims(const ModelPlan& plan);

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
