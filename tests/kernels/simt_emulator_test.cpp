// SPDX-License-Identifier: Apache-2.0
// The emulator itself: that it computes what CUDA promises, and that it reports the mistakes it is
// there to find, with the line they are on, which a constant in front of each kernel counts to.
#include "kernels/simt/portable.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace kvcaliper::simt {
namespace {

template <class Kernel, class... Arguments>
std::string report_of(int threads, Kernel kernel, Arguments... arguments) {
    try {
        launch(kernel, 1, threads, 0, Stream{}, arguments...);
    } catch (const LaunchError& error) {
        return error.what();
    }
    return "nothing was reported";
}

bool names(const std::string& report, const char* word) {
    return report.find(word) != std::string::npos;
}

std::string here(int line) {
    return "simt_emulator_test.cpp:" + std::to_string(line);
}

#define EXPECT_NAMES(report, word) EXPECT_PRED2(names, report, word)

// --- what works -------------------------------------------------------------------------------

__global__ void reverse_in_block(const int* from, int* to) {
    SIMT_SHARED(int, held, 100);
    const unsigned last = blockDim.x - 1;
    const std::size_t first = std::size_t{blockIdx.x} * blockDim.x;
    held[threadIdx.x] = load(from + first + threadIdx.x);
    __syncthreads();
    store(to + first + threadIdx.x, held[last - threadIdx.x]);
}

TEST(Emulator, ABarrierSeparatesWritesFromReadsInEveryOrder) {
    std::vector<int> from(300);
    for (std::size_t i = 0; i < from.size(); ++i) {
        from[i] = static_cast<int>(i);
    }
    for (const Order order : {Order::forward, Order::reverse, Order::shuffled}) {
        config() = {};
        config().order = order;
        stats() = {};
        std::vector<int> to(300, -1);
        launch(reverse_in_block, 3, 100, 0, Stream{}, from.data(), to.data());
        for (std::size_t i = 0; i < to.size(); ++i) {
            EXPECT_EQ(to[i], static_cast<int>(i / 100 * 100 + 99 - i % 100));
        }
        EXPECT_EQ(stats().barriers, 3);
        EXPECT_EQ(stats().bytes_read, 1200);
        EXPECT_EQ(stats().bytes_written, 1200);
    }
    config() = {};
}

__global__ void shuffle_three_ways(int* out) {
    const int own = static_cast<int>(threadIdx.x);
    int* const row = out + std::size_t{3} * threadIdx.x;
    row[0] = __shfl_xor_sync(0xffffffffu, own, 5);
    row[1] = __shfl_down_sync(0xffffffffu, own, 3u);
    row[2] = __shfl_sync(0xffffffffu, own, 7);
}

TEST(Emulator, ShufflesFollowCuda) {
    std::vector<int> out(64 * 3);
    launch(shuffle_three_ways, 1, 64, 0, Stream{}, out.data());
    for (int thread = 0; thread < 64; ++thread) {
        const int* row = out.data() + std::ptrdiff_t{3} * thread;
        const int warp = thread / 32 * 32;
        EXPECT_EQ(row[0], warp + (thread % 32 ^ 5));
        EXPECT_EQ(row[1], thread % 32 + 3 < 32 ? thread + 3 : thread);
        EXPECT_EQ(row[2], warp + 7);
    }
}

__global__ void shuffle_in_halves(int* out) {
    const int own = static_cast<int>(threadIdx.x);
    if (threadIdx.x < 16) {
        out[threadIdx.x] = __shfl_xor_sync(0x0000ffffu, own, 1);
    } else {
        out[threadIdx.x] = __shfl_xor_sync(0xffff0000u, own, 2);
    }
}

TEST(Emulator, DisjointMasksMayShuffleAtDifferentLines) {
    std::vector<int> out(32);
    launch(shuffle_in_halves, 1, 32, 0, Stream{}, out.data());
    EXPECT_EQ(out[4], 5);
    EXPECT_EQ(out[20], 22);
}

__global__ void sum_block(double* out) {
    SIMT_DYN_SHARED(double, held);
    held[threadIdx.x] = 1.0 + threadIdx.x;
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            held[threadIdx.x] += held[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0) {
        *out = held[0];
    }
}

TEST(Emulator, RunsAThousandThreadsThroughManyBarriers) {
    double sum = 0.0;
    launch(sum_block, 1, 1024, 1024 * 8, Stream{}, &sum);
    EXPECT_EQ(sum, 1024.0 * 1025.0 / 2.0);
}

// --- mistakes that must be reported -------------------------------------------------------------

constexpr int kBranchLine = __LINE__ + 3;
__global__ void barrier_in_a_branch() {
    if (threadIdx.x % 2 == 0) {
        __syncthreads();
    }
}

TEST(EmulatorReports, ABarrierThatSomeThreadsNeverReach) {
    const std::string report = report_of(64, barrier_in_a_branch);
    EXPECT_NAMES(report, here(kBranchLine).c_str());
    EXPECT_NAMES(report, "divergent barrier: thread 0 waits here, thread 1 has returned");
}

constexpr int kAfterReturnLine = __LINE__ + 5;
__global__ void early_return_before_a_barrier(int count) {
    if (static_cast<int>(threadIdx.x) >= count) {
        return;
    }
    __syncthreads();
}

TEST(EmulatorReports, AnEarlyReturnBeforeABarrier) {
    EXPECT_NO_THROW(launch(early_return_before_a_barrier, 1, 64, 0, Stream{}, 64));
    const std::string report = report_of(64, early_return_before_a_barrier, 50);
    EXPECT_NAMES(report, here(kAfterReturnLine).c_str());
    EXPECT_NAMES(report, "divergent barrier: thread 0 waits here, thread 50 has returned");
}

constexpr int kTwoLine = __LINE__ + 3;
__global__ void two_barriers() {
    if (threadIdx.x < 40) {
        __syncthreads();
    } else {
        __syncthreads();
    }
}

TEST(EmulatorReports, TwoBarriersReachedAtOnce) {
    const std::string report = report_of(64, two_barriers);
    EXPECT_NAMES(report, (here(kTwoLine) + ": divergent barrier: thread 0").c_str());
    EXPECT_NAMES(report, "thread 40 waits in __syncthreads at ");
    EXPECT_NAMES(report, here(kTwoLine + 2).c_str());
}

constexpr int kLaneLine = __LINE__ + 3;
__global__ void shuffle_without_a_lane(float* out) {
    if (threadIdx.x != 7) {
        out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, 1.0f, 1);
    }
}

