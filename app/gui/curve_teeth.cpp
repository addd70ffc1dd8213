// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/curve_teeth.h"

#include "core/stored_components.h"
#include "core/token_curve.h"

#include <algorithm>
#include <set>

namespace kvcaliper::gui {

namespace {

/// Teeth are drawn up to so many groups: on a logarithmic axis the last of them is then an eleventh
/// of an octave wide, some pixels.
constexpr std::int64_t most_teeth = 16;

/// The counts of the samples, of all teeth among them that are drawn, and of what is shown.
std::set<Tokens> drawn_counts(const CacheFormats& formats, const std::vector<CurvePoint>& samples,
                              const std::vector<Tokens>& shown) {
    const std::int64_t group = formats.k->residual_length;
    const Tokens fine(most_teeth * group), first = samples.front().tokens;
    std::set<Tokens> counts;
    Tokens before = first;
    for (const CurvePoint& sample : samples) {
        const std::int64_t teeth = std::min(sample.tokens, fine).count() / group;
        for (std::int64_t i = before.count() / group + 1; i <= teeth; ++i) {
            counts.insert({Tokens(i * group - 1), Tokens(i * group)});
        }
        const Tokens tip = fullest_context(formats, sample.tokens);
        counts.insert(sample.tokens <= fine || tip < first ? sample.tokens : tip);
        before = sample.tokens;
    }
    for (const Tokens tokens : shown) {
        if (tokens >= first && tokens <= before) {
            counts.insert({fullest_context(formats, tokens), tokens});
        }
    }
    return counts;
}

} // namespace

bool has_teeth(const Estimate& estimate) {
    return packs(estimate.model->spec, estimate.formats, Role::key);
}

std::vector<CurvePointData> drawn_points(const Estimate& estimate,
                                         const std::vector<CurvePoint>& samples,
                                         const std::vector<Tokens>& shown) {
    std::vector<CurvePointData> points;
    if (samples.empty() || !has_teeth(estimate)) {
        for (const CurvePoint& sample : samples) {
            points.push_back({sample.tokens, sample.required});
        }
        return points;
    }
    const TokenCurve curve(estimate.model->spec, estimate.formats, estimate.settings.sequences);
    for (const Tokens tokens : drawn_counts(estimate.formats, samples, shown)) {
        points.push_back({tokens, curve.at(tokens)});
    }
    return points;
}

} // namespace kvcaliper::gui
