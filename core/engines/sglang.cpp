// SPDX-License-Identifier: Apache-2.0
// SGLang's pools, as small as they can be to serve so many sequences of so many tokens at once:
// rows of tokens (slots) for full layers, for sliding ones and, by request, for states, each with
// one page or slot more that padding writes to. Read in sglang 0.5.23: srt/mem_cache/
// memory_pool.py and index_key_cache.py (buffers), kv_cache_configurator.py (latent rows, states
// per request), model_executor/pool_configurator.py (sliding pool).
#include "core/engines/sglang_layout.h"

#include <algorithm>

namespace kvcaliper {

namespace {

using namespace sglang;

constexpr std::int64_t sparse_page = 64;  ///< the only page of DSATokenToKVPool
constexpr std::int64_t scale_block = 128; ///< its latent values per fp32 scale

constexpr EngineOption option_list[] = {
    {"page-size", "", "N|auto", "auto", "tokens per page; auto: 1, and 64 with index keys"},
    {"swa-full-tokens-ratio", "", "R", "0.8", "slots of sliding layers per slot of full ones"},
    {"disable-hybrid-swa-memory", "", "on|off", "off", "windows reserve the whole context"},
    {"disable-radix-cache", "", "on|off", "off",
     "no prefix cache: one state per sequence, a sliding pool for what runs"},
    {"chunked-prefill-size", "", "N", "8192",
     "tokens of a prefill, held by the sliding pool without the radix cache"},
    {"mamba-radix-cache-strategy", "", "auto|no_buffer|extra_buffer|extra_buffer_lazy", "auto",
     "states per sequence: 3, 5 or 4; auto: by model type"},
    {"max-mamba-cache-size", "", "N|auto", "auto", "states in the pool; auto: for the sequences"},
    {"mamba-ssm-dtype", "", "auto|bfloat16|float16|float32", "auto", "states; auto: float32"},
    {"dsa-decode-backend", "", "auto|flashmla_kv|flashmla_sparse|flashmla_auto|fa3|trtllm", "auto",
     "of sparse latent attention; trtllm keeps fp8 rows without scales"},
};

constexpr std::string_view cache_types[] = {"bf16", "f16", "fp8_e4m3", "fp8_e5m2"};

std::string type_text(const Layout& layout) {
    return "model_type " + std::string(layout.type.model_type);
}

// ---- terms -------------------------------------------------------------------------------------

void add_term(Layout& layout, std::string label, std::int64_t layers, const Slots& slots,
              const std::vector<Factor>& row) {
    Term term{std::move(label), {{"layers", layers}, {slots.name, slots.count}}};
    term.factors.insert(term.factors.end(), row.begin(), row.end());
    layout.result.figure.terms.push_back(std::move(term));
}

void add_rows(Layout& layout, const ComponentGroup& group, const Slots& slots) {
    const Component& component = group.component;
    std::vector<Factor> row =
        row_factors(component, layout.result.formats.of(component.format_class));
    if (component.units.kind == Units::Kind::constant && component.units.n != 1) {
        row.insert(row.begin(), {"units", component.units.n});
    }
    add_term(layout, component_label(component), group.layers, slots, row);
}

/// Latent values in fp8 with an fp32 scale per 128, the rotary key in bf16.
std::int64_t packed_bytes(const LatentDims& dims) {
    if (dims.rank % scale_block != 0) {
        throw no_rule(engine_name, "fp8 of a latent of " + format_integer(dims.rank) + " values");
    }
    return checked_add(dims.rank + dims.rank / scale_block * 4, 2 * dims.rope_width);
}

void add_latent(Layout& layout, const ComponentGroup& group) {
    const bool packed = layout.type.sparse && layout.result.formats.k->name == "fp8_e4m3" &&
                        layout.options.word("dsa-decode-backend") != "trtllm";
    if (packed && group.component.role == Role::latent) {
        add_term(layout, "mla, latent with scales and rope key", group.layers, layout.full,
                 {{"bytes per row (fp8, fp32 scales, bf16 rope key)",
                   packed_bytes(latent_dims(layout.model.plan))}});
    } else if (!packed || group.component.role == Role::index_key) {
        add_rows(layout, group, layout.full);
    }
}

void add_group(Layout& layout, const ComponentGroup& group) {
    switch (group.component.kind) {
    case LayerKind::full_attention:
        if (group.component.role != Role::index_key) {
            add_rows(layout, group, layout.full);
            return;
        }
        break;
    case LayerKind::sliding_attention:
    case LayerKind::chunked_attention:
        if (layout.type.windows != SglangType::Windows::none) {
            const bool pooled = is_pooled(layout, group.component.kind);
            add_rows(layout, group, pooled ? layout.sliding : layout.full);
            return;
        }
        break;
    case LayerKind::mla:
        if (layout.type.latent) {
            add_latent(layout, group);
            return;
        }
        break;
    case LayerKind::mamba1:
    case LayerKind::mamba2:
    case LayerKind::gated_delta:
    case LayerKind::kda:
    case LayerKind::short_conv:
        if (layout.type.states) {
            add_rows(layout, group, layout.states);
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
    throw no_rule(engine_name, std::string(to_string(group.component.kind)) + " layers (" +
                                   std::string(to_string(group.component.role)) + ") of " +
                                   type_text(layout));
}

// ---- reading the model and the settings --------------------------------------------------------

const SglangType& type_of(const ModelPlan& plan) {
    return known_type(find_sglang_type(canonical_type(plan)), engine_name, plan);
}

std::int64_t page_of(const Layout& layout) {
    const bool automatic = layout.options.word("page-size") == "auto";
    const std::int64_t usual = layout.type.sparse ? sparse_page : 1;
    const std::int64_t page = automatic ? usual : layout.options.number("page-size");
    if (layout.type.sparse && page != sparse_page) {
        throw Error("--engine-opt page-size: engine sglang keeps index keys in pages of 64, "
                    "expected 64, found " +
                    format_integer(page));
    }
    return page;
}

/// One pool has rows of one width: without the sliding pool all layers must agree.
void check_one_width(const Layout& layout) {
    std::vector<Component> known;
    for (const ComponentGroup& group : group_components(layout.spec)) {
        const Component& component = group.component;
        for (const Component& other : known) {
            if (other.role == component.role && other.elements() != component.elements()) {
                throw no_rule(engine_name, "layers of several widths in one pool");
            }
        }
        known.push_back(component);
    }
}

CacheFormats formats_of(const Settings& settings, const ModelPlan& plan,
                        const OptionValues& options) {
    const std::string& state = options.word("mamba-ssm-dtype");
    if (state != "auto" && settings.state_format != "auto") {
        throw Error("--engine-opt mamba-ssm-dtype: expected auto beside --state " +
                    settings.state_format + ", found " + state);
    }
    const NumericFormat& bf16 = numeric_format("bf16");
    return resolve_formats(settings, plan,
                           {&bf16, &bf16, &numeric_format("dsa_index_fp8"), &bf16,
                            &numeric_format(state == "auto" ? "f32" : state)});
}

bool is_cache_type(const Layout& layout, std::string_view name) {
    if (layout.type.sparse) {
        return name == "bf16" || name == "fp8_e4m3";
    }
    // Blocks with scales: nvfp4 of a latent alone, since that of K and V depends on the kernels.
    return std::find(std::begin(cache_types), std::end(cache_types), name) !=
               std::end(cache_types) ||
           name == (layout.type.latent ? "nvfp4" : "mxfp8");
}

void check_formats(const Layout& layout) {
    const CacheFormats& formats = layout.result.formats;
    if (formats.k != formats.v) {
        throw Error("--v: engine sglang has one type for K and V: expected " +
                    std::string(formats.k->name) + ", found " + std::string(formats.v->name));
    }
    if (!is_cache_type(layout, formats.k->name)) {
        throw Error("--kv: engine sglang has no rule for a cache of type " +
                    std::string(formats.k->name) + "; expected " +
                    (layout.type.sparse ? "bf16 or fp8_e4m3"
                                        : "bf16, f16, fp8_e4m3, fp8_e5m2 or " +
                                              std::string(layout.type.latent ? "nvfp4" : "mxfp8")));
    }
    if (layout.type.sparse && formats.index->name != "dsa_index_fp8") {
        throw Error("--index: engine sglang keeps index keys as dsa_index_fp8, found " +
                    std::string(formats.index->name));
    }
    for (const auto& [option, format] :
         {std::pair{"--conv", formats.conv}, std::pair{"--state", formats.state}}) {
        if (format->name != "bf16" && format->name != "f16" && format->name != "f32") {
            throw Error(std::string(option) + ": engine sglang expects bf16, f16 or f32, found " +
                        std::string(format->name));
        }
    }
}

/// Every layer has rows in the pools, also one that reads another layer's.
CacheSpec unshared(const CacheSpec& spec) {
    CacheSpec all = spec;
    for (LayerCache& layer : all.layers) {
        if (layer.shared_with) {
            layer.components = spec.layers[static_cast<std::size_t>(*layer.shared_with)].components;
            layer.shared_with.reset();
        }
    }
    return all;
}

void add_notes(Layout& layout) {
    auto& notes = layout.result.notes;
    const auto& layers = layout.model.spec.layers;
    if (std::any_of(layers.begin(), layers.end(),
                    [](const LayerCache& layer) { return layer.shared_with.has_value(); })) {
        notes.push_back("SGLang's pools have rows for every layer, also for those that read "
                        "another layer's cache");
    }
    const bool windows = has_kind(layout.spec, LayerKind::sliding_attention) ||
                         has_kind(layout.spec, LayerKind::chunked_attention);
    if (windows && layout.sliding.count == 0) {
        notes.push_back("SGLang has no sliding pool for " + type_text(layout) +
                        " here: every layer reserves the whole context");
    }
    if (layout.type.sparse) {
        layout.result.savings.push_back("index keys are fp8 with one scale per 128 values");
        notes.push_back("on Blackwell SGLang's default for this model is --kv fp8_e4m3 with "
                        "dsa-decode-backend=trtllm");
    }
    if (layout.result.formats.state->name != "f32") {
        layout.result.savings.push_back("states are " +
                                        std::string(layout.result.formats.state->name));
    }
}

} // namespace

std::span<const EngineOption> sglang_options() {
    return option_list;
}

Reservation reserve_sglang(const Model& model, const Settings& settings,
                           const OptionValues& options) {
    Layout layout{model, type_of(model.plan), settings, options, unshared(model.spec)};
    layout.page = page_of(layout);
    layout.result.formats = formats_of(settings, model.plan, options);
    layout.result.figure.name = "reserved by SGLang for " + format_integer(settings.sequences) +
                                (settings.sequences == 1 ? " sequence" : " sequences") + " of " +
                                format_integer(settings.context.count()) + " tokens";
    check_formats(layout);
    size_token_pools(layout);
    size_state_pool(layout);
    if (layout.sliding.count == 0) {
        check_one_width(layout);
    }
    for (const ComponentGroup& group : group_components(layout.spec)) {
        add_group(layout, group);
    }
    add_notes(layout);
    return std::move(layout.result);
}

std::vector<StageLayers> split_sglang(std::int64_t layers, std::int64_t stages) {
    if (stages > layers) {
        throw Error("--pp: expected at most the model's " + std::to_string(layers) +
                    " layers, found " + std::to_string(stages));
    }
    std::vector<StageLayers> result;
    std::int64_t first = 0;
    for (std::int64_t stage = 0; stage < stages; ++stage) {
        const std::int64_t last =
            first + layers / stages + (stage >= stages - layers % stages ? 1 : 0);
        result.push_back({first, last});
        first = last;
    }
    return result;
}

} // namespace kvcaliper
