// SPDX-License-Identifier: Apache-2.0
// Layers that attend and layers that keep a state, in one model or in one layer.
#include "core/architectures/plan_parts.h"
#include "core/error.h"
#include "core/model_config.h"

#include <algorithm>
#include <functional>

namespace kvcaliper {

namespace {

/// What one layer of a hybrid does.
struct Does {
    bool attends = false;
    bool has_state = false;
    std::string decided_by;
};
using Layers = std::vector<Does>;

Does attends(const std::string& why) {
    return {true, false, why};
}
Does keeps_state(const std::string& why) {
    return {false, true, why};
}

Layers by_rule(const Reading& reading, const std::function<bool(std::int64_t)>& rule,
               const std::string& why) {
    Layers layers;
    for (std::int64_t i = 0; i < reading.layers; ++i) {
        layers.push_back(rule(i) ? attends(why) : keeps_state(why));
    }
    return layers;
}

/// One layer by its word in layer_types or layers_block_type.
Does by_word(Reading& reading, const std::string& key, const std::string& word, std::size_t index) {
    const std::string why = key + "/" + std::to_string(index) + " = " + word;
    if (word == "full_attention" || word == "attention" || word == "sliding_attention") {
        return attends(why);
    }
    if (word == "linear_attention" || word == "mamba" || word == "mamba2" || word == "conv" ||
        word == "recurrent" || word == "linear") {
        return keeps_state(why);
    }
    if (word == "hybrid") {
        return {true, true, why};
    }
    if (word == "mlp" || word == "moe") {
        return {false, false, why};
    }
    reading.config.fail(key + "/" + std::to_string(index),
                        "an attention or a recurrent layer's word", "\"" + word + "\"");
}

/// The layers a list of words names, empty without a list.
Layers by_words(Reading& reading, const std::string& key) {
    Layers layers;
    const auto words = layer_words(reading, key);
    for (std::size_t i = 0; i < words.size(); ++i) {
        layers.push_back(by_word(reading, key, words[i], i));
    }
    return layers;
}

Layers by_either_list(Reading& reading) {
    Layers layers = by_words(reading, "layer_types");
    return layers.empty() ? by_words(reading, "layers_block_type") : layers;
}

/// Indices of attending layers; `first` is how the list counts its first layer.
Layers by_indices(Reading& reading, const std::vector<std::int64_t>& indices, std::int64_t first,
                  const std::string& key) {
    for (const std::int64_t index : indices) {
        if (index < first || index >= reading.layers + first) {
            reading.config.fail(key,
                                "layers from " + std::to_string(first) + " to " +
                                    std::to_string(reading.layers + first - 1),
                                std::to_string(index));
        }
    }
    return by_rule(
        reading,
        [&](std::int64_t i) {
            return std::find(indices.begin(), indices.end(), i + first) != indices.end();
        },
        key);
}

Layers by_kimi_list(Reading& reading) {
    const auto inner = reading.config.inner("linear_attn_config");
    const auto full = inner ? inner->integers("full_attn_layers") : std::vector<std::int64_t>{};
    if (full.empty()) {
        return by_rule(
            reading, [](std::int64_t i) { return i > 0 && i % 4 == 0; },
            "class default: every 4th layer attends");
    }
    return by_indices(reading, full, 1, "linear_attn_config/full_attn_layers");
}

Layers by_attn_type_list(Reading& reading) {
    const auto types = reading.config.integers("attn_type_list");
    if (types.empty()) {
        return by_rule(
            reading, [](std::int64_t i) { return i % 2 == 0; },
            "class default: full and linear by turns");
    }
    if (std::ssize(types) < reading.layers) {
        reading.config.fail("attn_type_list", std::to_string(reading.layers) + " numbers",
                            std::to_string(types.size()));
    }
    return by_rule(
        reading, [&](std::int64_t i) { return types[static_cast<std::size_t>(i)] == 1; },
        "attn_type_list");
}

Layers by_override_pattern(Reading& reading) {
    const JsonValue* pattern = reading.config.find("hybrid_override_pattern");
    if (pattern == nullptr || !pattern->if_string()) {
        Layers layers = by_either_list(reading);
        if (layers.empty()) {
            reading.config.fail("hybrid_override_pattern", "a word of M, *, E and -", "nothing");
        }
        return layers;
    }
    Layers layers;
    for (const char c : *pattern->if_string()) {
        const std::string why = std::string("hybrid_override_pattern: ") + c;
        if (c == '*') {
            layers.push_back(attends(why));
        } else if (c == 'M') {
            layers.push_back(keeps_state(why));
        } else if (c == 'E' || c == '-') {
            layers.push_back({false, false, why});
        } else {
            reading.config.fail("hybrid_override_pattern", "a word of M, *, E and -",
                                std::string("\"") + c + "\"");
        }
    }
    return layers;
}

Layers by_block_types(Reading& reading) {
    std::string key = "block_types";
    auto words = reading.config.words(key);
    if (words.empty()) {
        key = "_block_types";
        words = reading.config.words(key);
    }
    if (words.empty()) {
        words = {"recurrent", "recurrent", "attention"};
        reading.notes.push_back("block_types absent: recurrent, recurrent, attention");
    }
    Layers layers;
    for (std::size_t i = 0; i < static_cast<std::size_t>(reading.layers); ++i) {
        layers.push_back(by_word(reading, key, words[i % words.size()], i % words.size()));
    }
    return layers;
}

/// Zamba 2 keeps a Mamba-2 state on its hybrid layers, too; Zamba's default list has its first
/// hybrid layer at index 2 and then one in six.
Layers by_zamba_words(Reading& reading) {
    Layers layers = by_either_list(reading);
    if (layers.empty()) {
        layers = by_rule(
            reading, [](std::int64_t i) { return i == 2 || (i > 2 && i % 6 == 4); },
            "class default list of hybrid layers");
    }
    for (Does& layer : layers) {
        layer.has_state = true;
    }
    return layers;
}

Layers by_period_offset(Reading& reading) {
    const std::int64_t period = reading.config.required("attn_layer_period", 100'000);
    const std::int64_t offset =
        reading.config.optional("attn_layer_offset", 0, 100'000).value_or(0);
    return by_rule(
        reading, [&](std::int64_t i) { return i % period == offset; },
        "attn_layer_period " + std::to_string(period) + ", attn_layer_offset " +
            std::to_string(offset));
}

Layers by_interval(Reading& reading, std::string_view key, std::int64_t absent) {
    const std::int64_t period = reading.config.optional(key, 1, 100'000).value_or(absent);
    return by_rule(
        reading, [&](std::int64_t i) { return (i + 1) % period == 0; },
        std::string(key) + " " + std::to_string(period));
}

Layers by_every_fourth(Reading& reading) {
    Layers layers = by_rule(
        reading, [](std::int64_t i) { return i % 4 == 3; },
        "class default: every 4th layer attends");
    if (reading.layers < 4) {
        layers.back() = attends("class default: at least the last layer attends");
    }
    return layers;
}

/// PLaMo 2: with few layers the last one attends.
Layers by_mamba_step(Reading& reading) {
    const std::int64_t step = reading.config.required("mamba_step", 100'000);
    const std::int64_t layers = reading.layers;
    return by_rule(
        reading,
        [&](std::int64_t i) { return layers <= step / 2 ? i == layers - 1 : i % step == step / 2; },
        "mamba_step " + std::to_string(step));
}

Layers by_full_attention_ids(Reading& reading) {
    if (!reading.config.has("full_attn_idxs")) {
        return by_rule(
            reading, [](std::int64_t) { return true; }, "no list: every layer attends");
    }
    return by_indices(reading, reading.config.integers("full_attn_idxs"), 0, "full_attn_idxs");
}

Layers by_attn_layers(Reading& reading) {
    const auto inner = reading.config.inner("attn");
    if (!inner) {
        return by_rule(
            reading, [](std::int64_t) { return false; }, "no attn: a state on every layer");
    }
    return by_indices(reading, inner->integers("layers"), 0, "attn/layers");
}

Layers without_a_list(Reading& reading) {
    switch (reading.row.attends) {
    case Attends::interval:
        return by_interval(reading, "full_attention_interval", 4);
    case Attends::every_fourth:
        return by_every_fourth(reading);
    case Attends::kimi_list:
        return by_kimi_list(reading);
    case Attends::layer_group:
        return by_interval(reading, "layer_group_size", reading.row.period);
    case Attends::attn_type_list:
        return by_attn_type_list(reading);
    case Attends::period_offset:
        return by_period_offset(reading);
    case Attends::indices:
        return by_indices(reading, reading.config.integers("attn_layer_indices"), 0,
                          "attn_layer_indices");
    case Attends::layer_words:
        return by_rule(
            reading, [](std::int64_t) { return false; }, "no list: a state on every layer");
    case Attends::zamba_words:
        return by_zamba_words(reading);
    case Attends::always: {
        return Layers(static_cast<std::size_t>(reading.layers),
                      {true, true, "model_type: both in every layer"});
    }
    case Attends::override_pattern:
        return by_override_pattern(reading);
    case Attends::mamba_step:
        return by_mamba_step(reading);
    case Attends::full_attention_ids:
        return by_full_attention_ids(reading);
    case Attends::block_types:
        return by_block_types(reading);
    case Attends::attn_layers:
        return by_attn_layers(reading);
    }
    throw Error("no such rule for attending layers");
}

Layers which_layers(Reading& reading) {
    if (reading.row.attends != Attends::zamba_words &&
        reading.row.attends != Attends::override_pattern) {
        if (Layers layers = by_either_list(reading); !layers.empty()) {
            return layers;
        }
    }
    return without_a_list(reading);
}

/// fla keeps the attention layers' keys in their own object.
AttentionDims fla_attention_dims(Reading& reading) {
    const auto inner = reading.config.inner("attn");
    AttentionDims dims;
    dims.heads = inner->required("num_heads", 1'000'000);
    dims.kv_heads = inner->optional("num_kv_heads").value_or(dims.heads);
    dims.key_width = dims.value_width =
        std::max<std::int64_t>(1, reading.config.required("hidden_size") / dims.heads);
    dims.window = inner->optional("window_size");
    return dims;
}

LayerPart hybrid_attention(Reading& reading) {
    if (reading.row.latent && reading.config.has("kv_lora_rank")) {
        return {LayerKind::mla, latent_dims(reading)};
    }
    if (reading.row.attends == Attends::attn_layers) {
        return attention_part(fla_attention_dims(reading));
    }
    AttentionDims dims = attention_dims(reading);
    dims.window = reading.row.layout == Layout::window_if_set ? window_of(reading) : std::nullopt;
    return attention_part(dims);
}

bool any(const Layers& layers, bool Does::*what) {
    return std::any_of(layers.begin(), layers.end(),
                       [&](const Does& layer) { return layer.*what; });
}

} // namespace

std::vector<LayerPlan> plan_hybrid(Reading& reading) {
    const Layers layers = which_layers(reading);
    std::optional<LayerPart> attention;
    std::optional<LayerPart> state;
    if (any(layers, &Does::attends)) {
        attention = hybrid_attention(reading);
    }
    if (any(layers, &Does::has_state)) {
        state = state_part(reading);
    }
    std::vector<LayerPlan> plan;
    for (const Does& layer : layers) {
        LayerPlan one{{}, std::nullopt, layer.decided_by};
        if (layer.attends) {
            one.parts.push_back(*attention);
        }
        if (layer.has_state) {
            one.parts.push_back(*state);
        }
        plan.push_back(std::move(one));
    }
    return plan;
}

} // namespace kvcaliper
