// SPDX-License-Identifier: Apache-2.0
#include "core/engines/sglang_layout.h"

#include <algorithm>

namespace kvcaliper::sglang {

namespace {

constexpr std::int64_t states_per_request = 3;  ///< with the prefix (radix) cache
constexpr std::int64_t eviction_interval = 128; ///< SGLANG_SWA_EVICTION_INTERVAL
constexpr std::int64_t prefills_in_flight = 2;  ///< chunks, with the overlapping scheduler

/// "8,192", "pad64(1,000)".
std::string padded_text(std::int64_t tokens, std::int64_t page) {
    return tokens % page == 0 ? format_integer(tokens)
                              : "pad" + format_integer(page) + "(" + format_integer(tokens) + ")";
}

std::string times_text(std::int64_t sequences, const std::string& each) {
    return (sequences == 1 ? "" : format_integer(sequences) + " × ") + each;
}

/// Whole pages of every sequence.
std::int64_t asked_tokens(const Layout& layout) {
    return checked_multiply(round_up(layout.settings.context.count(), layout.page),
                            layout.settings.sequences);
}

Slots with_padding_page(std::int64_t tokens, const std::string& text, std::int64_t page) {
    return {checked_add(tokens, page), "slots = (" + text + " + " + format_integer(page) + ")"};
}

/// floor(tokens · ratio), in whole pages.
std::int64_t sliding_share(std::int64_t tokens, const Ratio& ratio, std::int64_t page) {
    return (ratio * Ratio(tokens)).floor() / page * page;
}

/// What SGLang must be able to promise: each prompt's window and a page of headroom, and one slot
/// more than that of one request (validate_swa_pool_size).
std::int64_t least_sliding_tokens(const Layout& layout, std::int64_t window) {
    const std::int64_t each =
        checked_add(std::min(layout.settings.context.count(), window), layout.page);
    return round_up(std::max(checked_multiply(each, layout.settings.sequences),
                             checked_add(window, layout.page + 1)),
                    layout.page);
}

/// Pools by ratio: the sliding one follows the full one, which is raised where that is too little.
void size_by_ratio(Layout& layout, std::int64_t window) {
    const Ratio ratio = layout.options.ratio("swa-full-tokens-ratio");
    const std::int64_t asked = asked_tokens(layout);
    std::int64_t tokens = asked;
    const std::int64_t least = least_sliding_tokens(layout, window);
    if (sliding_share(tokens, ratio, layout.page) < least) {
        const Ratio needed = Ratio(least) / ratio;
        tokens = round_up(divide_up(needed.numerator(), needed.denominator()), layout.page);
        layout.full = with_padding_page(tokens, format_integer(tokens), layout.page);
        layout.result.notes.push_back("the full pool is raised from " + format_integer(asked) +
                                      " to " + format_integer(tokens) + " tokens, so that " +
                                      layout.options.word("swa-full-tokens-ratio") +
                                      " of it holds the windows");
    }
    layout.sliding = with_padding_page(sliding_share(tokens, ratio, layout.page),
                                       "floor(" + layout.options.word("swa-full-tokens-ratio") +
                                           " × " + format_integer(tokens) + ")",
                                       layout.page);
}

/// Without a prefix cache: windows of what runs, and prefills in flight (compute_swa_request_cap).
void size_by_requests(Layout& layout, std::int64_t window) {
    const std::int64_t each =
        checked_add(window, checked_add(eviction_interval, checked_multiply(2, layout.page)));
    const std::int64_t in_flight = checked_add(
        checked_multiply(prefills_in_flight, layout.options.number("chunked-prefill-size")),
        layout.page);
    const std::int64_t tokens = round_up(
        checked_add(checked_multiply(each, layout.settings.sequences), in_flight), layout.page);
    layout.sliding = with_padding_page(
        tokens,
        times_text(layout.settings.sequences, "(" + format_integer(window) + " + 128 + 2 × " +
                                                  format_integer(layout.page) + ")") +
            " + 2 × " + layout.options.word("chunked-prefill-size") + " + " +
            format_integer(layout.page),
        layout.page);
}

std::int64_t widest_window(const Layout& layout) {
    std::int64_t window = 0;
    for (const ComponentGroup& group : group_components(layout.spec)) {
        if (is_pooled(layout, group.component.kind)) {
            window = std::max(window, group.component.units.n);
        }
    }
    return window;
}

/// States one running sequence takes (_calculate_mamba_ratio).
std::int64_t states_each(const Layout& layout) {
    if (layout.options.flag("disable-radix-cache")) {
        return 1;
    }
    const std::string& strategy = layout.options.word("mamba-radix-cache-strategy");
    if (strategy == "extra_buffer_lazy") {
        return states_per_request + 1;
    }
    const bool extra =
        strategy == "extra_buffer" || (strategy == "auto" && layout.type.extra_buffer);
    return states_per_request + (extra ? 2 : 0);
}

} // namespace

bool is_pooled(const Layout& layout, LayerKind kind) {
    const bool window =
        kind == LayerKind::sliding_attention || kind == LayerKind::chunked_attention;
    return window && layout.type.windows == SglangType::Windows::pooled &&
           !layout.options.flag("disable-hybrid-swa-memory");
}

void size_token_pools(Layout& layout) {
    layout.full =
        with_padding_page(asked_tokens(layout),
                          times_text(layout.settings.sequences,
                                     padded_text(layout.settings.context.count(), layout.page)),
                          layout.page);
    const std::int64_t window = widest_window(layout);
    if (window == 0) {
        return;
    }
    if (!has_kind(layout.spec, LayerKind::full_attention)) {
        layout.sliding = layout.full; // no full pool whose share it could be
    } else if (layout.options.flag("disable-radix-cache")) {
        size_by_requests(layout, window);
    } else {
        size_by_ratio(layout, window);
    }
}

void size_state_pool(Layout& layout) {
    const std::int64_t each = states_each(layout);
    const std::int64_t least = checked_multiply(each, layout.settings.sequences);
    if (layout.options.word("max-mamba-cache-size") == "auto") {
        layout.states = {least + 1,
                         "slots = (" + times_text(layout.settings.sequences, format_integer(each)) +
                             " + 1)"};
        return;
    }
    const std::int64_t size = layout.options.number("max-mamba-cache-size");
    if (size < least) {
        throw Error("--engine-opt max-mamba-cache-size: expected at least " +
                    format_integer(least) + " (" + format_integer(each) +
                    " states for each sequence), found " + format_integer(size));
    }
    layout.states = {size + 1, "slots = (" + format_integer(size) + " + 1)"};
}

} // namespace kvcaliper::sglang
