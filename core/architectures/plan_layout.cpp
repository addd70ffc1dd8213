// SPDX-License-Identifier: Apache-2.0
// Which attention layers have a window: by layer_types, else by the type's own rule.
#include "core/architectures/plan_parts.h"
#include "core/error.h"
#include "core/model_config.h"

namespace kvcaliper {

namespace {

constexpr std::int64_t most_tokens = std::int64_t{1} << 40;

LayerChoice choose(bool full, LayerKind other, const std::string& why) {
    return {full ? LayerKind::full_attention : other, (full ? "full: " : "windowed: ") + why};
}

bool is_full_word(const std::string& word) {
    return word == "full_attention" || word == "attention" || word == "global_attention" ||
           word == "minimax_m3_sparse" || word == "hybrid" || word == "moe";
}

/// One layer by its word in layer_types.
LayerChoice choose_by_word(Reading& reading, const std::string& word, std::size_t index,
                           bool has_window) {
    const std::string at = "layer_types/" + std::to_string(index);
    if (is_full_word(word)) {
        return {LayerKind::full_attention, at + " = " + word};
    }
    const bool sliding = word == "sliding_attention" || word == "hybrid_sliding";
    const bool chunked = word == "chunked_attention";
    if (!sliding && !chunked) {
        reading.config.fail(at, "full_attention, sliding_attention or chunked_attention",
                            "\"" + word + "\"");
    }
    if (!has_window) {
        return {LayerKind::full_attention, at + " = " + word + ", but no window is set"};
    }
    return {sliding ? LayerKind::sliding_attention : LayerKind::chunked_attention,
            at + " = " + word};
}

using Choices = std::vector<LayerChoice>;

/// Layer i is full when full(i).
template <typename Full>
Choices choose_where(const Reading& reading, Full full, const std::string& why,
                     LayerKind other = LayerKind::sliding_attention) {
    Choices choices;
    for (std::int64_t i = 0; i < reading.layers; ++i) {
        choices.push_back(choose(full(i), other, why));
    }
    return choices;
}

Choices all_full(const Reading& reading) {
    return Choices(static_cast<std::size_t>(reading.layers));
}

std::int64_t period_of(Reading& reading, std::string_view key) {
    return reading.config.optional(key, 1, 100'000).value_or(reading.row.period);
}

Choices choose_by_pattern_word(Reading& reading) {
    const JsonValue* pattern = reading.config.find("sliding_window_pattern");
    if (pattern == nullptr || pattern->if_string() == nullptr) {
        const std::int64_t period = period_of(reading, "sliding_window_pattern");
        return choose_where(
            reading, [&](std::int64_t i) { return (i + 1) % period == 0; },
            "sliding_window_pattern " + std::to_string(period));
    }
    const std::string word = *pattern->if_string();
    if (word.empty() || word.find_first_not_of("LG") != std::string::npos) {
        reading.config.fail("sliding_window_pattern", "a period or a word of L and G",
                            describe(*pattern));
    }
    return choose_where(
        reading,
        [&](std::int64_t i) { return word[static_cast<std::size_t>(i) % word.size()] == 'G'; },
        "sliding_window_pattern " + word);
}

/// no_rope_layers[i], or its rule: 0 at every no_rope_layer_interval-th layer.
std::vector<bool> rope_layers(Reading& reading) {
    const auto listed = reading.config.integers("no_rope_layers");
    const std::int64_t interval =
        reading.config.optional("no_rope_layer_interval", 1, 100'000).value_or(4);
    std::vector<bool> rope;
    for (std::int64_t i = 0; i < reading.layers; ++i) {
        const auto index = static_cast<std::size_t>(i);
        rope.push_back(index < listed.size() ? listed[index] != 0 : (i + 1) % interval != 0);
    }
    return rope;
}

Choices choose_by_rope(Reading& reading, bool windowed_has_rope, LayerKind kind) {
    const std::vector<bool> rope = rope_layers(reading);
    return choose_where(
        reading,
        [&](std::int64_t i) { return rope[static_cast<std::size_t>(i)] != windowed_has_rope; },
        "no_rope_layers", kind);
}

/// A list of layer indices in the config, as a test.
std::vector<bool> listed_layers(Reading& reading, std::string_view key) {
    std::vector<bool> listed(static_cast<std::size_t>(reading.layers), false);
    for (const std::int64_t index : reading.config.integers(key)) {
        if (index >= 0 && index < reading.layers) {
            listed[static_cast<std::size_t>(index)] = true;
        }
    }
    return listed;
}

Choices choose_by_list(Reading& reading, std::string_view key) {
    const std::vector<bool> sliding = listed_layers(reading, key);
    return choose_where(
        reading, [&](std::int64_t i) { return !sliding[static_cast<std::size_t>(i)]; },
        std::string(key));
}

Choices choose_by_flags(Reading& reading) {
    const auto flags = reading.config.integers("hybrid_layer_pattern");
    if (flags.empty()) {
        return choose_where(
            reading, [&](std::int64_t i) { return i == 0 || (i + 1) % reading.row.period == 0; },
            "class default: layer 0 and every " + std::to_string(reading.row.period) + ". layer");
    }
    if (std::ssize(flags) < reading.layers) {
        reading.config.fail("hybrid_layer_pattern", std::to_string(reading.layers) + " numbers",
                            std::to_string(flags.size()));
    }
    return choose_where(
        reading, [&](std::int64_t i) { return flags[static_cast<std::size_t>(i)] == 0; },
        "hybrid_layer_pattern");
}

/// attention_types [[["global", "local"], 12]]: a pattern and how often it repeats.
Choices choose_by_attention_types(Reading& reading) {
    std::vector<std::string> words;
    const JsonValue* types = reading.config.find("attention_types");
    const auto* groups = types ? types->if_array() : nullptr;
    for (std::size_t g = 0; groups && g < groups->size(); ++g) {
        const auto* pair = (*groups)[g].if_array();
        if (pair == nullptr || pair->size() != 2 || !(*pair)[0].if_array() ||
            !(*pair)[1].if_integer()) {
            reading.config.fail("attention_types", "a list of [pattern, repeats]",
                                describe((*groups)[g]));
        }
        for (std::int64_t r = 0; r < *(*pair)[1].if_integer() && std::ssize(words) < reading.layers;
             ++r) {
            for (const JsonValue& word : *(*pair)[0].if_array()) {
                words.push_back(word.if_string() ? *word.if_string() : "");
            }
        }
    }
    if (groups != nullptr && std::ssize(words) < reading.layers) {
        reading.config.fail("attention_types",
                            "a kind for each of " + std::to_string(reading.layers) + " layers",
                            std::to_string(words.size()));
    }
    return choose_where(
        reading,
        [&](std::int64_t i) {
            return words.empty() ? i % 2 == 0 : words[static_cast<std::size_t>(i)] != "local";
        },
        groups ? "attention_types" : "class default: global and local by turns");
}

Choices choose_after_prefix(Reading& reading) {
    const std::int64_t prefix =
        reading.config.optional("first_k_dense_replace", 0, 100'000).value_or(0);
    const std::int64_t first =
        reading.config.optional("prefix_dense_sliding_window_pattern", 1, 100'000).value_or(1);
    const std::int64_t period = period_of(reading, "sliding_window_pattern");
    return choose_where(
        reading,
        [&](std::int64_t i) {
            return i < prefix ? (i + 1) % first == 0 : (i - prefix + 1) % period == 0;
        },
        "sliding_window_pattern " + std::to_string(period));
}

std::string_view period_key(const Architecture& row) {
    return row.model_type == "afmoe" || row.model_type == "modernbert-decoder"
               ? "global_attn_every_n_layers"
               : "sliding_window_pattern";
}

/// Every layer by the type's own rule; a window is set.
Choices choose_by_rule(Reading& reading) {
    const Architecture& row = reading.row;
    const auto limit = [&] {
        return reading.config.optional("max_window_layers", 0, 100'000).value_or(0);
    };
    switch (row.layout) {
    case Layout::full:
    case Layout::list_only:
        return all_full(reading);
    case Layout::window_if_set:
    case Layout::use_sliding_window_all:
        return choose_where(
            reading, [](std::int64_t) { return false; },
            std::string(row.window_key) + ", on every layer");
    case Layout::use_sliding_window: {
        const std::int64_t first = limit();
        return choose_where(
            reading, [&](std::int64_t i) { return i < first; }, "max_window_layers");
    }
    case Layout::use_sliding_window_even: {
        const std::int64_t end = limit();
        return choose_where(
            reading, [&](std::int64_t i) { return i % 2 == 1 || i >= end; },
            "even layers below max_window_layers");
    }
    case Layout::period: {
        const std::int64_t p = period_of(reading, period_key(row));
        return choose_where(
            reading, [&](std::int64_t i) { return (i + 1) % p == 0; },
            "every " + std::to_string(p) + ". layer is full");
    }
    case Layout::start_period: {
        const std::int64_t p = period_of(reading, period_key(row));
        return choose_where(
            reading, [&](std::int64_t i) { return i % p == 0; },
            "layer 0 and every " + std::to_string(p) + ". after it are full");
    }
    case Layout::end_period: {
        const std::int64_t p = row.period;
        return choose_where(
            reading, [&](std::int64_t i) { return (reading.layers - 1 - i) % p == 0; },
            "every " + std::to_string(p) + ". layer from the last is full");
    }
    case Layout::prefix_period:
        return choose_after_prefix(reading);
    case Layout::pattern_word:
        return choose_by_pattern_word(reading);
    case Layout::no_rope_chunked:
        return choose_by_rope(reading, true, LayerKind::chunked_attention);
    case Layout::no_rope_sliding:
        return choose_by_rope(reading, false, LayerKind::sliding_attention);
    case Layout::local_list:
        return choose_by_attention_types(reading);
    case Layout::hybrid_layer_pattern:
        return choose_by_flags(reading);
    case Layout::local_layer_ids:
        if (reading.config.has("local_layer_ids")) {
            return choose_by_list(reading, "local_layer_ids");
        }
        return choose_where(
            reading, [&](std::int64_t i) { return (i + 1) % row.period == 0; },
            "every " + std::to_string(row.period) + ". layer is full");
    case Layout::sliding_window_layers:
        return choose_by_list(reading, "sliding_window_layers");
    }
    throw Error("no such layout");
}

} // namespace

std::vector<std::string> layer_words(Reading& reading, std::string_view key) {
    auto words = reading.config.words(key);
    if (!words.empty() && std::ssize(words) < reading.layers) {
        reading.config.fail(
            key, "at least num_hidden_layers (" + std::to_string(reading.layers) + ") words",
            std::to_string(words.size()));
    }
    if (std::ssize(words) > reading.layers) {
        reading.notes.push_back(std::string(key) + " has " + std::to_string(words.size()) +
                                " words: the first " + std::to_string(reading.layers) +
                                " are used");
        words.resize(static_cast<std::size_t>(reading.layers));
    }
    return words;
}

std::vector<LayerChoice> choose_layers(Reading& reading, bool has_window) {
    const auto words = layer_words(reading, "layer_types");
    if (words.empty()) {
        return has_window ? choose_by_rule(reading) : all_full(reading);
    }
    Choices choices;
    for (std::size_t i = 0; i < words.size(); ++i) {
        choices.push_back(choose_by_word(reading, words[i], i, has_window));
    }
    return choices;
}

std::optional<std::int64_t> window_of(Reading& reading) {
    const Architecture& row = reading.row;
    const bool switched =
        row.layout == Layout::use_sliding_window || row.layout == Layout::use_sliding_window_all ||
        row.layout == Layout::use_sliding_window_even || row.layout == Layout::no_rope_sliding;
    if (switched && !reading.config.flag("use_sliding_window", false)) {
        if (reading.config.has(row.window_key)) {
            reading.notes.push_back("use_sliding_window is not true: sliding_window is ignored");
        }
        return std::nullopt;
    }
    auto window = reading.config.optional(row.window_key, 0, most_tokens);
    if (!window || *window == 0) {
        return std::nullopt;
    }
    const JsonValue* both = reading.config.find("use_bidirectional_attention");
    const bool all = both && both->if_string() && *both->if_string() == "all";
    if (all || (both && both->if_bool() && *both->if_bool())) {
        reading.notes.push_back(
            "use_bidirectional_attention: the window becomes sliding_window / 2 + 1");
        return *window / 2 + 1;
    }
    return row.window_key == "local_attention" ? *window / 2 : *window;
}

} // namespace kvcaliper
