// SPDX-License-Identifier: Apache-2.0
// Steps 1 and 2 of reading a model: find the text config and its row, then plan the layers.
#include "core/architectures/architectures.h"
#include "core/architectures/table.h"
#include "core/architectures/weight_parts.h"
#include "core/checkpoint_format.h"

#include <array>

namespace kvcaliper {

namespace {

constexpr std::int64_t most_layers = 100'000;
constexpr std::int64_t most_tokens = std::int64_t{1} << 40;

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

/// Keys under which wrappers keep the config of their language model, most specific first.
constexpr std::array wrapper_keys = {"text_config", "llm_config",     "language_config",
                                     "llm_cfg",     "thinker_config", "decoder_config",
                                     "decoder"};

/// One level down, or nothing when this object holds no language model.
std::optional<TextConfig> step_inside(const std::string& file, const TextConfig& outer) {
    for (const std::string_view key : wrapper_keys) {
        const JsonValue* nested = outer.object->find(key);
        if (nested == nullptr || !nested->is_object() || nested->if_object()->empty()) {
            continue;
        }
        const std::string pointer = outer.pointer + "/" + std::string(key);
        std::string inner = model_type_of(file, pointer, *nested);
        if (inner.empty()) {
            inner = wrapped_model_type(outer.model_type);
        }
        return TextConfig{nested, pointer, inner};
    }
    return std::nullopt;
}

/// The innermost text config; a wrapper inside a wrapper (an omni model's thinker) is followed,
/// too.
TextConfig innermost_text_config(const ConfigFile& config) {
    TextConfig text{&config.value, "", model_type_of(config.path, "", config.value)};
    for (int depth = 0; depth < 4; ++depth) {
        const auto inside = step_inside(config.path, text);
        if (!inside) {
            break;
        }
        text = *inside;
    }
    return text;
}

/// Some exporters name the text config after the wrapper and keep the keys flat beside it.
bool is_flat_wrapper(const TextConfig& text) {
    return text.pointer.empty() && find_architecture(text.model_type) == nullptr &&
           !wrapped_model_type(text.model_type).empty();
}

TextConfig find_text_config(const ConfigFile& config) {
    TextConfig text = innermost_text_config(config);
    if (is_flat_wrapper(text)) {
        text.model_type = wrapped_model_type(text.model_type);
    }
    return text;
}

const Architecture& row_of(const TextConfig& text) {
    const Architecture* known = find_architecture(text.model_type);
    return known ? *known : generic_architecture();
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

// ---- the plan
// -------------------------------------------------------------------------------------

/// nemotron_h counts the letters of its pattern instead of num_hidden_layers.
std::int64_t pattern_layers(const ModelConfig& config) {
    if (const JsonValue* pattern = config.find("hybrid_override_pattern");
        pattern && pattern->if_string()) {
        return std::ssize(*pattern->if_string());
    }
    for (const std::string_view key : {"layer_types", "layers_block_type"}) {
        if (const auto words = config.words(key); !words.empty()) {
            return std::ssize(words);
        }
    }
    config.fail("hybrid_override_pattern", "a word of M, *, E and -", "nothing");
}

/// The layer count: stated in a file of its own, where an absent count means a damaged file; a
/// nested config may leave it to its class.
std::int64_t layers_of(const ModelConfig& config, const Architecture& row) {
    if (row.layers_key.empty()) {
        return pattern_layers(config);
    }
    return config.is_nested() ? config.required(row.layers_key, most_layers)
                              : config.stated(row.layers_key, most_layers);
}

std::optional<Tokens> max_context_of(const ModelConfig& config) {
    const auto tokens = config.optional("max_position_embeddings", 1, most_tokens);
    return tokens ? std::optional(Tokens(*tokens)) : std::nullopt;
}

void note_long_windows(ModelPlan& plan) {
    for (const LayerPlan& layer : plan.layers) {
        for (const LayerPart& part : layer.parts) {
            const auto* dims = std::get_if<AttentionDims>(&part.dims);
            if (dims && dims->window && plan.max_context &&
                *dims->window > plan.max_context->count()) {
                plan.notes.push_back("window " + format_integer(*dims->window) +
                                     " exceeds the context of " +
                                     format_integer(plan.max_context->count()) +
                                     ": it never fills, so the cache grows");
                return;
            }
        }
    }
}

void note_draft_layers(const ModelConfig& config, ModelPlan& plan) {
    for (const std::string_view key : {"num_nextn_predict_layers", "num_mtp_layers",
                                       "num_mtp_modules", "mtp_num_hidden_layers"}) {
        if (const auto count = config.optional(key, 0, most_layers); count && *count > 0) {
            plan.draft_layers = *count;
            plan.notes.push_back(
                std::string(key) + " " + std::to_string(*count) +
                ": draft layers are not part of the main forward pass and not counted");
        }
    }
}

std::string text_member(const JsonValue& value, std::string_view key,
                        const std::string& otherwise) {
    const JsonValue* member = value.find(key);
    return member && member->if_string() ? *member->if_string() : otherwise;
}

/// Engines choose a model's class by it. A file without one is no error here.
std::string first_architecture(const JsonValue& value) {
    const JsonValue* list = value.find("architectures");
    const auto* names = list ? list->if_array() : nullptr;
    return names && !names->empty() && names->front().if_string() ? *names->front().if_string()
                                                                  : "";
}

std::optional<std::string> state_dtype_of(const ModelConfig& config) {
    for (const std::string_view key : {"mamba_ssm_dtype", "mamba_ssm_cache_dtype"}) {
        const JsonValue* dtype = config.find(key);
        if (dtype && dtype->if_string()) {
            return *dtype->if_string();
        }
    }
    return std::nullopt;
}

ModelPlan start_plan(const ConfigFile& file, const std::string& model_type) {
    ModelPlan plan;
    plan.name = file.name;
    plan.display_name = text_member(file.value, "_name", file.name);
    plan.source = text_member(file.value, "_source", file.path);
    plan.family = text_member(file.value, "_family", "");
    plan.model_type = model_type;
    plan.architecture = first_architecture(file.value);
    plan.notes = file.warnings;
    plan.checkpoint_kv_format = checkpoint_kv_format(file, plan.notes);
    return plan;
}

void mark_sinks(Sinks sinks, std::vector<LayerPlan>& layers) {
    for (LayerPlan& layer : layers) {
        for (LayerPart& part : layer.parts) {
            auto* dims = std::get_if<AttentionDims>(&part.dims);
            if (dims && (sinks == Sinks::all || part.kind == LayerKind::sliding_attention)) {
                dims->sinks = 1;
            }
        }
    }
}

void read_layers(const ModelConfig& config, const Architecture& row, ModelPlan& plan) {
    Reading reading{config, row, plan.notes, layers_of(config, row)};
    plan.layers = row.plan(reading);
    if (row.sinks != Sinks::none) {
        mark_sinks(row.sinks, plan.layers);
    }
    plan.max_context = max_context_of(config);
    plan.state_dtype = state_dtype_of(config);
    plan.notes.insert(plan.notes.end(), config.default_notes().begin(),
                      config.default_notes().end());
    note_draft_layers(config, plan);
    note_long_windows(plan);
}

} // namespace

TextConfigPlace text_config_place(const ConfigFile& config) {
    const TextConfig text = find_text_config(config);
    return {text.pointer, &row_of(text)};
}

ModelPlan plan_model(ConfigFile config_file) {
    const auto kept = std::make_shared<const ConfigFile>(std::move(config_file));
    const ConfigFile& file = *kept;
    const TextConfig text = find_text_config(file);
    const Architecture& row = row_of(text);
    const ModelConfig config(file.path, *text.object, text.pointer, row.model_type);
    ModelPlan plan = start_plan(file, text.model_type);
    if (find_architecture(text.model_type) == nullptr) {
        require_plain(config, text.model_type);
        plan.confidence = Confidence::generic;
        plan.notes.push_back("model_type " +
                             (text.model_type.empty() ? "absent" : "\"" + text.model_type + "\"") +
                             " is not known: read as a plain transformer, check it yourself");
    }
    read_layers(config, row, plan);
    plan.config = kept;
    return plan;
}

WeightPlan plan_weights(const ModelPlan& plan) {
    if (plan.config == nullptr) {
        WeightPlan nothing;
        nothing.missing = "a plan without the config it was made from";
        return nothing;
    }
    const TextConfig text = find_text_config(*plan.config);
    return read_weights(*plan.config, *text.object, text.pointer, plan);
}

} // namespace kvcaliper
