// SPDX-License-Identifier: Apache-2.0
// launch.cuh for pages and for formats that keep recent tokens apart.
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/pack.cuh"
#include "kernels/cuda/placed.cuh"

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
void attend_placed_as(const PlacedView& view, const LaunchPlan& plan, float* partials,
                      const LaunchSite& site) {
    constexpr unsigned chunk = placed_chunk(Columns, Heads);
    launch(attend_placed_split<Columns, Heads, chunk>, plan.grid, kBlockThreads, plan.shared_bytes,
           site.stream, view, plan.shape, log2_scale(view.step.scale), partials);
}

template <unsigned Heads>
void attend_placed(const PlacedView& view, const LaunchPlan& plan, float* partials,
                   const LaunchSite& site) {
    switch (plan.columns) {
    case 4:
        return attend_placed_as<4, Heads>(view, plan, partials, site);
    case 8:
        return attend_placed_as<8, Heads>(view, plan, partials, site);
    default:
        return attend_placed_as<16, 1>(view, plan, partials, site);
    }
}

inline void run_placed(const PlacedView& view, const LaunchPlan& plan, void* workspace,
                       const LaunchSite& site) {
    auto* const partials = static_cast<float*>(workspace);
    if (plan.heads == 1) {
        attend_placed<1>(view, plan, partials, site);
    } else {
        attend_placed<kGroupedHeads>(view, plan, partials, site);
    }
    merge(plan, view.step.out, view.step.value_width, partials, site, view.step.sinks,
          view.step.heads);
}

inline void run(const PagedAttentionView& view, void* workspace, const LaunchSite& site) {
    const LaunchPlan plan = plan_attention(view, site.facts, site.splits);
    run_placed({view.step, view.table, view.table_pages, view.page, nullptr, nullptr, 0, 0, 0, 0},
               accepted(plan, "paged attention"), workspace, site);
}

inline void run(const ResidualAttentionView& view, void* workspace, const LaunchSite& site) {
    const LaunchPlan plan = plan_attention(view, site.facts, site.splits);
    run_placed({view.step, nullptr, 0, 0, view.recent_k, view.recent_v, view.key_slots,
                view.recent_key_slots, view.value_slots, view.recent_value_slots},
               accepted(plan, "attention with a residual"), workspace, site);
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
