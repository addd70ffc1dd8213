// SPDX-License-Identifier: Apache-2.0
#include "core/engine_flags.h"

#include "core/engines/engine.h"
#include "core/error.h"

#include <algorithm>
#include <array>
#include <span>

namespace kvcaliper {

namespace {

/// How an engine calls a format of the cache; an empty word asks for nothing.
struct FormatWord {
    std::string_view format;
    std::string_view word;
};

/// vLLM 0.33 config/cache.py: CacheDType.
constexpr std::array vllm_words{FormatWord{"bf16", ""}, FormatWord{"f16", ""},
                                FormatWord{"fp8_e4m3", "fp8"}, FormatWord{"fp8_e5m2", "fp8_e5m2"}};
/// SGLang 0.5 server_args.py: --kv-cache-dtype.
constexpr std::array sglang_words{FormatWord{"bf16", ""}, FormatWord{"f16", ""},
                                  FormatWord{"fp8_e4m3", "fp8_e4m3"},
                                  FormatWord{"fp8_e5m2", "fp8_e5m2"}};
/// llama.cpp common/arg.cpp: --cache-type-k, --cache-type-v.
constexpr std::array llama_words{
    FormatWord{"f16", ""},      FormatWord{"bf16", "bf16"}, FormatWord{"f32", "f32"},
    FormatWord{"q8_0", "q8_0"}, FormatWord{"q4_0", "q4_0"}, FormatWord{"q4_1", "q4_1"},
    FormatWord{"q5_0", "q5_0"}, FormatWord{"q5_1", "q5_1"}, FormatWord{"iq4_nl", "iq4_nl"}};
/// TensorRT-LLM 1.x: kv_cache_config.dtype of the options file; the model's type by default.
constexpr std::array tensorrt_words{FormatWord{"bf16", ""}, FormatWord{"f16", ""},
                                    FormatWord{"fp8_e4m3", "fp8"}};

struct Dialect {
    std::string_view engine; ///< as --engine names it
    std::string_view name;   ///< as its users call it
    std::span<const FormatWord> words;
    bool apart; ///< K and V may differ
    std::string (*command)(const Deployment&, const std::string& k, const std::string& v);
};

std::string option(std::string_view name, std::int64_t value) {
    return " " + std::string(name) + " " + std::to_string(value);
}

std::string option_unless_one(std::string_view name, std::int64_t value) {
    return value == 1 ? "" : option(name, value);
}

std::string word_option(std::string_view name, const std::string& word) {
    return word.empty() ? "" : " " + std::string(name) + " " + word;
}

std::string share_option(std::string_view name, const Deployment& deployment) {
    return deployment.utilization
               ? " " + std::string(name) + " " + format_decimal(*deployment.utilization, 3)
               : "";
}

std::string option_value(const Settings& settings, std::string_view name) {
    return resolved_options(settings).find(name)->second;
}

/// The engine's options that are not at their defaults, under its own flags; `apart` are those that
/// are written in another way.
std::string changed_options(const Settings& settings,
                            std::initializer_list<std::string_view> apart = {}) {
    std::string text;
    for (const EngineOption& option : find_engine(settings.engine).options) {
        const std::string value = option_value(settings, option.name);
        if (value == option.by_default ||
            std::find(apart.begin(), apart.end(), option.name) != apart.end()) {
            continue;
        }
        const std::string name = "--" + std::string(option.name);
        text += option.values == "on|off" ? " " + name : word_option(name, value);
    }
    return text;
}

/// Draft tokens are told in a document of their own (vLLM, features/speculative_decoding/mtp).
std::string vllm_drafts(const Settings& settings) {
    const std::string tokens = option_value(settings, "num-speculative-tokens");
    return tokens == "none" ? ""
                            : " --speculative-config '{\"method\": \"mtp\", "
                              "\"num_speculative_tokens\": " +
                                  tokens + "}'";
}

std::string vllm_command(const Deployment& deployment, const std::string& k, const std::string&) {
    const Settings& settings = deployment.settings;
    return "vllm serve MODEL" + option("--max-model-len", settings.context.count()) +
           option("--max-num-seqs", settings.sequences) +
           option_unless_one("--tensor-parallel-size", settings.parallel.tensor) +
           option_unless_one("--pipeline-parallel-size", settings.parallel.pipeline) +
           option_unless_one("--data-parallel-size", settings.parallel.data) +
           option_unless_one("--decode-context-parallel-size", context_ranks(settings)) +
           word_option("--kv-cache-dtype", k) +
           share_option("--gpu-memory-utilization", deployment) +
           changed_options(settings, {"num-speculative-tokens", "decode-context-parallel-size"}) +
           vllm_drafts(settings);
}

std::string sglang_command(const Deployment& deployment, const std::string& k, const std::string&) {
    const Settings& settings = deployment.settings;
    return "python3 -m sglang.launch_server --model-path MODEL" +
           option("--context-length", settings.context.count()) +
           option("--max-running-requests", settings.sequences) +
           option_unless_one("--tp-size", settings.parallel.tensor) +
           option_unless_one("--pp-size", settings.parallel.pipeline) +
           option_unless_one("--dp-size", settings.parallel.data) +
           word_option("--kv-cache-dtype", k) + share_option("--mem-fraction-static", deployment) +
           changed_options(settings);
}

/// Without --kv-unified every slot gets its part of -c, also one that no sequence is in.
std::string llama_command(const Deployment& deployment, const std::string& k,
                          const std::string& v) {
    const Settings& settings = deployment.settings;
    const std::string set = option_value(settings, "parallel");
    const std::int64_t slots = set == "auto" ? settings.sequences : std::stoll(set);
    const bool unified = option_value(settings, "kv-unified") == "on";
    return "llama-server -m MODEL.gguf -ngl all" +
           option("-c", checked_multiply(settings.context.count(),
                                         unified ? settings.sequences : slots)) +
           option("--parallel", slots) + word_option("-ctk", k) + word_option("-ctv", v) +
           (option_value(settings, "flash-attn") == "off" ? " -fa off" : " -fa on") +
           changed_options(settings, {"parallel", "flash-attn"});
}

std::string tensorrt_command(const Deployment& deployment, const std::string& k,
                             const std::string&) {
    const Settings& settings = deployment.settings;
    const std::string block = option_value(settings, "tokens-per-block");
    std::string entries = k.empty() ? "" : "dtype: " + k;
    if (block != "32") {
        entries += (entries.empty() ? "" : ", ") + ("tokens_per_block: " + block);
    }
    const std::string file =
        entries.empty() ? "" : "printf 'kv_cache_config: {" + entries + "}\\n' > kv.yaml; ";
    return file + "trtllm-serve MODEL" + option("--max_seq_len", settings.context.count()) +
           option("--max_batch_size", settings.sequences) +
           option_unless_one("--tp_size", settings.parallel.tensor) +
           option_unless_one("--pp_size", settings.parallel.pipeline) +
           share_option("--kv_cache_free_gpu_memory_fraction", deployment) +
           (file.empty() ? "" : " --extra_llm_api_options kv.yaml");
}

constexpr std::array dialects{
    Dialect{"vllm", "vLLM", vllm_words, false, vllm_command},
    Dialect{"sglang", "SGLang", sglang_words, false, sglang_command},
    Dialect{"llama_cpp", "llama.cpp", llama_words, true, llama_command},
    Dialect{"tensorrt_llm", "TensorRT-LLM", tensorrt_words, false, tensorrt_command}};

const FormatWord* find_word(const Dialect& dialect, std::string_view format) {
    const auto found = std::find_if(dialect.words.begin(), dialect.words.end(),
                                    [&](const FormatWord& word) { return word.format == format; });
    return found == dialect.words.end() ? nullptr : &*found;
}

/// Empty when the engine takes these formats.
std::string format_problem(const Dialect& dialect, std::string_view k, std::string_view v) {
    for (const std::string_view format : {k, v}) {
        if (find_word(dialect, format) == nullptr) {
            return std::string(dialect.name) + " has no cache of " + std::string(format);
        }
    }
    return k != v && !dialect.apart ? std::string(dialect.name) + " keeps K and V in one format"
                                    : "";
}

/// The settings as that engine would be asked: its own options stay behind, and so do formats that
/// were left to another engine.
Deployment as_asked_of(const Dialect& dialect, Deployment deployment) {
    if (deployment.settings.engine != dialect.engine) {
        deployment.settings.engine = dialect.engine;
        deployment.settings.engine_options.clear();
        deployment.utilization.reset();
        deployment.workspace.reset();
    }
    return deployment;
}

bool has_profile(std::string_view engine) {
    const auto all = engines();
    return std::any_of(all.begin(), all.end(),
                       [&](const EngineInfo& info) { return info.name == engine; });
}

/// f16 or bf16 by the engine's own choice, else what was asked for.
std::string asked_format(const std::string& format, const NumericFormat& resolved) {
    return format == "auto" ? std::string(resolved.name) : format;
}

EngineCommand make_command(const Dialect& dialect, const Deployment& original) {
    EngineCommand result{std::string(dialect.name), {}, {}, {}};
    if (original.device.vendor == "Apple" && dialect.engine != "llama_cpp") {
        result.problem = result.engine + " does not run on Metal";
        return result;
    }
    const Deployment deployment = as_asked_of(dialect, original);
    std::string k = deployment.settings.k_format;
    std::string v = deployment.settings.v_format;
    try {
        if (has_profile(dialect.engine)) {
            const Budget budget = make_budget(deployment);
            result.headroom = budget.headroom();
            k = asked_format(k, *budget.estimate.reserved_formats.k);
            v = asked_format(v, *budget.estimate.reserved_formats.v);
        }
    } catch (const Error& error) {
        result.problem = error.what();
        return result;
    }
    k = k == "auto" ? "bf16" : std::string(numeric_format(k).name);
    v = v == "auto" ? "bf16" : std::string(numeric_format(v).name);
    result.problem = format_problem(dialect, k, v);
    if (result.problem.empty()) {
        result.command = dialect.command(deployment, std::string(find_word(dialect, k)->word),
                                         std::string(find_word(dialect, v)->word));
    }
    return result;
}

} // namespace

std::vector<EngineCommand> engine_commands(const Deployment& deployment) {
    std::vector<EngineCommand> commands;
    for (const Dialect& dialect : dialects) {
        commands.push_back(make_command(dialect, deployment));
    }
    return commands;
}

} // namespace kvcaliper