TEST(EmulatorReports, AShuffleThatALaneNeverReaches) {
    std::vector<float> out(32);
    const std::string report = report_of(32, shuffle_without_a_lane, out.data());
    EXPECT_NAMES(report, here(kLaneLine).c_str());
    EXPECT_NAMES(report, "__shfl_xor_sync: lane 7 of warp 0 is in the mask but has returned");
}

constexpr int kDeadlockLine = __LINE__ + 4;
__global__ void shuffle_against_barrier(float* out) {
    float value = 1.0f;
    if (threadIdx.x >= 32) {
        value = __shfl_sync(threadIdx.x == 40 ? 0x100u : 0xffffffffu, value, 8);
    } else {
        __syncthreads();
    }
    out[threadIdx.x] = value;
}

TEST(EmulatorReports, MasksThatOverlapButDiffer) {
    std::vector<float> out(64);
    const std::string report = report_of(64, shuffle_against_barrier, out.data());
    EXPECT_NAMES(report, here(kDeadlockLine).c_str());
    EXPECT_NAMES(report, "__shfl_sync of thread 40 meets __shfl_sync");
}

constexpr int kMixedLine = __LINE__ + 3;
__global__ void barrier_inside_a_warp_operation(float* out) {
    if (threadIdx.x < 16) {
        out[threadIdx.x] = __shfl_sync(0xffffffffu, 1.0f, 0);
    } else {
        __syncthreads();
    }
}

TEST(EmulatorReports, ADeadlockBetweenAShuffleAndABarrier) {
    std::vector<float> out(32);
    const std::string report = report_of(32, barrier_inside_a_warp_operation, out.data());
    EXPECT_NAMES(report, here(kMixedLine).c_str());
    EXPECT_NAMES(report, "lane 16 of warp 0 is in the mask but waits in __syncthreads at");
}

__global__ void lane_outside_its_mask(float* out) {
    out[threadIdx.x] = __shfl_sync(0x0000ffffu, 1.0f, 0);
}

__global__ void source_outside_the_mask(float* out) {
    if (threadIdx.x < 16) {
        out[threadIdx.x] = __shfl_sync(0x0000ffffu, 1.0f, 20);
    }
}

__global__ void mask_beyond_the_block(float* out) {
    out[threadIdx.x] = __shfl_sync(0x00ffffffu, 1.0f, 0);
}

TEST(EmulatorReports, MasksThatNameLanesWhichDoNotExist) {
    std::vector<float> out(32);
    EXPECT_NAMES(report_of(20, mask_beyond_the_block, out.data()),
                 "the mask of thread 0 lacks its own lane or names one that does not exist");
}

TEST(EmulatorReports, LanesOutsideTheMask) {
    std::vector<float> out(32);
    EXPECT_NAMES(report_of(32, lane_outside_its_mask, out.data()),
                 "the mask of thread 16 lacks its own lane");
    EXPECT_NAMES(report_of(32, source_outside_the_mask, out.data()),
                 "asks for lane 20, which is not in the mask");
}

constexpr int kMeetLine = __LINE__ + 3;
__global__ void two_operations_meet(float* out) {
    if (threadIdx.x < 16) {
        out[threadIdx.x] = __shfl_sync(0xffffffffu, 1.0f, 0);
    } else {
        __syncwarp();
    }
}

TEST(EmulatorReports, TwoWarpOperationsThatMeet) {
    std::vector<float> out(32);
    const std::string report = report_of(32, two_operations_meet, out.data());
    EXPECT_NAMES(report,
                 (here(kMeetLine + 2) + ": __syncwarp of thread 16 meets __shfl_sync at ").c_str());
    EXPECT_NAMES(report, here(kMeetLine).c_str());
}

