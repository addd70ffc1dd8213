// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "simt_steps.h"

namespace kvcaliper::kernels::test {

/// The tensor cores' kernel has tests of its own, which ask for less precision.
std::unique_ptr<Backend> make_backend_under_test(std::string& why_not) {
    try {
        return make_cuda_backend(false);
    } catch (const Error& error) {
        why_not = error.what();
        return nullptr;
    }
}

} // namespace kvcaliper::kernels::test
