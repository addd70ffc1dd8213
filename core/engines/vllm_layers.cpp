// SPDX-License-Identifier: Apache-2.0
// Read in vllm/v1/kv_cache_interface.py (page sizes), model_executor/models/config.py and the
// models' own get_mamba_state_*_from_config (states); the list of latent models is config.is_mla.
#include "core/engines/vllm_layers.h"

#include <algorithm>

namespace kvcaliper::vllm {

namespace {

constexpr std::string_view latent_types[] = {"deepseek_v2",   "deepseek_v3", "deepseek_v32",
                                             "glm4_moe_lite", "glm_moe_dsa", "longcat_flash",
                                             "axk1",          "kimi_linear"};
/// V is padded to the width of K.
constexpr std::string_view expanded_types[] = {"minicpm3"};

/// Who decides about the type of recurrent states.
enum class StateHook {
    none,
    file_or_float32, ///< NemotronHForCausalLMConfig: the file, else float32
    file,            ///< Qwen3_5ForConditionalGenerationConfig: the file, if it says so
    float32          ///< MambaStateDtypeCalculator.kda_state_dtype
};
struct StateType {
    std::string_view model_type;
    StateHook hook = StateHook::none; ///< of the architecture that its files name
};
constexpr StateType state_types[] = {{"mamba"},
                                     {"falcon_mamba"},
                                     {"mamba2"},
                                     {"jamba"},
                                     {"bamba"},
                                     {"granitemoehybrid"},
                                     {"zamba2"},
                                     {"falcon_h1"},
                                     {"nemotron_h", StateHook::file_or_float32},
                                     {"qwen3_next"},
                                     {"qwen3_5_text", StateHook::file},
                                     {"qwen3_5_moe_text", StateHook::file},
                                     {"kimi_linear", StateHook::float32},
                                     {"minimax_text_01"},
                                     {"minimax_m1"},
                                     {"lfm2"},
                                     {"lfm2_moe"}};

/// MODELS_CONFIG_MAP of 0.22; Qwen3_5(Moe)ForCausalLM is 0.33's.
constexpr std::pair<std::string_view, StateHook> architecture_hooks[] = {
    {"NemotronHForCausalLM", StateHook::file_or_float32},
    {"NemotronHPuzzleForCausalLM", StateHook::file_or_float32},
    {"NemotronH_Nano_VL_V2", StateHook::file_or_float32},
    {"ColQwen3_5", StateHook::file},
    {"Qwen3_5ForCausalLM", StateHook::file},
    {"Qwen3_5MoeForCausalLM", StateHook::file},
    {"Qwen3_5ForConditionalGeneration", StateHook::file},
    {"Qwen3_5MoeForConditionalGeneration", StateHook::file}};

/// Layers that read another layer's cache get none of their own, or one all the same.
constexpr std::string_view sharing_types[] = {"gemma3n_text", "gemma4_text"};
constexpr std::string_view unshared_types[] = {"hunyuan", "hunyuan_v1_dense", "hunyuan_v1_moe"};

/// Windows and chunks are kept as such; of other types nobody looked.
constexpr std::string_view window_types[] = {
    "mistral",    "mixtral",       "ministral",   "phi3",         "phimoe",
    "starcoder2", "gemma2",        "gemma3_text", "gemma3n_text", "gemma4_text",
    "cohere2",    "gpt_oss",       "olmo3",       "exaone4",      "afmoe",
    "laguna",     "mimo_v2_flash", "llama4_text", "qwen2",        "qwen2_moe",
    "qwen3",      "qwen3_moe",     "step3p5",     "step3p7",      "muse_glimmer_text"};

/// Of 0.33, models/minimax_m3: an index key is a cache of its own.
constexpr std::string_view index_types[] = {"minimax_m3_vl_text"};

/// Their model code wants max_window_layers to be the number of layers.
constexpr std::string_view uniform_types[] = {"qwen2", "qwen2_moe", "qwen3", "qwen3_moe"};

template <typename List> bool is_in(const List& list, std::string_view word) {
    return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

const StateType* find_state_type(std::string_view model_type) {
    const auto* found =
        std::find_if(std::begin(state_types), std::end(state_types),
                     [&](const StateType& one) { return one.model_type == model_type; });
    return found == std::end(state_types) ? nullptr : found;
}

/// Collects the specs of one model.
class Specs {
  public:
    Specs(const Model& model, Reservation& result)
        : model_(model), type_(canonical_type(model.plan)), sparse_(is_sparse(model.spec)),
          result_(result) {}

    std::vector<LayerSpec> all();

  private:
    void add_layer(const LayerCache& layer);
    void add_part(LayerKind kind, const std::vector<const Component*>& parts);
    void add_attention(LayerSpec::Kind spec_kind, const std::vector<const Component*>& parts);
    void add_latent(const std::vector<const Component*>& parts);
    void add_state(const std::vector<const Component*>& parts);
    void add(LayerSpec spec);
    std::int64_t unit_bytes(const Component& component) const;
    std::int64_t expanded_bytes() const;
    std::int64_t latent_bytes(const std::vector<const Component*>& parts) const;
    Error missing(LayerKind kind) const {
        return no_rule(engine_name, std::string(to_string(kind)) + " layers of model_type " +
                                        std::string(type_));
    }

    const Model& model_;
    std::string_view type_;
    bool sparse_;
    Reservation& result_;
    std::int64_t layer_ = 0; ///< the one being added
    std::vector<LayerSpec> specs_{};
};

void Specs::add(LayerSpec spec) {
    for (LayerSpec& known : specs_) {
        if (known.label == spec.label && known.kind == spec.kind && known.window == spec.window &&
            known.token_bytes == spec.token_bytes && known.state_bytes == spec.state_bytes) {
            known.layers.push_back(layer_);
            return;
        }
    }
    spec.layers = {layer_};
    specs_.push_back(std::move(spec));
}

std::int64_t Specs::unit_bytes(const Component& component) const {
    const NumericFormat& format = result_.formats.of(component.format_class);
    return checked_multiply(component.rows, row_bytes(format, component.width).count());
}

void Specs::add_attention(LayerSpec::Kind spec_kind, const std::vector<const Component*>& parts) {
    if (spec_kind != LayerSpec::Kind::full && !is_in(window_types, type_)) {
        throw no_rule(engine_name, "the window of model_type " + std::string(type_));
    }
    LayerSpec spec{component_label(*parts.front()), spec_kind};
    spec.label = spec.label.substr(0, spec.label.find(','));
    std::int64_t index_bytes = 0;
    for (const Component* part : parts) {
        if (part->role == Role::index_key && is_in(index_types, type_)) {
            index_bytes = unit_bytes(*part);
            continue;
        }
        if (part->role != Role::key && part->role != Role::value) {
            throw no_rule(engine_name, std::string(to_string(part->role)) + " beside K and V");
        }
        spec.token_bytes = checked_add(spec.token_bytes, unit_bytes(*part));
        spec.window = part->units.n;
    }
    add(std::move(spec));
    if (index_bytes > 0) {
        add({"index key", LayerSpec::Kind::full, 0, index_bytes});
    }
}

/// K of every head, and V as wide.
std::int64_t Specs::expanded_bytes() const {
    const LatentDims& dims = latent_dims(model_.plan);
    const std::int64_t width = checked_add(dims.nope_width, dims.rope_width);
    return checked_multiply(checked_multiply(2, dims.heads),
                            row_bytes(*result_.formats.k, width).count());
}

/// 656 bytes where a sparse model's cache is fp8: 512 values, four fp32 scales and the rotary key
/// in bf16 (fp8_ds_mla).
std::int64_t Specs::latent_bytes(const std::vector<const Component*>& parts) const {
    const std::string_view format = result_.formats.k->name;
    const LatentDims& dims = latent_dims(model_.plan);
    if (sparse_ && format == "fp8_e4m3" && dims.rank == 512 && dims.rope_width == 64) {
        return 656;
    }
    const bool plain = format == "bf16" || format == "f16" || (!sparse_ && format == "fp8_e4m3");
    if (!plain) {
        throw no_rule(engine_name, "latent attention in " + std::string(format));
    }
    std::int64_t bytes = 0;
    for (const Component* part : parts) {
        bytes = checked_add(bytes, part->role == Role::index_key ? 0 : unit_bytes(*part));
    }
    return bytes;
}

void Specs::add_latent(const std::vector<const Component*>& parts) {
    if (is_in(expanded_types, type_)) {
        add({"latent attention, K and V of every head", LayerSpec::Kind::full, 0,
             expanded_bytes()});
        return;
    }
    if (!is_in(latent_types, type_)) {
        throw missing(LayerKind::mla);
    }
    add({"latent attention", LayerSpec::Kind::full, 0, latent_bytes(parts)});
    if (sparse_) {
        // Also where the layer reuses another's choice of tokens.
        const std::int64_t width = latent_dims(model_.plan).index_width;
        add({"index key", LayerSpec::Kind::full, 0,
             row_bytes(*result_.formats.index, width).count()});
    }
}

void Specs::add_state(const std::vector<const Component*>& parts) {
    if (find_state_type(type_) == nullptr) {
        throw missing(parts.front()->kind);
    }
    LayerSpec spec{component_label(*parts.front()), LayerSpec::Kind::state};
    spec.label = spec.label.substr(0, spec.label.find(',')) + " state";
    for (const Component* part : parts) {
        spec.state_bytes =
            checked_add(spec.state_bytes, checked_multiply(part->units.n, unit_bytes(*part)));
    }
    add(std::move(spec));
}

void Specs::add_part(LayerKind kind, const std::vector<const Component*>& parts) {
    switch (kind) {
    case LayerKind::full_attention:
        add_attention(LayerSpec::Kind::full, parts);
        return;
    case LayerKind::sliding_attention:
        add_attention(LayerSpec::Kind::sliding, parts);
        return;
    case LayerKind::chunked_attention:
        add_attention(LayerSpec::Kind::chunked, parts);
        return;
    case LayerKind::mla:
        add_latent(parts);
        return;
    case LayerKind::mamba1:
    case LayerKind::mamba2:
    case LayerKind::gated_delta:
    case LayerKind::lightning:
    case LayerKind::kda:
    case LayerKind::short_conv:
        add_state(parts);
        return;
    case LayerKind::cross_attention:
    case LayerKind::compressed_attention:
    case LayerKind::gla:
    case LayerKind::rglru:
    case LayerKind::rwkv4:
    case LayerKind::rwkv:
    case LayerKind::xlstm:
    case LayerKind::kv_conv:
        break;
    }
    throw missing(kind);
}

/// The parts of a layer, each of one kind.
void Specs::add_layer(const LayerCache& layer) {
    const auto& components = layer.components;
    for (std::size_t i = 0; i < components.size();) {
        const LayerKind kind = components[i].kind;
        std::vector<const Component*> parts;
        for (; i < components.size() && components[i].kind == kind; ++i) {
            parts.push_back(&components[i]);
        }
        add_part(kind, parts);
    }
}

std::vector<LayerSpec> Specs::all() {
    for (const LayerCache& layer : model_.spec.layers) {
        if (!layer.shared_with || is_in(sharing_types, type_)) {
            add_layer(layer);
        } else if (is_in(unshared_types, type_)) {
            add_layer(model_.spec.layers[static_cast<std::size_t>(*layer.shared_with)]);
        } else {
            throw no_rule(engine_name, "layers that read another layer's cache in model_type " +
                                           std::string(type_));
        }
        ++layer_;
    }
    return std::move(specs_);
}

StateHook hook_of(const ModelPlan& plan) {
    const StateType* type = find_state_type(canonical_type(plan));
    if (type == nullptr || type->hook == StateHook::float32 || plan.architecture.empty()) {
        return type == nullptr ? StateHook::none : type->hook;
    }
    for (const auto& [architecture, hook] : architecture_hooks) {
        if (plan.architecture == architecture) {
            return hook;
        }
    }
    return StateHook::none;
}

} // namespace

bool is_sparse(const CacheSpec& spec) {
    const auto groups = group_components(spec);
    return std::any_of(groups.begin(), groups.end(), [](const ComponentGroup& group) {
        return group.component.kind == LayerKind::mla && group.component.role == Role::index_key;
    });
}

bool refuses_mixed_windows(std::string_view model_type) {
    return is_in(uniform_types, model_type);
}

bool has_plain_index(const ModelPlan& plan) {
    return is_in(index_types, canonical_type(plan));
}

const NumericFormat* fixed_state_format(const ModelPlan& plan) {
    switch (hook_of(plan)) {
    case StateHook::none:
        return nullptr;
    case StateHook::float32:
        return &numeric_format("f32");
    case StateHook::file_or_float32:
        return &numeric_format(plan.state_dtype.value_or("float32"));
    case StateHook::file:
        break;
    }
    if (!plan.state_dtype && !plan.architecture.empty()) {
        return nullptr;
    }
    return &numeric_format(plan.state_dtype.value_or("float32"));
}

std::vector<LayerSpec> layer_specs(const Model& model, Reservation& result) {
    return Specs(model, result).all();
}

} // namespace kvcaliper::vllm
