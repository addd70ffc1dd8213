// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/model_edit_rules.h"

#include "app/gui/text.h"

#include <algorithm>
#include <array>

namespace kvcaliper::gui {

namespace {

FieldState refuse(const QString& reason) {
    FieldState state;
    state.reason = reason;
    return state;
}

FieldState offer(std::string key, std::optional<std::int64_t> value) {
    FieldState state;
    state.key = std::move(key);
    state.value = value;
    return state;
}

FieldState refuse_with(const QString& reason, std::optional<std::int64_t> value) {
    FieldState state = refuse(reason);
    state.value = value;
    return state;
}

QString type_of(const EditView& view) {
    return view.row.model_type.empty() ? tr("a plain transformer")
                                       : tr("model_type %1").arg(text(view.row.model_type));
}

bool is_compressed(const Architecture& row) {
    return row.plan == plan_compressed || row.plan == plan_compressed_shared;
}

/// The dimensions of the first part of a type, wherever in the model it is.
template <typename Dims> const Dims* first_dims(const ModelPlan& plan) {
    for (const LayerPlan& layer : plan.layers) {
        for (const LayerPart& part : layer.parts) {
            if (const auto* dims = std::get_if<Dims>(&part.dims)) {
                return dims;
            }
        }
    }
    return nullptr;
}

/// Lists that name layers by number, so that another count would need another list.
constexpr std::array index_lists = {
    "attn_layer_indices",    "full_attn_idxs",      "cross_attention_layers", "local_layer_ids",
    "sliding_window_layers", "kv_source_layer_ids", "attention_types",        "index_topk_pattern"};

std::string present_index_list(const ModelConfig& keys) {
    for (const char* key : index_lists) {
        if (keys.has(key)) {
            return key;
        }
    }
    for (const auto& [outer, inner] :
         {std::pair("linear_attn_config", "full_attn_layers"), std::pair("attn", "layers")}) {
        const auto object = keys.inner(outer);
        if (object && object->has(inner)) {
            return std::string(outer) + "/" + inner;
        }
    }
    return "";
}

std::vector<std::int64_t> divisors(std::int64_t number) {
    std::vector<std::int64_t> found;
    for (std::int64_t i = 1; i <= number; ++i) {
        if (number % i == 0) {
            found.push_back(i);
        }
    }
    return found;
}

/// KV heads under a key of the config: any number the query heads can be divided by.
FieldState grouped_heads(const AttentionDims& dims, const std::string& key,
                         std::optional<std::int64_t> value) {
    FieldState state = offer(key, value.value_or(dims.heads));
    state.choices = divisors(dims.heads);
    return state;
}

FieldState kv_heads_by_rule(const EditView& view, const AttentionDims& dims) {
    switch (view.row.kv_heads) {
    case KvHeads::standard:
        return grouped_heads(dims, "num_key_value_heads",
                             view.keys.optional("num_key_value_heads"));
    case KvHeads::all:
        return refuse_with(tr("one KV head for every query head in %1").arg(type_of(view)),
                           dims.kv_heads);
    case KvHeads::falcon:
        return view.keys.flag("new_decoder_architecture", false)
                   ? grouped_heads(dims, "num_key_value_heads",
                                   view.keys.optional("num_key_value_heads"))
                   : refuse_with(tr("multi_query decides: one, or one for every query head"),
                                 dims.kv_heads);
    case KvHeads::multi_query:
        return refuse_with(tr("multi_query decides: one, or one for every query head"),
                           dims.kv_heads);
    case KvHeads::query_groups:
        return view.keys.flag("multi_query_attention", false)
                   ? grouped_heads(dims, "multi_query_group_num",
                                   view.keys.optional("multi_query_group_num").value_or(1))
                   : refuse_with(tr("multi_query_attention is off: one for every query head"),
                                 dims.kv_heads);
    case KvHeads::attn_config:
    case KvHeads::attn_config_all:
        return view.keys.inner("attn_config")
                   ? grouped_heads(dims, "attn_config/kv_n_heads", dims.kv_heads)
                   : refuse_with(tr("the config has no attn_config to write it in"), dims.kv_heads);
    }
    return refuse(QString());
}

/// Types whose code always divides hidden_size by the heads, though their config could say more.
bool divides_hidden(const EditView& view) {
    const std::string_view type = view.row.model_type;
    const bool known = type == "stablelm" || type == "persimmon" || type == "mllama_text_model" ||
                       type == "jamba" || view.row.kv_heads != KvHeads::standard;
    return view.row.head_width != HeadWidth::standard ||
           (known && !view.keys.has("head_dim") && !class_default(type, "head_dim"));
}

/// The plan's windows, for a pattern to have an effect.
bool has_windows(const ModelPlan& plan) {
    return std::any_of(plan.layers.begin(), plan.layers.end(), [](const LayerPlan& layer) {
        return std::any_of(layer.parts.begin(), layer.parts.end(), [](const LayerPart& part) {
            const auto* dims = std::get_if<AttentionDims>(&part.dims);
            return dims && dims->window;
        });
    });
}

/// The n for which exactly every n-th layer is full; none where the layers follow no such rule.
std::optional<std::int64_t> period_of(const EditView& view) {
    std::vector<bool> full = full_layers(view.plan);
    if (view.row.split == Split::global_heads && !full.empty()) {
        full.pop_back(); // Gemma 4: full whatever the pattern says
    }
    const auto first = std::find(full.begin(), full.end(), true);
    const std::int64_t period = first - full.begin() + 1;
    for (std::size_t i = 0; i < full.size(); ++i) {
        if (full[i] != ((static_cast<std::int64_t>(i) + 1) % period == 0)) {
            return std::nullopt;
        }
    }
    return first == full.end() ? std::nullopt : std::optional(period);
}

FieldState attention_pattern(const EditView& view) {
    switch (view.row.layout) {
    case Layout::full:
        return refuse(tr("every layer is full in %1").arg(type_of(view)));
    case Layout::window_if_set:
    case Layout::use_sliding_window_all:
        return refuse(tr("all layers are alike in %1").arg(type_of(view)));
    case Layout::local_list:
    case Layout::local_layer_ids:
    case Layout::sliding_window_layers:
        return refuse(tr("layers are named one by one in %1").arg(type_of(view)));
    default:
        break;
    }
    const auto window = view.keys.optional(view.row.window_key, 0);
    const bool on = !has_window_switch(view.row) || view.keys.flag("use_sliding_window", false);
    if (!window || *window == 0 || !on) {
        return refuse(tr("set a window first"));
    }
    return offer(view.row.layout == Layout::hybrid_layer_pattern ? "hybrid_layer_pattern"
                                                                 : "layer_types",
                 period_of(view));
}

FieldState hybrid_pattern(const EditView& view) {
    const auto value = period_of(view);
    switch (view.row.attends) {
    case Attends::interval:
        return offer("full_attention_interval", value);
    case Attends::layer_group:
        return offer("layer_group_size", value);
    case Attends::layer_words:
        for (const char* key : {"layer_types", "layers_block_type"}) {
            if (view.keys.has(key)) {
                return offer(key, value);
            }
        }
        return refuse(tr("the config names no layer that attends"));
    case Attends::always:
        return refuse(tr("every layer attends in %1").arg(type_of(view)));
    default:
        return refuse_with(tr("which layers attend is listed in another way in %1; edit its file")
                               .arg(type_of(view)),
                           value);
    }
}

} // namespace

bool has_window_switch(const Architecture& row) {
    return row.layout == Layout::use_sliding_window ||
           row.layout == Layout::use_sliding_window_all ||
           row.layout == Layout::use_sliding_window_even || row.layout == Layout::no_rope_sliding;
}

std::vector<bool> full_layers(const ModelPlan& plan) {
    std::vector<bool> full;
    for (const LayerPlan& layer : plan.layers) {
        const LayerPlan& owner =
            layer.shared_with ? plan.layers[static_cast<std::size_t>(*layer.shared_with)] : layer;
        full.push_back(
            std::any_of(owner.parts.begin(), owner.parts.end(), [](const LayerPart& part) {
                return part.kind == LayerKind::full_attention || part.kind == LayerKind::mla;
            }));
    }
    return full;
}

FieldState layers_state(const EditView& view) {
    if (view.row.layers_key.empty()) {
        return refuse_with(tr("the layers are counted from the pattern of %1").arg(type_of(view)),
                           std::ssize(view.plan.layers));
    }
    const std::string key(view.row.layers_key);
    if (const std::string list = present_index_list(view.keys); !list.empty()) {
        return refuse_with(tr("%1 names layers by number; edit the file").arg(text(list)),
                           view.keys.optional(key));
    }
    return offer(key, view.keys.optional(key));
}

FieldState kv_heads_state(const EditView& view) {
    if (first_dims<LatentDims>(view.plan) != nullptr) {
        return refuse(tr("latent attention (MLA) keeps one latent for all heads"));
    }
    const auto* dims = first_dims<AttentionDims>(view.plan);
    if (dims == nullptr || is_compressed(view.row)) {
        return refuse(dims == nullptr && !is_compressed(view.row)
                          ? tr("no layer of this model attends")
                          : tr("compressed attention keeps one vector for all heads"));
    }
    const JsonValue* listed = view.keys.find("num_key_value_heads");
    if (view.row.plan == plan_lists || view.row.plan == plan_blocks ||
        (listed != nullptr && listed->if_array() != nullptr)) {
        return refuse(tr("every layer has KV heads of its own; edit the file"));
    }
    if (view.row.plan == plan_decoder) {
        return refuse_with(tr("one KV head for every query head in %1").arg(type_of(view)),
                           dims->kv_heads);
    }
    if (view.row.plan == plan_hybrid && view.row.attends == Attends::attn_layers) {
        return refuse_with(tr("it is written in the object attn; edit the file"), dims->kv_heads);
    }
    return kv_heads_by_rule(view, *dims);
}

FieldState head_width_state(const EditView& view) {
    if (first_dims<LatentDims>(view.plan) != nullptr) {
        return refuse(tr("the latent rank takes its place in latent attention (MLA)"));
    }
    if (is_compressed(view.row)) {
        return offer("head_dim", view.keys.optional("head_dim"));
    }
    const auto* dims = first_dims<AttentionDims>(view.plan);
    if (dims == nullptr) {
        return refuse(tr("no layer of this model attends"));
    }
    const bool own_rule = view.row.plan == plan_decoder || view.row.attends == Attends::attn_layers;
    if (own_rule || divides_hidden(view)) {
        return refuse_with(tr("it follows from hidden_size and the heads in %1").arg(type_of(view)),
                           dims->key_width);
    }
    return offer("head_dim", view.keys.optional("head_dim").value_or(dims->key_width));
}

FieldState window_state(const EditView& view) {
    const std::string key(view.row.window_key);
    if (is_compressed(view.row)) {
        return offer("sliding_window", view.keys.optional("sliding_window"));
    }
    const bool attention = view.row.plan == plan_attention || view.row.plan == plan_hybrid;
    const bool windowed = view.row.layout != Layout::full;
    if (!attention || !windowed) {
        return refuse(tr("no layer has a window in %1").arg(type_of(view)));
    }
    const auto written = view.keys.optional(key, 0);
    const bool off = has_window_switch(view.row) && !view.keys.flag("use_sliding_window", false);
    FieldState state = offer(key, off || !written ? 0 : *written);
    state.may_be_none = has_window_switch(view.row) || view.row.layout == Layout::window_if_set;
    if (view.row.plan == plan_hybrid) {
        state.may_be_none = false;
    }
    if (!state.may_be_none && !has_windows(view.plan) && !written) {
        return refuse(tr("no layer of this model has a window"));
    }
    return state;
}

FieldState latent_rank_state(const EditView& view) {
    const auto* dims = first_dims<LatentDims>(view.plan);
    return dims != nullptr
               ? offer("kv_lora_rank", dims->rank)
               : refuse(
                     tr("only latent attention (MLA) has one, and %1 has none").arg(type_of(view)));
}

FieldState full_every_state(const EditView& view) {
    if (view.row.plan == plan_attention) {
        return attention_pattern(view);
    }
    if (view.row.plan == plan_hybrid) {
        return hybrid_pattern(view);
    }
    return refuse(tr("all layers are alike, or listed one by one, in %1").arg(type_of(view)));
}

} // namespace kvcaliper::gui
