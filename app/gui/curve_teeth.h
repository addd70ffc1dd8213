// SPDX-License-Identifier: GPL-3.0-or-later
// The curve of a cache that shrinks whenever a group of K is packed: a saw too fine for most of a
// chart, and sampled anywhere it would show teeth that are none.
#pragma once

#include "app/gui/chart_data.h"
#include "core/estimate.h"

#include <vector>

namespace kvcaliper::gui {

/// The points as they are drawn: both sides of every tooth as long as teeth are wide enough to be
/// seen, further out the tip of each tooth that a sample falls in, and both sides again at the
/// counts that are shown as points of their own. The samples as they are for other caches.
std::vector<CurvePointData> drawn_points(const Estimate& estimate,
                                         const std::vector<CurvePoint>& samples,
                                         const std::vector<Tokens>& shown = {});

/// True where a curve is drawn with teeth.
bool has_teeth(const Estimate& estimate);

} // namespace kvcaliper::gui
