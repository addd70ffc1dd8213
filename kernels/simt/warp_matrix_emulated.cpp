// SPDX-License-Identifier: Apache-2.0
#include "kernels/simt/warp_matrix_emulated.h"

#include <algorithm>
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
    return static_cast<const MatrixLoad*>(argument[lane])->row[column];
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

/// The copies of one thread that have not landed, oldest first. A plain array, made by whoever
/// starts a block: threads must not meet in an allocator.
struct AsyncQueue {
    static constexpr unsigned kMost = 128;

    AsyncCopy copies[kMost];
    std::uint64_t groups[kMost]; ///< the number of each copy's group
    std::uint64_t open;          ///< the group that is not closed yet
    std::uint64_t first, next;   ///< copies taken, copies begun
};

std::vector<AsyncQueue>& queues_of_block() {
    thread_local std::vector<AsyncQueue> queues;
    return queues;
}

AsyncQueue& queue_of_this_thread() {
    return queues_of_block()[threadIdx.x];
}

} // namespace

void require_aligned(const void* address, const char* name, const Place& place) {
    if (reinterpret_cast<std::uintptr_t>(address) % kCopyBytes != 0) {
        throw LaunchError(place, std::string(name) + ": thread " + std::to_string(threadIdx.x) +
                                     " brings an address that is no multiple of 16 bytes");
    }
}

void multiply_matrices(MatrixType type, MatrixProduct& own, const Place& place) {
    warp_operation("mma_16816", 0xffffffffu, &own,
                   type == MatrixType::f16 ? &combine_product<F16> : &combine_product<Bf16>, place);
}

void load_matrices(bool transposed, MatrixLoad& own, const Place& place) {
    warp_operation(transposed ? "ldmatrix_x4_trans" : "ldmatrix_x4", 0xffffffffu, &own,
                   transposed ? &combine_load<true> : &combine_load<false>, place);
}

void begin_async_copy(const AsyncCopy& copy, const Place& place) {
    require_aligned(copy.to, "cp_async_16", place);
    require_aligned(copy.from, "cp_async_16", place);
    AsyncQueue& queue = queue_of_this_thread();
    if (queue.next - queue.first == AsyncQueue::kMost) {
        throw LaunchError(place, "cp_async_16: more copies on their way than the emulator keeps");
    }
    queue.copies[queue.next % AsyncQueue::kMost] = copy;
    queue.groups[queue.next % AsyncQueue::kMost] = queue.open;
    ++queue.next;
    if (copy.exists) {
        global_read(copy.from, kCopyBytes, place);
    }
}

void close_async_group() {
    ++queue_of_this_thread().open;
}

bool take_async_copy(std::size_t last_groups, AsyncCopy& copy) {
    AsyncQueue& queue = queue_of_this_thread();
    const std::uint64_t place = queue.first % AsyncQueue::kMost;
    if (queue.first == queue.next || queue.groups[place] + last_groups >= queue.open) {
        return false;
    }
    copy = queue.copies[place];
    ++queue.first;
    return true;
}

void forget_async_copies(std::size_t threads) {
    std::vector<AsyncQueue>& queues = queues_of_block();
    queues.resize(std::max(queues.size(), threads));
    for (AsyncQueue& queue : queues) {
        queue.open = queue.first = queue.next = 0;
    }
}

} // namespace kvcaliper::simt
