// SPDX-License-Identifier: Apache-2.0
// The native CPU backend with a chosen instruction set, for tests and measurements.
#pragma once

#include "kernels/backend.h"
#include "kernels/backend_cpu_vector.h"

#include <vector>

namespace kvcaliper::kernels {

/// The builds of the vector loops that this processor can run, narrowest first.
std::vector<const VectorKernels*> usable_vector_kernels();

std::unique_ptr<Backend> make_cpu_backend(const VectorKernels& kernels);

} // namespace kvcaliper::kernels
