// SPDX-License-Identifier: Apache-2.0
// The state layers' steps of the native CPU backend: checks a view and cuts it into tasks.
#pragma once

#include "kernels/backend_cpu_vector.h"
#include "kernels/views.h"
#include "kernels/views_recurrent.h"

namespace kvcaliper::kernels {

void run_state_step(const VectorKernels& kernels, const Mamba1View& view);
void run_state_step(const VectorKernels& kernels, const ConvView& view);
void run_state_step(const VectorKernels& kernels, const Mamba2View& view);
void run_state_step(const VectorKernels& kernels, const DeltaView& view);
void run_state_step(const VectorKernels& kernels, const RglruView& view);
void run_state_step(const VectorKernels& kernels, const Rwkv4View& view);
void run_state_step(const VectorKernels& kernels, const RwkvView& view);
void run_state_step(const VectorKernels& kernels, const XlstmView& view);

} // namespace kvcaliper::kernels
