// SPDX-License-Identifier: Apache-2.0
// nvcc's half of portable.h.
#pragma once

#include "core/error.h"

#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#define SIMT_DEVICE __device__ __forceinline__
#define SIMT_UNROLL _Pragma("unroll")
#define SIMT_PRAGMA(text) _Pragma(#text)
#define SIMT_UNROLL_BY(times) SIMT_PRAGMA(unroll times)
#define SIMT_SHARED(type, name, count) __shared__ type name[count]
#define SIMT_DYN_SHARED(type, name)                                                                \
    extern __shared__ __align__(16) unsigned char kvcaliper_dynamic_shared[];                      \
    type* const name = reinterpret_cast<type*>(kvcaliper_dynamic_shared)

namespace kvcaliper::simt {
inline namespace cuda_build {

using Stream = cudaStream_t;

template <class T> SIMT_DEVICE T load(const T* address) {
    return *address;
}

template <class T> SIMT_DEVICE void store(T* address, T value) {
    *address = value;
}

/// The same number, as one that the compiler knows nothing of: what depends on it is worked out
/// where it is used, and takes no register before.
SIMT_DEVICE unsigned opaque(unsigned value) {
    asm volatile("" : "+r"(value));
    return value;
}

inline void check(cudaError_t status, const char* doing) {
    if (status != cudaSuccess) {
        throw Error(std::string("cuda: ") + doing + ": " + cudaGetErrorString(status),
                    ErrorKind::impossible_here);
    }
}

/// Static and dynamic shared memory together may pass 48 KiB only after opting in. Asking always
/// costs nothing and cannot be forgotten when a kernel gains a static array.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), std::int64_t grid, int block, std::int64_t shared,
            Stream stream, Arguments... arguments) {
    const void* symbol = reinterpret_cast<const void*>(kernel);
    check(cudaFuncSetAttribute(symbol, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared)),
          "shared memory of a kernel");
    kernel<<<static_cast<unsigned>(grid), static_cast<unsigned>(block),
             static_cast<std::size_t>(shared), stream>>>(arguments...);
    check(cudaGetLastError(), "launch");
}

} // namespace cuda_build
} // namespace kvcaliper::simt
