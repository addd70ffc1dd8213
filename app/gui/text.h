// SPDX-License-Identifier: GPL-3.0-or-later
// Core's texts for Qt, and the words the window uses for core's terms.
#pragma once

#include "core/cache_spec.h"
#include "core/units.h"

#include <QString>

#include <string>
#include <string_view>

namespace kvcaliper::gui {

/// tr() of functions outside any class, under the context that lupdate gives their texts.
QString tr(const char* source);

QString text(std::string_view utf8);
std::string utf8(const QString& text);

/// "68.6 KiB"; for tables and labels.
QString bytes_text(const Ratio& bytes);
/// "70,272 B" or "2725/2 B": never rounded.
QString exact_text(const Ratio& bytes);
/// The same for what may be missing: "−12 MiB".
QString signed_text(std::int64_t bytes);
/// "1,024".
QString integer_text(std::int64_t value);

QString kind_text(LayerKind kind);
/// The kinds of what a layer keeps, in order; none for an MLP or a layer that reads another's
/// cache.
std::vector<LayerKind> kinds_of(const LayerCache& layer);
/// "full attention + Mamba 2", "shared with another layer" or "keeps nothing".
QString layer_text(const LayerCache& layer);
QString role_text(Role role);

/// "sliding + full attention": the kinds of a model, in order of appearance.
QString kinds_text(const CacheSpec& spec);
/// "52 × sliding attention (1,024 tokens), 10 × full attention".
QString layers_text(const CacheSpec& spec);

} // namespace kvcaliper::gui
