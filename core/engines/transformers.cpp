// SPDX-License-Identifier: Apache-2.0
// The caches of Hugging Face transformers, whose tensors have just the rows in use (dynamic), those
// of the longest length (static), or most of them quantised. Read in transformers 5.24:
// cache_utils.py (layers of each kind), generation/configuration_utils.py (options), and run there
// on the meta device.
#include "core/engines/profile.h"
#include "core/engines/transformers_types.h"

#include <algorithm>

namespace kvcaliper {

namespace {

constexpr std::string_view engine_name = "transformers";

constexpr EngineOption option_list[] = {
    {"cache-implementation", "cache_implementation", "auto|dynamic|static|quantized", "auto",
     "auto: dynamic, or quantized with a format of quanto, hqq or fp8"},
    {"max-cache-len", "max_cache_len", "N|auto", "auto",
     "tokens a static cache is made for (auto: the context)"},
    {"residual-length", "residual_length", "N", "128",
     "latest tokens that a quantised cache keeps as they are, at most"},
    {"version", "", "5.24|5.14", "5.24",
     "5.14 and earlier keep K and V of every head of latent attention"},
};

constexpr std::string_view activation_types[] = {"bf16", "f16", "f32"};
constexpr std::int64_t finest_group = 4; ///< DeepSeek-V4's groups that overlap

enum class Implementation { dynamic, fixed, quantised };

struct Rows {
    std::int64_t count = 0;
    std::string name; ///< "tokens = min(8,192, 1,024 - 1)"
};

/// One model being laid out.
struct Layout {
    const Model& model;
    const TransformersType& type;
    const Settings& settings;
    const OptionValues& options;
    Implementation implementation = Implementation::dynamic;
    std::int64_t tokens = 0; ///< held, or what a static cache is made for
    Reservation result{};
};

std::string type_text(const Layout& layout) {
    return "model_type " + std::string(layout.type.model_type);
}

bool is_activation(const NumericFormat& format) {
    return std::find(std::begin(activation_types), std::end(activation_types), format.name) !=
           std::end(activation_types);
}

/// Formats with a backend of QuantizedCache.
bool has_backend(const NumericFormat& format) {
    return format.name.starts_with("quanto_") || format.name.starts_with("hqq_") ||
           format.name == "fp8_e4m3";
}

// ---- terms -------------------------------------------------------------------------------------

void add_term(Layout& layout, std::string label, std::int64_t layers, const Rows& rows,
              const std::vector<Factor>& row) {
    if (rows.count == 0) {
        return;
    }
    Term term{std::move(label), {{"layers", layers}, {rows.name, rows.count}}};
    term.factors.insert(term.factors.end(), row.begin(), row.end());
    if (layout.settings.sequences != 1) {
        term.factors.push_back({"sequences", layout.settings.sequences});
    }
    layout.result.figure.terms.push_back(std::move(term));
}

Rows all_tokens(const Layout& layout) {
    return {layout.tokens, "tokens"};
}

/// DynamicSlidingWindowLayer keeps W - 1 tokens, StaticSlidingWindowLayer W; chunks alike.
Rows window_rows(const Layout& layout, std::int64_t window) {
    using Windows = TransformersType::Windows;
    if (layout.type.windows == Windows::ignored) {
        return all_tokens(layout);
    }
    const std::int64_t more = (layout.type.windows == Windows::one_more ? 1 : 0) -
                              (layout.implementation == Implementation::fixed ? 0 : 1);
    const std::string change = more == 0 ? "" : more > 0 ? " + 1" : " - 1";
    return {std::min(layout.tokens, window + more), "tokens = min(" +
                                                        format_integer(layout.tokens) + ", " +
                                                        format_integer(window) + change + ")"};
}

std::int64_t heads_of(const ModelPlan& plan) {
    for (const LayerPlan& layer : plan.layers) {
        for (const LayerPart& part : layer.parts) {
            if (const auto* dims = std::get_if<AttentionDims>(&part.dims)) {
                return dims->heads;
            }
        }
    }
    throw Error(plan.name + ": expected attention heads, found none");
}

/// Falcon's newer layout repeats its KV heads before the cache; with one KV head it does not.
Component stored(const Layout& layout, const Component& component) {
    Component kept = component;
    if (layout.type.broadcasts && component.rows > 1) {
        kept.rows = heads_of(layout.model.plan);
        kept.rows_name = "num_attention_heads";
    }
    return kept;
}

/// Tokens in blocks, and the latest ones as they were computed (QuantizedLayer); with one scale
/// for each tensor the latest are quantised, too (Fp8QuantizedLayer).
void add_quantised(Layout& layout, const ComponentGroup& group) {
    const NumericFormat& format = layout.result.formats.of(group.component.format_class);
    const std::string label = component_label(group.component);
    const std::vector<Factor> row = row_factors(group.component, format);
    if (format.name == "fp8_e4m3") {
        add_term(layout, label, group.layers, all_tokens(layout), row);
        layout.result.figure.terms.push_back(
            {label + " scale", {{"layers", group.layers}, {"bytes of a float", 4}}});
        return;
    }
    const std::int64_t latest =
        std::min(layout.tokens, layout.options.number("residual-length")) - 1;
    add_term(layout, label, group.layers,
             {layout.tokens - latest,
              "tokens = " + format_integer(layout.tokens) + " - " + format_integer(latest)},
             row);
    add_term(layout, label + " (latest)", group.layers, {latest, "tokens"},
             row_factors(group.component, numeric_format("bf16")));
}

void add_tokens(Layout& layout, const ComponentGroup& group, const Rows& rows) {
    const ComponentGroup kept{stored(layout, group.component), group.layers};
    if (layout.implementation == Implementation::quantised) {
        add_quantised(layout, kept);
        return;
    }
    add_term(layout, component_label(kept.component), kept.layers, rows,
             row_factors(kept.component, layout.result.formats.of(kept.component.format_class)));
}

/// K and V of every head, where a version does not keep the latent.
void add_expanded(Layout& layout, const ComponentGroup& group) {
    if (group.component.role != Role::latent) {
        return;
    }
    for (const Component& component : expanded_latent(latent_dims(layout.model.plan))) {
        add_tokens(layout, {component, group.layers}, all_tokens(layout));
    }
}

void add_latent(Layout& layout, const ComponentGroup& group) {
    if (layout.options.word("version") == "5.14" && group.component.role != Role::index_key) {
        add_expanded(layout, group);
    } else {
        add_tokens(layout, group, all_tokens(layout));
    }
}

/// Keys and gates of the group that is not full, and of the finest groups also the last full one,
/// whose gates have a bias added in float32.
void add_compressor(Layout& layout, const ComponentGroup& group) {
    const std::int64_t ratio = group.component.units.n;
    const std::int64_t twice = ratio == finest_group ? 2 : 1;
    const NumericFormat& format = layout.result.formats.of(group.component.format_class);
    const std::vector<Factor> row = row_factors(group.component, format);
    const std::string label = component_label(group.component);
    std::vector<Factor> wide = row;
    wide.push_back({"key and gate", 2});
    if (twice == 2) {
        wide.push_back({"overlapping", 2});
    }
    add_term(layout, label + " buffer", group.layers,
             {layout.tokens % ratio,
              "tokens = " + format_integer(layout.tokens) + " mod " + std::to_string(ratio)},
             wide);
    if (twice == 2 && layout.tokens >= ratio) {
        add_term(layout, label + " overlap", group.layers, {ratio, "tokens"}, row);
        add_term(layout, label + " overlap, gate", group.layers, {ratio, "tokens"},
                 row_factors(group.component, numeric_format("f32")));
    }
}

void add_compressed(Layout& layout, const ComponentGroup& group) {
    const Units& units = group.component.units;
    if (layout.implementation != Implementation::dynamic) {
        throw no_rule(engine_name, "a static cache of " + type_text(layout));
    }
    if (units.kind == Units::Kind::window) {
        add_tokens(layout, group, window_rows(layout, units.n));
        return;
    }
    add_tokens(layout, group,
               {units.at(Tokens(layout.tokens)), "entries = floor(" +
                                                     format_integer(layout.tokens) + " / " +
                                                     std::to_string(units.n) + ")"});
    add_compressor(layout, group);
}

/// All K columns of a convolution's window, the current token's among them.
void add_state(Layout& layout, const ComponentGroup& group) {
    const Component& component = group.component;
    const bool columns = component.role == Role::conv_state && !layout.type.exact_convolution;
    const Rows rows =
        columns ? Rows{component.units.n + 1, "columns"} : Rows{component.units.n, "units"};
    add_term(layout, component_label(component), group.layers, rows,
             row_factors(component, layout.result.formats.of(component.format_class)));
}

void add_group(Layout& layout, const ComponentGroup& group) {
    const Component& component = group.component;
    switch (component.kind) {
    case LayerKind::full_attention:
        add_tokens(layout, group, all_tokens(layout));
        return;
    case LayerKind::sliding_attention:
    case LayerKind::chunked_attention:
        add_tokens(layout, group, window_rows(layout, component.units.n));
        return;
    case LayerKind::cross_attention:
        add_tokens(layout, group, {component.units.n, "encoder tokens"});
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
    case LayerKind::lightning:
    case LayerKind::rglru:
    case LayerKind::short_conv:
        add_state(layout, group);
        return;
    case LayerKind::gla:
    case LayerKind::rwkv4:
    case LayerKind::rwkv:
    case LayerKind::xlstm:
    case LayerKind::kv_conv:
        break;
    }
    throw no_rule(engine_name,
                  std::string(to_string(component.kind)) + " layers of " + type_text(layout));
}

// ---- reading the model and the settings --------------------------------------------------------

const TransformersType& type_of(const ModelPlan& plan) {
    return known_type(find_transformers_type(canonical_type(plan)), engine_name, plan);
}

Implementation implementation_of(const OptionValues& options, const CacheFormats& formats) {
    const std::string& word = options.word("cache-implementation");
    const bool quantised = has_backend(*formats.k);
    if (word == "static") {
        return Implementation::fixed;
    }
    return word == "quantized" || (word == "auto" && quantised) ? Implementation::quantised
                                                                : Implementation::dynamic;
}

std::int64_t tokens_of(const Layout& layout) {
    const std::int64_t context = layout.settings.context.count();
    if (layout.options.word("max-cache-len") == "auto") {
        return context;
    }
    if (layout.implementation != Implementation::fixed) {
        throw Error("--engine-opt max-cache-len: expected auto without "
                    "cache-implementation=static, found " +
                    layout.options.word("max-cache-len"));
    }
    const std::int64_t length = layout.options.number("max-cache-len");
    if (length < context) {
        throw Error("--engine-opt max-cache-len: expected at least --context " +
                    std::to_string(context) + ", found " + std::to_string(length));
    }
    return length;
}

/// Activations' type for everything but recurrent states, which most models keep in float32.
CacheFormats formats_of(const Settings& settings, const ModelPlan& plan,
                        const TransformersType& type, const OptionValues& options) {
    const NumericFormat& bf16 = numeric_format("bf16");
    const bool quantised = options.word("cache-implementation") == "quantized";
    const NumericFormat& kv = quantised ? numeric_format("quanto_4bit") : bf16;
    return resolve_formats(
        settings, plan,
        {&kv, &kv, &bf16, &bf16, type.plain_states ? &bf16 : &numeric_format("f32")});
}

void check_formats(const Layout& layout) {
    const CacheFormats& formats = layout.result.formats;
    if (formats.k != formats.v) {
        throw Error("--v: engine transformers has one type for K and V: expected " +
                    std::string(formats.k->name) + ", found " + std::string(formats.v->name));
    }
    const bool quantised = layout.implementation == Implementation::quantised;
    if (quantised ? !has_backend(*formats.k) : !is_activation(*formats.k)) {
        throw Error("--kv: engine transformers expects " +
                    std::string(quantised ? "a format of quanto or hqq, or fp8_e4m3, for a "
                                            "quantized cache"
                                          : "bf16, f16 or f32 for this cache") +
                    ", found " + std::string(formats.k->name));
    }
}

/// QuantizedCache takes models of full attention alone.
void check_quantised(const Layout& layout) {
    if (layout.implementation != Implementation::quantised) {
        return;
    }
    if (layout.result.formats.k->name == "hqq_3bit") {
        throw no_rule(engine_name, "hqq_3bit, whose padding depends on the axis it quantises");
    }
    for (const ComponentGroup& group : group_components(layout.model.spec)) {
        const LayerKind kind = group.component.kind;
        if ((kind != LayerKind::full_attention && kind != LayerKind::mla) ||
            group.component.role == Role::index_key) {
            throw Error("--engine-opt cache-implementation: engine transformers quantises caches "
                        "of full attention alone, found " +
                        component_label(group.component));
        }
    }
}

void add_notes(Layout& layout) {
    auto& notes = layout.result.notes;
    const CacheSpec& spec = layout.model.spec;
    const bool windows = has_kind(spec, LayerKind::sliding_attention) ||
                         has_kind(spec, LayerKind::chunked_attention) ||
                         has_kind(spec, LayerKind::compressed_attention);
    if (windows && layout.implementation == Implementation::dynamic &&
        layout.type.windows == TransformersType::Windows::one_less) {
        layout.result.savings.push_back("a full window keeps one token less: the next one attends "
                                        "to itself beside them");
    }
    if (layout.implementation == Implementation::dynamic) {
        notes.push_back("a dynamic cache grows by copying: each layer's tensors are there twice "
                        "while a token is added to them, which is not counted");
    }
    if (layout.options.word("version") == "5.14" && has_kind(spec, LayerKind::mla)) {
        notes.push_back("transformers keeps K and V of every head up to 5.14, not the latent");
    }
    if (layout.type.broadcasts && heads_of(layout.model.plan) > 1) {
        notes.push_back("transformers repeats Falcon's KV heads for every query head before they "
                        "are kept (new_decoder_architecture)");
    }
    if (layout.type.plain_states) {
        layout.result.savings.push_back("states have the activations' type");
    }
}

} // namespace

std::span<const EngineOption> transformers_options() {
    return option_list;
}

Reservation reserve_transformers(const Model& model, const Settings& settings,
                                 const OptionValues& options) {
    Layout layout{model, type_of(model.plan), settings, options};
    layout.result.formats = formats_of(settings, model.plan, layout.type, options);
    layout.implementation = implementation_of(options, layout.result.formats);
    layout.tokens = tokens_of(layout);
    layout.result.figure.name = "kept by transformers at " +
                                format_integer(settings.context.count()) + " tokens × " +
                                format_integer(settings.sequences);
    check_formats(layout);
    check_quantised(layout);
    for (const ComponentGroup& group : group_components(model.spec)) {
        add_group(layout, group);
    }
    add_notes(layout);
    return std::move(layout.result);
}

} // namespace kvcaliper
