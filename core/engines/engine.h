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

struct EngineInfo {
    std::string_view name;
    std::string_view meaning;
    std::string_view version; ///< whose sources the rules were read in
    std::span<const EngineOption> options;
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

} // namespace kvcaliper
