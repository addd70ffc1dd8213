// SPDX-License-Identifier: Apache-2.0
// The emulator's half of warp_matrix.h. Addresses that the device would fault on are reported with
// the line of the kernel.
#pragma once

#include "kernels/simt/emulator.h"
#include "kernels/simt/float_types.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
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

/// What a lane brings to a load of four matrices. It has read its row itself, on the kernel's line,
/// where sanitizers see it.
struct MatrixLoad {
    std::uint16_t row[8];
    std::uint32_t* r;
};

/// 16 bytes on their way from global to shared memory.
struct AsyncCopy {
    void* to;
    const void* from;
    bool exists;
};

void multiply_matrices(MatrixType type, MatrixProduct& own, const Place& place);
void load_matrices(bool transposed, MatrixLoad& own, const Place& place);
void begin_async_copy(const AsyncCopy& copy, const Place& place);
void close_async_group();

/// The oldest copy of this thread in a group before the last ones; false when there is none.
bool take_async_copy(std::size_t last_groups, AsyncCopy& copy);

/// Throws where a device would fault.
void require_aligned(const void* address, const char* name, const Place& place);

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

inline MatrixLoad matrix_row(const void* row, std::uint32_t* r, const Place& place) {
    require_aligned(row, "ldmatrix", place);
    MatrixLoad own{{}, r};
    std::memcpy(own.row, row, sizeof own.row);
    return own;
}

inline void ldmatrix_x4(std::uint32_t (&r)[4], const void* row, const char* file = __builtin_FILE(),
                        int line = __builtin_LINE()) {
    MatrixLoad own = matrix_row(row, r, {file, line});
    load_matrices(false, own, {file, line});
}

inline void ldmatrix_x4_trans(std::uint32_t (&r)[4], const void* row,
                              const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    MatrixLoad own = matrix_row(row, r, {file, line});
    load_matrices(true, own, {file, line});
}

inline void cp_async_16(void* to, const void* from, bool exists,
                        const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    begin_async_copy({to, from, exists}, {file, line});
}

inline void cp_async_commit() {
    close_async_group();
}

template <int Groups> void cp_async_wait() {
    AsyncCopy copy{};
    while (take_async_copy(static_cast<std::size_t>(Groups), copy)) {
        if (copy.exists) {
            std::memcpy(copy.to, copy.from, 16);
        } else {
            std::memset(copy.to, 0, 16);
        }
    }
}

} // namespace kvcaliper::simt
