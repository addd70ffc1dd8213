// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/model_edit.h"

#include "app/gui/model_edit_rules.h"
#include "core/error.h"

#include <algorithm>
#include <array>

namespace kvcaliper::gui {

namespace {

/// The object a pointer leads to, to be changed in place. Every step is there: it was read.
JsonValue& object_at(JsonValue& root, std::string_view pointer) {
    JsonValue* at = &root;
    while (!pointer.empty()) {
        pointer.remove_prefix(1);
        const auto end = std::min(pointer.find('/'), pointer.size());
        const std::string_view name = pointer.substr(0, end);
        auto& members = *at->if_object();
        at = &std::find_if(members.begin(), members.end(), [&](const auto& member) {
                  return member.first == name;
              })->second;
        pointer.remove_prefix(end);
    }
    return *at;
}

/// The spelling of a key this object uses; the canonical one where it has none.
std::string spelled(const JsonValue& object, std::string_view key) {
    const auto has = [&](std::string_view name) {
        const JsonValue* value = object.find(name);
        return value != nullptr && !value->is_null();
    };
    if (!has(key)) {
        for (const std::string_view alias : key_aliases(key)) {
            if (has(alias)) {
                return std::string(alias);
            }
        }
    }
    return std::string(key);
}

/// Sets "key" or "object/key" under the object's own spelling.
void set_number(JsonValue& object, const std::string& key, JsonValue value) {
    if (const auto slash = key.find('/'); slash != std::string::npos) {
        JsonValue& inner = object_at(object, "/" + key.substr(0, slash));
        inner.set(key.substr(slash + 1), std::move(value));
        return;
    }
    object.set(spelled(object, key), std::move(value));
}

// ---- lists with an entry per layer --------------------------------------------------------------

bool equal(const JsonValue& a, const JsonValue& b) {
    return dump_json(a, -1) == dump_json(b, -1);
}

/// After how many entries the later half of a list repeats itself: a longer list goes on like that.
std::size_t period_of(const JsonValue::Array& list) {
    for (std::size_t period = 1; period < list.size(); ++period) {
        bool repeats = true;
        for (std::size_t i = std::max(period, list.size() / 2); i < list.size(); ++i) {
            repeats = repeats && equal(list[i], list[i - period]);
        }
        if (repeats) {
            return period;
        }
    }
    return list.size();
}

void resize(JsonValue::Array& list, std::size_t count) {
    const std::size_t period = period_of(list);
    while (list.size() < count) {
        list.push_back(JsonValue(list[list.size() - period]));
    }
    list.resize(count);
}

/// Lists as long as there are layers, which are about something else.
bool is_other_list(std::string_view key) {
    constexpr std::array others = {"architectures", "eos_token_id", "bos_token_id"};
    return std::find(others.begin(), others.end(), key) != others.end();
}

/// Lists that go on behind the last layer, with the draft layers that are not counted.
bool may_go_on(std::string_view key) {
    constexpr std::array lists = {"layer_types", "mlp_layer_types", "compress_ratios"};
    return std::find(lists.begin(), lists.end(), key) != lists.end();
}

/// The first `before` entries become `after`; those behind them stay.
void resize_head(JsonValue::Array& list, std::size_t before, std::size_t after) {
    const auto end = list.begin() + static_cast<std::ptrdiff_t>(before);
    const JsonValue::Array tail(end, list.end());
    list.erase(end, list.end());
    resize(list, after);
    list.insert(list.end(), tail.begin(), tail.end());
}

/// Lists with an entry for each of `before` layers get `after` entries.
void resize_lists(JsonValue& object, std::size_t before, std::size_t after) {
    for (auto& [key, value] : *object.if_object()) {
        auto* list = value.if_array();
        if (list && (list->size() == before || (list->size() > before && may_go_on(key))) &&
            !is_other_list(key)) {
            resize_head(*list, before, after);
        } else if (key == "sparse_attention_config" && value.is_object()) {
            resize_lists(value, before, after);
        }
    }
}

// ---- the layer pattern --------------------------------------------------------------------------

bool is_attention_word(const std::string& word) {
    return word == "full_attention" || word == "attention" || word == "global_attention";
}

/// The words a list has for full layers and for the others; the usual ones where it has none.
struct Words {
    std::string full = "full_attention";
    std::string other;
};

Words words_of(const std::vector<std::string>& listed, std::string other) {
    Words words{.full = "full_attention", .other = std::move(other)};
    for (const std::string& word : listed) {
        (is_attention_word(word) ? words.full : words.other) = word;
    }
    return words;
}

JsonValue pattern(std::int64_t layers, std::int64_t period, const JsonValue& full,
                  const JsonValue& other) {
    JsonValue::Array list;
    for (std::int64_t i = 0; i < layers; ++i) {
        list.push_back((i + 1) % period == 0 ? full : other);
    }
    return list;
}

void set_words(const ModelConfig& keys, JsonValue& object, const std::string& list,
               std::int64_t layers, std::int64_t period, const std::string& other) {
    const Words words = words_of(keys.words(list), other);
    object.set(list, pattern(layers, period, words.full, words.other));
}

/// Every `period`-th layer full, under the key of the state and every list that stands over it.
void set_pattern(const EditView& view, JsonValue& object, const std::string& key,
                 std::int64_t period) {
    const std::int64_t layers = std::ssize(view.plan.layers);
    const bool hybrid = view.row.plan == plan_hybrid;
    const std::string other = hybrid                                       ? "linear_attention"
                              : view.row.layout == Layout::no_rope_chunked ? "chunked_attention"
                                                                           : "sliding_attention";
    if (key == "hybrid_layer_pattern") {
        object.set(key, pattern(layers, period, 0, 1));
    } else if (key != "layer_types" && key != "layers_block_type") {
        set_number(object, key, period);
    }
    for (const char* list : {"layer_types", "layers_block_type"}) {
        if (key == list || view.keys.has(list)) {
            set_words(view.keys, object, list, layers, period, other);
        }
    }
}

// ---- the window ---------------------------------------------------------------------------------

void set_window(const EditView& view, JsonValue& object, const std::string& key,
                std::int64_t tokens) {
    const bool was_on = view.keys.flag("use_sliding_window", false);
    object.set(key, tokens == 0 ? JsonValue() : JsonValue(tokens));
    if (!has_window_switch(view.row)) {
        return;
    }
    object.set("use_sliding_window", tokens != 0);
    if (view.row.layout == Layout::use_sliding_window && !was_on) {
        object.set("max_window_layers", 0); // the first layer from which on they slide
    }
}

} // namespace

std::int64_t largest_value(EditField field) {
    switch (field) {
    case EditField::layers:
    case EditField::full_every:
        return 10'000;
    case EditField::kv_heads:
    case EditField::head_width:
        return 65'536;
    case EditField::latent_rank:
        return 1'000'000;
    case EditField::window:
        return 1'000'000'000;
    }
    return 0;
}

ModelEdit::ModelEdit(ConfigFile config)
    : config_(std::move(config)), place_(text_config_place(config_)), plan_(plan_model(config_)) {}

FieldState ModelEdit::state(EditField field) const {
    JsonValue root = config_.value;
    const JsonValue& object = object_at(root, place_.pointer);
    const ModelConfig keys(config_.path, object, place_.pointer, place_.row->model_type);
    const EditView view{*place_.row, keys, plan_};
    FieldState state;
    switch (field) {
    case EditField::layers:
        state = layers_state(view);
        break;
    case EditField::kv_heads:
        state = kv_heads_state(view);
        break;
    case EditField::head_width:
        state = head_width_state(view);
        break;
    case EditField::window:
        state = window_state(view);
        break;
    case EditField::latent_rank:
        state = latent_rank_state(view);
        break;
    case EditField::full_every:
        state = full_every_state(view);
        break;
    }
    if (!state.key.empty() && state.key.find('/') == std::string::npos) {
        state.key = spelled(object, state.key);
    }
    return state;
}

ConfigFile ModelEdit::with(EditField field, std::int64_t value) const {
    const FieldState before = state(field);
    if (!before.reason.isEmpty()) {
        throw Error(config_.name + ": " + before.reason.toStdString());
    }
    const std::int64_t least = before.may_be_none ? 0 : 1;
    if (value < least || value > largest_value(field)) {
        throw input_error(config_.name, "/" + before.key,
                          "a number from " + std::to_string(least) + " to " +
                              std::to_string(largest_value(field)),
                          std::to_string(value));
    }
    ConfigFile next = config_;
    JsonValue& object = object_at(next.value, place_.pointer);
    const ModelConfig keys(config_.path, object, place_.pointer, place_.row->model_type);
    switch (field) {
    case EditField::layers:
        set_number(object, before.key, value);
        resize_lists(object, static_cast<std::size_t>(before.value.value_or(0)),
                     static_cast<std::size_t>(value));
        break;
    case EditField::window:
        set_window({*place_.row, keys, plan_}, object, before.key, value);
        break;
    case EditField::full_every:
        set_pattern({*place_.row, keys, plan_}, object, before.key, value);
        break;
    case EditField::kv_heads:
    case EditField::head_width:
    case EditField::latent_rank:
        set_number(object, before.key, value);
        break;
    }
    const ModelEdit edited(next); // throws what the model's rules say against it
    if (edited.state(field).value != value) {
        throw Error(config_.name + ": /" + before.key + ": the model does not take " +
                    std::to_string(value));
    }
    return next;
}

ConfigFile editable_copy(const ConfigFile& config, const std::string& name) {
    ConfigFile copy = config;
    const JsonValue* source = config.value.find("_source");
    const std::string from = source && source->if_string() ? *source->if_string() : config.path;
    copy.name = name;
    copy.path = name;
    copy.value.set("_name", name);
    copy.value.set("_source", "edited, from " + from);
    return copy;
}

std::string config_text(const ConfigFile& config) {
    return dump_json(config.value) + "\n";
}

} // namespace kvcaliper::gui
