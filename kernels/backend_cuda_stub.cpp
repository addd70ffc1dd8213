// SPDX-License-Identifier: Apache-2.0
// Takes the place of backend_cuda.cu in builds without a CUDA compiler.
#include "core/error.h"
#include "kernels/backend.h"

namespace kvcaliper::kernels {

std::unique_ptr<Backend> make_cuda_backend(bool) {
    throw Error("cuda: this build has no CUDA backend (nvcc was not found)",
                ErrorKind::impossible_here);
}

} // namespace kvcaliper::kernels
