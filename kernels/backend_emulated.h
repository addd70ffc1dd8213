// SPDX-License-Identifier: Apache-2.0
// The CUDA kernels on the emulator, in host memory. For tests: it is a few hundred times slower
// than the CPU backend.
#pragma once

#include "kernels/backend.h"
#include "kernels/launch_plan.h"
#include "kernels/simt/emulator.h"

namespace kvcaliper::kernels {

struct EmulatedOptions {
    DeviceFacts facts{4, std::int64_t{99} * 1024}; ///< of a device without usable tensor cores
    simt::Order order = simt::Order::forward;
    std::uint64_t seed = 1;
    std::int64_t splits = 0; ///< of attention; 0: as planned
};

std::unique_ptr<Backend> make_emulated_backend(const EmulatedOptions& options = {});

/// The same device with tensor cores.
inline std::unique_ptr<Backend> make_emulated_tensor_backend() {
    EmulatedOptions options;
    options.facts.compute_capability = 80;
    return make_emulated_backend(options);
}

} // namespace kvcaliper::kernels
