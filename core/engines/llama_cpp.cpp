// SPDX-License-Identifier: Apache-2.0
// llama.cpp allocates its whole context when it starts. Read in src/llama-kv-cache.cpp (tensors of
// [row, cells, streams]), -iswa (cells of sliding layers), -dsa (index keys), -dsv4 (DeepSeek-V4),
// llama-memory-recurrent.cpp (r and s rows), llama-context.cpp (padding, batch sizes).
#include "core/engines/llama_cpp_layout.h"

#include <algorithm>

namespace kvcaliper {

namespace {

using namespace llama_cpp;

constexpr std::int64_t llama4_chunk = 8192;   ///< n_swa of llama4, whatever the file says
constexpr std::int64_t gemma3n_owners = 20;   ///< n_layer_kv_from_start of gemma3n
constexpr std::int64_t v4_fine_ratio = 4;     ///< DSV4_CSA_RATIO
constexpr std::int64_t v4_coarse_ratio = 128; ///< DSV4_HCA_RATIO

/// What --cache-type-k and --cache-type-v take (common/arg.cpp).
constexpr std::string_view cache_types[] = {"f32",  "f16",    "bf16", "q8_0", "q4_0",
                                            "q4_1", "iq4_nl", "q5_0", "q5_1"};

constexpr EngineOption option_list[] = {
    {"ubatch-size", "ubatch", "N", "512",
     "physical batch, at most the logical one: slack of sliding layers"},
    {"batch-size", "", "N", "2048", "logical batch"},
    {"parallel", "", "N|auto", "auto", "sequences the cache is made for (auto: --sequences)"},
    {"kv-unified", "", "on|off", "off", "one cache for all sequences"},
    {"swa-full", "", "on|off", "off", "sliding layers keep the whole context"},
    {"flash-attn", "", "auto|on|off", "auto", "off: V is transposed, rows as wide as the widest"},
};

// ---- kinds of layers ---------------------------------------------------------------------------

std::string type_text(const Layout& layout) {
    return "model_type " + std::string(layout.type.model_type);
}

Cells attention_cells(const Layout& layout, const Component& component) {
    using Windows = LlamaCppType::Windows;
    switch (layout.type.windows) {
    case Windows::ignored:
        return layout.full;
    case Windows::honoured:
        return window_cells(layout, component.units.n);
    case Windows::chunked:
        return window_cells(layout, llama4_chunk);
    case Windows::none:
        break;
    }
    throw no_rule(engine_name, "the window of " + type_text(layout));
}

/// K and V of every head, where an architecture with latent attention does not keep the latent.
void add_expanded(Layout& layout, const ComponentGroup& group) {
    if (group.component.role != Role::latent) {
        return;
    }
    for (const Component& component : expanded_latent(latent_dims(layout.model.plan))) {
        add_rows(layout, {component, group.layers}, layout.full);
    }
}

void add_latent(Layout& layout, const ComponentGroup& group) {
    switch (layout.type.latent) {
    case LlamaCppType::Latent::stored:
        add_rows(layout, group, layout.full);
        return;
    case LlamaCppType::Latent::expanded:
        add_expanded(layout, group);
        return;
    case LlamaCppType::Latent::none:
        break;
    }
    throw no_rule(engine_name, "latent attention of " + type_text(layout));
}

/// Two F32 tensors, of keys and of scores, that collect a group before it is compressed. Fine
/// groups overlap: twice the rows and twice the width.
void add_compressor(Layout& layout, const ComponentGroup& group) {
    const std::int64_t ratio = group.component.units.n;
    const std::int64_t twice = ratio == v4_fine_ratio ? 2 : 1;
    add_term(layout, component_label(group.component) + " compressor", group.layers,
             {checked_multiply(twice, ratio), "rows"},
             {{"tensors", 2},
              {group.component.width_name + (twice == 2 ? " × 2" : ""),
               checked_multiply(twice, group.component.width)},
              {"bytes per element (f32)", 4}});
}

void add_compressed(Layout& layout, const ComponentGroup& group) {
    const Units& units = group.component.units;
    if (layout.type.model_type != "deepseek_v4") {
        throw no_rule(engine_name, "compressed attention of " + type_text(layout));
    }
    if (units.kind == Units::Kind::window) {
        add_rows(layout, group, window_cells(layout, units.n));
        return;
    }
    if (units.kind != Units::Kind::groups ||
        (units.n != v4_fine_ratio && units.n != v4_coarse_ratio)) {
        throw no_rule(engine_name, "entries of " + units.to_string() + " tokens");
    }
    add_rows(layout, group, compressed_cells(layout, units.n));
    add_compressor(layout, group);
}

void add_group(Layout& layout, const ComponentGroup& group) {
    const LayerKind kind = group.component.kind;
    switch (kind) {
    case LayerKind::full_attention:
        add_rows(layout, group, layout.full);
        return;
    case LayerKind::sliding_attention:
    case LayerKind::chunked_attention:
        add_rows(layout, group, attention_cells(layout, group.component));
        return;
    case LayerKind::mla:
        add_latent(layout, group);
        return;
    case LayerKind::compressed_attention:
        add_compressed(layout, group);
        return;
    case LayerKind::mamba1:
    case LayerKind::mamba2:
    case LayerKind::gated_delta:
    case LayerKind::kda:
    case LayerKind::short_conv:
    case LayerKind::rwkv:
        if (layout.type.recurrent) {
            add_state(layout, group);
            return;
        }
        break;
    case LayerKind::cross_attention:
    case LayerKind::lightning:
    case LayerKind::gla:
    case LayerKind::rglru:
    case LayerKind::rwkv4:
    case LayerKind::xlstm:
    case LayerKind::kv_conv:
        break;
    }
    throw no_rule(engine_name, std::string(to_string(kind)) + " layers of " + type_text(layout));
}

// ---- checks ------------------------------------------------------------------------------------

bool is_quantised(const NumericFormat& format) {
    return format.elements_per_block > 1;
}

void check_cache_type(const char* option, const NumericFormat& format) {
    if (std::find(std::begin(cache_types), std::end(cache_types), format.name) ==
        std::end(cache_types)) {
        throw Error(std::string(option) + ": engine llama_cpp has no cache of type " +
                    std::string(format.name) +
                    "; expected f32, f16, bf16, q8_0, q5_1, q5_0, q4_1, q4_0 or iq4_nl");
    }
}

void check_formats(const Layout& layout) {
    const CacheFormats& formats = layout.result.formats;
    check_cache_type("--k", *formats.k);
    check_cache_type("--v", *formats.v);
    if (layout.transposed_v() && is_quantised(*formats.v)) {
        throw Error("--v: engine llama_cpp needs flash attention for a quantised V, found " +
                    std::string(formats.v->name) + " with flash-attn=off");
    }
    if (layout.type.latent == LlamaCppType::Latent::stored && formats.k != formats.v) {
        throw Error("--v: engine llama_cpp keeps one tensor for K and V of this model: expected " +
                    std::string(formats.k->name) + ", found " + std::string(formats.v->name));
    }
}

void check_sharing(const Layout& layout) {
    std::int64_t owners = 0;
    bool any_shared = false;
    for (const LayerCache& layer : layout.model.spec.layers) {
        any_shared = any_shared || layer.shared_with.has_value();
        owners += layer.shared_with ? 0 : 1;
    }
    const bool known = layout.type.shares &&
                       (layout.type.model_type != "gemma3n_text" || owners == gemma3n_owners);
    if (any_shared && !known) {
        throw no_rule(engine_name,
                      "layers that read another layer's cache in " + type_text(layout));
    }
}

void add_notes(Layout& layout, const Settings& settings) {
    auto& notes = layout.result.notes;
    const CacheSpec& spec = layout.model.spec;
    if (layout.type.windows == LlamaCppType::Windows::chunked) {
        layout.result.savings.push_back("the chunk of llama4 is " + format_integer(llama4_chunk) +
                                        " whatever the file says");
    }
    if (settings.index_format != "auto") {
        layout.result.savings.push_back("index keys have the type of K whatever --index says");
    }
    if (layout.type.windows == LlamaCppType::Windows::ignored &&
        has_kind(spec, LayerKind::sliding_attention)) {
        notes.push_back("llama.cpp does not use the window of " + type_text(layout) +
                        ": every layer reserves the whole context");
    }
    if (layout.type.latent == LlamaCppType::Latent::expanded) {
        notes.push_back("llama.cpp keeps K and V of every head of " + type_text(layout) +
                        ", not the latent");
    }
    if (layout.type.recurrent &&
        (settings.state_format != "auto" || settings.conv_format != "auto")) {
        notes.push_back("llama.cpp keeps states and convolution history in F32 whatever --state "
                        "and --conv say");
    }
    if (layout.type.model_type == "glm4_moe") {
        notes.push_back("a GGUF of glm4_moe may carry a layer for multi-token prediction; older "
                        "versions of llama.cpp reserve a cache for it, which is not counted");
    }
}

const LlamaCppType& type_of(const ModelPlan& plan) {
    return known_type(find_llama_cpp_type(canonical_type(plan)), engine_name, plan);
}

/// Sequences the cache is made for: n_seq_max.
/// Index keys are made with the type of K (llama-kv-cache-dsa).
CacheFormats formats_of(const Settings& settings, const ModelPlan& plan) {
    const NumericFormat& f16 = numeric_format("f16");
    const NumericFormat& f32 = numeric_format("f32");
    CacheFormats formats = resolve_formats(settings, plan, {&f16, &f16, &f16, &f32, &f32});
    formats.index = formats.k;
    formats.conv = &f32;
    formats.state = &f32;
    return formats;
}

} // namespace

std::span<const EngineOption> llama_cpp_options() {
    return option_list;
}

std::vector<StageLayers> split_llama_cpp(std::int64_t layers, std::int64_t devices) {
    std::vector<StageLayers> stages;
    for (std::int64_t device = 0; device < devices; ++device) {
        const auto first_on = [&](std::int64_t index) {
            return std::min(layers, divide_up(checked_multiply(index, layers + 1), devices));
        };
        stages.push_back({first_on(device), first_on(device + 1)});
    }
    return stages;
}

Reservation reserve_llama_cpp(const Model& model, const Settings& settings,
                              const OptionValues& options) {
    return reserve_llama_cpp_stage(model, settings, options,
                                   {0, static_cast<std::int64_t>(model.plan.layers.size())});
}

Reservation reserve_llama_cpp_stage(const Model& model, const Settings& settings,
                                    const OptionValues& options, const StageLayers& layers) {
    Layout layout{model, type_of(model.plan), options};
    const bool unified = options.flag("kv-unified") && layout.type.model_type != "deepseek_v4";
    layout.ubatch = std::min(options.number("ubatch-size"), options.number("batch-size"));
    layout.parallel = llama_parallel(settings, options);
    layout.streams = unified ? 1 : layout.parallel;
    layout.full = full_cells(settings, unified);
    layout.result.formats = formats_of(settings, model.plan);
    layout.result.figure.name = "reserved by llama.cpp at " +
                                format_integer(settings.context.count()) + " tokens × " +
                                format_integer(settings.sequences);
    check_formats(layout);
    check_sharing(layout);
    const CacheSpec held =
        build_cache_spec(keep_stage(model.plan, layers), settings.encoder_tokens);
    for (const ComponentGroup& group : group_components(held)) {
        add_group(layout, group);
    }
    add_notes(layout, settings);
    return std::move(layout.result);
}

} // namespace kvcaliper
