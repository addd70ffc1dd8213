// SPDX-License-Identifier: Apache-2.0
// Attention steps of the native CPU backend: cut into tasks for all cores, then merged.
#pragma once

#include "kernels/backend_cpu_vector.h"
#include "kernels/views.h"

#include <cstdint>

namespace kvcaliper::kernels {

// They throw Error for a shape that is not covered.
std::int64_t attention_workspace(const AttentionView& view);
std::int64_t attention_workspace(const LatentView& view);
std::int64_t attention_workspace(const PagedAttentionView& view);
std::int64_t attention_workspace(const ResidualAttentionView& view);

void run_attention(const VectorKernels& kernels, const AttentionView& view, void* workspace);
void run_attention(const VectorKernels& kernels, const LatentView& view, void* workspace);
void run_attention(const VectorKernels& kernels, const PagedAttentionView& view, void* workspace);
void run_attention(const VectorKernels& kernels, const ResidualAttentionView& view,
                   void* workspace);

} // namespace kvcaliper::kernels
