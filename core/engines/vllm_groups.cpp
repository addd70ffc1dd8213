// SPDX-License-Identifier: Apache-2.0
// Read in vllm/v1/core/kv_cache_utils.py (groups, unified pages, their projection onto a worker),
// v1/kv_cache_interface.py (blocks of each spec) and model_executor/models/config.py (blocks raised
// to a state's page), commit 001cabc and 0.22.
#include "core/engines/vllm_groups.h"

#include <algorithm>

namespace kvcaliper::vllm {

namespace {

using Kind = LayerSpec::Kind;

constexpr std::int64_t block_alignment = 16; ///< of blocks raised to hold a state, at least

// ---- blocks ------------------------------------------------------------------------------------

Blocks token_blocks(std::int64_t tokens, std::int64_t block, const std::string& tokens_text) {
    return {divide_up(tokens, block),
            "blocks = ceil(" + tokens_text + " / " + format_integer(block) + ")"};
}

/// What is held of the last tokens and those in flight, at most the context.
Blocks held_blocks(std::int64_t last, const std::string& last_text, std::int64_t block,
                   const Request& request) {
    return token_blocks(std::min(checked_add(last, request.in_flight), request.tokens), block,
                        "min(" + last_text + " + " + format_integer(request.in_flight) + ", " +
                            format_integer(request.tokens) + ")");
}

Blocks blocks_of(const LayerSpec& spec, std::int64_t block, const Request& request) {
    switch (spec.kind) {
    case Kind::full:
        return full_blocks(block, request);
    case Kind::sliding:
        return window_blocks(spec.window, block, request);
    case Kind::chunked:
        return held_blocks(spec.window, format_integer(spec.window), block, request);
    case Kind::state:
        break;
    }
    return {request.state_blocks, "blocks"};
}

std::string page_text(const LayerSpec& spec, std::int64_t block) {
    return spec.kind == Kind::state ? "bytes per page"
                                    : "bytes per page of " + format_integer(block) + " tokens";
}

// ---- one group ---------------------------------------------------------------------------------

/// Every layer has pages of its own size (one group, or models of states alone).
void add_uniform(Reservation& result, const std::vector<LayerSpec>& specs, const Request& request) {
    for (const LayerSpec& spec : specs) {
        const auto held =
            std::count_if(spec.layers.begin(), spec.layers.end(),
                          [&](std::int64_t layer) { return is_held(layer, request); });
        if (held == 0) {
            continue;
        }
        const std::int64_t page = spec.kind == Kind::state
                                      ? spec.state_bytes
                                      : checked_multiply(request.block, spec.token_bytes);
        add_term(result, request, spec.label, {{"layers", held}},
                 blocks_of(spec, request.block, request), {page_text(spec, request.block), page});
    }
}

// ---- groups of layers --------------------------------------------------------------------------

/// Layers per group: the rarest spec's, or the commonest's where that is below 1.5 times as many.
std::int64_t group_size(const std::vector<LayerSpec>& specs) {
    const auto [fewest, most] =
        std::minmax_element(specs.begin(), specs.end(), [](const LayerSpec& a, const LayerSpec& b) {
            return a.layers.size() < b.layers.size();
        });
    return static_cast<std::int64_t>(2 * most->layers.size() < 3 * fewest->layers.size()
                                         ? most->layers.size()
                                         : fewest->layers.size());
}

std::int64_t group_count(const LayerSpec& spec, std::int64_t size) {
    return divide_up(static_cast<std::int64_t>(spec.layers.size()), size);
}

/// Layers of the fullest group on this rank, which every group has slots for. Groups take the
/// layers of a spec in turn, so that the stages of a pipeline hold some of each.
std::int64_t slots_per_group(const std::vector<LayerSpec>& specs, std::int64_t size,
                             const Request& request) {
    std::int64_t slots = 0;
    for (const LayerSpec& spec : specs) {
        std::vector<std::int64_t> held(static_cast<std::size_t>(group_count(spec, size)));
        for (std::size_t i = 0; i < spec.layers.size(); ++i) {
            held[i % held.size()] += is_held(spec.layers[i], request) ? 1 : 0;
        }
        slots = std::max(slots, *std::max_element(held.begin(), held.end()));
    }
    return slots;
}

std::int64_t held_layers(const std::vector<LayerSpec>& specs, const Request& request) {
    std::int64_t held = 0;
    for (const LayerSpec& spec : specs) {
        held += std::count_if(spec.layers.begin(), spec.layers.end(),
                              [&](std::int64_t layer) { return is_held(layer, request); });
    }
    return held;
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
    if (request.context_ranks > 1) {
        throw Error("--cp: engine vllm has context ranks for models of one group of layers alone, "
                    "expected 1, found " +
                    std::to_string(request.context_ranks));
    }
    const std::int64_t size = group_size(specs);
    const std::int64_t slots = slots_per_group(specs, size, request);
    std::int64_t unused = -held_layers(specs, request);
    for (const LayerSpec& spec : specs) {
        const std::int64_t groups = group_count(spec, size);
        const std::int64_t block = unified_block(spec, page);
        unused += groups * slots;
        add_term(result, request, spec.label,
                 {{"groups", groups}, {"layer slots per group", slots}},
                 blocks_of(spec, block, request), {page_text(spec, block), page});
    }
    if (unused > 0) {
        result.notes.push_back("vLLM puts layers into groups of " + std::to_string(slots) + ": " +
                               std::to_string(unused) + " layer slots are padding");
    }
}

/// Attention of several kinds: pages as large as the largest, by more tokens in a block.
void add_mixed(Reservation& result, const std::vector<LayerSpec>& specs, const Request& request) {
    std::int64_t widest = 0;
    for (const LayerSpec& spec : specs) {
        widest = std::max(widest, spec.token_bytes);
    }
    const std::int64_t page = checked_multiply(request.block, widest);
    for (const LayerSpec& spec : specs) {
        if (page % checked_multiply(request.block, spec.token_bytes) != 0) {
            throw no_rule(engine_name, "layers of " + format_integer(spec.token_bytes) + " and " +
                                           format_integer(widest) + " bytes per token together");
        }
    }
    add_groups(result, specs, page, request);
}

/// Attention beside states: the attention's block is raised until its page holds a state, whose
/// page is then padded to it.
void add_hybrid(Reservation& result, const std::vector<LayerSpec>& specs, const Request& request) {
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
    // platforms/interface.py of 0.22: as much as the smallest block of the kernels, or the block.
    const std::int64_t alignment = std::max(block_alignment, request.block);
    const std::int64_t raised = checked_multiply(
        alignment, divide_up(state_bytes, checked_multiply(alignment, token_bytes)));
    if (raised > request.block) {
        result.notes.push_back("vLLM raises the block from " + format_integer(request.block) +
                               " to " + format_integer(raised) +
                               " tokens, so that its page holds a state of " +
                               format_integer(state_bytes) + " bytes");
    }
    add_groups(result, specs, checked_multiply(std::max(raised, request.block), token_bytes),
               request);
}

// ---- the choice among them ---------------------------------------------------------------------

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

/// Windows and chunks assert that nobody divides the tokens; states have none to divide.
void check_context_ranks(const std::vector<LayerSpec>& specs, const Request& request) {
    if (request.context_ranks > 1 && (has(specs, Kind::sliding) || has(specs, Kind::chunked))) {
        throw Error("--cp: engine vllm does not divide the tokens of windows, expected 1, found " +
                    std::to_string(request.context_ranks));
    }
}

} // namespace

bool is_held(std::int64_t layer, const Request& request) {
    return layer >= request.stage.first && layer < request.stage.last;
}

Blocks full_blocks(std::int64_t block, const Request& request) {
    const std::string context = format_integer(request.tokens);
    if (request.context_ranks == 1) {
        return token_blocks(request.tokens, block, context);
    }
    return token_blocks(divide_up(request.tokens, request.context_ranks), block,
                        "ceil(" + context + " / " + std::to_string(request.context_ranks) + ")");
}

Blocks window_blocks(std::int64_t window, std::int64_t block, const Request& request) {
    Blocks blocks = held_blocks(window - 1, format_integer(window) + " - 1", block, request);
    ++blocks.count;
    blocks.name += " + 1";
    return blocks;
}

void add_term(Reservation& result, const Request& request, const std::string& label,
              std::vector<Factor> slots, const Blocks& blocks, const Factor& page) {
    Term term{label, std::move(slots)};
    term.factors.push_back({blocks.name, blocks.count});
    term.factors.push_back(page);
    if (request.sequences != 1) {
        term.factors.push_back({"sequences", request.sequences});
    }
    result.figure.terms.push_back(std::move(term));
}

bool has(const std::vector<LayerSpec>& specs, Kind kind) {
    return std::any_of(specs.begin(), specs.end(),
                       [&](const LayerSpec& spec) { return spec.kind == kind; });
}

void add_blocks(Reservation& result, std::vector<LayerSpec> specs, const Request& request) {
    if (request.hybrid_disabled) {
        disable_hybrid(specs);
    }
    check_context_ranks(specs, request);
    if (specs.empty() || need_equal_blocks(specs)) {
        add_uniform(result, specs, request);
    } else if (has(specs, Kind::state)) {
        add_hybrid(result, specs, request);
    } else {
        add_mixed(result, specs, request);
    }
}

} // namespace kvcaliper::vllm
