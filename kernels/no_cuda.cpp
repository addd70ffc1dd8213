// SPDX-License-Identifier: Apache-2.0
// Stands in where the CUDA part is not in the tree.
#include "core/error.h"
#include "kernels/backend.h"

namespace kvcaliper::kernels {

std::unique_ptr<Backend> make_cuda_backend() {
    throw Error("this build has no CUDA part", ErrorKind::impossible_here);
}

} // namespace kvcaliper::kernels
