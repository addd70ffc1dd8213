// SPDX-License-Identifier: Apache-2.0
// What an indexer and compressed entries need, on the native CPU backend.
#pragma once

#include "kernels/backend_cpu_vector.h"
#include "kernels/views.h"

namespace kvcaliper::kernels {

// They throw Error for a shape that is not covered.
void run_index_step(const VectorKernels& kernels, const IndexScoreView& view);
void run_index_step(const SelectView& view);
void run_index_step(const GatherView& view);
void run_index_step(const VectorKernels& kernels, const PoolView& view);

} // namespace kvcaliper::kernels
