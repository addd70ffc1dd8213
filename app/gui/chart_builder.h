// SPDX-License-Identifier: GPL-3.0-or-later
// From a study to charts.
#pragma once

#include "app/gui/chart_data.h"
#include "app/gui/study.h"

namespace kvcaliper::gui {

/// "required, engine ideal, bf16 K, f16 V, context 8,192": what the numbers are numbers of.
QString view_text(const Study& study);

/// ", index keys q8_0": the formats of index keys, convolution and states that are set.
QString other_formats_text(const Settings& settings);

/// Uncapped bytes per token of each model, the part that keeps growing apart.
ChartData per_token_chart(const Study& study);
/// Bytes over tokens, log-log, up to the longest maximum context.
ChartData context_chart(const Study& study);
/// One cell per layer, one row per model.
ChartData layers_chart(const Study& study);
/// The curve of one model up to its context, with measured totals on it.
ChartData verify_chart(const Study& study, const QString& id,
                       const std::vector<CurvePointData>& measured);

/// The longest maximum context among the models, at least the study's context.
Tokens longest_context(const Study& study);

} // namespace kvcaliper::gui
