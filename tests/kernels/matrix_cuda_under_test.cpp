// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "kernels/launch_shape.h"
#include "matrix_steps.h"

namespace kvcaliper::kernels::test {

std::vector<std::shared_ptr<Backend>> matrix_backends(std::string& why_not) {
    try {
        std::shared_ptr<Backend> backend = make_cuda_backend();
        if (backend->attention_bound(attention_view(8, 1, 128, 1)) > kAttentionBound) {
            return {backend};
        }
        why_not = "this GPU's tensor cores are older than compute capability 8.0";
    } catch (const Error& error) {
        why_not = error.what();
    }
    return {};
}

} // namespace kvcaliper::kernels::test
