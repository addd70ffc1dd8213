// SPDX-License-Identifier: Apache-2.0
#include "kernels/backend_emulated.h"
#include "simt_steps.h"

namespace kvcaliper::kernels::test {

std::unique_ptr<Backend> make_backend_under_test(std::string&) {
    return make_emulated_backend();
}

} // namespace kvcaliper::kernels::test
