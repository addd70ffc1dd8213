// SPDX-License-Identifier: Apache-2.0
// Steps 1 and 2 of reading a model: find the text config and its row, then plan the layers.
#include "core/architectures/architectures.h"
#include "core/architectures/table.h"

#include <array>

namespace kvcaliper {

namespace {

constexpr std::int64_t most_layers = 100'000;
constexpr std::int64_t most_tokens = std::int64_t{1} << 40;

using Notes = std::vector<std::string>;

// ---- the text config ------------------------------------------------------------------------

struct TextConfig {
    const JsonValue* object = nullptr;
    std::string pointer;
    std::string model_type;
};

std::string model_type_of(const std::string& file, const std::string& pointer,
                          const JsonValue& object) {
    const JsonValue* type = object.find("model_type");
    if (type == nullptr || type->is_null()) {
        return "";
    }
    if (const auto* text = type->if_string()) {
        return *text;
    }
    throw input_error(file, pointer + "/model_type", "a word", describe(*type));
}

/// The nested text config of a wrapper, or the file's object itself.
TextConfig find_text_config(const ConfigFile& config) {
    const std::string outer = model_type_of(config.path, "", config.value);
    for (const std::string_view key : {"text_config", "llm_config", "language_config"}) {
        const JsonValue* nested = config.value.find(key);
        if (nested == nullptr || !nested->is_object()) {
            continue;
        }
        const std::string pointer = "/" + std::string(key);
        std::string inner = model_type_of(config.path, pointer, *nested);
        if (inner.empty()) {
            inner = wrapped_model_type(outer);
        }
        return {nested, pointer, inner};
    }
    return {&config.value, "", outer};
}

// ---- attention --------------------------------------------------------------------------------

std::int64_t head_width(const ModelConfig& config, std::int64_t heads, Notes& notes) {
    if (const auto width = config.optional("head_dim", 1, 65536)) {
        return *width;
    }
    const std::int64_t hidden = config.required("hidden_size");
    if (hidden < heads) {
        config.fail("hidden_size", "at least num_attention_heads (" + std::to_string(heads) + ")",
                    std::to_string(hidden));
    }
    const std::int64_t width = hidden / heads;
    notes.push_back(
        "head_dim absent: hidden_size / num_attention_heads = " + std::to_string(width) +
        (hidden % heads == 0 ? "" : " (rounded down: it does not divide)"));
    return width;
}

std::int64_t falcon_kv_heads(const ModelConfig& config, std::int64_t heads, Notes& notes) {
    if (config.flag("new_decoder_architecture", false)) {
        const auto kv_heads = config.optional("num_key_value_heads");
        notes.push_back(kv_heads ? "new_decoder_architecture: num_kv_heads = " +
                                       std::to_string(*kv_heads)
                                 : "new_decoder_architecture without num_kv_heads: one per head");
        return kv_heads.value_or(heads);
    }
    const bool one = config.flag("multi_query", true);
    notes.push_back(one ? std::string("multi_query: one KV head") +
                              (config.has("multi_query") ? "" : " (class default)")
                        : std::string("multi_query is false: one KV head per query head"));
    return one ? 1 : heads;
}

std::int64_t standard_kv_heads(const ModelConfig& config, std::int64_t heads, Notes& notes) {
    const auto kv_heads = config.optional("num_key_value_heads");
    if (!kv_heads) {
        notes.push_back("num_key_value_heads " +
                        std::string(config.find("num_key_value_heads") ? "null" : "absent") +
                        ": as many as query heads, " + std::to_string(heads));
        return heads;
    }
    if (heads % *kv_heads != 0) {
        config.fail("num_key_value_heads",
                    "a divisor of num_attention_heads (" + std::to_string(heads) + ")",
                    std::to_string(*kv_heads));
    }
    return *kv_heads;
}

std::int64_t kv_heads_of(const ModelConfig& config, KvHeads rule, std::int64_t heads,
                         Notes& notes) {
    switch (rule) {
    case KvHeads::standard:
        return standard_kv_heads(config, heads, notes);
    case KvHeads::all:
        return heads;
    case KvHeads::falcon:
        return falcon_kv_heads(config, heads, notes);
    }
    throw Error("no such rule for KV heads");
}

AttentionDims attention_dims(const ModelConfig& config, const Architecture& row, Notes& notes) {
    AttentionDims dims;
    dims.heads = config.required("num_attention_heads", 1'000'000);
    dims.kv_heads = kv_heads_of(config, row.kv_heads, dims.heads, notes);
    dims.key_width = head_width(config, dims.heads, notes);
    dims.value_width = dims.key_width;
    return dims;
}

/// sliding_window, where the type has one and nothing switches it off. 0 means disabled (vLLM).
std::optional<std::int64_t> window_of(const ModelConfig& config, const Architecture& row,
                                      Notes& notes) {
    const bool switched =
        row.layout == Layout::use_sliding_window || row.layout == Layout::use_sliding_window_all;
    if (switched && !config.flag("use_sliding_window", false)) {
        if (config.has("sliding_window")) {
            notes.push_back("use_sliding_window is not true: sliding_window is ignored");
        }
        return std::nullopt;
    }
    const auto window = config.optional("sliding_window", 0, most_tokens);
    if (!window || *window == 0) {
        return std::nullopt;
    }
    if (config.flag("use_bidirectional_attention", false)) {
        notes.push_back("use_bidirectional_attention: the window becomes sliding_window / 2 + 1");
        return *window / 2 + 1;
    }
    return window;
}

struct LayerChoice {
    bool sliding = false;
    std::string decided_by;
};

/// One layer by its word in layer_types.
LayerChoice choose_by_word(const ModelConfig& config, const std::string& word, std::int64_t index,
                           bool has_window) {
    const std::string at = "layer_types/" + std::to_string(index);
    if (word == "full_attention" || word == "attention") {
        return {false, at + " = " + word};
    }
    if (word == "sliding_attention") {
        return {has_window, at + " = " + word + (has_window ? "" : ", but no sliding_window")};
    }
    config.fail(at, "full_attention or sliding_attention", "\"" + word + "\"");
}

std::int64_t period_of(const ModelConfig& config, const Architecture& row, Notes& notes) {
    if (const auto period = config.optional("sliding_window_pattern", 1, most_layers)) {
        return *period;
    }
    if (row.period != 2) {
        notes.push_back("sliding_window_pattern absent: class default " +
                        std::to_string(row.period));
    }
    return row.period;
}

/// Every layer by the type's own rule. `window` is set.
std::vector<LayerChoice> choose_by_rule(const ModelConfig& config, const Architecture& row,
                                        std::size_t layers, Notes& notes) {
    std::vector<LayerChoice> choices(layers);
    switch (row.layout) {
    case Layout::full:
        break;
    case Layout::window_if_set:
    case Layout::use_sliding_window_all:
        choices.assign(layers, {true, "sliding_window, on every layer"});
        break;
    case Layout::use_sliding_window: {
        const auto first = static_cast<std::size_t>(
            config.optional("max_window_layers", 0, most_layers).value_or(0));
        for (std::size_t i = first; i < layers; ++i) {
            choices[i] = {true, "use_sliding_window, layer >= max_window_layers"};
        }
        break;
    }
    case Layout::period: {
        const auto period = static_cast<std::size_t>(period_of(config, row, notes));
        for (std::size_t i = 0; i < layers; ++i) {
            const bool full = (i + 1) % period == 0;
            choices[i] = {!full, (full ? "full: every " : "sliding: not every ") +
                                     std::to_string(period) + ". layer"};
        }
        break;
    }
    }
    return choices;
}

std::vector<LayerChoice> choose_layers(const ModelConfig& config, const Architecture& row,
                                       std::size_t layers, bool has_window, Notes& notes) {
    const auto words = config.words("layer_types");
    if (words.empty()) {
        return has_window ? choose_by_rule(config, row, layers, notes)
                          : std::vector<LayerChoice>(layers);
    }
    if (words.size() < layers) {
        config.fail("layer_types",
                    "at least num_hidden_layers (" + std::to_string(layers) + ") words",
                    std::to_string(words.size()));
    }
    if (words.size() > layers) {
        notes.push_back("layer_types has " + std::to_string(words.size()) + " words: the first " +
                        std::to_string(layers) + " are used");
    }
    std::vector<LayerChoice> choices;
    for (std::size_t i = 0; i < layers; ++i) {
        choices.push_back(
            choose_by_word(config, words[i], static_cast<std::int64_t>(i), has_window));
    }
    return choices;
}

std::vector<LayerPlan> plan_attention(const ModelConfig& config, const Architecture& row,
                                      std::size_t layers, Notes& notes) {
    const AttentionDims dims = attention_dims(config, row, notes);
    const auto window = window_of(config, row, notes);
    if (row.layout == Layout::full && config.has("sliding_window") &&
        config.words("layer_types").empty()) {
        notes.push_back("sliding_window is not a key of this model_type: ignored");
    }
    std::vector<LayerPlan> plan;
    for (LayerChoice& choice : choose_layers(config, row, layers, window.has_value(), notes)) {
        LayerPlan layer{LayerKind::full_attention, dims, std::move(choice.decided_by)};
        if (choice.sliding) {
            AttentionDims sliding = dims;
            sliding.window = window;
            layer.kind = LayerKind::sliding_attention;
            layer.dims = sliding;
        } else if (layer.decided_by.empty()) {
            layer.decided_by = "model_type: full attention";
        }
        plan.push_back(std::move(layer));
    }
    return plan;
}

// ---- the other kinds ----------------------------------------------------------------------------

std::vector<LayerPlan> plan_mla(const ModelConfig& config, std::size_t layers, Notes& notes) {
    LatentDims dims;
    dims.heads = config.required("num_attention_heads", 1'000'000);
    dims.rank = config.required("kv_lora_rank", 1'000'000);
    dims.rope_width = config.required("qk_rope_head_dim", 1'000'000);
    dims.nope_width = config.required("qk_nope_head_dim", 1'000'000);
    dims.value_width = config.required("v_head_dim", 1'000'000);
    if (config.has("num_key_value_heads")) {
        notes.push_back("num_key_value_heads is ignored: kv_lora_rank makes this one latent per "
                        "token for all heads");
    }
    return {layers, {LayerKind::mla, dims, "kv_lora_rank " + std::to_string(dims.rank)}};
}

std::int64_t expanded_width(const ModelConfig& config, Notes& notes) {
    const std::int64_t hidden = config.required("hidden_size");
    const std::int64_t inner = checked_multiply(config.required("expand", 1000), hidden);
    notes.push_back("inner width: expand × hidden_size = " + std::to_string(inner));
    return inner;
}

std::vector<LayerPlan> plan_mamba1(const ModelConfig& config, std::size_t layers, Notes& notes) {
    Mamba1Dims dims;
    const auto stated = config.optional("intermediate_size");
    if (stated && config.has("expand")) {
        notes.push_back("expand is not used: intermediate_size is given");
    }
    dims.inner = stated ? *stated : expanded_width(config, notes);
    dims.state_size = config.required("state_size", 1'000'000);
    dims.conv_kernel = config.required("conv_kernel", 1'000'000);
    return {layers, {LayerKind::mamba1, dims, "model_type: Mamba-1"}};
}

std::vector<LayerPlan> plan_mamba2(const ModelConfig& config, std::size_t layers, Notes& notes) {
    Mamba2Dims dims;
    dims.inner = expanded_width(config, notes);
    dims.heads = config.required("num_heads", 1'000'000);
    dims.head_width = config.required("head_dim", 1'000'000);
    dims.groups = config.required("n_groups", 1'000'000);
    dims.state_size = config.required("state_size", 1'000'000);
    dims.conv_kernel = config.required("conv_kernel", 1'000'000);
    if (dims.inner != checked_multiply(dims.heads, dims.head_width)) {
        config.fail("num_heads",
                    "num_heads × head_dim = expand × hidden_size = " + std::to_string(dims.inner),
                    std::to_string(dims.heads) + " × " + std::to_string(dims.head_width));
    }
    return {layers, {LayerKind::mamba2, dims, "model_type: Mamba-2"}};
}

std::vector<LayerPlan> plan_layers(const ModelConfig& config, const Architecture& row,
                                   std::size_t layers, Notes& notes) {
    switch (row.rule) {
    case PlanRule::attention:
        return plan_attention(config, row, layers, notes);
    case PlanRule::mla:
        return plan_mla(config, layers, notes);
    case PlanRule::mamba1:
        return plan_mamba1(config, layers, notes);
    case PlanRule::mamba2:
        return plan_mamba2(config, layers, notes);
    }
    throw Error("no such plan rule");
}

// ---- unknown types ------------------------------------------------------------------------------

/// Keys that say a model keeps something a plain transformer does not.
constexpr std::array unplain_keys = {"kv_lora_rank",
                                     "index_head_dim",
                                     "state_size",
                                     "mamba_d_state",
                                     "ssm_state_size",
                                     "linear_num_key_heads",
                                     "linear_attn_config",
                                     "attention_chunk_size",
                                     "num_kv_shared_layers",
                                     "compress_ratios",
                                     "block_configs",
                                     "hybrid_override_pattern",
                                     "conv_L_cache",
                                     "lru_width",
                                     "attn_layer_indices",
                                     "per_layer_config",
                                     "cross_attention_layers",
                                     "is_encoder_decoder",
                                     "layers_block_type",
                                     "block_types",
                                     "attn_type_list",
                                     "hybrid_layer_pattern",
                                     "use_cla",
                                     "full_attention_interval"};

bool says_something(const JsonValue* value) {
    return value != nullptr && !value->is_null() && !(value->if_bool() && !*value->if_bool());
}

/// An unknown type is read as a plain transformer when all standard keys are there and none speaks
/// of another kind of cache; otherwise this names what is missing or in the way.
void require_plain(const ModelConfig& config, const std::string& model_type) {
    const std::string type = model_type.empty() ? "no model_type" : "\"" + model_type + "\"";
    for (const std::string_view key : unplain_keys) {
        if (says_something(config.find(key))) {
            config.fail("model_type", "a known model_type (see `list architectures`)",
                        type + " with " + std::string(key) +
                            ", which a plain transformer does not have");
        }
    }
    std::string missing;
    for (const std::string_view key : {"num_hidden_layers", "num_attention_heads"}) {
        missing += config.has(key) ? "" : (missing.empty() ? "" : ", ") + std::string(key);
    }
    if (!config.has("head_dim") && !config.has("hidden_size")) {
        missing += (missing.empty() ? "" : ", ") + std::string("hidden_size");
    }
    if (!missing.empty()) {
        config.fail("model_type", "a known model_type, or the keys of a plain transformer",
                    type + " without " + missing);
    }
}

std::optional<Tokens> max_context_of(const ModelConfig& config) {
    const auto tokens = config.optional("max_position_embeddings", 1, most_tokens);
    return tokens ? std::optional(Tokens(*tokens)) : std::nullopt;
}

void note_long_windows(ModelPlan& plan) {
    for (const LayerPlan& layer : plan.layers) {
        const auto* dims = std::get_if<AttentionDims>(&layer.dims);
        if (dims && dims->window && plan.max_context && *dims->window > plan.max_context->count()) {
            plan.notes.push_back(
                "window " + format_integer(*dims->window) + " exceeds the context of " +
                format_integer(plan.max_context->count()) + ": it never fills, so the cache grows");
            return;
        }
    }
}

std::string text_member(const JsonValue& value, std::string_view key,
                        const std::string& otherwise) {
    const JsonValue* member = value.find(key);
    return member && member->if_string() ? *member->if_string() : otherwise;
}

} // namespace

ModelPlan plan_model(const ConfigFile& file) {
    const TextConfig text = find_text_config(file);
    const Architecture* known = find_architecture(text.model_type);
    const Architecture& row = known ? *known : generic_architecture();
    const ModelConfig config(file.path, *text.object, text.pointer, row);
    ModelPlan plan;
    plan.name = file.name;
    plan.display_name = text_member(file.value, "_name", file.name);
    plan.source = text_member(file.value, "_source", file.path);
    plan.family = text_member(file.value, "_family", "");
    plan.model_type = text.model_type;
    plan.notes = file.warnings;
    if (known == nullptr) {
        require_plain(config, text.model_type);
        plan.confidence = Confidence::generic;
        plan.notes.push_back("model_type " +
                             (text.model_type.empty() ? "absent" : "\"" + text.model_type + "\"") +
                             " is not known: read as a plain transformer, check it yourself");
    }
    const auto layers = static_cast<std::size_t>(config.stated("num_hidden_layers", most_layers));
    plan.layers = plan_layers(config, row, layers, plan.notes);
    plan.max_context = max_context_of(config);
    plan.notes.insert(plan.notes.end(), config.default_notes().begin(),
                      config.default_notes().end());
    note_long_windows(plan);
    return plan;
}

} // namespace kvcaliper
