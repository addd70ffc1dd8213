// SPDX-License-Identifier: Apache-2.0
// The other half of portable.h: CUDA spelling for a C++ compiler. Each CUDA thread is a fiber;
// blocks run one after another on the calling thread. Grids and blocks have one dimension.
//
// A mistake in a kernel is thrown from launch() as LaunchError with the line it happened on. The
// fibers of the failed block are dropped, not unwound: kernels may hold only trivial locals.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

// NOLINTBEGIN(bugprone-reserved-identifier, bugprone-macro-parentheses): CUDA's own names, and
// types.
#define __global__ inline
#define __launch_bounds__(...)
#define SIMT_DEVICE inline
#define SIMT_UNROLL
#define SIMT_UNROLL_BY(times)
#define SIMT_SHARED(type, name, count)                                                             \
    type* const name = ::kvcaliper::simt::shared_array<type>(count, {__FILE__, __LINE__})
#define SIMT_DYN_SHARED(type, name)                                                                \
    type* const name = static_cast<type*>(::kvcaliper::simt::dynamic_shared())
// NOLINTEND(bugprone-reserved-identifier, bugprone-macro-parentheses)

namespace kvcaliper::simt {

struct Dim3 {
    unsigned x = 1, y = 1, z = 1;
};

// Kernels read them by these names. Set at each switch to another fiber.
extern constinit thread_local Dim3 threadIdx, blockIdx, blockDim, gridDim;

/// In which order blocks, warps and lanes get their turn. A correct kernel gives the same bits in
/// every order.
enum class Order { forward, reverse, shuffled };

struct Config {
    Order order = Order::forward;
    std::uint64_t seed = 1; ///< of shuffled
    std::int64_t shared_limit =
        std::int64_t{99} * 1024; ///< static and dynamic shared bytes of a block
};

/// Since the program started or the caller last cleared it.
struct Stats {
    std::int64_t bytes_read = 0; ///< from global memory, through load()
    std::int64_t bytes_written = 0;
    std::int64_t warp_operations = 0;
    std::int64_t barriers = 0;
};

// Of the calling OS thread.
Config& config();
Stats& stats();

/// A place in a kernel's source. Two operations on one line count as the same.
struct Place {
    const char* file = "";
    int line = 0;
};
bool operator==(const Place& left, const Place& right);
std::string to_text(const Place& place);

class LaunchError : public std::logic_error {
  public:
    LaunchError(const Place& place, const std::string& what)
        : std::logic_error(to_text(place) + ": " + what), place_(place) {}
    const Place& place() const { return place_; }

  private:
    Place place_;
};

struct Stream {};

/// Combines what the lanes of a warp brought to a common operation; argument[i] is null for lanes
/// outside the mask.
using Combine = void (*)(void* const (&argument)[32], const Place& place);

void run_grid(std::int64_t grid, int block, std::int64_t shared, void (*body)(void*),
              void* context);

/// Puts nothing in order but what it combines: as in CUDA, a shuffle is no fence.
void warp_operation(const char* name, std::uint32_t mask, void* argument, Combine combine,
                    const Place& place);
void warp_barrier(std::uint32_t mask, const Place& place);
void block_barrier(const Place& place);

/// Counted, and thrown as LaunchError where another thread has written that element with nothing
/// in between.
void global_read(const void* element, std::size_t bytes, const Place& place);
void global_written(const void* element, std::size_t bytes, const Place& place);
void* shared_variable(std::size_t bytes, const Place& place);
void* dynamic_shared();

template <class Kernel, class... Arguments>
void launch(Kernel kernel, std::int64_t grid, int block, std::int64_t shared, Stream,
            Arguments... arguments) {
    auto body = [&] { kernel(arguments...); };
    run_grid(
        grid, block, shared, [](void* context) { (*static_cast<decltype(body)*>(context))(); },
        &body);
}

template <class T> T* shared_array(std::size_t count, const Place& place) {
    return static_cast<T*>(shared_variable(count * sizeof(T), place));
}

template <class T>
T load(const T* address, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    global_read(address, sizeof(T), {file, line});
    return *address;
}

template <class T>
void store(T* address, T value, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    global_written(address, sizeof(T), {file, line});
    *address = value;
}

inline unsigned opaque(unsigned value) {
    return value;
}

// NOLINTBEGIN(bugprone-reserved-identifier): CUDA's own names.

inline void __syncthreads(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    block_barrier({file, line});
}

inline void __syncwarp(std::uint32_t mask = 0xffffffffu, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) {
    warp_barrier(mask, {file, line});
}

/// What a lane brings to a shuffle: its value, and the lane whose value it wants.
template <class T> struct Exchange {
    T value;
    unsigned source;
};

template <class T> void combine_exchange(void* const (&argument)[32], const Place& place) {
    T taken[32];
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (const auto* own = static_cast<Exchange<T>*>(argument[lane])) {
            const auto* other = static_cast<Exchange<T>*>(argument[own->source]);
            if (other == nullptr) {
                throw LaunchError(place, "lane " + std::to_string(lane) + " asks for lane " +
                                             std::to_string(own->source) +
                                             ", which is not in the mask");
            }
            taken[lane] = other->value;
        }
    }
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (auto* own = static_cast<Exchange<T>*>(argument[lane])) {
            own->value = taken[lane];
        }
    }
}

template <class T>
T exchange(const char* name, std::uint32_t mask, T value, unsigned source, const Place& place) {
    static_assert(std::is_arithmetic_v<T>);
    Exchange<T> own{value, source};
    warp_operation(name, mask, &own, &combine_exchange<T>, place);
    return own.value;
}

template <class T>
T __shfl_sync(std::uint32_t mask, T value, int source, const char* file = __builtin_FILE(),
              int line = __builtin_LINE()) {
    return exchange("__shfl_sync", mask, value, static_cast<unsigned>(source) % 32, {file, line});
}

template <class T>
T __shfl_xor_sync(std::uint32_t mask, T value, int bits, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
    const unsigned source = (threadIdx.x ^ static_cast<unsigned>(bits)) % 32;
    return exchange("__shfl_xor_sync", mask, value, source, {file, line});
}

template <class T>
T __shfl_down_sync(std::uint32_t mask, T value, unsigned distance,
                   const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    const unsigned lane = threadIdx.x % 32;
    const unsigned source = lane + distance < 32 ? lane + distance : lane;
    return exchange("__shfl_down_sync", mask, value, source, {file, line});
}

// NOLINTEND(bugprone-reserved-identifier)

} // namespace kvcaliper::simt
