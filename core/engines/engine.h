// SPDX-License-Identifier: Apache-2.0
// What a named engine reserves for a model, beside what the architecture requires.
#pragma once

#include "core/estimate.h"

#include <map>
#include <span>

namespace kvcaliper {

/// An option of an engine under the name of the engine's own flag.
struct EngineOption {
    std::string_view name;       ///< "ubatch-size"
    std::string_view short_name; ///< another spelling, or empty
    std::string_view values;     ///< "N": a number from 1; "R": a share; else words: "auto|on|off"
    std::string_view by_default; ///< as a user would write it
    std::string_view meaning;
};

/// The ways of spreading a model that an engine's rules know. Copies (--dp) need none.
struct KnownWays {
    bool tensor = false;
    bool pipeline = false;
    bool context = false;
};

struct EngineInfo {
    std::string_view name;
    std::string_view meaning;
    std::string_view version; ///< whose sources the rules were read in
    std::span<const EngineOption> options;
    KnownWays ways{};
};

/// `ideal` first.
std::span<const EngineInfo> engines();
/// Throws Error naming the known engines.
const EngineInfo& find_engine(std::string_view name);

/// Every option of the settings' engine with its value. Throws Error for an unknown one.
std::map<std::string, std::string, std::less<>> resolved_options(const Settings& settings);

struct Reservation {
    Figure figure; ///< all sequences, at the context
    CacheFormats formats;
    std::vector<std::string> notes;
    std::vector<std::string> savings; ///< rules by which less than required may be reserved
};

/// What the settings' engine reserves; nothing for `ideal`. Throws Error for an unknown engine,
/// option or value, and where no rule of that engine is known ("engine vllm: no rule for … yet").
std::optional<Reservation> reserve(const Model& model, const Settings& settings);

/// The same on one rank that holds these layers: `divided` is the whole model with the dimensions
/// of that rank, the settings are the rank's.
std::optional<Reservation> reserve_stage(const Model& divided, const Settings& settings,
                                         const StageLayers& layers);

/// The layers of every pipeline stage, as the settings' engine splits them.
std::vector<StageLayers> split_for_engine(const ModelPlan& plan, const Settings& settings);

/// Ranks that divide the tokens of one sequence.
std::int64_t context_ranks(const Settings& settings);

/// Throws Error where the settings' engine refuses to spread the model like that, or no rule is
/// known.
void check_spread(const Settings& settings, const Model& model);

} // namespace kvcaliper
