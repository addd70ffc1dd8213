// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/curve_teeth.h"

#include "core/stored_components.h"
#include "core/token_curve.h"

#include <algorithm>

namespace kvcaliper::gui {

namespace {

/// Teeth are drawn up to so many groups: on a logarithmic axis the last of them is then an eleventh
/// of an octave wide, some pixels.
constexpr std::int64_t most_teeth = 16;

/// Counts of tokens in ascending order, each once.
class Counts {
  public:
    void add(Tokens tokens) {
        if (list_.empty() || tokens > list_.back()) {
            list_.push_back(tokens);
        }
    }

    /// The last count before a group is packed and the one at which it is, of all from the last
    /// count added up to `until`.
    void add_edges(Tokens until, std::int64_t group) {
        const std::int64_t last = list_.empty() ? until.count() : list_.back().count();
        for (std::int64_t i = last / group + 1; i <= until.count() / group; ++i) {
            add(Tokens(i * group - 1));
            add(Tokens(i * group));
        }
    }

    const std::vector<Tokens>& list() const { return list_; }

  private:
    std::vector<Tokens> list_;
};

std::vector<Tokens> drawn_counts(const CacheFormats& formats,
                                 const std::vector<CurvePoint>& samples) {
    const std::int64_t group = formats.k->residual_length;
    const Tokens fine(most_teeth * group);
    Counts counts;
    for (const CurvePoint& sample : samples) {
        counts.add_edges(std::min(sample.tokens, fine), group);
        counts.add(sample.tokens <= fine ? sample.tokens : fullest_context(formats, sample.tokens));
    }
    return counts.list();
}

} // namespace

bool has_teeth(const Estimate& estimate) {
    if (estimate.formats.k->residual_length == 0) {
        return false;
    }
    const auto groups = group_components(estimate.model->spec, estimate.formats);
    return std::any_of(groups.begin(), groups.end(), [](const ComponentGroup& group) {
        return group.component.role == Role::key_residual;
    });
}

std::vector<CurvePointData> drawn_points(const Estimate& estimate,
                                         const std::vector<CurvePoint>& samples) {
    std::vector<CurvePointData> points;
    if (samples.empty() || !has_teeth(estimate)) {
        for (const CurvePoint& sample : samples) {
            points.push_back({sample.tokens, sample.required});
        }
        return points;
    }
    const TokenCurve curve(estimate.model->spec, estimate.formats, estimate.settings.sequences);
    for (const Tokens tokens : drawn_counts(estimate.formats, samples)) {
        points.push_back({tokens, curve.at(tokens)});
    }
    return points;
}

} // namespace kvcaliper::gui
