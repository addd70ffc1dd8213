// SPDX-License-Identifier: Apache-2.0
// The pools of one context of llama.cpp together, against what its profile reserves.
#include "core/logs/llama_log.h"

#include "core/engines/engine.h"
#include "core/error.h"

#include <algorithm>

namespace kvcaliper::logs {

namespace {

std::string on_or_off(const std::optional<std::string>& word) {
    return word == "true" || word == "1" || word == "on" || word == "enabled" ? "on" : "off";
}

bool has_option(const Settings& settings, std::string_view name, std::string_view short_name) {
    return std::any_of(
        settings.engine_options.begin(), settings.engine_options.end(),
        [&](const EngineSetting& one) { return one.name == name || one.name == short_name; });
}

/// One stream for all sequences: as said, as counted, and always before July 2025.
bool is_unified(const Question& question) {
    if (const auto said = question.word("kv_unified")) {
        return on_or_off(said) == "on";
    }
    return question.count("streams").value_or(1) == 1;
}

/// The settings of the profile that give what the log says of a context.
std::optional<Settings> profile_settings(const Question& question) {
    Settings settings = question.asked.settings;
    const bool asked = has_option(settings, "ubatch-size", "ubatch");
    const bool windows = window_pool(question.model->spec).layers > 0;
    const auto context = question.count("n_ctx");
    if (!context || (windows && !question.count("n_ubatch") && !asked)) {
        return std::nullopt;
    }
    const std::int64_t sequences = sequences_of(question);
    const std::string unified = is_unified(question) ? "on" : "off";
    settings.engine = "llama_cpp";
    settings.sequences = 1;
    settings.context = Tokens(unified == "on" ? *context : *context / sequences);
    settings.k_format = question.word("k").value_or(settings.k_format);
    settings.v_format = question.word("v").value_or(settings.v_format);
    settings.engine_options.push_back({"parallel", std::to_string(sequences)});
    settings.engine_options.push_back({"kv-unified", unified});
    settings.engine_options.push_back({"swa-full", on_or_off(question.word("swa_full"))});
    for (const auto& [fact, option] :
         {std::pair{"n_ubatch", "ubatch-size"}, std::pair{"n_batch", "batch-size"}}) {
        if (const auto value = question.count(fact)) {
            settings.engine_options.push_back({option, std::to_string(*value)});
        }
    }
    const auto flash = question.word("flash_attn");
    if (flash == "0" || flash == "disabled") {
        settings.engine_options.push_back({"flash-attn", "off"});
    }
    return settings;
}

} // namespace

std::int64_t sequences_of(const Question& question) {
    return std::max<std::int64_t>(
        1, question.count("n_seq_max").value_or(question.asked.settings.sequences));
}

std::optional<ProfileTotal> profile_total(const Question& question) {
    try {
        if (const auto settings = profile_settings(question)) {
            return ProfileTotal{settings->context.count(),
                                reserve(*question.model, *settings)->figure.value()};
        }
    } catch (const Error&) {
        return std::nullopt; // the profile does not know the model, or refuses the types
    }
    return std::nullopt;
}

namespace {

bool is_plain_pool(const Question& question, const LogResult& result) {
    const LogLineKind kind = question.line.kind;
    return question.line.engine == "llama.cpp" && result.verdict == LogVerdict::equal &&
           result.times == 1 &&
           (kind == LogLineKind::pool || kind == LogLineKind::states ||
            kind == LogLineKind::context || kind == LogLineKind::buffers);
}

bool has_index_keys(const CacheSpec& spec) {
    const auto groups = group_components(spec);
    return std::any_of(groups.begin(), groups.end(), [](const ComponentGroup& group) {
        return group.component.role == Role::index_key;
    });
}

/// True when a context has written a line for each of the model's pools. Nobody has seen how many
/// there are with index keys.
bool is_complete(const std::vector<Question>& lines) {
    const CacheSpec& spec = lines.front().model->spec;
    const bool states = state_pool(spec).layers > 0;
    const bool full = full_pool(spec).layers + latent_pool(spec, true).layers > 0;
    const bool windows = window_pool(spec).layers > 0;
    const std::size_t needed = (states ? 1u : 0u) + (full ? 1u : 0u) + (windows ? 1u : 0u);
    return lines.size() == needed && !has_index_keys(spec);
}

} // namespace

std::optional<LogResult> check_llama_context(const std::vector<Question>& lines,
                                             const std::vector<LogResult>& results) {
    if (!is_complete(lines)) {
        return std::nullopt;
    }
    std::string figures;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (!is_plain_pool(lines[i], results[i])) {
            return std::nullopt;
        }
        figures += (figures.empty() ? "" : " + ") + lines[i].line.values.at("size");
    }
    MemoryLine whole = lines.back().line;
    whole.text = "all pools of this context";
    whole.values.clear();
    for (const Question& one : lines) {
        for (const char* name : {"k", "v", "streams"}) {
            if (const auto found = one.line.values.find(name); found != one.line.values.end()) {
                whole.values.insert(*found);
            }
        }
    }
    const Question question{whole, lines.back().load, lines.back().model, lines.back().asked};
    const auto total = profile_total(question);
    if (!total) {
        return std::nullopt;
    }
    return judge_whole(question,
                       "profile llama_cpp: " + format_integer(total->tokens) + " tokens × " +
                           format_integer(sequences_of(question)),
                       figures, "MiB", {{{total->bytes, {}}, {}}});
}

} // namespace kvcaliper::logs
