// SPDX-License-Identifier: Apache-2.0
// Bugs planted in kernels that only a sanitizer or a comparison of orders can show: races between
// threads and blocks, accesses out of bounds, 32-bit offsets. Each report must name the planted
// lines, which the constant behind each kernel counts back to. What the emulator reports on its own
// is in simt_emulator_test.cpp.
#include "kernels/simt/warp_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#if defined(__SANITIZE_THREAD__)
/// The first report ends the process, so that a death test sees it and a clean kernel has none.
extern "C" const char* __tsan_default_options() { // NOLINT(bugprone-reserved-identifier)
    return "halt_on_error=1";
}
#endif

namespace kvcaliper::simt {
namespace {

constexpr int kThreads = 64;
constexpr int kBlocks = 4;

// --- races --------------------------------------------------------------------------------------
// Each kernel comes twice: as it should be, and without what puts its accesses in order.

struct Race {
    const char* name;
    void (*right)(int* out);
    void (*wrong)(int* out);
    int first, second; ///< lines of the two accesses in `wrong`
    enum { by_orders, by_thread_sanitizer, by_emulator } shown = by_orders; ///< in every build
};

template <bool barrier> __global__ void read_early(int* out) {
    SIMT_SHARED(int, held, kThreads);
    held[threadIdx.x] = static_cast<int>(threadIdx.x);
    if (barrier) {
        __syncthreads();
    }
    store(out + blockIdx.x * kThreads + threadIdx.x, held[kThreads - 1 - threadIdx.x]);
}
constexpr int kReadEarly = __LINE__ - 2;

template <bool barrier> __global__ void overwrite_early(int* out) {
    SIMT_SHARED(int, held, kThreads);
    held[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    const int found = held[kThreads - 1 - threadIdx.x];
    if (barrier) {
        __syncthreads();
    }
    held[threadIdx.x] = -1;
    store(out + blockIdx.x * kThreads + threadIdx.x, found);
}
constexpr int kOverwriteEarly = __LINE__ - 3;

/// One barrier per turn where two are needed: a thread may write for the next turn while another
/// still reads.
template <bool barrier> __global__ void one_barrier_per_turn(int* out) {
    SIMT_SHARED(int, held, kThreads);
    int sum = 0;
    for (int turn = 0; turn < 3; ++turn) {
        held[threadIdx.x] = turn * kThreads + static_cast<int>(threadIdx.x);
        __syncthreads();
        sum += (turn + 1) * held[kThreads - 1 - threadIdx.x];
        if (barrier) {
            __syncthreads();
        }
    }
    store(out + blockIdx.x * kThreads + threadIdx.x, sum);
}
constexpr int kOneBarrier = __LINE__ - 7;

template <bool barrier> __global__ void lost_syncwarp(int* out) {
    SIMT_SHARED(int, held, kThreads);
    held[threadIdx.x] = static_cast<int>(threadIdx.x);
    if (barrier) {
        __syncwarp();
    }
    store(out + blockIdx.x * kThreads + threadIdx.x, held[threadIdx.x ^ 1u]);
}
constexpr int kLostSyncwarp = __LINE__ - 2;

/// All lanes meet in a shuffle, yet it is no fence: what they wrote before may not be seen.
template <bool barrier> __global__ void shuffle_as_fence(int* out) {
    SIMT_SHARED(int, held, kThreads);
    held[threadIdx.x] = static_cast<int>(threadIdx.x);
    const int other = __shfl_xor_sync(0xffffffffu, static_cast<int>(threadIdx.x), 1);
    if (barrier) {
        __syncwarp();
    }
    store(out + blockIdx.x * kThreads + threadIdx.x, held[other]);
}
constexpr int kShuffleAsFence = __LINE__ - 2;

/// The copies of a thread have landed for itself alone; a matrix is read by the whole warp.
template <bool barrier> __global__ void matrix_read_early(int* out) {
    SIMT_SHARED(std::uint64_t, held, 2 * kThreads);
    SIMT_SHARED(std::uint64_t, from, 2 * kThreads);
    from[2 * threadIdx.x] = from[2 * threadIdx.x + 1] = threadIdx.x;
    cp_async_16(held + 2 * threadIdx.x, from + 2 * threadIdx.x, true);
    cp_async_commit();
    cp_async_wait<0>();
    if (barrier) {
        __syncthreads();
    }
    std::uint32_t rows[4];
    ldmatrix_x4(rows, held + 2 * (kThreads - 1 - threadIdx.x));
    store(out + blockIdx.x * kThreads + threadIdx.x, static_cast<int>(rows[0]));
}
constexpr int kMatrixReadEarly = __LINE__ - 3;

template <bool apart> __global__ void blocks_write_one_element(int* out) {
    const unsigned row = apart ? blockIdx.x : blockIdx.x / 2;
    store(out + row * kThreads + threadIdx.x, static_cast<int>(blockIdx.x));
}
constexpr int kOneElement = __LINE__ - 2;

template <bool apart> __global__ void block_reads_its_neighbour(int* out) {
    int* const own = out + blockIdx.x * kThreads + threadIdx.x;
    store(own, static_cast<int>(blockIdx.x));
    const int* const found = apart || blockIdx.x == 0 ? own : own - kThreads;
    const int neighbour = load(found);
    store(own, 10 * neighbour + 1);
}
constexpr int kNeighbour = __LINE__ - 3;

/// Two blocks that the emulator runs on the same fibers when they come in the order of the grid.
template <bool apart> __global__ void blocks_three_apart(int* out) {
    const unsigned row = apart ? blockIdx.x : blockIdx.x % 3;
    store(out + row * kThreads + threadIdx.x, static_cast<int>(blockIdx.x));
}
constexpr int kThreeApart = __LINE__ - 2;

const Race races[] = {
    {"a __syncthreads lost before a read", read_early<true>, read_early<false>, kReadEarly - 4,
     kReadEarly},
    {"a __syncthreads lost before an overwrite", overwrite_early<true>, overwrite_early<false>,
     kOverwriteEarly - 4, kOverwriteEarly},
    {"one __syncthreads per turn instead of two", one_barrier_per_turn<true>,
     one_barrier_per_turn<false>, kOneBarrier - 2, kOneBarrier},
    {"a lost __syncwarp", lost_syncwarp<true>, lost_syncwarp<false>, kLostSyncwarp - 4,
     kLostSyncwarp},
    {"a shuffle taken for a fence", shuffle_as_fence<true>, shuffle_as_fence<false>,
     kShuffleAsFence - 5, kShuffleAsFence, Race::by_thread_sanitizer},
    {"a matrix read before a __syncthreads", matrix_read_early<true>, matrix_read_early<false>,
     kMatrixReadEarly - 5, kMatrixReadEarly},
    {"two blocks writing one element", blocks_write_one_element<true>,
     blocks_write_one_element<false>, kOneElement, kOneElement, Race::by_emulator},
    {"a block reading what another writes", block_reads_its_neighbour<true>,
     block_reads_its_neighbour<false>, kNeighbour - 2, kNeighbour, Race::by_emulator},
};

std::vector<int> run_in(Order order, std::uint64_t seed, void (*kernel)(int*)) {
    config() = {};
    config().order = order;
    config().seed = seed;
    std::vector<int> out(std::size_t{kBlocks} * kThreads, -7);
    launch(kernel, kBlocks, kThreads, 0, Stream{}, out.data());
    config() = {};
    return out;
}

/// Element by element, in orders of every kind.
bool orders_agree(void (*kernel)(int*)) {
    const std::vector<int> first = run_in(Order::forward, 1, kernel);
    return run_in(Order::reverse, 1, kernel) == first &&
           run_in(Order::shuffled, 1, kernel) == first &&
           run_in(Order::shuffled, 2, kernel) == first;
}

/// Under ThreadSanitizer also: nothing is reported.
TEST(PlantedRaces, TheKernelsWithoutThemAreClean) {
    for (const Race& race : races) {
        EXPECT_TRUE(orders_agree(race.right)) << race.name;
    }
}

#if defined(__SANITIZE_THREAD__)

std::string at(int line) {
    return "simt_planted_test.cpp:" + std::to_string(line) + "[^0-9]";
}

TEST(PlantedRaces, AreReportedByThreadSanitizerWithBothLines) {
    GTEST_FLAG_SET(death_test_style, "threadsafe"); // a forked child would be watched no longer
    for (const Race& race : races) {
        SCOPED_TRACE(race.name);
        const std::string one = at(race.first), other = at(race.second);
        EXPECT_DEATH(run_in(Order::forward, 1, race.wrong),
                     "data race.*(" + one + ".*" + other + "|" + other + ".*" + one + ")");
    }
}

TEST(PlantedRaces, OfBlocksThatShareFibersAreReportedInAShuffledOrder) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    run_in(Order::shuffled, 1, blocks_three_apart<true>);
    EXPECT_DEATH(run_in(Order::shuffled, 1, blocks_three_apart<false>),
                 "data race.*" + at(kThreeApart) + ".*" + at(kThreeApart));
}

TEST(PlantedRaces, AreReportedWithTheNumbersOfTheThreads) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(run_in(Order::forward, 1, lost_syncwarp<false>), "'CUDA thread 1'");
}

#else

TEST(PlantedRaces, ShowAsElementsThatDifferBetweenOrders) {
    for (const Race& race : races) {
        if (race.shown != Race::by_emulator) {
            EXPECT_EQ(orders_agree(race.wrong), race.shown == Race::by_thread_sanitizer)
                << race.name;
        }
    }
}

std::string report_of(void (*kernel)(int*), Order order) {
    try {
        run_in(order, 1, kernel);
    } catch (const LaunchError& error) {
        return error.what();
    }
    return "nothing was reported";
}

std::string line(int number) {
    return "simt_planted_test.cpp:" + std::to_string(number);
}

TEST(PlantedRaces, BetweenBlocksAreReportedByTheEmulatorWithBothLines) {
    EXPECT_THAT(report_of(blocks_write_one_element<false>, Order::forward),
                testing::EndsWith(line(kOneElement) +
                                  ": race: thread 0 of block 1 writes what thread 0 of block 0 has "
                                  "written at " +
                                  std::string(__FILE__) + ":" + std::to_string(kOneElement)));
    EXPECT_THAT(
        report_of(block_reads_its_neighbour<false>, Order::forward),
        testing::AllOf(testing::HasSubstr(line(kNeighbour) + ": race: thread 0 of block 1 "
                                                             "reads what thread 0 of block 0"),
                       testing::EndsWith(line(kNeighbour + 1))));
}

TEST(PlantedRaces, OfBlocksFarApartAreReportedByTheEmulator) {
    EXPECT_EQ(report_of(blocks_three_apart<true>, Order::forward), "nothing was reported");
    EXPECT_THAT(report_of(blocks_three_apart<false>, Order::forward),
                testing::HasSubstr(line(kThreeApart) + ": race: thread 0 of block 3 writes what "
                                                       "thread 0 of block 0"));
}

/// Overwritten after another block has read it; the reverse order finds it.
template <bool apart> __global__ void block_overwrites_what_another_read(int* out) {
    int* const own = out + blockIdx.x * kThreads + threadIdx.x;
    const int next = load(apart || blockIdx.x + 1 == gridDim.x ? own : own + kThreads);
    store(own, next + 1);
}
constexpr int kReadBefore = __LINE__ - 3;

TEST(PlantedRaces, AReadThatComesFirstIsReportedInTheOtherOrder) {
    EXPECT_EQ(report_of(block_overwrites_what_another_read<false>, Order::forward),
              "nothing was reported");
    EXPECT_THAT(report_of(block_overwrites_what_another_read<false>, Order::reverse),
                testing::HasSubstr(line(kReadBefore) + ": race: thread 63 of block 2 reads what "
                                                       "thread 63 of block 3"));
    EXPECT_EQ(report_of(block_overwrites_what_another_read<true>, Order::reverse),
              "nothing was reported");
}

/// Within a block, barriers of the block and of the warp put writes in order.
template <bool barrier> __global__ void through_global_memory(int* out) {
    int* const row = out + blockIdx.x * kThreads;
    store(row + threadIdx.x, 1);
    if (barrier) {
        __syncwarp();
    }
    const int lane = load(row + (threadIdx.x ^ 1u));
    __syncthreads();
    store(row + (threadIdx.x ^ 2u), lane);
    if (barrier) {
        __syncthreads();
    }
    store(row + (kThreads - 1 - threadIdx.x), lane);
}

TEST(PlantedRaces, WithinABlockAreReportedByTheEmulator) {
    EXPECT_EQ(report_of(through_global_memory<true>, Order::forward), "nothing was reported");
    EXPECT_THAT(report_of(through_global_memory<false>, Order::forward),
                testing::HasSubstr("race: thread 1 of block 0 reads what thread 0 of block 0"));
}

#endif

// --- out of bounds ------------------------------------------------------------------------------

[[maybe_unused]] std::string line_pattern(int line) {
    return "simt_planted_test.cpp:" + std::to_string(line) + "[^0-9]";
}

__global__ void write_past_the_end(int index) {
    SIMT_SHARED(int, fixed, 8);
    SIMT_DYN_SHARED(int, dynamic);
    fixed[index] = 1;
    dynamic[15 - index] = 1;
}
constexpr int kFixedLine = __LINE__ - 3;

__global__ void read_past_the_end(const int* from, int* to, unsigned count) {
    if (threadIdx.x <= count) {
        store(to + threadIdx.x, load(from + threadIdx.x));
    }
}
constexpr int kGlobalLine = __LINE__ - 3;

class OutOfBounds : public testing::Test {
  protected:
    void SetUp() override {
#if !defined(__SANITIZE_ADDRESS__)
        GTEST_SKIP() << "seen by AddressSanitizer only: ./dev asan";
#endif
    }
};

TEST_F(OutOfBounds, StaticSharedMemoryIsReportedWithItsLine) {
    EXPECT_NO_THROW(launch(write_past_the_end, 1, 1, 16 * 4, Stream{}, 7));
    const std::string report = "use-after-poison.*" + line_pattern(kFixedLine);
    EXPECT_DEATH(launch(write_past_the_end, 1, 1, 16 * 4, Stream{}, 8), report);
    EXPECT_DEATH(launch(write_past_the_end, 1, 1, 16 * 4, Stream{}, -1), report);
}

TEST_F(OutOfBounds, DynamicSharedMemoryIsReportedWithItsLine) {
    EXPECT_DEATH(launch(write_past_the_end, 1, 1, 8 * 4, Stream{}, 7),
                 "use-after-poison.*" + line_pattern(kFixedLine + 1));
}

TEST_F(OutOfBounds, GlobalMemoryIsReportedWithItsLine) {
    const std::vector<int> from(20);
    std::vector<int> to(32);
    EXPECT_NO_THROW(launch(read_past_the_end, 1, 32, 0, Stream{}, from.data(), to.data(), 19u));
    EXPECT_DEATH(launch(read_past_the_end, 1, 32, 0, Stream{}, from.data(), to.data(), 20u),
                 "heap-buffer-overflow.*" + line_pattern(kGlobalLine));
}

// --- undefined behaviour ------------------------------------------------------------------------

__global__ void offset_in_32_bits(const char* plane, char* out, int slots, int width) {
    const int slot = slots - 1;
    const int offset = slot * width;
    store(out, load(plane + offset));
}
constexpr int kOffsetLine = __LINE__ - 3;

struct alignas(16) Four {
    float numbers[4];
};

__global__ void load_four(const float* from, Four* to) {
    *to = load(reinterpret_cast<const Four*>(from));
}

class Undefined : public testing::Test {
  protected:
    void SetUp() override {
#if !defined(KVCALIPER_UBSAN)
        GTEST_SKIP() << "seen by UndefinedBehaviorSanitizer only: ./dev asan";
#endif
    }
};

/// 2^31 bytes and a slot more; the report comes before the address is used.
TEST_F(Undefined, AnOffsetOf32BitsIsReportedWithItsLine) {
    const char plane[64] = {};
    char out = 0;
    EXPECT_NO_THROW(launch(offset_in_32_bits, 1, 1, 0, Stream{}, plane, &out, 4, 16));
    EXPECT_DEATH(launch(offset_in_32_bits, 1, 1, 0, Stream{}, plane, &out, (1 << 24) + 2, 128),
                 line_pattern(kOffsetLine) + ".*signed integer overflow");
}

TEST_F(Undefined, AMisalignedVectorLoadIsReported) {
    alignas(16) const float from[8] = {1.0f, 2.0f, 3.0f, 4.0f};
    Four to{};
    EXPECT_NO_THROW(launch(load_four, 1, 1, 0, Stream{}, from, &to));
    EXPECT_EQ(to.numbers[3], 4.0f);
    EXPECT_DEATH(launch(load_four, 1, 1, 0, Stream{}, from + 1, &to), "misaligned address");
}

} // namespace
} // namespace kvcaliper::simt
