// SPDX-License-Identifier: Apache-2.0
// MLX-LM's caches grow by 256 tokens at a time; windows rotate inside a fixed number of rows. Read
// in mlx-lm 0.32.2: mlx_lm/models/cache.py, generate.py (quantisation) and the models (states).
#include "core/engines/mlx_types.h"
#include "core/engines/profile.h"

#include <algorithm>

namespace kvcaliper {

namespace {

constexpr std::string_view engine_name = "mlx";
constexpr std::int64_t step = 256; ///< KVCache.step

constexpr EngineOption option_list[] = {
    {"quantized-kv-start", "", "N", "5000",
     "tokens from which on the cache has the format of --kv, before that bf16"},
};

constexpr std::string_view activation_types[] = {"bf16", "f16", "f32"};

struct Rows {
    std::int64_t count = 0;
    std::string name; ///< "tokens = pad256(1,000)"
};

/// One model being laid out.
struct Layout {
    const Model& model;
    const MlxType& type;
    const Settings& settings;
    Rows full{};
    bool quantised = false;
    Reservation result{};
};

std::string type_text(const Layout& layout) {
    return "model_type " + std::string(layout.type.model_type);
}

Rows padded(std::int64_t tokens) {
    return {round_up(tokens, step), "tokens = pad256(" + format_integer(tokens) + ")"};
}

/// A rotating cache ends at W rows. A chunked one is cut back to the chunk before each step.
Rows window_rows(const Layout& layout, std::int64_t window) {
    using Windows = MlxType::Windows;
    const std::string context = "pad256(" + format_integer(layout.settings.context.count()) + ")";
    switch (layout.type.windows) {
    case Windows::ignored:
        return layout.full;
    case Windows::rotates:
        return {std::min(layout.full.count, window),
                "tokens = min(" + context + ", " + format_integer(window) + ")"};
    case Windows::chunks:
        return {std::min(layout.full.count, checked_add(window, step)),
                "tokens = min(" + context + ", " + format_integer(window) + " + 256)"};
    case Windows::none:
        break;
    }
    throw no_rule(engine_name, "the window of " + type_text(layout));
}

// ---- terms -------------------------------------------------------------------------------------

void add_term(Layout& layout, std::string label, std::int64_t layers, const Rows& rows,
              const std::vector<Factor>& row) {
    Term term{std::move(label), {{"layers", layers}, {rows.name, rows.count}}};
    term.factors.insert(term.factors.end(), row.begin(), row.end());
    if (layout.settings.sequences != 1) {
        term.factors.push_back({"sequences", layout.settings.sequences});
    }
    layout.result.figure.terms.push_back(std::move(term));
}

void add_rows(Layout& layout, const ComponentGroup& group, const Rows& rows) {
    const Component& component = group.component;
    add_term(layout, component_label(component), group.layers, rows,
             row_factors(component, layout.result.formats.of(component.format_class)));
}

/// K and V of every head.
void add_expanded(Layout& layout, const ComponentGroup& group) {
    if (group.component.role != Role::latent) {
        return;
    }
    for (const Component& component : expanded_latent(latent_dims(layout.model.plan))) {
        add_rows(layout, {component, group.layers}, layout.full);
    }
}

void add_latent(Layout& layout, const ComponentGroup& group) {
    if (layout.type.latent == MlxType::Latent::none) {
        throw no_rule(engine_name, "latent attention of " + type_text(layout));
    }
    if (layout.type.latent == MlxType::Latent::expanded) {
        add_expanded(layout, group);
        return;
    }
    if (layout.quantised) {
        throw no_rule(engine_name,
                      "latent attention in " + std::string(layout.result.formats.k->name));
    }
    add_rows(layout, group, layout.full);
    if (group.component.role == Role::index_key) {
        // A cache of keys and values; the values are zeros.
        add_term(layout, "mla, index value (unused)", group.layers, layout.full,
                 row_factors(group.component, *layout.result.formats.index));
    }
}

void add_group(Layout& layout, const ComponentGroup& group) {
    const Component& component = group.component;
    switch (component.kind) {
    case LayerKind::full_attention:
        if (component.role != Role::index_key) {
            add_rows(layout, group, layout.full);
            return;
        }
        break;
    case LayerKind::sliding_attention:
    case LayerKind::chunked_attention:
        add_rows(layout, group, window_rows(layout, component.units.n));
        return;
    case LayerKind::mla:
        add_latent(layout, group);
        return;
    case LayerKind::mamba1:
    case LayerKind::mamba2:
    case LayerKind::gated_delta:
    case LayerKind::kda:
    case LayerKind::short_conv:
        if (layout.type.states) {
            add_rows(layout, group, {component.units.n, "units"});
            return;
        }
        break;
    case LayerKind::cross_attention:
    case LayerKind::compressed_attention:
    case LayerKind::lightning:
    case LayerKind::gla:
    case LayerKind::rglru:
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

const MlxType& type_of(const ModelPlan& plan) {
    return known_type(find_mlx_type(canonical_type(plan)), engine_name, plan);
}

bool is_activation(const NumericFormat& format) {
    return std::find(std::begin(activation_types), std::end(activation_types), format.name) !=
           std::end(activation_types);
}

CacheFormats formats_of(const Settings& settings, const ModelPlan& plan, const MlxType& type) {
    const NumericFormat& bf16 = numeric_format("bf16");
    CacheFormats formats = resolve_formats(
        settings, plan,
        {&bf16, &bf16, &bf16, &bf16, type.plain_states ? &bf16 : &numeric_format("f32")});
    if (formats.k != formats.v) {
        throw Error("--v: engine mlx has one type for K and V: expected " +
                    std::string(formats.k->name) + ", found " + std::string(formats.v->name));
    }
    if (!is_activation(*formats.k) && !formats.k->name.starts_with("mlx_")) {
        throw Error("--kv: engine mlx has no cache of type " + std::string(formats.k->name) +
                    "; expected bf16, f16, f32 or mlx_8bit to mlx_2bit");
    }
    return formats;
}

/// Rotating caches raise NotImplementedError when they are to be quantised.
void check_quantised(const Layout& layout) {
    const bool rotates = layout.type.windows == MlxType::Windows::rotates &&
                         has_kind(layout.model.spec, LayerKind::sliding_attention);
    if (layout.quantised && rotates) {
        throw Error("--kv: engine mlx does not quantise caches of windows, found " +
                    std::string(layout.result.formats.k->name));
    }
    if (layout.quantised && layout.type.windows == MlxType::Windows::chunks) {
        throw no_rule(engine_name, "chunks in " + std::string(layout.result.formats.k->name));
    }
}

void check_sharing(const Layout& layout) {
    const auto& layers = layout.model.spec.layers;
    const bool shares = std::any_of(layers.begin(), layers.end(), [](const LayerCache& layer) {
        return layer.shared_with.has_value();
    });
    if (shares && !layout.type.shares) {
        throw no_rule(engine_name,
                      "layers that read another layer's cache in " + type_text(layout));
    }
}

/// Before the start of quantisation K and V are what they were computed as.
void delay_quantisation(Layout& layout, std::int64_t start) {
    CacheFormats& formats = layout.result.formats;
    const bool asked = !is_activation(*formats.k);
    layout.quantised = asked && layout.settings.context.count() >= start;
    if (asked && !layout.quantised) {
        layout.result.notes.push_back("MLX-LM quantises a cache from " + format_integer(start) +
                                      " tokens on (quantized-kv-start): bf16 at this context");
        formats.k = formats.v = &numeric_format("bf16");
    }
}

void add_notes(Layout& layout) {
    auto& notes = layout.result.notes;
    const CacheSpec& spec = layout.model.spec;
    if (layout.type.windows == MlxType::Windows::ignored &&
        has_kind(spec, LayerKind::sliding_attention)) {
        notes.push_back("MLX-LM does not use the window of " + type_text(layout) +
                        ": every layer keeps the whole context");
    }
    if (layout.type.windows == MlxType::Windows::rotates &&
        has_kind(spec, LayerKind::sliding_attention)) {
        notes.push_back("a rotating cache also holds the chunk of the prompt being read "
                        "(prefill-step-size, 2,048 tokens), and up to 255 rows more while it "
                        "fills: not counted");
    }
    if (layout.type.latent == MlxType::Latent::expanded) {
        notes.push_back("MLX-LM keeps K and V of every head of " + type_text(layout) +
                        ", not the latent");
    }
    if (layout.type.plain_states) {
        layout.result.savings.push_back("states have the activations' type");
    }
    if (layout.quantised) {
        layout.result.savings.push_back("K and V are " +
                                        std::string(layout.result.formats.k->name));
    }
}

} // namespace

std::span<const EngineOption> mlx_options() {
    return option_list;
}

Reservation reserve_mlx(const Model& model, const Settings& settings, const OptionValues& options) {
    Layout layout{model, type_of(model.plan), settings, padded(settings.context.count())};
    layout.result.formats = formats_of(settings, model.plan, layout.type);
    layout.result.figure.name = "kept by MLX-LM at " + format_integer(settings.context.count()) +
                                " tokens × " + format_integer(settings.sequences);
    delay_quantisation(layout, options.number("quantized-kv-start"));
    check_quantised(layout);
    check_sharing(layout);
    for (const ComponentGroup& group : group_components(model.spec)) {
        add_group(layout, group);
    }
    add_notes(layout);
    return std::move(layout.result);
}

} // namespace kvcaliper
