// SPDX-License-Identifier: Apache-2.0
#include "kernels/backend_emulated.h"
#include "matrix_steps.h"

namespace kvcaliper::kernels::test {

/// A device with little and one with much shared memory, which take tiles of other sizes.
std::vector<std::shared_ptr<Backend>> matrix_backends(std::string&) {
    EmulatedOptions ada;
    ada.facts = {4, std::int64_t{99} * 1024, 89};
    EmulatedOptions hopper;
    hopper.facts = {132, std::int64_t{227} * 1024, 90};
    return {make_emulated_backend(ada), make_emulated_backend(hopper)};
}

} // namespace kvcaliper::kernels::test
