// SPDX-License-Identifier: Apache-2.0
// The cells of llama.cpp's caches and the terms they make. Inside core/engines only.
#pragma once

#include "core/engines/llama_cpp_types.h"
#include "core/engines/profile.h"

namespace kvcaliper::llama_cpp {

inline constexpr std::string_view engine_name = "llama_cpp";

struct Cells {
    std::int64_t count = 0;
    std::string name; ///< "cells = pad256(1,000)"
};

/// One model being laid out.
struct Layout {
    const Model& model;
    const LlamaCppType& type;
    const OptionValues& options;
    std::int64_t ubatch = 0;
    std::int64_t parallel = 0;
    std::int64_t streams = 0;
    Cells full{};
    Reservation result{};

    bool swa_full() const { return options.flag("swa-full"); }
    bool transposed_v() const { return options.word("flash-attn") == "off"; }
};

/// Cells of a whole context: of every sequence, or of all in one.
Cells full_cells(const Settings& settings, bool unified);
/// Cells of layers with a window, and of one entry per `ratio` tokens.
Cells window_cells(const Layout& layout, std::int64_t window);
Cells compressed_cells(const Layout& layout, std::int64_t ratio);

/// layers × cells × row × streams.
void add_term(Layout& layout, std::string label, std::int64_t layers, const Cells& cells,
              const std::vector<Factor>& row);
void add_rows(Layout& layout, const ComponentGroup& group, const Cells& cells);
/// r and s rows of one sequence each, F32.
void add_state(Layout& layout, const ComponentGroup& group);

} // namespace kvcaliper::llama_cpp
