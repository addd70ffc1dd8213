// SPDX-License-Identifier: Apache-2.0
// Lines of SGLang, read in sglang 0.5.23: srt/mem_cache/memory_pool.py (a page more than the tokens
// it counts, a state more than the slots), swa_memory_pool.py. Its GB is 1 << 30 bytes.
#include "core/logs/log_check.h"

#include "core/engines/engine.h"
#include "core/error.h"

namespace kvcaliper::logs {

namespace {

const char* const gb_is_gib = "GB here means GiB";

std::vector<std::string> habits(const Question& question, const std::string& more = "") {
    std::vector<std::string> texts{gb_is_gib};
    for (const std::string& text : question.rank_text()) {
        texts.push_back(text);
    }
    if (!more.empty()) {
        texts.push_back(more);
    }
    return texts;
}

/// Slots of a pool: the tokens and one page that padding writes to.
std::int64_t slots(const Question& question, const char* name) {
    return checked_add(question.count(name).value_or(0), question.count("page").value_or(1));
}

LogResult judge_gb(const Question& question, const std::string& quantity,
                   const std::vector<Reading>& readings) {
    LogResult result = judge(question, quantity, "GiB", readings);
    result.logged.replace(result.logged.size() - 3, 3, "GB");
    return result;
}

struct NamedFormat {
    const NumericFormat* format = nullptr;
    std::string note{};
};

/// The type the log or the user names, else what is usual.
std::vector<NamedFormat> formats_of(const Question& question) {
    std::vector<NamedFormat> all{
        {&question.format("kv_dtype", question.asked.settings.k_format, "bf16")}};
    if (!question.word("kv_dtype") && question.asked.settings.k_format == "auto") {
        all.push_back({&numeric_format("fp8_e4m3"), "in fp8, which the log does not say"});
    }
    return all;
}

CacheFormats both(const NumericFormat* format) {
    CacheFormats formats = ideal_formats();
    formats.k = format;
    formats.v = format;
    return formats;
}

// ---- K and V -----------------------------------------------------------------------------------

void add_pool(std::vector<Reading>& readings, const Question& question, const Pool& pool,
              const NamedFormat& format, const std::string& why) {
    if (pool.layers == 0) {
        return;
    }
    std::vector<std::string> texts = habits(question, why);
    if (!format.note.empty()) {
        texts.push_back(format.note);
    }
    readings.push_back({pool_bytes(pool, both(format.format), slots(question, "tokens")),
                        std::move(texts),
                        pool.name + ": " + format_integer(pool.layers) + " layers × " +
                            format_integer(question.count("tokens").value_or(0)) + " tokens"});
}

LogResult check_token_pool(const Question& question) {
    const Model rank = question.rank_model();
    const Pool full = full_pool(rank.spec);
    const Pool window = window_pool(rank.spec);
    std::vector<Reading> readings;
    for (const NamedFormat& format : formats_of(question)) {
        add_pool(readings, question, full, format, "");
        add_pool(readings, question, window, format, "");
        if (full.layers > 0 && window.layers > 0) {
            add_pool(readings, question, every_pool(rank.spec), format,
                     "every layer keeps the whole context");
        }
    }
    return judge_gb(question, "KV cache", readings);
}

LogResult check_window_pools(const Question& question) {
    const Model rank = question.rank_model();
    std::vector<Reading> readings;
    for (const NamedFormat& format : formats_of(question)) {
        const CacheFormats formats = both(format.format);
        const Ratio full =
            pool_bytes(full_pool(rank.spec), formats, slots(question, "tokens")).total();
        const Ratio window =
            pool_bytes(window_pool(rank.spec), formats, slots(question, "swa_tokens")).total();
        readings.push_back({{full + window, {}}, habits(question, format.note)});
    }
    return judge_gb(question, "full and sliding pools", readings);
}

// ---- latents -----------------------------------------------------------------------------------

Ratio without_index(const Figure& figure) {
    Ratio sum;
    for (const Term& term : figure.terms) {
        sum = sum + (term.label.find("index") == std::string::npos ? term.value() : Ratio(0));
    }
    return sum;
}

/// Rows as the profile has them: a sparse model's fp8 rows carry scales.
LogResult check_latent_pool(const Question& question) {
    const Model rank = question.rank_model();
    std::vector<Reading> readings;
    for (const NamedFormat& format : formats_of(question)) {
        Settings settings = question.asked.settings;
        settings.engine = "sglang";
        settings.sequences = 1;
        settings.parallel = {};
        settings.context = Tokens(question.count("tokens").value_or(1));
        settings.k_format = format.format->name;
        settings.v_format = settings.k_format;
        const Figure figure = reserve(rank, settings)->figure;
        const Ratio all = figure.value();
        const Ratio less = without_index(figure);
        readings.push_back({{all, {}}, habits(question, format.note)});
        if (less != all) {
            auto texts = habits(question, "index keys are kept, but not counted in this line");
            if (!format.note.empty()) {
                texts.push_back(format.note);
            }
            readings.push_back({{less, {}}, std::move(texts)});
        }
    }
    return judge_gb(question,
                    "latent attention × " + format_integer(question.count("tokens").value_or(0)) +
                        " tokens",
                    readings);
}

// ---- states ------------------------------------------------------------------------------------

LogResult check_state_pool(const Question& question) {
    const Model rank = question.rank_model();
    const Pool pool = state_pool(rank.spec);
    const std::int64_t states = question.count("slots").value_or(0);
    std::vector<Reading> readings;
    const auto add = [&](const char* state, const std::string& why) {
        CacheFormats formats = ideal_formats();
        formats.state = &numeric_format(state);
        readings.push_back(
            {pool_bytes(pool, formats, checked_add(states, 1)), habits(question, why)});
    };
    if (pool.layers > 0) {
        add("f32", "");
        add("bf16", "states in bf16 (mamba-ssm-dtype)");
    }
    return judge_gb(question, "states of " + format_integer(states) + " slots", readings);
}

} // namespace

LogResult check_sglang_line(const Question& question) {
    switch (question.line.kind) {
    case LogLineKind::latent_pool:
        return check_latent_pool(question);
    case LogLineKind::window_pools:
        return check_window_pools(question);
    case LogLineKind::state_pool:
        return check_state_pool(question);
    default:
        return check_token_pool(question);
    }
}

} // namespace kvcaliper::logs
