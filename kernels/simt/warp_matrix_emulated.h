// SPDX-License-Identifier: Apache-2.0
// The emulator's half of warp_matrix.h. Addresses that the device would fault on are reported with
// the line of the kernel.
#pragma once

#include "kernels/simt/emulator.h"
#include "kernels/simt/float_types.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

#define KVCALIPER_TENSOR_CORES

namespace kvcaliper::simt {

enum class MatrixType { f16, bf16 };

/// What a lane brings to a matrix product.
struct MatrixProduct {
    float* d;
    const std::uint32_t* a;
    std::uint32_t b[2];
};

/// What a lane brings to a load of four matrices.
struct MatrixLoad {
    const void* row;
    std::uint32_t* r;
};

void multiply_matrices(MatrixType type, MatrixProduct& own, const Place& place);
void load_matrices(bool transposed, MatrixLoad& own, const Place& place);
void begin_async_copy(void* to, const void* from, bool exists, const Place& place);
void close_async_group();
void land_async_groups(std::size_t but_last);

/// A new block of so many threads: what the last one never waited for never arrives.
void forget_async_copies(std::size_t threads);

template <class T>
void mma_16816(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
               const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    static_assert(std::is_same_v<T, F16> || std::is_same_v<T, Bf16>);
    MatrixProduct own{d, a, {b0, b1}};
    multiply_matrices(std::is_same_v<T, F16> ? MatrixType::f16 : MatrixType::bf16, own,
                      {file, line});
}

inline void ldmatrix_x4(std::uint32_t (&r)[4], const void* row, const char* file = __builtin_FILE(),
                        int line = __builtin_LINE()) {
    MatrixLoad own{row, r};
    load_matrices(false, own, {file, line});
}

inline void ldmatrix_x4_trans(std::uint32_t (&r)[4], const void* row,
                              const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    MatrixLoad own{row, r};
    load_matrices(true, own, {file, line});
}

inline void cp_async_16(void* to, const void* from, bool exists,
                        const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    begin_async_copy(to, from, exists, {file, line});
}

inline void cp_async_commit() {
    close_async_group();
}

template <int Groups> void cp_async_wait() {
    land_async_groups(static_cast<std::size_t>(Groups));
}

} // namespace kvcaliper::simt
