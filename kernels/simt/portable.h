// SPDX-License-Identifier: Apache-2.0
// The few names that let one kernel text be compiled by nvcc and, on the emulator, by a C++
// compiler. Everything compiled from a kernel lives in an inline namespace named by the build, so
// that both versions can be linked into one program.
#pragma once

#include "kernels/simt/float_types.h"

#if defined(__CUDACC__)
#define KVCALIPER_SIMT_BUILD cuda_build
#include "kernels/simt/cuda_side.h"
#else
#define KVCALIPER_SIMT_BUILD emulated_build
#include "kernels/simt/emulator.h"
#endif
