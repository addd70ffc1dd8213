// SPDX-License-Identifier: Apache-2.0
// The command line of an engine that serves what was computed, to paste.
#pragma once

#include "core/memory_budget.h"

#include <string>
#include <vector>

namespace kvcaliper {

/// One engine's command, and whether the deployment fits there: each engine reserves differently.
struct EngineCommand {
    std::string engine;
    std::string command; ///< empty where the engine can not serve these settings
    std::string problem; ///< why it can not, or what else must be known; else empty
    std::optional<std::int64_t> headroom; ///< under that engine's own rules; none without a profile
};

/// Commands for vLLM, SGLang, llama.cpp and TensorRT-LLM that serve the deployment's sequences of
/// its context.
std::vector<EngineCommand> engine_commands(const Deployment& deployment);

} // namespace kvcaliper
