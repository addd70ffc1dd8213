// SPDX-License-Identifier: Apache-2.0
#include "core/engines/llama_cpp_layout.h"

#include <algorithm>

namespace kvcaliper::llama_cpp {

namespace {

constexpr std::int64_t pad = 256; ///< of n_ctx and of the cells of sliding layers

/// The widest V of all layers (n_embd_v_gqa_max): what each has when V is stored transposed.
std::int64_t widest_value(const CacheSpec& spec) {
    std::int64_t widest = 0;
    for (const ComponentGroup& group : group_components(spec)) {
        if (group.component.role == Role::value) {
            widest = std::max(widest, group.component.elements());
        }
    }
    return widest;
}

} // namespace

// ---- cells -------------------------------------------------------------------------------------

Cells full_cells(const Settings& settings, bool unified) {
    const std::int64_t tokens = settings.context.count();
    if (!unified || settings.sequences == 1) {
        return {round_up(tokens, pad), "cells = pad256(" + format_integer(tokens) + ")"};
    }
    return {round_up(checked_multiply(tokens, settings.sequences), pad),
            "cells = pad256(" + format_integer(tokens) + " × " +
                format_integer(settings.sequences) + ")"};
}

Cells window_cells(const Layout& layout, std::int64_t window) {
    if (layout.swa_full()) {
        return layout.full;
    }
    const std::int64_t sequences = layout.streams == 1 ? layout.parallel : 1;
    const std::int64_t held = checked_add(checked_multiply(window, sequences), layout.ubatch);
    const std::string windows =
        format_integer(window) + (sequences == 1 ? "" : " × " + format_integer(sequences));
    return {round_up(std::min(layout.full.count, held), pad),
            "cells = pad256(min(" + format_integer(layout.full.count) + ", " + windows + " + " +
                format_integer(layout.ubatch) + "))"};
}

Cells compressed_cells(const Layout& layout, std::int64_t ratio) {
    return {round_up(divide_up(layout.full.count, ratio), pad),
            "cells = pad256(ceil(" + format_integer(layout.full.count) + " / " +
                std::to_string(ratio) + "))"};
}

// ---- terms -------------------------------------------------------------------------------------

void add_term(Layout& layout, std::string label, std::int64_t layers, const Cells& cells,
              const std::vector<Factor>& row) {
    Term term{std::move(label), {{"layers", layers}, {cells.name, cells.count}}};
    term.factors.insert(term.factors.end(), row.begin(), row.end());
    if (layout.streams != 1) {
        term.factors.push_back({"streams", layout.streams});
    }
    layout.result.figure.terms.push_back(std::move(term));
}

void add_rows(Layout& layout, const ComponentGroup& group, const Cells& cells) {
    const Component& component = group.component;
    const NumericFormat& format = layout.result.formats.of(component.format_class);
    std::vector<Factor> row = row_factors(component, format);
    if (component.role == Role::value && layout.transposed_v()) {
        row = {{"values of the widest layer", widest_value(layout.model.spec)},
               {"bytes per element (" + std::string(format.name) + ")", format.bytes_per_block}};
    }
    add_term(layout, component_label(component), group.layers, cells, row);
    if (component.role == Role::index_key && component.kind == LayerKind::full_attention) {
        // A cache of keys and values whose values nobody reads (MiniMax-M3).
        add_term(layout, "full attention, index value (unused)", group.layers, cells, row);
    }
}

void add_state(Layout& layout, const ComponentGroup& group) {
    const Component& component = group.component;
    Term term{component_label(component), {{"layers", group.layers}}};
    if (component.units.n != 1) {
        term.factors.push_back({"units", component.units.n});
    }
    for (Factor& factor : row_factors(component, numeric_format("f32"))) {
        term.factors.push_back(std::move(factor));
    }
    if (layout.parallel != 1) {
        term.factors.push_back({"sequences", layout.parallel});
    }
    layout.result.figure.terms.push_back(std::move(term));
}

} // namespace kvcaliper::llama_cpp
