// SPDX-License-Identifier: Apache-2.0
// launch.cuh for formats that keep recent tokens apart.
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/pack.cuh"
#include "kernels/cuda/residual.cuh"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

inline void run(const PackView& view, const LaunchSite& site) {
    const LaunchPlan plan = plan_pack(view, site.facts);
    accepted(plan, "packing");
    const std::int64_t groups =
        view.sequences * view.rows * view.count * view.width / packing_of(view.format).group;
    launch(pack_groups, plan.grid, kBlockThreads, plan.shared_bytes, site.stream, view, groups);
}

template <unsigned Columns, unsigned Heads>
void attend_residual_as(const ResidualAttentionView& view, const LaunchPlan& plan, float* partials,
                        const LaunchSite& site) {
    constexpr unsigned chunk = residual_chunk(Columns, Heads);
    launch(attend_residual_split<Columns, Heads, chunk>, plan.grid, kBlockThreads,
           plan.shared_bytes, site.stream, view, plan.shape, log2_scale(view.step.scale), partials);
}

/// The narrowest kernels are left out: rows of 64 take those of 128.
template <unsigned Heads>
void attend_residual(const ResidualAttentionView& view, const LaunchPlan& plan, float* partials,
                     const LaunchSite& site) {
    switch (plan.columns) {
    case 4:
        return attend_residual_as<4, Heads>(view, plan, partials, site);
    case 8:
        return attend_residual_as<8, Heads>(view, plan, partials, site);
    default:
        return attend_residual_as<16, 1>(view, plan, partials, site);
    }
}

inline void run(const ResidualAttentionView& view, void* workspace, const LaunchSite& site) {
    const LaunchPlan plan = plan_attention(view, site.facts, site.splits);
    accepted(plan, "attention with a residual");
    auto* const partials = static_cast<float*>(workspace);
    if (plan.heads == 1) {
        attend_residual<1>(view, plan, partials, site);
    } else {
        attend_residual<kGroupedHeads>(view, plan, partials, site);
    }
    merge(plan, view.step.out, view.step.value_width, partials, site, view.step.sinks,
          view.step.heads);
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
