// SPDX-License-Identifier: Apache-2.0
// What vLLM's scheduler admits one request of so many tokens with: blocks of pages. Formats and
// options as in vllm/config/cache.py and engine/arg_utils.py, commit 001cabc; context ranks as in
// config/model.py and config/parallel.py of 0.22.
// Steady use is less: blocks behind a window are given back.
#include "core/engines/vllm_groups.h"

#include <algorithm>

namespace kvcaliper {

namespace {

using namespace vllm;
using Kind = LayerSpec::Kind;

constexpr std::int64_t index_block = 128; ///< forced by MiniMax-M3's indexer (0.33)
constexpr std::int64_t sparse_block = 64; ///< forced by the sparse latent backend

constexpr std::string_view compressed_type = "deepseek_v4";
constexpr std::string_view state_words = "auto|bfloat16|float16|float32";

constexpr EngineOption option_list[] = {
    {"block-size", "", "1|8|16|32|64|128|256", "16", "tokens per block"},
    {"max-num-batched-tokens", "", "N", "8192", "tokens in flight, held beside a window"},
    {"async-scheduling", "", "on|off", "off",
     "on: a batch more in flight than pipeline stages, as 0.33 counts them for windows"},
    {"disable-hybrid-kv-cache-manager", "", "on|off", "off", "windows reserve the whole context"},
    {"mamba-cache-dtype", "", state_words, "auto", "states and convolution; auto: the model's"},
    {"mamba-ssm-cache-dtype", "", state_words, "auto", "recurrent states alone"},
    {"mamba-cache-mode", "", "none|align", "none", "align (prefix caching): two pages per state"},
    {"decode-context-parallel-size", "dcp", "N", "1",
     "tensor ranks that share the tokens of one sequence among them"},
};

/// What --kv-cache-dtype knows that has a rule here.
constexpr std::string_view cache_types[] = {
    "bf16", "f16", "fp8_e4m3", "fp8_e5m2", "fp8_per_token_head", "int8_per_token_head", "nvfp4"};

// ---- formats -----------------------------------------------------------------------------------

const NumericFormat& state_format(const OptionValues& options, std::string_view option,
                                  const NumericFormat& automatic) {
    const std::string& word = options.word(option);
    return word == "auto" ? automatic : numeric_format(word);
}

void check_set_once(const OptionValues& options, std::string_view option, const char* flag,
                    const std::string& format) {
    if (options.word(option) != "auto" && format != "auto") {
        throw Error("--engine-opt " + std::string(option) + ": expected auto beside " + flag + " " +
                    format + ", found " + options.word(option));
    }
}

/// The model's 16-bit type for everything but index keys, and for the states of some types.
CacheFormats formats_of(const Settings& settings, const ModelPlan& plan,
                        const OptionValues& options) {
    check_set_once(options, "mamba-cache-dtype", "--conv", settings.conv_format);
    check_set_once(options, "mamba-cache-dtype", "--state", settings.state_format);
    check_set_once(options, "mamba-ssm-cache-dtype", "--state", settings.state_format);
    const NumericFormat& bf16 = numeric_format("bf16");
    const NumericFormat& conv = state_format(options, "mamba-cache-dtype", bf16);
    const NumericFormat* fixed = fixed_state_format(plan);
    const NumericFormat& state =
        state_format(options, "mamba-ssm-cache-dtype", fixed ? *fixed : conv);
    const NumericFormat& index = has_plain_index(plan) ? bf16 : numeric_format("dsa_index_fp8");
    const NumericFormat& kv = // the only one of DeepSeek-V4: its attention asserts it
        canonical_type(plan) == compressed_type ? numeric_format("fp8_e4m3") : bf16;
    return resolve_formats(settings, plan, {&kv, &kv, &index, &conv, &state});
}

bool is_compressed(const CacheSpec& spec) {
    return std::any_of(spec.layers.begin(), spec.layers.end(), [](const LayerCache& layer) {
        return std::any_of(layer.components.begin(), layer.components.end(),
                           [](const Component& component) {
                               return component.kind == LayerKind::compressed_attention;
                           });
    });
}

void check_formats(const CacheFormats& formats, const CacheSpec& spec) {
    if (formats.k != formats.v) {
        throw Error("--v: engine vllm has one type for K and V: expected " +
                    std::string(formats.k->name) + ", found " + std::string(formats.v->name));
    }
    if (std::find(std::begin(cache_types), std::end(cache_types), formats.k->name) ==
        std::end(cache_types)) {
        throw Error("--kv: engine vllm has no cache of type " + std::string(formats.k->name) +
                    "; expected bf16, f16, fp8_e4m3, fp8_e5m2, fp8_per_token_head, "
                    "int8_per_token_head or nvfp4");
    }
    if (is_compressed(spec) && formats.k->name != "fp8_e4m3") {
        throw Error("--kv: engine vllm keeps compressed attention as fp8_ds_mla, expected "
                    "fp8_e4m3, found " +
                    std::string(formats.k->name));
    }
    if ((is_sparse(spec) || is_compressed(spec)) && formats.index->name != "dsa_index_fp8") {
        throw Error("--index: engine vllm keeps index keys as dsa_index_fp8, found " +
                    std::string(formats.index->name));
    }
}

bool keeps(const CacheSpec& spec, FormatClass format_class) {
    const auto groups = group_components(spec);
    return std::any_of(groups.begin(), groups.end(), [&](const ComponentGroup& group) {
        return group.component.format_class == format_class;
    });
}

void add_notes(Reservation& result, const Model& model, const OptionValues& options) {
    if (keeps(model.spec, FormatClass::state)) {
        result.savings.push_back("states are " + std::string(result.formats.state->name) +
                                 " (mamba-ssm-cache-dtype " +
                                 options.word("mamba-ssm-cache-dtype") + ")");
    }
    if (is_sparse(model.spec)) {
        result.savings.push_back("index keys are fp8 with one scale per 128 values");
        result.notes.push_back("vLLM's sparse latent attention has blocks of 64 tokens, and an "
                               "index key on layers that reuse another's choice, too");
    }
    const NumericFormat* fixed = fixed_state_format(model.plan);
    if (fixed != nullptr && result.formats.state == fixed) {
        result.notes.push_back("vLLM keeps recurrent states of " +
                               (model.plan.architecture.empty()
                                    ? "model_type " + model.plan.model_type
                                    : model.plan.architecture) +
                               " in " + std::string(fixed->name) + ", not in the model's type");
    }
}

/// True when a type whose model code wants one layout has two.
bool is_refused_mix(const std::vector<LayerSpec>& specs, const ModelPlan& plan) {
    return refuses_mixed_windows(canonical_type(plan)) && has(specs, Kind::full) &&
           has(specs, Kind::sliding);
}

Request request_of(const Settings& settings, const OptionValues& options) {
    Request request;
    request.tokens = settings.context.count();
    request.sequences = settings.sequences;
    request.block = options.number("block-size");
    const std::int64_t batches =
        options.flag("async-scheduling") ? checked_add(settings.parallel.pipeline, 1) : 1;
    request.in_flight = checked_multiply(batches, options.number("max-num-batched-tokens"));
    request.state_blocks = options.word("mamba-cache-mode") == "align" ? 2 : 1;
    request.hybrid_disabled = options.flag("disable-hybrid-kv-cache-manager");
    return request;
}

/// What the rank that holds these layers reserves.
Reservation reserve_on(const Model& model, const Settings& settings, const OptionValues& options,
                       const StageLayers& stage, std::int64_t ranks_of_context) {
    Reservation result;
    result.formats = formats_of(settings, model.plan, options);
    check_formats(result.formats, model.spec);
    result.figure.name = "reserved by vLLM for " + format_integer(settings.sequences) +
                         (settings.sequences == 1 ? " request" : " requests") + " of " +
                         format_integer(settings.context.count()) + " tokens, as admitted";
    Request request = request_of(settings, options);
    request.stage = stage;
    request.context_ranks = ranks_of_context;
    if (is_compressed(model.spec)) {
        add_compressed(result, model, request);
        return result;
    }
    auto specs = layer_specs(model, result);
    if (is_refused_mix(specs, model.plan)) {
        throw no_rule(engine_name, "windows on some layers of model_type " + model.plan.model_type);
    }
    if (is_sparse(model.spec)) {
        request.block = sparse_block;
    } else if (has_plain_index(model.plan)) {
        request.block = index_block;
    }
    add_notes(result, model, options);
    add_blocks(result, std::move(specs), request);
    return result;
}

// ---- ranks -------------------------------------------------------------------------------------

struct Heads {
    std::int64_t query = 0;
    std::int64_t kv = 0;
};

/// Of the first attention layer; none where all are latent.
Heads attention_heads(const ModelPlan& plan) {
    for (const LayerPlan& layer : plan.layers) {
        for (const LayerPart& part : layer.parts) {
            if (const auto* dims = std::get_if<AttentionDims>(&part.dims)) {
                return {dims->heads, dims->kv_heads};
            }
        }
    }
    return {};
}

Error context_error(const std::string& expected, std::int64_t found) {
    return Error("--engine-opt decode-context-parallel-size: expected " + expected + ", found " +
                 std::to_string(found));
}

} // namespace

/// Replicas of KV heads share the tokens: there must be as many (ModelConfig's
/// verify_with_parallel_config).
void check_vllm_spread(const Model& model, const Settings& settings, const OptionValues& options) {
    const std::int64_t shared = options.number("decode-context-parallel-size");
    const std::int64_t tensor = settings.parallel.tensor;
    if (tensor % shared != 0) {
        throw context_error("a divisor of --tp " + std::to_string(tensor), shared);
    }
    const Heads heads = attention_heads(model.plan);
    if (shared == 1 || heads.kv == 0) {
        return;
    }
    if (tensor <= heads.kv || shared > tensor / heads.kv) {
        throw context_error("at most the replicas of " + std::to_string(heads.kv) +
                                " KV heads on --tp " + std::to_string(tensor),
                            shared);
    }
    if (heads.query / heads.kv % shared != 0) {
        throw context_error("a divisor of the " + std::to_string(heads.query / heads.kv) +
                                " query heads of each KV head",
                            shared);
    }
}

std::span<const EngineOption> vllm_options() {
    return option_list;
}

Reservation reserve_vllm(const Model& model, const Settings& settings,
                         const OptionValues& options) {
    const StageLayers all{0, static_cast<std::int64_t>(model.plan.layers.size())};
    return reserve_on(model, settings, options, all, 1);
}

Reservation reserve_vllm_stage(const Model& divided, const Settings& settings,
                               const OptionValues& options, const StageLayers& layers) {
    return reserve_on(divided, settings, options, layers, context_ranks(settings));
}

} // namespace kvcaliper
