// SPDX-License-Identifier: Apache-2.0
// What the tensor cores' kernel needs beyond plain CUDA: the matrix product of a warp, the loads
// that bring its operands out of shared memory, and copies that run beside the arithmetic. Under
// nvcc these are the PTX instructions of the same names (sm_80 and newer); on the emulator each is
// one operation of the warp, and a copy lands only when its thread waits for it.
//
//   mma_16816<T>(d, a, b0, b1)      d[16×8] += a[16×16] · b[16×8]; T is F16 or Bf16, d is f32
//   ldmatrix_x4(r, row)             four 8×8 matrices of 16-bit numbers; lane l brings the address
//                                   of row l % 8 of matrix l / 8; r[i] is its share of matrix i
//   ldmatrix_x4_trans(r, row)       the same, each matrix transposed
//   cp_async_16(to, from, exists)   16 bytes from global to shared memory; zeros unless it exists
//   cp_async_commit()               the copies since the last one become a group
//   cp_async_wait<N>()              until all groups of this thread but the last N have landed
//
// Fragments as the PTX ISA lays them out, with g = lane / 4 and t = lane % 4, two numbers to a
// register, the lower half first:
//   a[0], a[1]: row g and g + 8, columns 2t, 2t + 1;  a[2], a[3]: the same, columns 8 further
//   b0, b1:     rows 2t, 2t + 1 and 8 further, column g
//   d[0], d[1]: row g, columns 2t, 2t + 1;  d[2], d[3]: row g + 8
//   r[i]:       row g of matrix i, columns 2t, 2t + 1; transposed: rows 2t, 2t + 1 of column g
#pragma once

#include "kernels/simt/portable.h"

#if defined(__CUDACC__)
#include "kernels/simt/warp_matrix_cuda.h"
#else
#include "kernels/simt/warp_matrix_emulated.h"
#endif
