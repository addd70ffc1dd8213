// SPDX-License-Identifier: Apache-2.0
// What vLLM's scheduler admits one request of so many tokens with: blocks of pages. Read in
// vllm/v1/core/kv_cache_utils.py (groups, unified pages), vllm/v1/kv_cache_interface.py (blocks of
// each spec), model_executor/models/config.py (blocks raised to a state's page), commit 001cabc.
// Steady use is less: blocks behind a window are given back.
#include "core/engines/vllm_layers.h"

#include <algorithm>

namespace kvcaliper {

namespace {

using namespace vllm;
using Kind = LayerSpec::Kind;

constexpr std::int64_t sparse_block = 64;    ///< forced by the sparse latent backend
constexpr std::int64_t block_alignment = 16; ///< of blocks raised to hold a state

constexpr std::string_view state_words = "auto|bfloat16|float16|float32";

constexpr EngineOption option_list[] = {
    {"block-size", "", "1|8|16|32|64|128|256", "16", "tokens per block"},
    {"max-num-batched-tokens", "", "N", "8192", "tokens in flight, held beside a window"},
    {"disable-hybrid-kv-cache-manager", "", "on|off", "off", "windows reserve the whole context"},
    {"mamba-cache-dtype", "", state_words, "auto", "states and convolution; auto: the model's"},
    {"mamba-ssm-cache-dtype", "", state_words, "auto", "recurrent states alone"},
    {"mamba-cache-mode", "", "none|align", "none", "align (prefix caching): two pages per state"},
};

/// What --kv-cache-dtype knows that has a rule here.
constexpr std::string_view cache_types[] = {
    "bf16", "f16", "fp8_e4m3", "fp8_e5m2", "fp8_per_token_head", "int8_per_token_head", "nvfp4"};

struct Request {
    const Settings& settings;
    std::int64_t tokens = 0;
    std::int64_t in_flight = 0;    ///< max_num_batched_tokens
    std::int64_t state_blocks = 1; ///< of one layer's state
};

struct Blocks {
    std::int64_t count = 0;
    std::string name; ///< "blocks = ceil(8,192 / 16)"
};

// ---- blocks ------------------------------------------------------------------------------------

Blocks token_blocks(std::int64_t tokens, std::int64_t block, const std::string& tokens_text) {
    return {divide_up(tokens, block),
            "blocks = ceil(" + tokens_text + " / " + format_integer(block) + ")"};
}

/// Blocks of one layer. A window may begin inside a block: one more.
Blocks blocks_of(const LayerSpec& spec, std::int64_t block, const Request& request) {
    const std::string context = format_integer(request.tokens);
    if (spec.kind == Kind::state) {
        return {request.state_blocks, "blocks"};
    }
    if (spec.kind == Kind::full) {
        return token_blocks(request.tokens, block, context);
    }
    const bool sliding = spec.kind == Kind::sliding;
    const std::int64_t held = checked_add(spec.window - (sliding ? 1 : 0), request.in_flight);
    Blocks blocks =
        token_blocks(std::min(held, request.tokens), block,
                     "min(" + format_integer(spec.window) + (sliding ? " - 1" : "") + " + " +
                         format_integer(request.in_flight) + ", " + context + ")");
    if (sliding) {
        ++blocks.count;
        blocks.name += " + 1";
    }
    return blocks;
}

// ---- terms -------------------------------------------------------------------------------------

std::string page_text(const LayerSpec& spec, std::int64_t block) {
    return spec.kind == Kind::state ? "bytes per page"
                                    : "bytes per page of " + format_integer(block) + " tokens";
}

void add_term(Reservation& result, const Request& request, const LayerSpec& spec,
              std::vector<Factor> slots, const Blocks& blocks, const Factor& page) {
    Term term{spec.label, std::move(slots)};
    term.factors.push_back({blocks.name, blocks.count});
    term.factors.push_back(page);
    if (request.settings.sequences != 1) {
        term.factors.push_back({"sequences", request.settings.sequences});
    }
    result.figure.terms.push_back(std::move(term));
}

/// Every layer has pages of its own size (one group, or models of states alone).
void add_uniform(Reservation& result, const std::vector<LayerSpec>& specs, std::int64_t block,
                 const Request& request) {
    for (const LayerSpec& spec : specs) {
        const std::int64_t page =
            spec.kind == Kind::state ? spec.state_bytes : checked_multiply(block, spec.token_bytes);
        add_term(result, request, spec, {{"layers", spec.layers}}, blocks_of(spec, block, request),
                 {page_text(spec, block), page});
    }
}

// ---- groups of layers --------------------------------------------------------------------------

/// Layers per group: the rarest spec's, or the commonest's where that is below 1.5 times as many.
std::int64_t group_size(const std::vector<LayerSpec>& specs) {
    const auto [fewest, most] =
        std::minmax_element(specs.begin(), specs.end(), [](const LayerSpec& a, const LayerSpec& b) {
            return a.layers < b.layers;
        });
    return 2 * most->layers < 3 * fewest->layers ? most->layers : fewest->layers;
}

/// Tokens per block of a spec whose page must be as large as the largest.
std::int64_t unified_block(const LayerSpec& spec, std::int64_t page) {
    if (spec.kind == Kind::state) {
        return 0;
    }
    if (page % spec.token_bytes != 0) {
        throw no_rule(engine_name, "pages of " + format_integer(page) + " bytes for " + spec.label +
                                       " of " + format_integer(spec.token_bytes) +
                                       " bytes per token");
    }
    return page / spec.token_bytes;
}

void add_groups(Reservation& result, const std::vector<LayerSpec>& specs, std::int64_t page,
                const Request& request) {
    const std::int64_t size = group_size(specs);
    std::int64_t unused = 0;
    for (const LayerSpec& spec : specs) {
        const std::int64_t groups = divide_up(spec.layers, size);
        const std::int64_t block = unified_block(spec, page);
        unused += groups * size - spec.layers;
        add_term(result, request, spec, {{"groups", groups}, {"layer slots per group", size}},
                 blocks_of(spec, block, request), {page_text(spec, block), page});
    }
    if (unused > 0) {
        result.notes.push_back("vLLM puts layers into groups of " + std::to_string(size) + ": " +
                               std::to_string(unused) + " layer slots are padding");
    }
}

/// Attention of several kinds: pages as large as the largest, by more tokens in a block.
void add_mixed(Reservation& result, const std::vector<LayerSpec>& specs, std::int64_t block,
               const Request& request) {
    std::int64_t widest = 0;
    for (const LayerSpec& spec : specs) {
        widest = std::max(widest, spec.token_bytes);
    }
    const std::int64_t page = checked_multiply(block, widest);
    for (const LayerSpec& spec : specs) {
        if (page % checked_multiply(block, spec.token_bytes) != 0) {
            throw no_rule(engine_name, "layers of " + format_integer(spec.token_bytes) + " and " +
                                           format_integer(widest) + " bytes per token together");
        }
    }
    add_groups(result, specs, page, request);
}

/// Attention beside states: the attention's block is raised until its page holds a state, whose
/// page is then padded to it.
void add_hybrid(Reservation& result, const std::vector<LayerSpec>& specs, std::int64_t block,
                const Request& request) {
    std::int64_t token_bytes = 0;
    std::int64_t state_bytes = 0;
    for (const LayerSpec& spec : specs) {
        std::int64_t& known = spec.kind == Kind::state ? state_bytes : token_bytes;
        const std::int64_t bytes = spec.kind == Kind::state ? spec.state_bytes : spec.token_bytes;
        if (known != 0 && known != bytes) {
            throw no_rule(engine_name, "attention or states of several sizes in one hybrid");
        }
        known = bytes;
    }
    const std::int64_t raised = checked_multiply(
        block_alignment, divide_up(state_bytes, checked_multiply(block_alignment, token_bytes)));
    if (raised > block) {
        result.notes.push_back("vLLM raises the block from " + format_integer(block) + " to " +
                               format_integer(raised) +
                               " tokens, so that its page holds a state of " +
                               format_integer(state_bytes) + " bytes");
    }
    add_groups(result, specs, checked_multiply(std::max(raised, block), token_bytes), request);
}

// ---- the choice among them ---------------------------------------------------------------------

bool has(const std::vector<LayerSpec>& specs, Kind kind) {
    return std::any_of(specs.begin(), specs.end(),
                       [&](const LayerSpec& spec) { return spec.kind == kind; });
}

bool need_equal_blocks(const std::vector<LayerSpec>& specs) {
    return std::all_of(specs.begin(), specs.end(), [&](const LayerSpec& spec) {
        return spec.kind == specs.front().kind &&
               (spec.kind == Kind::state || spec.window == specs.front().window);
    });
}

/// Without the hybrid manager windows are full attention, where there is some.
void disable_hybrid(std::vector<LayerSpec>& specs) {
    if (has(specs, Kind::state) && !need_equal_blocks(specs)) {
        throw Error(
            "--engine-opt disable-hybrid-kv-cache-manager: engine vllm can not treat states "
            "and attention alike, expected off");
    }
    for (LayerSpec& spec : specs) {
        if (has(specs, Kind::full) && spec.kind != Kind::state) {
            spec.label += spec.kind == Kind::full ? "" : " (as full)";
            spec.window = 0;
        }
    }
    if (has(specs, Kind::full)) {
        for (LayerSpec& spec : specs) {
            spec.kind = spec.kind == Kind::state ? Kind::state : Kind::full;
        }
    }
}

void add_all(Reservation& result, std::vector<LayerSpec> specs, std::int64_t block,
             const Request& request, bool hybrid_disabled) {
    if (hybrid_disabled) {
        disable_hybrid(specs);
    }
    if (specs.empty() || need_equal_blocks(specs)) {
        add_uniform(result, specs, block, request);
    } else if (has(specs, Kind::state)) {
        add_hybrid(result, specs, block, request);
    } else {
        add_mixed(result, specs, block, request);
    }
}

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
    const bool float32 =
        options.word("mamba-cache-dtype") == "auto" && has_float32_states(canonical_type(plan));
    const NumericFormat& state =
        state_format(options, "mamba-ssm-cache-dtype", float32 ? numeric_format("f32") : conv);
    return resolve_formats(settings, plan,
                           {&bf16, &bf16, &numeric_format("dsa_index_fp8"), &conv, &state});
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
    if (is_sparse(spec) && formats.index->name != "dsa_index_fp8") {
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
    if (has_float32_states(canonical_type(model.plan)) &&
        options.word("mamba-ssm-cache-dtype") == "auto" &&
        options.word("mamba-cache-dtype") == "auto") {
        result.notes.push_back(
            "vLLM keeps states of this type in float32 (the default of Nemotron-H, "
            "mamba_ssm_dtype of Qwen3.5's files); a model that wraps it under an "
            "architecture's name of its own gets the model's type: "
            "mamba-ssm-cache-dtype=bfloat16");
    }
}

/// True when a type whose model code wants one layout has two.
bool is_refused_mix(const std::vector<LayerSpec>& specs, const ModelPlan& plan) {
    return refuses_mixed_windows(canonical_type(plan)) && has(specs, Kind::full) &&
           has(specs, Kind::sliding);
}

} // namespace

std::span<const EngineOption> vllm_options() {
    return option_list;
}

Reservation reserve_vllm(const Model& model, const Settings& settings,
                         const OptionValues& options) {
    Reservation result;
    result.formats = formats_of(settings, model.plan, options);
    check_formats(result.formats, model.spec);
    result.figure.name = "reserved by vLLM for " + format_integer(settings.sequences) +
                         (settings.sequences == 1 ? " request" : " requests") + " of " +
                         format_integer(settings.context.count()) + " tokens, as admitted";
    const Request request{settings, settings.context.count(),
                          options.number("max-num-batched-tokens"),
                          options.word("mamba-cache-mode") == "align" ? 2 : 1};
    auto specs = layer_specs(model, result);
    if (is_refused_mix(specs, model.plan)) {
        throw no_rule(engine_name, "windows on some layers of model_type " + model.plan.model_type);
    }
    const std::int64_t block = is_sparse(model.spec) ? sparse_block : options.number("block-size");
    add_notes(result, model, options);
    add_all(result, std::move(specs), block, request,
            options.flag("disable-hybrid-kv-cache-manager"));
    return result;
}

} // namespace kvcaliper
