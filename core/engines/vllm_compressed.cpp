// SPDX-License-Identifier: Apache-2.0
// DeepSeek-V4 in vLLM 0.22: windows, compressed entries and compressors in one pool of pages. Read
// in vllm/models/deepseek_v4/attention.py and compressor.py,
// v1/attention/backends/mla/sparse_swa.py (blocks of each cache) and v1/core/kv_cache_utils.py
// (tuples of layers). Its indexer in 4 bits takes as much as in fp8.
#include "core/engines/vllm_groups.h"

#include <algorithm>
#include <map>

namespace kvcaliper::vllm {

namespace {

constexpr std::int64_t full_block = 256;  ///< tokens: DEEPSEEK_SPARSE_SWA's
constexpr std::int64_t window_block = 64; ///< tokens, as many as a page has entries of 4 tokens
constexpr std::int64_t alignment = 576;   ///< of pages, in bytes
constexpr std::int64_t entry_width = 512; ///< head_dim
constexpr std::int64_t entry_bytes = 584; ///< 448 fp8, 64 bf16 and 8 bytes of scales
constexpr std::int64_t fine_ratio = 4;    ///< its groups overlap
constexpr std::int64_t coarse_ratio = 128;
constexpr std::int64_t fine_block = 4; ///< tokens per block of a compressor
constexpr std::int64_t coarse_block = 8;

/// Caches with equal blocks. Layers by the bytes of their pages: a tuple has one of each size.
struct Group {
    std::string label;
    std::int64_t block = 0;
    std::int64_t window = 0; ///< 0 where all tokens are kept
    std::map<std::int64_t, std::vector<std::int64_t>> layers{};
};

struct Groups {
    Group full{"compressed entries and index keys", full_block, 0};
    Group windows{"windows", window_block, 0};
    Group fine{"compressors of 4 tokens", fine_block, 2 * fine_ratio};
    Group coarse{"compressors of 128 tokens", coarse_block, coarse_ratio};

