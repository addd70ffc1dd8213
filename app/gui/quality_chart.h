// SPDX-License-Identifier: GPL-3.0-or-later
// What formats cost in outputs beside their bytes, from the answer of `kvcaliper quality --json`.
#pragma once

#include "app/gui/chart_data.h"
#include "core/json_value.h"

namespace kvcaliper::gui {

/// Throws Error naming the key that is missing or wrong. Pairs with f32 are left out: they are the
/// measure, and no cache.
ChartData quality_chart(const JsonValue& answer);

/// One line of JSON on standard input, as `kvcaliper chart --kind quality` writes it; throws Error
/// where there is none.
JsonValue read_quality_answer();

} // namespace kvcaliper::gui
