// SPDX-License-Identifier: Apache-2.0
// What the tests of the state layers' steps run on: every build of the CPU backend's loops where
// KVCALIPER_TEST_CPU is set, else the one backend the program was linked with.
#pragma once

#include "simt_steps.h"
#if defined(KVCALIPER_TEST_CPU)
#include "kernels/backend_cpu.h"
#endif

#include <memory>
#include <string>
#include <vector>

namespace kvcaliper::kernels::test {

/// Empty, with the reason, where none can run here.
inline std::vector<std::unique_ptr<Backend>> backends_under_test(std::string& why_not) {
    std::vector<std::unique_ptr<Backend>> backends;
#if defined(KVCALIPER_TEST_CPU)
    (void)why_not;
    for (const VectorKernels* kernels : usable_vector_kernels()) {
        backends.push_back(make_cpu_backend(*kernels));
    }
#else
    if (auto backend = make_backend_under_test(why_not)) {
        backends.push_back(std::move(backend));
    }
#endif
    return backends;
}

} // namespace kvcaliper::kernels::test
