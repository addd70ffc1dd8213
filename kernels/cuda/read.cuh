// SPDX-License-Identifier: Apache-2.0
// Reads memory and does as little else as it can: the ceiling that decode steps are compared with.
#pragma once

#include "kernels/cuda/rows.cuh"

namespace kvcaliper::kernels {
inline namespace KVCALIPER_SIMT_BUILD {

struct alignas(16) Quad {
    std::uint32_t x, y, z, w;
};

/// `sink` is written only when the bits happen to cancel; without it the loads would be dropped.
__global__ void __launch_bounds__(kBlockThreads)
    read_all(const Quad* data, std::int64_t count, std::uint32_t* sink) {
    const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * kBlockThreads;
    std::uint32_t mixed = 1;
    SIMT_UNROLL_BY(8)
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kBlockThreads + threadIdx.x;
         i < count; i += threads) {
        const Quad quad = load(data + i);
        mixed ^= quad.x ^ quad.y ^ quad.z ^ quad.w;
    }
    if (mixed == 0) {
        store(sink, mixed);
    }
}

} // namespace KVCALIPER_SIMT_BUILD
} // namespace kvcaliper::kernels