    std::vector<const Group*> windowed() const { return {&windows, &fine, &coarse}; }
};

void add_page(Group& group, std::int64_t bytes, std::int64_t layer) {
    group.layers[round_up(bytes, alignment)].push_back(layer);
}

/// Keys and scores in fp32 of one group of tokens, of two where groups overlap.
void add_compressor(Groups& groups, const Component& component, std::int64_t layer) {
    const bool fine = component.units.n == fine_ratio;
    const std::int64_t values = (fine ? 4 : 2) * component.width;
    Group& group = fine ? groups.fine : groups.coarse;
    add_page(group, group.block * values * 4, layer);
}

void add_component(Groups& groups, const Component& component, std::int64_t layer,
                   const NumericFormat& index) {
    const Units& units = component.units;
    const bool is_index = component.role == Role::index_key;
    if (units.kind == Units::Kind::window && component.width == entry_width) {
        groups.windows.window = units.n;
        add_page(groups.windows, window_block * entry_bytes, layer);
        return;
    }
    const bool known_ratio = units.n == fine_ratio || units.n == coarse_ratio;
    if (units.kind != Units::Kind::groups || !known_ratio ||
        (!is_index && component.width != entry_width)) {
        throw no_rule(engine_name, component_label(component) + " of " +
                                       std::to_string(component.width) + " values over " +
                                       units.to_string() + " tokens");
    }
    const std::int64_t bytes = is_index ? row_bytes(index, component.width).count() : entry_bytes;
    add_page(groups.full, full_block / units.n * bytes, layer);
    add_compressor(groups, component, layer);
}

Groups groups_of(const Model& model, const NumericFormat& index) {
    Groups groups;
    for (std::size_t i = 0; i < model.spec.layers.size(); ++i) {
        for (const Component& component : model.spec.layers[i].components) {
            add_component(groups, component, static_cast<std::int64_t>(i), index);
        }
    }
    return groups;
}

// ---- tuples of layers --------------------------------------------------------------------------

std::int64_t tuples(const Group& group) {
    std::size_t most = 0;
    for (const auto& [page, layers] : group.layers) {
        most = std::max(most, layers.size());
    }
    return static_cast<std::int64_t>(most);
}

/// Tuples per group: from those of the full group up, with the least padding over all groups; the
/// larger of two equals (_approximate_gcd).
std::int64_t tuples_per_group(const Groups& groups) {
    std::vector<std::int64_t> counts{tuples(groups.full)};
    for (const Group* group : groups.windowed()) {
        counts.push_back(tuples(*group));
    }
    std::int64_t best = counts.front();
    std::int64_t least = -1;
    for (std::int64_t size = counts.front();
         size <= *std::max_element(counts.begin(), counts.end()); ++size) {
        std::int64_t padding = 0;
        for (const std::int64_t count : counts) {
            padding += round_up(count, size) - count;
        }
        if (least < 0 || padding <= least) {
            best = size;
            least = padding;
        }
    }
    return best;
}

/// Layers of part `part` of `parts` that the rank holds; of a part it holds nothing of, all count.
std::int64_t held_tuples(const Group& group, std::int64_t part, std::int64_t parts,
                         const Request& request) {
    std::int64_t most = 0;
    std::int64_t whole = 0;
    for (const auto& [page, layers] : group.layers) {
        std::int64_t all = 0;
        std::int64_t held = 0;
        for (auto i = static_cast<std::size_t>(part); i < layers.size();
             i += static_cast<std::size_t>(parts)) {
            ++all;
            held += is_held(layers[i], request) ? 1 : 0;
        }
        whole = std::max(whole, all);
        most = std::max(most, held);
    }
    return most > 0 ? most : whole;
}

/// Pages of the sizes that the full group has on this rank.
std::int64_t tuple_bytes(const Group& full, const Request& request) {
    std::int64_t held = 0;
    std::int64_t all = 0;
    for (const auto& [page, layers] : full.layers) {
        const bool here = std::any_of(layers.begin(), layers.end(),
                                      [&](std::int64_t layer) { return is_held(layer, request); });
        held += here ? page : 0;
        all += page;
    }
    return held > 0 ? held : all;
}

std::int64_t parts_of(const Group& group, std::int64_t size) {
    return divide_up(tuples(group), size);
}

std::int64_t slots_of(const Groups& groups, std::int64_t size, const Request& request) {
    std::int64_t slots = held_tuples(groups.full, 0, 1, request);
    for (const Group* group : groups.windowed()) {
        const std::int64_t parts = parts_of(*group, size);
        for (std::int64_t part = 0; part < parts; ++part) {
            slots = std::max(slots, held_tuples(*group, part, parts, request));
        }
    }
    return slots;
}

} // namespace

void add_compressed(Reservation& result, const Model& model, const Request& request) {
    if (request.context_ranks > 1 || request.hybrid_disabled) {
        throw no_rule(engine_name, "context ranks or no hybrid manager with compressed attention");
    }
    const Groups groups = groups_of(model, *result.formats.index);
    if (groups.full.layers.empty()) {
        throw no_rule(engine_name, "compressed attention of windows alone");
    }
    const std::int64_t size = tuples_per_group(groups);
    const std::int64_t slots = slots_of(groups, size, request);
    const Factor page{"bytes per tuple of pages", tuple_bytes(groups.full, request)};
    add_term(result, request, groups.full.label, {{"tuple slots", slots}},
             full_blocks(full_block, request), page);
    for (const Group* group : groups.windowed()) {
        if (group->layers.empty()) {
            continue;
        }
        add_term(result, request, group->label,
                 {{"groups", parts_of(*group, size)}, {"tuple slots", slots}},
                 window_blocks(group->window, group->block, request), page);
    }
    result.savings.push_back("entries are 584 bytes of fp8 with a rotary part in bf16");
    result.notes.push_back("vLLM gives every block of DeepSeek-V4 a page of each size for " +
                           std::to_string(slots) +
                           " layers: compressors of a few tokens take as much as compressed "
                           "entries, in proportion to max-num-batched-tokens");
}

} // namespace kvcaliper::vllm