__global__ void too_much_shared() {
    SIMT_SHARED(char, held, 100 * 1024);
    held[threadIdx.x] = 0;
}

TEST(EmulatorReports, MoreSharedMemoryThanThereIs) {
    EXPECT_NAMES(report_of(1, too_much_shared),
                 "shared memory: 102400 bytes asked for, the limit is 101376");
    EXPECT_THROW(launch(sum_block, 1, 1, 102 * 1024, Stream{}, nullptr), LaunchError);
}

__global__ void nothing() {}

TEST(EmulatorReports, GridsAndBlocksThatNoDeviceTakes) {
    EXPECT_THROW(launch(nothing, 0, 32, 0, Stream{}), LaunchError);
    EXPECT_THROW(launch(nothing, 1, 1025, 0, Stream{}), LaunchError);
    EXPECT_NO_THROW(launch(nothing, 1, 1024, 0, Stream{}));
}

__global__ void read_before_writing(float* out) {
    SIMT_SHARED(float, fixed, 4);
    SIMT_DYN_SHARED(F16, dynamic);
    out[2 * blockIdx.x] = fixed[0];
    out[2 * blockIdx.x + 1] = to_float(dynamic[0]);
    fixed[0] = 1.0f; // the next block must not find it
    dynamic[0] = F16{0};
}

TEST(EmulatorReports, SharedMemoryReadBeforeItIsWrittenAsNaN) {
    std::vector<float> out(4);
    launch(read_before_writing, 2, 1, 8, Stream{}, out.data());
    for (const float value : out) {
        EXPECT_TRUE(std::isnan(value));
    }
}

__global__ void throw_something() {
    if (threadIdx.x == 3) {
        throw std::runtime_error("from a kernel");
    }
    __syncthreads();
}

TEST(EmulatorReports, ExceptionsOfAKernelAndGoesOnAfterwards) {
    EXPECT_THROW(launch(throw_something, 1, 64, 0, Stream{}), std::runtime_error);
    double sum = 0.0;
    launch(sum_block, 1, 64, 64 * 8, Stream{}, &sum);
    EXPECT_EQ(sum, 64.0 * 65.0 / 2.0);
}

// --- storage types ------------------------------------------------------------------------------

TEST(FloatTypes, NarrowingAfterWideningGivesEveryValueBack) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const F16 half{static_cast<std::uint16_t>(bits)};
        const Bf16 brain{static_cast<std::uint16_t>(bits)};
        if (!std::isnan(widen(half))) {
            ASSERT_EQ(to_f16(widen(half)).bits, half.bits);
        }
        if (!std::isnan(widen(brain))) {
            ASSERT_EQ(to_bf16(widen(brain)).bits, brain.bits);
        }
    }
}

TEST(FloatTypes, WideningFollowsTheFormats) {
    EXPECT_EQ(widen(F16{0x3c00}), 1.0f);
    EXPECT_EQ(widen(F16{0xc248}), -3.140625f);
    EXPECT_EQ(widen(F16{0x7bff}), 65504.0f);
    EXPECT_EQ(widen(F16{0x0001}), 0x1p-24f);
    EXPECT_EQ(widen(F16{0x83ff}), -0x3ffp-24f);
    EXPECT_EQ(widen(F16{0x7c00}), std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isnan(widen(F16{0x7c01})));
    EXPECT_EQ(widen(Bf16{0x4049}), 3.140625f);
}

/// Rounding against the definition: no other half is nearer, and on a tie the last bit is 0.
TEST(FloatTypes, NarrowingRoundsToNearestEven) {
    for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
        const F16 low{static_cast<std::uint16_t>(bits)};
        const F16 high{static_cast<std::uint16_t>(bits + 1)};
        const float middle = (widen(low) + widen(high)) / 2.0f; // exact in f32
        ASSERT_EQ(to_f16(middle).bits, bits % 2 == 0 ? low.bits : high.bits) << bits;
        ASSERT_EQ(to_f16(std::nextafter(middle, 0.0f)).bits, low.bits) << bits;
        ASSERT_EQ(to_f16(std::nextafter(middle, 1e9f)).bits, high.bits) << bits;
    }
    EXPECT_EQ(to_f16(65519.996f).bits, 0x7bff);
    EXPECT_EQ(to_f16(65520.0f).bits, 0x7c00);
    EXPECT_EQ(to_f16(-1e30f).bits, 0xfc00);
    EXPECT_EQ(to_bf16(float_from_bits(0x3f808000)).bits, 0x3f80);
    EXPECT_EQ(to_bf16(float_from_bits(0x3f818000)).bits, 0x3f82);
    EXPECT_TRUE(std::isnan(widen(to_f16(std::nanf("")))));
    EXPECT_TRUE(std::isnan(widen(to_bf16(std::nanf("")))));
}

} // namespace
} // namespace kvcaliper::simt
