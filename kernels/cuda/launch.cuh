// SPDX-License-Identifier: Apache-2.0
// From a view to launched kernels: plans, refuses what is not covered, picks the instantiation.
#pragma once

#include "core/error.h"
#include "kernels/cuda/append.cuh"
#include "kernels/cuda/attention.cuh"
#include "kernels/cuda/channel_states.cuh"
#include "kernels/cuda/conv.cuh"
#include "kernels/cuda/delta.cuh"
#include "kernels/cuda/encode.cuh"
#include "kernels/cuda/latent.cuh"
#include "kernels/cuda/mamba1.cuh"
#include "kernels/cuda/mamba2.cuh"
#include "kernels/cuda/mma.cuh"
#include "kernels/cuda/read.cuh"
#include "kernels/cuda/rwkv.cuh"
#include "kernels/cuda/xlstm.cuh"
#include "kernels/launch_plan.h"

#include <string>
#include <type_traits>

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

/// Where and with which knowledge a backend launches.
struct LaunchSite {
    DeviceFacts facts;
    Stream stream{};
    std::int64_t splits = 0; ///< 0: choose
};

inline const LaunchPlan& accepted(const LaunchPlan& plan, const char* step) {
    if (!plan.possible()) {
        throw Error(std::string(step) + ": " + plan.refusal, ErrorKind::impossible_here);
    }
    return plan;
}

inline float log2_scale(float scale) {
    return scale * kLog2E;
}

inline void merge(const LaunchPlan& plan, float* out, std::int64_t width, const float* partials,
                  const LaunchSite& site, const float* sinks = nullptr, std::int64_t heads = 1) {
    launch(merge_splits, plan.merge_grid, kBlockThreads, plan.merge_shared_bytes, site.stream,
           partials, out, plan.shape.splits, width, sinks, heads);
}

/// Chunk: rows in flight per warp. Wide rows take fewer, so that all fits into registers; the
/// widest in any format half as many again.
template <class T, unsigned Columns, unsigned Heads>
void attend_as(const AttentionView& view, const LaunchPlan& plan, float* partials,
               const LaunchSite& site) {
    constexpr unsigned plain = Columns * Heads > 16 ? 2 : 4;
    constexpr unsigned chunk = Columns == 16 && std::is_same_v<T, AnyFormat> ? plain / 2 : plain;
    launch(attend_split<T, Columns, Heads, chunk>, plan.grid, kBlockThreads, plan.shared_bytes,
           site.stream, view, plan.shape, log2_scale(view.scale), partials);
}

template <class T, unsigned Heads>
void attend_columns(const AttentionView& view, const LaunchPlan& plan, float* partials,
                    const LaunchSite& site) {
    switch (plan.columns) {
    case 2:
        return attend_as<T, 2, Heads>(view, plan, partials, site);
    case 4:
        return attend_as<T, 4, Heads>(view, plan, partials, site);
    case 8:
        return attend_as<T, 8, Heads>(view, plan, partials, site);
    default:
        return attend_as<T, 16, Heads>(view, plan, partials, site);
    }
}

template <class T>
void attend_heads(const AttentionView& view, const LaunchPlan& plan, float* partials,
                  const LaunchSite& site) {
    if (plan.heads == 1) {
        attend_columns<T, 1>(view, plan, partials, site);
    } else {
        attend_columns<T, kGroupedHeads>(view, plan, partials, site);
    }
}

template <class T, bool Converts>
void attend_matrix_columns(const MatrixView& view, float scale, const LaunchPlan& plan,
                           float* partials, const LaunchSite& site) {
    auto* const kernel = plan.columns == 1   ? attend_matrix<T, Converts, 1>
                         : plan.columns == 2 ? attend_matrix<T, Converts, 2>
                         : plan.columns == 4 ? attend_matrix<T, Converts, 4>
                                             : attend_matrix<T, Converts, 8>;
    launch(kernel, plan.grid, static_cast<int>(plan.warps * kWarpLanes), plan.shared_bytes,
           site.stream, view, plan.matrix, plan.shape, log2_scale(scale), partials);
}

/// Either kind of attention on the tensor cores.
template <class View>
void attend_on_tensor_cores(const View& view, const LaunchPlan& plan, float* partials,
                            const LaunchSite& site) {
    const MatrixView matrix = matrix_view(view);
    if (!plan.plain) {
        attend_matrix_columns<F16, true>(matrix, view.scale, plan, partials, site);
    } else if (plan.weights == Element::f16) {
        attend_matrix_columns<F16, false>(matrix, view.scale, plan, partials, site);
    } else {
        attend_matrix_columns<Bf16, false>(matrix, view.scale, plan, partials, site);
    }
}

inline void run(const AttentionView& view, void* workspace, const LaunchSite& site) {
    const LaunchPlan plan = plan_attention(view, site.facts, site.splits);
    accepted(plan, "attention");
    auto* const partials = static_cast<float*>(workspace);
    if (plan.core == Core::matrix) {
        attend_on_tensor_cores(view, plan, partials, site);
    } else if (!plan.plain) {
        attend_heads<AnyFormat>(view, plan, partials, site);
    } else if (view.element == Element::f16) {
        attend_heads<F16>(view, plan, partials, site);
    } else {
        attend_heads<Bf16>(view, plan, partials, site);
    }
    merge(plan, view.out, view.value_width, partials, site, view.sinks, view.heads);
}

