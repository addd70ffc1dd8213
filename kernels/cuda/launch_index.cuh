// SPDX-License-Identifier: Apache-2.0
// launch.cuh for what an indexer and compressed entries need beside attention.
#pragma once

#include "kernels/cuda/index.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/pool.cuh"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

inline void run(const IndexScoreView& view, const LaunchSite& site) {
    const LaunchPlan plan = plan_score(view, site.facts);
    accepted(plan, "index scores");
    launch(index_scores, plan.grid, kBlockThreads, plan.shared_bytes, site.stream, view);
}

inline void run(const SelectView& view, const LaunchSite& site) {
    const LaunchPlan plan = plan_select(view, site.facts);
    accepted(plan, "selection");
    launch(select_greatest, plan.grid, static_cast<int>(kSelectThreads), plan.shared_bytes,
           site.stream, view);
}

inline void run(const GatherView& view, const LaunchSite& site) {
    const LaunchPlan plan = plan_gather(view, site.facts);
    accepted(plan, "gather");
    launch(gather_rows, plan.grid, kBlockThreads, plan.shared_bytes, site.stream, view);
}

inline void run(const PoolView& view, const LaunchSite& site) {
    const LaunchPlan plan = plan_pool(view, site.facts);
    accepted(plan, "pooling");
    launch(pool_groups, plan.grid, kBlockThreads, plan.shared_bytes, site.stream, view);
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
