// SPDX-License-Identifier: Apache-2.0
// Attention on every layer: which layers have a window, with which heads, and who shares with whom.
#include "core/architectures/plan_parts.h"
#include "core/error.h"
#include "core/model_config.h"

#include <algorithm>

namespace kvcaliper {

namespace {

constexpr std::int64_t most_heads = 1'000'000;
constexpr std::int64_t most_tokens = std::int64_t{1} << 40;

// ---- heads and widths ---------------------------------------------------------------------------

std::int64_t quotient_width(Reading& reading, std::int64_t heads, std::int64_t factor) {
    const std::int64_t hidden = reading.config.required("hidden_size");
    if (hidden * factor < heads) {
        reading.config.fail("hidden_size",
                            "at least num_attention_heads (" + std::to_string(heads) + ")",
                            std::to_string(hidden));
    }
    const std::int64_t width = hidden * factor / heads;
    const bool exact = hidden * factor % heads == 0;
    reading.notes.push_back("head width: " + std::string(factor == 1 ? "" : "2 · ") +
                            "hidden_size / num_attention_heads = " + std::to_string(width) +
                            (exact ? "" : " (rounded down: it does not divide)"));
    return width;
}

std::int64_t head_width(Reading& reading, std::int64_t heads) {
    switch (reading.row.head_width) {
    case HeadWidth::standard:
        if (const auto width = reading.config.optional("head_dim", 1, 65536)) {
            return *width;
        }
        return quotient_width(reading, heads, 1);
    case HeadWidth::quotient:
        return quotient_width(reading, heads, 1);
    case HeadWidth::twice:
        return quotient_width(reading, heads, 2);
    }
    throw Error("no such rule for head widths");
}

std::int64_t falcon_kv_heads(Reading& reading, std::int64_t heads) {
    const ModelConfig& config = reading.config;
    if (config.flag("new_decoder_architecture", false)) {
        const auto kv_heads = config.optional("num_key_value_heads");
        reading.notes.push_back(
            kv_heads ? "new_decoder_architecture: num_kv_heads = " + std::to_string(*kv_heads)
                     : "new_decoder_architecture without num_kv_heads: one per head");
        return kv_heads.value_or(heads);
    }
    const bool one = config.flag("multi_query", true);
    reading.notes.push_back(one ? std::string("multi_query: one KV head") +
                                      (config.has("multi_query") ? "" : " (class default)")
                                : std::string("multi_query is false: one KV head per query head"));
    return one ? 1 : heads;
}

/// KV heads layer by layer, as GGUF files list them; empty for the usual single number.
std::vector<std::int64_t> listed_kv_heads(const Reading& reading) {
    const JsonValue* value = reading.config.find("num_key_value_heads");
    if (value == nullptr || value->if_array() == nullptr) {
        return {};
    }
    auto listed = reading.config.integers("num_key_value_heads");
    if (std::ssize(listed) < reading.layers) {
        reading.config.fail("num_key_value_heads", std::to_string(reading.layers) + " numbers",
                            std::to_string(listed.size()));
    }
    for (const std::int64_t heads : listed) {
        if (heads < 0 || heads > most_heads) {
            reading.config.fail("num_key_value_heads", "0 or more in each layer",
                                std::to_string(heads));
        }
    }
    return listed;
}

std::int64_t standard_kv_heads(Reading& reading, std::int64_t heads) {
    if (const auto listed = listed_kv_heads(reading); !listed.empty()) {
        return std::max<std::int64_t>(1, *std::max_element(listed.begin(), listed.end()));
    }
    const auto kv_heads = reading.config.optional("num_key_value_heads");
    if (kv_heads) {
        return *kv_heads;
    }
    reading.notes.push_back(
        "num_key_value_heads " +
        std::string(reading.config.find("num_key_value_heads") ? "null" : "absent") +
        ": as many as query heads, " + std::to_string(heads));
    return heads;
}

std::int64_t flagged_kv_heads(Reading& reading, std::string_view flag, bool absent,
                              std::int64_t grouped, std::int64_t heads) {
    const bool shared = reading.config.flag(flag, absent);
    reading.notes.push_back(std::string(flag) +
                            (reading.config.has(flag) ? "" : " absent, class default") + ": " +
                            std::to_string(shared ? grouped : heads) + " KV heads");
    return shared ? grouped : heads;
}

std::int64_t nested_kv_heads(Reading& reading, std::int64_t absent) {
    if (const auto inner = reading.config.inner("attn_config")) {
        if (const auto kv_heads = inner->optional("kv_n_heads")) {
            return *kv_heads;
        }
    }
    reading.notes.push_back("attn_config.kv_n_heads absent: " + std::to_string(absent));
    return absent;
}

std::int64_t kv_heads_by_rule(Reading& reading, std::int64_t heads) {
    switch (reading.row.kv_heads) {
    case KvHeads::standard:
        return standard_kv_heads(reading, heads);
    case KvHeads::all:
        return heads;
    case KvHeads::falcon:
        return falcon_kv_heads(reading, heads);
    case KvHeads::multi_query:
        return flagged_kv_heads(reading, "multi_query", true, 1, heads);
    case KvHeads::query_groups:
        return flagged_kv_heads(reading, "multi_query_attention", false,
                                reading.config.optional("multi_query_group_num").value_or(1),
                                heads);
    case KvHeads::attn_config:
        return nested_kv_heads(reading, 1);
    case KvHeads::attn_config_all:
        return nested_kv_heads(reading, heads);
    }
    throw Error("no such rule for KV heads");
}

/// Full layers of Gemma 4: wider heads, and fewer of them when attention_k_eq_v.
AttentionDims global_dims(Reading& reading, AttentionDims dims) {
    dims.key_width = dims.value_width = reading.config.required("global_head_dim", 65536);
    if (reading.config.flag("attention_k_eq_v", false)) {
        dims.kv_heads =
            reading.config.optional("num_global_key_value_heads").value_or(dims.kv_heads);
    }
    return dims;
}

AttentionDims swa_dims(const ModelConfig& config, AttentionDims dims) {
    dims.heads = config.optional("swa_num_attention_heads").value_or(dims.heads);
    dims.kv_heads = config.optional("swa_num_key_value_heads").value_or(dims.kv_heads);
    dims.key_width = config.optional("swa_head_dim").value_or(dims.key_width);
    dims.value_width = config.optional("swa_v_head_dim")
                           .value_or(config.has("v_head_dim") ? dims.value_width : dims.key_width);
    return dims;
}

AttentionDims other_dims(const ModelConfig& config, AttentionDims dims) {
    if (const auto other = config.inner("attention_other_setting")) {
        dims.heads = other->optional("num_attention_heads").value_or(dims.heads);
        dims.kv_heads = other->optional("num_attention_groups").value_or(dims.kv_heads);
    }
    return dims;
}

/// The dims of full or of sliding layers, from those both start with.
AttentionDims split_dims(Reading& reading, const AttentionDims& dims, bool sliding) {
    switch (reading.row.split) {
    case Split::none:
        return dims;
    case Split::global_heads:
        return sliding ? dims : global_dims(reading, dims);
    case Split::swa_keys:
        return sliding ? swa_dims(reading.config, dims) : dims;
    case Split::other_setting:
        return sliding ? other_dims(reading.config, dims) : dims;
    case Split::swa_heads: {
        AttentionDims other = dims;
        other.kv_heads =
            sliding ? reading.config.optional("num_swa_key_value_heads").value_or(dims.kv_heads)
                    : dims.kv_heads;
        return other;
    }
    }
    throw Error("no such split");
}

// ---- which layers slide -------------------------------------------------------------------------

struct Choice {
    LayerKind kind = LayerKind::full_attention;
    std::string decided_by;
};

Choice choose(bool full, LayerKind other, const std::string& why) {
    return {full ? LayerKind::full_attention : other, (full ? "full: " : "windowed: ") + why};
}

bool is_full_word(const std::string& word) {
    return word == "full_attention" || word == "attention" || word == "global_attention" ||
           word == "minimax_m3_sparse" || word == "hybrid" || word == "moe";
}

/// One layer by its word in layer_types.
Choice choose_by_word(Reading& reading, const std::string& word, std::size_t index,
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

using Choices = std::vector<Choice>;

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

Choices choose_layers(Reading& reading, bool has_window) {
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

// ---- sharing and what stands beside
// ---------------------------------------------------------------

/// Layer i reads the cache of the last owner of its own kind before `first`.
void share_last(std::vector<LayerPlan>& plan, std::int64_t count, const std::string& key) {
    const std::int64_t first = std::ssize(plan) - count;
    for (std::int64_t i = first; i < std::ssize(plan); ++i) {
        LayerPlan& layer = plan[static_cast<std::size_t>(i)];
        for (std::int64_t owner = first - 1; owner >= 0 && !layer.shared_with; --owner) {
            if (plan[static_cast<std::size_t>(owner)].parts.front().kind ==
                layer.parts.front().kind) {
                layer.shared_with = static_cast<int>(owner);
            }
        }
        if (layer.shared_with) {
            layer.parts.clear();
            layer.decided_by = key + " " + std::to_string(count);
        }
    }
}

void share_last_layers(Reading& reading, std::vector<LayerPlan>& plan, std::string_view key) {
    const std::int64_t count = reading.config.optional(key, 0, 100'000).value_or(0);
    if (count >= reading.layers) {
        reading.config.fail(key,
                            "fewer than num_hidden_layers (" + std::to_string(reading.layers) + ")",
                            std::to_string(count));
    }
    share_last(plan, count, std::string(key));
}

void share_across(Reading& reading, std::vector<LayerPlan>& plan) {
    if (!reading.config.flag("use_cla", false)) {
        return;
    }
    const std::int64_t factor = reading.config.required("cla_share_factor", 100'000);
    for (std::int64_t i = 0; i < std::ssize(plan); ++i) {
        if (i % factor != 0) {
            LayerPlan& layer = plan[static_cast<std::size_t>(i)];
            layer.parts.clear();
            layer.shared_with = static_cast<int>(i - i % factor);
            layer.decided_by = "use_cla, cla_share_factor " + std::to_string(factor);
        }
    }
}

void share(Reading& reading, std::vector<LayerPlan>& plan) {
    switch (reading.row.sharing) {
    case Sharing::none:
        return;
    case Sharing::last_layers:
        return share_last_layers(reading, plan, "num_kv_shared_layers");
    case Sharing::reuse:
        return share_last_layers(reading, plan, "num_kv_reuse_layers");
    case Sharing::cross_layer:
        return share_across(reading, plan);
    }
}

void add_conv(LayerPlan& layer, std::int64_t channels, std::int64_t columns, bool in_state_format) {
    if (columns > 0) {
        layer.parts.push_back(
            {LayerKind::kv_conv, ConvDims{channels, columns, in_state_format ? 1 : 0}});
    }
}

/// Zaya: both convolutions over q and k, and half of the last V row.
void add_zaya_conv(Reading& reading, LayerPlan& layer, const AttentionDims& dims) {
    const std::int64_t columns = reading.config.optional("cca_time0").value_or(2) - 1 +
                                 reading.config.optional("cca_time1").value_or(2) - 1;
    add_conv(layer, (dims.heads + dims.kv_heads) * dims.key_width, columns, false);
    add_conv(layer, dims.kv_heads * dims.value_width / 2, 1, false);
}

/// Inkling: convolutions over k, v, the attention output and the MLP output, in fp32.
void add_inkling_conv(Reading& reading, LayerPlan& layer, const AttentionDims& dims) {
    const std::int64_t columns = reading.config.optional("conv_kernel_size").value_or(4) - 1;
    const std::int64_t hidden = reading.config.required("hidden_size");
    add_conv(layer, dims.kv_heads * (dims.key_width + dims.value_width) + 2 * hidden, columns,
             true);
}

std::vector<bool> indexed_layers(Reading& reading) {
    std::vector<bool> indexed(static_cast<std::size_t>(reading.layers), false);
    const auto words = reading.config.words("layer_types");
    const auto inner = reading.config.inner("sparse_attention_config");
    const auto flags =
        inner ? inner->integers("sparse_attention_freq") : std::vector<std::int64_t>{};
    for (std::size_t i = 0; i < indexed.size(); ++i) {
        indexed[i] =
            i < words.size() ? words[i] == "minimax_m3_sparse" : i < flags.size() && flags[i] != 0;
    }
    return indexed;
}

std::int64_t index_width(Reading& reading) {
    if (const auto inner = reading.config.inner("sparse_attention_config")) {
        if (const auto width = inner->optional("sparse_index_dim")) {
            return *width;
        }
    }
    return reading.config.required("index_head_dim", 65536);
}

void add_index_keys(Reading& reading, std::vector<LayerPlan>& plan) {
    const std::vector<bool> indexed = indexed_layers(reading);
    for (std::size_t i = 0; i < plan.size(); ++i) {
        if (indexed[i]) {
            std::get<AttentionDims>(plan[i].parts.front().dims).index_width = index_width(reading);
            plan[i].decided_by += ", sparse attention with an index key";
        }
    }
}

void add_beside(Reading& reading, std::vector<LayerPlan>& plan) {
    if (reading.row.beside == Beside::index_key) {
        return add_index_keys(reading, plan);
    }
    for (LayerPlan& layer : plan) {
        if (layer.parts.empty()) {
            continue;
        }
        const AttentionDims dims = std::get<AttentionDims>(layer.parts.front().dims);
        switch (reading.row.beside) {
        case Beside::none:
        case Beside::index_key:
            break;
        case Beside::baichuan_conv:
            add_conv(layer, dims.kv_heads * (dims.key_width + dims.value_width),
                     reading.config.optional("conv_window").value_or(2) - 1, false);
            break;
        case Beside::zaya_conv:
            add_zaya_conv(reading, layer, dims);
            break;
        case Beside::inkling_conv:
            add_inkling_conv(reading, layer, dims);
            break;
        case Beside::cross: {
            AttentionDims cross = dims;
            cross.window.reset();
            cross.kv_heads =
                reading.config.optional("cross_num_key_value_heads").value_or(dims.kv_heads);
            cross.key_width = cross.value_width =
                reading.config.optional("cross_head_dim").value_or(dims.key_width);
            layer.parts.push_back({LayerKind::cross_attention, cross});
            break;
        }
        }
    }
}

/// A list of KV heads says for each layer how many there are; none means no cache.
void apply_listed_heads(Reading& reading, std::vector<LayerPlan>& plan) {
    const auto listed = listed_kv_heads(reading);
    for (std::size_t i = 0; i < plan.size() && i < listed.size(); ++i) {
        plan[i].decided_by += ", num_key_value_heads/" + std::to_string(i);
        if (listed[i] == 0) {
            plan[i].parts.clear();
        } else if (!plan[i].parts.empty()) {
            std::get<AttentionDims>(plan[i].parts.front().dims).kv_heads = listed[i];
        }
    }
}

/// per_layer_config {"3": {"head_dim": 512}}: overrides by layer index.
void apply_overrides(Reading& reading, std::vector<LayerPlan>& plan) {
    const auto table = reading.config.inner("per_layer_config");
    if (!table) {
        return;
    }
    for (std::size_t i = 0; i < plan.size(); ++i) {
        const auto inner = table->inner(std::to_string(i));
        if (!inner || plan[i].parts.empty()) {
            continue;
        }
        auto& dims = std::get<AttentionDims>(plan[i].parts.front().dims);
        dims.kv_heads = inner->optional("num_key_value_heads").value_or(dims.kv_heads);
        if (const auto width = inner->optional("head_dim", 1, 65536)) {
            dims.key_width = dims.value_width = *width;
        }
        plan[i].decided_by += ", per_layer_config/" + std::to_string(i);
    }
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

AttentionDims attention_dims(Reading& reading) {
    AttentionDims dims;
    dims.heads = reading.config.required("num_attention_heads", most_heads);
    dims.kv_heads = kv_heads_by_rule(reading, dims.heads);
    if (dims.heads % dims.kv_heads != 0) {
        reading.config.fail("num_key_value_heads",
                            "a divisor of num_attention_heads (" + std::to_string(dims.heads) + ")",
                            std::to_string(dims.kv_heads));
    }
    dims.key_width = head_width(reading, dims.heads);
    // MiMo and GGUF files state a width of their own for V; beside kv_lora_rank the key is MLA's.
    const bool own_width = !reading.config.has("kv_lora_rank") && !reading.config.has("use_mla");
    const auto stated = own_width ? reading.config.optional("v_head_dim", 1, 65536) : std::nullopt;
    dims.value_width = stated.value_or(dims.key_width);
    return dims;
}

LayerPart attention_part(const AttentionDims& dims) {
    return {dims.window ? LayerKind::sliding_attention : LayerKind::full_attention, dims};
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

std::vector<LayerPlan> plan_attention(Reading& reading) {
    const AttentionDims dims = attention_dims(reading);
    const auto window = window_of(reading);
    if (reading.row.layout == Layout::full && reading.config.has("sliding_window") &&
        reading.config.words("layer_types").empty()) {
        reading.notes.push_back("sliding_window is not a key of this model_type: ignored");
    }
    const AttentionDims full = split_dims(reading, dims, false);
    AttentionDims windowed = split_dims(reading, dims, true);
    windowed.window = window;
    Choices choices = choose_layers(reading, window.has_value());
    if (reading.row.split == Split::global_heads && !choices.empty()) {
        choices.back() = {LayerKind::full_attention, "the last layer is always full"};
    }
    std::vector<LayerPlan> plan;
    for (const Choice& choice : choices) {
        const bool is_full = choice.kind == LayerKind::full_attention;
        plan.push_back(
            {{{choice.kind, is_full ? full : windowed}},
             std::nullopt,
             choice.decided_by.empty() ? "model_type: full attention" : choice.decided_by});
    }
    apply_listed_heads(reading, plan);
    apply_overrides(reading, plan);
    share(reading, plan);
    add_beside(reading, plan);
    return plan;
}

} // namespace kvcaliper