template <class T>
void attend_latent(const LatentView& view, const LaunchPlan& plan, float* partials,
                   const LaunchSite& site) {
    launch(attend_latent_split<T, kLatentColumns, kRopeColumns, kGroupedHeads>, plan.grid,
           kBlockThreads, plan.shared_bytes, site.stream, view, plan.shape, log2_scale(view.scale),
           partials);
}

inline void run(const LatentView& view, void* workspace, const LaunchSite& site) {
    const LaunchPlan plan = plan_attention(view, site.facts, site.splits);
    accepted(plan, "latent attention");
    auto* const partials = static_cast<float*>(workspace);
    if (plan.core == Core::matrix) {
        attend_on_tensor_cores(view, plan, partials, site);
    } else if (!plan.plain) {
        attend_latent<AnyFormat>(view, plan, partials, site);
    } else if (view.element == Element::f16) {
        attend_latent<F16>(view, plan, partials, site);
    } else {
        attend_latent<Bf16>(view, plan, partials, site);
    }
    merge(plan, view.out, view.rank, partials, site, view.sinks, view.heads);
}

using AppendKernel = void (*)(AppendView, std::int64_t);

inline AppendKernel append_kernel(const AppendView& view) {
    if (view.format == format_of(view.element)) {
        return element_bytes(view.element) == 4 ? append_rows<std::uint32_t>
                                                : append_rows<std::uint16_t>;
    }
    switch (view.element) {
    case Element::f16:
        return encode_rows<F16>;
    case Element::bf16:
        return encode_rows<Bf16>;
    default:
        return encode_rows<float>;
    }
}

inline void run(const AppendView& view, const LaunchSite& site) {
    const LaunchPlan plan = plan_append(view, site.facts);
    accepted(plan, "append");
    launch(append_kernel(view), plan.grid, kBlockThreads, plan.shared_bytes, site.stream, view,
           plan.skip);
}

inline void run(const Mamba1View& view, const LaunchSite& site) {
    const LaunchPlan plan = plan_step(view, site.facts);
    accepted(plan, "mamba step");
    launch(view.element == Element::f16 ? mamba1_steps<F16> : mamba1_steps<Bf16>, plan.grid,
           kBlockThreads, plan.shared_bytes, site.stream, view);
}

inline void run(const ConvView& view, const LaunchSite& site) {
    const LaunchPlan plan = plan_step(view, site.facts);
    accepted(plan, "convolution step");
    auto* const kernel = view.element == Element::f16    ? conv_steps<F16>
                         : view.element == Element::bf16 ? conv_steps<Bf16>
                                                         : conv_steps<float>;
    launch(kernel, plan.grid, kBlockThreads, plan.shared_bytes, site.stream, view);
}

inline void run(const Mamba2View& view, const LaunchSite& site) {
    const LaunchPlan plan = plan_step(view, site.facts);
    accepted(plan, "mamba2 step");
    auto* const kernel = plan.columns == 2   ? mamba2_steps<2>
                         : plan.columns == 4 ? mamba2_steps<4>
                                             : mamba2_steps<8>;
    launch(kernel, plan.grid, kBlockThreads, plan.shared_bytes, site.stream, view);
}

inline void run(const DeltaView& view, const LaunchSite& site) {
    const LaunchPlan plan = plan_step(view, site.facts);
    accepted(plan, "delta step");
    auto* const kernel = plan.columns == 16 ? delta_steps<16, 4>
                         : plan.warps == 4  ? delta_steps<32, 4>
                         : plan.warps == 8  ? delta_steps<32, 8>
                                            : delta_steps<32, 12>;
    launch(kernel, plan.grid, static_cast<int>(plan.warps * kWarpLanes), plan.shared_bytes,
           site.stream, view);
}

inline void run(const RglruView& view, const LaunchSite& site) {
    const LaunchPlan plan = plan_step(view, site.facts);
    accepted(plan, "rglru step");
    launch(rglru_steps, plan.grid, kBlockThreads, plan.shared_bytes, site.stream, view);
}

inline void run(const Rwkv4View& view, const LaunchSite& site) {
    const LaunchPlan plan = plan_step(view, site.facts);
    accepted(plan, "rwkv4 step");
    launch(rwkv4_steps, plan.grid, kBlockThreads, plan.shared_bytes, site.stream, view);
}

inline void run(const RwkvView& view, const LaunchSite& site) {
    const LaunchPlan plan = plan_step(view, site.facts);
    accepted(plan, "rwkv step");
    launch(rwkv_steps<32, 4>, plan.grid, kBlockThreads, plan.shared_bytes, site.stream, view);
}

inline void run(const XlstmView& view, const LaunchSite& site) {
    const LaunchPlan plan = plan_step(view, site.facts);
    accepted(plan, "xlstm step");
    launch(xlstm_steps<32, 8>, plan.grid, static_cast<int>(plan.warps * kWarpLanes),
           plan.shared_bytes, site.stream, view);
    launch(xlstm_divide, plan.merge_grid, kBlockThreads, plan.merge_shared_bytes, site.stream,
           view);
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
