// SPDX-License-Identifier: Apache-2.0
// ik_llama.cpp gives every layer cells for the whole context of all sequences together, and latent
// attention the tensors of its -mla mode. Read in commit 8337e4c (August 2026): src/llama.cpp,
// llama_kv_cache_init; src/llama-context.h (padding); common/common.cpp (types).
#include "core/engines/profile.h"

#include <algorithm>

namespace kvcaliper {

namespace {

constexpr std::string_view engine_name = "ik_llama";

constexpr EngineOption option_list[] = {
    {"mla-use", "mla", "0|1|2|3", "3",
     "latent attention: 0 keeps K and V of every head, others the latent; 1 without flash-attn "
     "also a transposed copy"},
    {"flash-attn", "fa", "on|off", "on", "off: cells padded to 32 instead of 256, V is 16-bit"},
    {"parallel", "np", "N|auto", "auto", "sequences that have states (auto: --sequences)"},
};

/// What --cache-type-k and --cache-type-v take (kv_cache_type_from_str).
constexpr std::string_view cache_types[] = {"f16",  "f32",  "bf16", "q8_0",   "q6_0", "q5_1",
                                            "q5_0", "q4_1", "q4_0", "iq4_nl", "q8_KV"};

/// Loaded types (src/llama-arch.cpp), under the names of their config.json.
constexpr std::string_view attention_types[] = {"llama",
                                                "yi",
                                                "xverse",
                                                "internlm2",
                                                "minicpm",
                                                "granite",
                                                "granitemoe",
                                                "olmo",
                                                "stablelm",
                                                "phi",
                                                "bitnet",
                                                "seed_oss",
                                                "ernie4_5",
                                                "ernie4_5_moe",
                                                "glm4",
                                                "glm4_moe",
                                                "minimax_m2",
                                                "qwen3_vl_text",
                                                "qwen3_vl_moe_text",
                                                "gemma",
                                                "cohere",
                                                "gpt2",
                                                "gpt_neox",
                                                "bloom",
                                                "qwen",
                                                "baichuan",
                                                "gpt_bigcode",
                                                "mpt",
                                                "dbrx",
                                                "falcon",
                                                "chatglm",
                                                "hunyuan_v1_moe",
                                                "ministral3",
                                                "smollm3",
                                                "openelm",
                                                "deci",
                                                "nemotron-nas",
                                                "arctic",
                                                "orion",
                                                "codeshell",
                                                "grok",
                                                "mistral",
                                                "mixtral",
                                                "starcoder2",
                                                "phi3",
                                                "qwen2",
                                                "qwen2_moe",
                                                "qwen2_vl_text",
                                                "qwen3",
                                                "qwen3_moe",
                                                "dots1",
                                                "gemma2",
                                                "gemma3_text",
                                                "cohere2",
                                                "cohere2_moe",
                                                "gpt_oss",
                                                "mimo_v2_flash",
                                                "step3p5",
                                                "laguna",
                                                "mellum",
                                                "muse_glimmer_text",
                                                "gemma4_text"};
constexpr std::string_view latent_types[] = {"deepseek_v2", "deepseek_v3", "mistral4",
                                             "glm_moe_dsa"};
constexpr std::string_view state_types[] = {"qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"};

/// Its last layers read the cache of earlier ones.
constexpr std::string_view sharing_type = "gemma4_text";

template <typename List> bool is_in(const List& list, std::string_view word) {
    return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

/// One model being laid out.
struct Layout {
    const Model& model;
    std::string_view type;
    const OptionValues& options;
    Factor cells{};
    std::int64_t parallel = 0;
    Reservation result{};

    bool flash() const { return options.flag("flash-attn"); }
    std::int64_t mode() const { return options.number("mla-use"); }
};

std::string type_text(const Layout& layout) {
    return "model_type " + std::string(layout.type);
}

// ---- terms -------------------------------------------------------------------------------------

void add_term(Layout& layout, std::string label, std::int64_t layers,
              const std::vector<Factor>& row) {
    Term term{std::move(label), {{"layers", layers}, layout.cells}};
    term.factors.insert(term.factors.end(), row.begin(), row.end());
    layout.result.figure.terms.push_back(std::move(term));
}

/// V is one long row: what a format adds to a row is there once.
void add_value(Layout& layout, const ComponentGroup& group) {
    NumericFormat format = *layout.result.formats.v;
    const std::int64_t once = format.row_side_bytes;
    format.row_side_bytes = 0;
    add_term(layout, component_label(group.component), group.layers,
             row_factors(group.component, format));
    if (once > 0) {
        layout.result.figure.terms.push_back(
            {component_label(group.component) + " scale",
             {{"layers", group.layers}, {"bytes of a row's scale", once}}});
    }
}

void add_attention(Layout& layout, const ComponentGroup& group) {
    if (!is_in(attention_types, layout.type) && !is_in(state_types, layout.type)) {
        throw no_rule(engine_name, "attention of " + type_text(layout));
    }
    if (group.component.role == Role::value) {
        add_value(layout, group);
    } else if (group.component.role == Role::key) {
        add_term(layout, component_label(group.component), group.layers,
                 row_factors(group.component, *layout.result.formats.k));
    } else {
        throw no_rule(engine_name,
                      std::string(to_string(group.component.role)) + " beside K and V");
    }
}

/// Mode 0: K and V of every head.
void add_expanded(Layout& layout, std::int64_t layers, const LatentDims& dims) {
    const auto [key, value] = expanded_latent(dims);
    add_term(layout, "mla, key", layers, row_factors(key, *layout.result.formats.k));
    add_value(layout, {value, layers});
}

/// Latent and rotary key in one row; its type is V's in modes 2 and 3 without flash attention.
void add_stored(Layout& layout, std::int64_t layers, const LatentDims& dims) {
    const CacheFormats& formats = layout.result.formats;
    const bool by_value = !layout.flash() && layout.mode() != 1;
    const Component row{LayerKind::mla,
                        Role::latent,
                        1,
                        checked_add(dims.rank, dims.rope_width),
                        "",
                        "kv_lora_rank + qk_rope_head_dim",
                        FormatClass::k,
                        {}};
    add_term(layout, "mla, latent and rope key", layers,
             row_factors(row, by_value ? *formats.v : *formats.k));
    if (!layout.flash() && layout.mode() == 1) {
        Component copy = row;
        copy.width = dims.rank;
        copy.width_name = "kv_lora_rank";
        add_term(layout, "mla, transposed latent", layers, row_factors(copy, *formats.v));
    }
}

void add_latent(Layout& layout, const ComponentGroup& group) {
    if (!is_in(latent_types, layout.type)) {
        throw no_rule(engine_name, "latent attention of " + type_text(layout));
    }
    if (group.component.role == Role::index_key) {
        add_term(layout, component_label(group.component), group.layers,
                 row_factors(group.component, *layout.result.formats.index));
    } else if (group.component.role == Role::latent && layout.mode() == 0) {
        add_expanded(layout, group.layers, latent_dims(layout.model.plan));
    } else if (group.component.role == Role::latent) {
        add_stored(layout, group.layers, latent_dims(layout.model.plan));
    }
}

/// Convolution history and state in one F32 row for each sequence.
void add_state(Layout& layout, const ComponentGroup& group) {
    const Component& component = group.component;
    Term term{component_label(component), {{"layers", group.layers}}};
    if (component.units.n != 1) {
        term.factors.push_back({"units", component.units.n});
    }
    for (Factor& factor : row_factors(component, numeric_format("f32"))) {
        term.factors.push_back(std::move(factor));
    }
    if (layout.parallel != 1) {
        term.factors.push_back({"sequences", layout.parallel});
    }
    layout.result.figure.terms.push_back(std::move(term));
}

void add_group(Layout& layout, const ComponentGroup& group) {
    const LayerKind kind = group.component.kind;
    if (kind == LayerKind::full_attention || kind == LayerKind::sliding_attention) {
        add_attention(layout, group);
    } else if (kind == LayerKind::mla) {
        add_latent(layout, group);
    } else if (kind == LayerKind::gated_delta && is_in(state_types, layout.type)) {
        add_state(layout, group);
    } else {
        throw no_rule(engine_name,
                      std::string(to_string(kind)) + " layers of " + type_text(layout));
    }
}

// ---- reading the model and the settings --------------------------------------------------------

std::string_view type_of(const ModelPlan& plan) {
    const std::string_view type = canonical_type(plan);
    if (!is_in(attention_types, type) && !is_in(latent_types, type) && !is_in(state_types, type)) {
        throw no_rule_for_type(engine_name, plan);
    }
    return type;
}

/// One cache for all sequences.
Factor cells_of(const Settings& settings, bool flash) {
    const std::int64_t padding = flash ? 256 : 32;
    const std::string tokens =
        format_integer(settings.context.count()) +
        (settings.sequences == 1 ? "" : " × " + format_integer(settings.sequences));
    return {"cells = pad" + std::to_string(padding) + "(" + tokens + ")",
            round_up(checked_multiply(settings.context.count(), settings.sequences), padding)};
}

CacheFormats formats_of(const Settings& settings, const ModelPlan& plan) {
    const NumericFormat& f16 = numeric_format("f16");
    const NumericFormat& f32 = numeric_format("f32");
    CacheFormats formats = resolve_formats(settings, plan, {&f16, &f16, &f16, &f32, &f32});
    formats.conv = &f32;
    formats.state = &f32;
    return formats;
}

void check_formats(const Layout& layout) {
    const CacheFormats& formats = layout.result.formats;
    for (const auto& [option, format] : {std::pair{"--k", formats.k}, std::pair{"--v", formats.v},
                                         std::pair{"--index", formats.index}}) {
        if (!is_in(cache_types, format->name)) {
            throw Error(std::string(option) + ": engine ik_llama has no cache of type " +
                        std::string(format->name) +
                        "; expected f16, f32, bf16, q8_0, q6_0, q5_1, q5_0, q4_1, q4_0, iq4_nl or "
                        "q8_KV");
        }
    }
    if (!layout.flash() && formats.v->name != "f16" && formats.v->name != "bf16") {
        throw Error(
            "--v: engine ik_llama needs flash attention for a V that is not 16-bit, found " +
            std::string(formats.v->name) + " with flash-attn=off");
    }
}

void check_sharing(const Layout& layout) {
    const auto& layers = layout.model.spec.layers;
    const bool shares = std::any_of(layers.begin(), layers.end(), [](const LayerCache& layer) {
        return layer.shared_with.has_value();
    });
    if (shares && layout.type != sharing_type) {
        throw no_rule(engine_name,
                      "layers that read another layer's cache in " + type_text(layout));
    }
}

void add_notes(Layout& layout) {
    if (has_kind(layout.model.spec, LayerKind::sliding_attention)) {
        layout.result.notes.push_back("ik_llama.cpp gives sliding layers the whole context, too "
                                      "(without --swa-compress, for which there is no rule yet)");
    }
    if (has_kind(layout.model.spec, LayerKind::mla) && layout.mode() != 0) {
        layout.result.savings.push_back("latent and rope key are one row");
    }
    if (has_kind(layout.model.spec, LayerKind::mla) && layout.mode() == 0) {
        layout.result.notes.push_back("mla-use=0 keeps K and V of every head, not the latent");
    }
}

} // namespace

std::span<const EngineOption> ik_llama_options() {
    return option_list;
}

Reservation reserve_ik_llama(const Model& model, const Settings& settings,
                             const OptionValues& options) {
    Layout layout{model, type_of(model.plan), options};
    layout.cells = cells_of(settings, layout.flash());
    layout.parallel = llama_parallel(settings, options);
    layout.result.formats = formats_of(settings, model.plan);
    layout.result.figure.name = "reserved by ik_llama.cpp at " +
                                format_integer(settings.context.count()) + " tokens × " +
                                format_integer(settings.sequences);
    check_formats(layout);
    check_sharing(layout);
    for (const ComponentGroup& group : group_components(model.spec)) {
        add_group(layout, group);
    }
    add_notes(layout);
    return std::move(layout.result);
}

} // namespace kvcaliper
