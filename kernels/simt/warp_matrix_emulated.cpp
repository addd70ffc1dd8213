// SPDX-License-Identifier: Apache-2.0
#include "kernels/simt/warp_matrix_emulated.h"

#include "kernels/simt/race_watch.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <vector>

namespace kvcaliper::simt {

namespace {

constexpr std::size_t kCopyBytes = 16;

[[noreturn]] void incomplete_warp(const char* name, const Place& place) {
    throw LaunchError(place, std::string(name) + " needs all 32 lanes of its warp");
}

void require_whole_warp(void* const (&argument)[32], const char* name, const Place& place) {
    for (const void* lane : argument) {
        if (lane == nullptr) {
            incomplete_warp(name, place);
        }
    }
}

void require_aligned(const void* address, const char* name, const Place& place) {
    if (reinterpret_cast<std::uintptr_t>(address) % kCopyBytes != 0) {
        throw LaunchError(place, std::string(name) + ": thread " + std::to_string(threadIdx.x) +
                                     " brings an address that is no multiple of 16 bytes");
    }
}

template <class T> float half_of(std::uint32_t pair, unsigned index) {
    return widen(T{static_cast<std::uint16_t>(pair >> (16 * index))});
}

/// Both operands as the plain matrices that the lanes' registers stand for.
template <class T> struct Operands {
    float a[16][16];
    float b[16][8];

    explicit Operands(void* const (&argument)[32]) {
        for (unsigned lane = 0; lane < 32; ++lane) {
            take(*static_cast<const MatrixProduct*>(argument[lane]), lane / 4, 2 * (lane % 4));
        }
    }

  private:
    void take(const MatrixProduct& own, unsigned group, unsigned pair) {
        for (unsigned i = 0; i < 2; ++i) {
            a[group][pair + i] = half_of<T>(own.a[0], i);
            a[group + 8][pair + i] = half_of<T>(own.a[1], i);
            a[group][pair + 8 + i] = half_of<T>(own.a[2], i);
            a[group + 8][pair + 8 + i] = half_of<T>(own.a[3], i);
            b[pair + i][group] = half_of<T>(own.b[0], i);
            b[pair + 8 + i][group] = half_of<T>(own.b[1], i);
        }
    }
};

template <class T> float product(const Operands<T>& of, float sum, unsigned row, unsigned column) {
    for (unsigned k = 0; k < 16; ++k) {
        sum += of.a[row][k] * of.b[k][column];
    }
    return sum;
}

template <class T> void combine_product(void* const (&argument)[32], const Place& place) {
    require_whole_warp(argument, "mma_16816", place);
    const Operands<T> operands(argument);
    for (unsigned lane = 0; lane < 32; ++lane) {
        float* const d = static_cast<const MatrixProduct*>(argument[lane])->d;
        for (unsigned i = 0; i < 4; ++i) {
            d[i] = product(operands, d[i], lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2);
        }
    }
}

/// Number `column` of the row that lane `lane` brought.
std::uint32_t number_at(void* const (&argument)[32], unsigned lane, unsigned column) {
    const auto* const row = static_cast<const MatrixLoad*>(argument[lane])->row;
    return static_cast<const std::uint16_t*>(row)[column];
}

template <bool Transposed> void combine_load(void* const (&argument)[32], const Place& place) {
    require_whole_warp(argument, "ldmatrix", place);
    for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned matrix = 0; matrix < 4; ++matrix) {
            const unsigned group = lane / 4;
            const unsigned pair = 2 * (lane % 4);
            std::uint32_t both = 0;
            for (unsigned i = 0; i < 2; ++i) {
                const unsigned row = 8 * matrix + (Transposed ? pair + i : group);
                const unsigned column = Transposed ? group : pair + i;
                both |= number_at(argument, row, column) << (16 * i);
            }
            static_cast<const MatrixLoad*>(argument[lane])->r[matrix] = both;
        }
    }
}

struct AsyncCopy {
    void* to;
    const void* from;
    bool exists;
};

/// The copies of one thread that have not landed, oldest group first; the last group is open.
using AsyncGroups = std::deque<std::vector<AsyncCopy>>;

std::vector<AsyncGroups>& groups_of_block() {
    thread_local std::vector<AsyncGroups> groups;
    return groups;
}

AsyncGroups& groups_of_this_thread() {
    return groups_of_block()[threadIdx.x];
}

void land(const AsyncCopy& copy, void* caller) {
    watch::writes(copy.to, kCopyBytes, caller);
    if (copy.exists) {
        watch::reads(copy.from, kCopyBytes, caller);
    }
    const watch::Pause pause;
    if (copy.exists) {
        std::memcpy(copy.to, copy.from, kCopyBytes);
    } else {
        std::memset(copy.to, 0, kCopyBytes);
    }
}

} // namespace

void multiply_matrices(MatrixType type, MatrixProduct& own, const Place& place) {
    warp_operation("mma_16816", 0xffffffffu, &own,
                   type == MatrixType::f16 ? &combine_product<F16> : &combine_product<Bf16>, place);
}

void load_matrices(bool transposed, MatrixLoad& own, const Place& place) {
    require_aligned(own.row, "ldmatrix", place);
    watch::reads(own.row, kCopyBytes, __builtin_return_address(0)); // 8 numbers of 16 bits
    warp_operation(transposed ? "ldmatrix_x4_trans" : "ldmatrix_x4", 0xffffffffu, &own,
                   transposed ? &combine_load<true> : &combine_load<false>, place);
}

void begin_async_copy(void* to, const void* from, bool exists, const Place& place) {
    require_aligned(to, "cp_async_16", place);
    require_aligned(from, "cp_async_16", place);
    if (exists) {
        global_read(from, kCopyBytes, place);
    }
    const watch::Pause pause;
    groups_of_this_thread().back().push_back({to, from, exists});
}

void close_async_group() {
    const watch::Pause pause;
    groups_of_this_thread().emplace_back();
}

void land_async_groups(std::size_t but_last) {
    AsyncGroups& groups = groups_of_this_thread();
    while (groups.size() > but_last + 1) { // the open group is none
        for (const AsyncCopy& copy : groups.front()) {
            land(copy, __builtin_return_address(0));
        }
        const watch::Pause pause;
        groups.pop_front();
    }
}

void forget_async_copies(std::size_t threads) {
    std::vector<AsyncGroups>& block = groups_of_block();
    block.resize(std::max(block.size(), threads));
    for (AsyncGroups& groups : block) {
        groups.resize(1);
        groups.front().clear();
    }
}

} // namespace kvcaliper::simt
