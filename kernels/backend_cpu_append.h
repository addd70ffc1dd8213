// SPDX-License-Identifier: Apache-2.0
// Appends of the native CPU backend.
#pragma once

#include "kernels/backend_cpu_vector.h"
#include "kernels/views.h"

namespace kvcaliper::kernels {

/// Throws Error for what can not be stored.
void append_rows(const VectorKernels& kernels, const AppendView& view);
void pack_rows(const VectorKernels& kernels, const PackView& view);

} // namespace kvcaliper::kernels
