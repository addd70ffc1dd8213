// SPDX-License-Identifier: Apache-2.0
// TensorRT-LLM's blocks of tokens, one pool for all layers. Read in a 2026 version of
// tensorrt_llm/_torch/pyexecutor/resource_manager.py, KVCacheManager, and llmapi/llm_args.py,
// KvCacheConfig. With max_attention_window unset all layers have the whole context; a model with
// windows may bring another default, and is refused.
#include "core/engines/profile.h"

#include <algorithm>

namespace kvcaliper {

namespace {

constexpr std::string_view engine_name = "tensorrt_llm";

constexpr EngineOption option_list[] = {
    {"tokens-per-block", "tokens_per_block", "8|16|32|64|128", "32",
     "kv_cache_config.tokens_per_block"},
};

constexpr std::string_view cache_types[] = {"bf16", "f16", "f32", "fp8_e4m3", "nvfp4"};

/// Types with a model in tensorrt_llm/_torch/models.
constexpr std::string_view attention_types[] = {
    "llama",          "mistral",      "mixtral",  "phi3",
    "qwen2",          "qwen2_moe",    "qwen3",    "qwen3_moe",
    "nemotron",       "nemotron-nas", "seed_oss", "starcoder2",
    "glm4_moe",       "apertus",      "chatglm",  "hunyuan_v1_dense",
    "hunyuan_v1_moe", "minimax_m2"};
constexpr std::string_view latent_types[] = {"deepseek_v3"};

template <typename List> bool is_in(const List& list, std::string_view word) {
    return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

void check_type(const ModelPlan& plan) {
    const std::string_view type = canonical_type(plan);
    if (!is_in(attention_types, type) && !is_in(latent_types, type)) {
        throw no_rule_for_type(engine_name, plan);
    }
}

/// The pool is [blocks][layers][1 or 2][tokens · heads · head_dim]: K and V alike.
void check_kinds(const CacheSpec& spec) {
    std::int64_t width = 0;
    for (const ComponentGroup& group : group_components(spec)) {
        const Component& component = group.component;
        if ((component.kind != LayerKind::full_attention && component.kind != LayerKind::mla) ||
            component.role == Role::index_key) {
            throw no_rule(engine_name, component_label(component));
        }
        if (component.kind == LayerKind::full_attention && width != 0 && component.width != width) {
            throw no_rule(engine_name, "heads of several widths");
        }
        width = component.width;
    }
}

void check_sharing(const CacheSpec& spec) {
    if (std::any_of(spec.layers.begin(), spec.layers.end(),
                    [](const LayerCache& layer) { return layer.shared_with.has_value(); })) {
        throw no_rule(engine_name, "layers that read another layer's cache");
    }
}

void check_formats(const CacheFormats& formats) {
    if (formats.k != formats.v) {
        throw Error("--v: engine tensorrt_llm has one type for K and V: expected " +
                    std::string(formats.k->name) + ", found " + std::string(formats.v->name));
    }
    if (!is_in(cache_types, formats.k->name)) {
        throw Error("--kv: engine tensorrt_llm has no cache of type " +
                    std::string(formats.k->name) + "; expected bf16, f16, f32, fp8_e4m3 or nvfp4");
    }
}

void add_blocks(Reservation& result, const ComponentGroup& group, const Settings& settings,
                std::int64_t block) {
    const std::int64_t context = settings.context.count();
    Term term{component_label(group.component),
              {{"layers", group.layers},
               {"blocks = ceil(" + format_integer(context) + " / " + format_integer(block) + ")",
                divide_up(context, block)},
               {"tokens per block", block}}};
    for (Factor& factor :
         row_factors(group.component, result.formats.of(group.component.format_class))) {
        term.factors.push_back(std::move(factor));
    }
    if (settings.sequences != 1) {
        term.factors.push_back({"sequences", settings.sequences});
    }
    result.figure.terms.push_back(std::move(term));
}

} // namespace

std::span<const EngineOption> tensorrt_llm_options() {
    return option_list;
}

Reservation reserve_tensorrt_llm(const Model& model, const Settings& settings,
                                 const OptionValues& options) {
    Reservation result;
    check_type(model.plan);
    check_sharing(model.spec);
    check_kinds(model.spec);
    const NumericFormat& bf16 = numeric_format("bf16");
    result.formats =
        resolve_formats(settings, model.plan, {&bf16, &bf16, &bf16, &bf16, &numeric_format("f32")});
    check_formats(result.formats);
    const std::int64_t block = options.number("tokens-per-block");
    result.figure.name = "blocks of TensorRT-LLM for " + format_integer(settings.sequences) +
                         (settings.sequences == 1 ? " sequence" : " sequences") + " of " +
                         format_integer(settings.context.count()) + " tokens";
    for (const ComponentGroup& group : group_components(model.spec)) {
        add_blocks(result, group, settings, block);
    }
    return result;
}

} // namespace kvcaliper
