// SPDX-License-Identifier: GPL-3.0-or-later
// What the chart over the context shows beside its curves: lines of devices, where curves meet, and
// the reads of recomputation.
#pragma once

#include "app/gui/chart_data.h"
#include "app/gui/study.h"

namespace kvcaliper::gui {

struct ContextExtras {
    QString remark;      ///< of the subtitle: what the lines are, what was left out
    QString description; ///< every meeting, in words
};

/// Adds what the study's view asks for to a chart of curves from 1 to `end` tokens.
ContextExtras add_context_extras(const Study& study, Tokens end, CurveChart& chart);

/// What is under the pointer, as HTML: the nearest curve with its terms, the others, the devices,
/// and the meeting that is pointed at (-1: none). `bytes` 0 is no height: the curves alone.
QString context_tip(const Study& study, const CurveChart& chart, Tokens tokens, double bytes,
                    int meeting);

} // namespace kvcaliper::gui
