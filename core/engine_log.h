// SPDX-License-Identifier: Apache-2.0
// What inference engines write about their caches while they start, and whether it is what the
// model and the engine's rules lead to.
#pragma once

#include "core/catalog.h"
#include "core/json_value.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvcaliper {

/// What a log says, by name and as written: {"n_ctx", "8192"}, {"k", "f16"}.
using LogFacts = std::map<std::string, std::string, std::less<>>;

/// What a memory line speaks of. The engine's source of each wording is named beside its pattern.
enum class LogLineKind {
    pool,         ///< llama.cpp: so many cells of so many layers
    context,      ///< llama.cpp of old, ik_llama.cpp: K and V of one context
    latent,       ///< ik_llama.cpp: a latent, and perhaps its transposed copy
    latent_split, ///< the same, rotary key and latent apart
    buffers,      ///< llama.cpp: buffers of the devices, added up
    states,       ///< llama.cpp: recurrent states
    server_cache, ///< Ollama: what its own engine or estimate says, added up over devices
    gpu_blocks,   ///< vLLM V0: number of blocks
    cache_tokens, ///< vLLM: number of tokens
    concurrency,  ///< vLLM: how many requests of the longest length
    token_pool,   ///< SGLang: K and V of so many tokens
    latent_pool,  ///< SGLang: one figure for so many tokens
    window_pools, ///< SGLang: full and sliding pools
    state_pool,   ///< SGLang: states of so many requests
    paged_cache,  ///< TensorRT-LLM: so many tokens
};

/// One line of a log that gives a size of a cache, or several lines that add up to one.
struct MemoryLine {
    std::size_t number = 0; ///< in the log, from 1
    int times = 1;          ///< equal lines, as every rank of a group writes its own
    LogLineKind kind = LogLineKind::pool;
    std::string_view engine; ///< "llama.cpp"
    std::string text;        ///< the part that was recognised, printable, at most 200 characters
    LogFacts values;         ///< its own words and numbers
    LogFacts known;          ///< what was said before it
    std::size_t load = 0;    ///< index into EngineLog::loads
    int context = 0;         ///< which context of that load
};

struct EngineLog {
    std::string source;
    std::vector<LogFacts> loads; ///< all that was said about each model that was loaded
    std::vector<MemoryLine> lines;
};

/// Largest log that is read at all, and most memory lines in it.
inline constexpr std::size_t max_log_bytes = 64u << 20;
inline constexpr std::size_t max_memory_lines = 4096;

/// Reads a log ("-" is standard input). Throws Error for a file that can not be read, is too large
/// or has no line that is known.
EngineLog read_engine_log(const std::string& path);
/// The same for a text; `source` is its name in errors.
EngineLog parse_engine_log(std::string_view text, const std::string& source);

enum class LogVerdict {
    equal,       ///< what the model needs, or the engine's rules give, within the digits written
    explained,   ///< equal under a rule or habit of the engine that is named
    unexplained, ///< equal under none that is known
    unchecked,   ///< the log gives nothing to compare it with
};
std::string_view to_string(LogVerdict verdict);

struct LogResult {
    std::size_t line = 0;
    int times = 1;
    std::string_view engine;
    std::string text;
    ModelPtr model;
    std::string quantity; ///< "KV cache: 10 layers × 8,192 cells"
    std::string logged;   ///< "640.00 MiB"
    std::string computed; ///< "640 MiB (671,088,640 B)"
    std::optional<Bytes> computed_bytes;
    LogVerdict verdict = LogVerdict::unexplained;
    std::vector<std::string> explanation;
    std::string difference; ///< of an unexplained line: "100 MiB less (1.10 %)"
};

struct LogQuestion {
    std::string model;          ///< instead of the one the log names; empty: the log's
    Settings settings;          ///< what the log does not say: formats, engine options, context
    bool context_given = false; ///< settings.context was asked for
};

/// One result per memory line, and one per context of llama.cpp whose pools add up to what the
/// profile of the engine reserves. Throws Error where no model is known or it can not be read.
std::vector<LogResult> check_engine_log(const EngineLog& log, const LogQuestion& question);

/// The bundled model that a file name, hub name or general.name speaks of; empty where none does
/// for certain. Words about quantisation, tuning and release are passed over, others never.
std::string bundled_model_for(std::string_view name, const std::vector<CatalogEntry>& catalog);

/// `log --json`, schema 1.
JsonValue log_json(const EngineLog& log, const std::vector<LogResult>& results);

} // namespace kvcaliper
