// SPDX-License-Identifier: Apache-2.0
// The warp-wide matrix operations and asynchronous copies alone. Where each number of a fragment
// lies is written here as the PTX ISA has it (section "Matrix Fragments for mma.m16n8k16 with
// floating point type", and "ldmatrix"), number by number; the expected products are made by hand.
#include "kernels/simt/warp_matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace kvcaliper::simt {
namespace {

using Number = std::function<float(unsigned row, unsigned column)>;

template <class T> std::uint32_t bits_of_half(float value) {
    if constexpr (std::is_same_v<T, F16>) {
        return to_f16(value).bits;
    } else {
        return to_bf16(value).bits;
    }
}

/// Two numbers to a register: number i is half i % 2 of register i / 2.
template <class T> void put_half(std::uint32_t* registers, unsigned i, float value) {
    registers[i / 2] |= bits_of_half<T>(value) << (16 * (i % 2));
}

template <class T>
__global__ void multiply(const Number* a, const Number* b, const Number* c, float* d) {
    const unsigned group = threadIdx.x / 4;
    const unsigned in_group = threadIdx.x % 4;
    std::uint32_t left[4] = {};
    for (unsigned i = 0; i < 8; ++i) {
        const unsigned row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;
        const unsigned column = in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0);
        put_half<T>(left, i, (*a)(row, column));
    }
    std::uint32_t right[2] = {};
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned row = in_group * 2 + (i & 1) + (i >= 2 ? 8 : 0);
        put_half<T>(right, i, (*b)(row, group));
    }
    float sums[4];
    for (unsigned i = 0; i < 4; ++i) {
        sums[i] = (*c)(i < 2 ? group : group + 8, in_group * 2 + (i & 1));
    }
    mma_16816<T>(sums, left, right[0], right[1]);
    for (unsigned i = 0; i < 4; ++i) {
        store(d + (i < 2 ? group : group + 8) * 8 + in_group * 2 + (i & 1), sums[i]);
    }
}

template <class T> std::vector<float> product(const Number& a, const Number& b, const Number& c) {
    std::vector<float> d(std::size_t{16} * 8, NAN);
    config() = {};
    launch(multiply<T>, 1, 32, 0, Stream{}, &a, &b, &c, d.data());
    return d;
}

float numbered(unsigned row, unsigned column) {
    return static_cast<float>(16 * row + column); // up to 255: exact in both types
}

/// b picks column n + 3 of a, so d[r][n] is 16 r + n + 3; c adds 1000 r.
TEST(WarpMatrix, AMatrixThatPicksColumnsBringsThemToTheirPlace) {
    const Number pick = [](unsigned row, unsigned column) { return row == column + 3 ? 1.f : 0.f; };
    const Number thousands = [](unsigned row, unsigned) {
        return 1000.0f * static_cast<float>(row);
    };
    for (const auto& d :
         {product<F16>(numbered, pick, thousands), product<Bf16>(numbered, pick, thousands)}) {
        for (unsigned row = 0; row < 16; ++row) {
            for (unsigned column = 0; column < 8; ++column) {
                EXPECT_EQ(d[row * 8 + column], static_cast<float>(1016 * row + column + 3));
            }
        }
    }
}

/// a = 1 and b[k][n] = 8 k + n, so d[r][n] = 8 · 120 + 16 n.
TEST(WarpMatrix, AllSixteenProductsAreAdded) {
    const Number ones = [](unsigned, unsigned) { return 1.0f; };
    const Number b = [](unsigned row, unsigned column) {
        return static_cast<float>(8 * row + column);
    };
    const Number zeros = [](unsigned, unsigned) { return 0.0f; };
    const std::vector<float> d = product<F16>(ones, b, zeros);
    for (std::size_t i = 0; i < d.size(); ++i) {
        EXPECT_EQ(d[i], 960.0f + 16.0f * static_cast<float>(i % 8));
    }
}

/// In f16 2^-12 would vanish beside 1 and 300² would be infinite.
TEST(WarpMatrix, SumsAreKeptInFullPrecision) {
    const Number a = [](unsigned, unsigned column) { return column == 0 ? 1.0f : 0x1p-6f; };
    const Number b = [](unsigned row, unsigned) { return row == 0 ? 1.0f : 0x1p-6f; };
    const Number zeros = [](unsigned, unsigned) { return 0.0f; };
    EXPECT_EQ(product<F16>(a, b, zeros)[0], 1.0f + 15 * 0x1p-12f);
    const Number large = [](unsigned, unsigned) { return 300.0f; };
    EXPECT_EQ(product<F16>(large, large, zeros)[0], 16.0f * 90000.0f);
}

constexpr unsigned kStride = 24; // numbers from row to row: 48 bytes

/// Four matrices of which matrix m has number 64 m + 8 r + c in row r, column c, its rows lying in
/// reverse; `out` takes every lane's registers.
__global__ void load_four(bool transposed, std::uint32_t* out) {
    SIMT_SHARED(float, aligned, 32 * kStride / 2);
    auto* const numbers = reinterpret_cast<std::uint16_t*>(aligned);
    const unsigned lane = threadIdx.x;
    for (unsigned column = 0; column < 8; ++column) {
        numbers[(31 - lane) * kStride + column] = static_cast<std::uint16_t>(8 * lane + column);
    }
    __syncthreads();
    std::uint32_t r[4];
    if (transposed) {
        ldmatrix_x4_trans(r, numbers + (31 - lane) * kStride);
    } else {
        ldmatrix_x4(r, numbers + (31 - lane) * kStride);
    }
    for (unsigned i = 0; i < 4; ++i) {
        store(out + 4 * lane + i, r[i]);
    }
}

void expect_loaded(bool transposed) {
    std::vector<std::uint32_t> out(std::size_t{32} * 4);
    config() = {};
    launch(load_four, 1, 32, 0, Stream{}, transposed, out.data());
    for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned matrix = 0; matrix < 4; ++matrix) {
            for (unsigned half = 0; half < 2; ++half) {
                const unsigned along = lane / 4;
                const unsigned across = 2 * (lane % 4) + half;
                const unsigned number =
                    64 * matrix + (transposed ? 8 * across + along : 8 * along + across);
                EXPECT_EQ(out[4 * lane + matrix] >> (16 * half) & 0xffffu, number)
                    << lane << " " << matrix << " " << half;
            }
        }
    }
}

TEST(WarpMatrix, MatricesAreLoadedRowByRow) {
    expect_loaded(false);
}

TEST(WarpMatrix, MatricesAreLoadedTransposed) {
    expect_loaded(true);
}

template <class Kernel, class... Arguments>
std::string report_of(int threads, Kernel kernel, Arguments... arguments) {
    config() = {};
    try {
        launch(kernel, 1, threads, 0, Stream{}, arguments...);
    } catch (const LaunchError& error) {
        return error.what();
    }
    return "nothing was reported";
}

#define EXPECT_SAYS(report, words) EXPECT_NE((report).find(words), std::string::npos) << (report)

__global__ void load_from(unsigned first) {
    SIMT_SHARED(float, aligned, 1024);
    std::uint32_t r[4];
    ldmatrix_x4(r, reinterpret_cast<std::uint16_t*>(aligned) + 8 * threadIdx.x + first);
}

TEST(WarpMatrix, ARowThatIsNotAlignedIsReported) {
    EXPECT_EQ(report_of(32, load_from, 0u), "nothing was reported");
    EXPECT_SAYS(report_of(32, load_from, 4u), "no multiple of 16 bytes");
    EXPECT_SAYS(report_of(32, load_from, 4u), "warp_matrix_test.cpp:");
}

__global__ void multiply_alone() {
    float d[4] = {};
    const std::uint32_t a[4] = {};
    if (threadIdx.x != 5) {
        mma_16816<F16>(d, a, 0, 0);
    }
}

TEST(WarpMatrix, AWarpThatIsNotWholeIsReported) {
    EXPECT_SAYS(report_of(32, multiply_alone), "lane 5 of warp 0 is in the mask but has returned");
    EXPECT_SAYS(report_of(16, load_from, 0u), "needs all 32 lanes");
}

constexpr std::uint32_t kPoison = 0xffffffffu;

/// Two groups of copies, then what shared memory holds when all but the last `Waited` have landed.
template <int Waited>
__global__ void copy_two(const std::uint32_t* from, bool exists, bool wait, std::uint32_t* out) {
    SIMT_SHARED(float, aligned, 8 * 32);
    auto* const held = reinterpret_cast<std::uint32_t*>(aligned) + 8 * threadIdx.x;
    cp_async_16(held, from, true);
    cp_async_commit();
    cp_async_16(held + 4, from + 4, exists);
    cp_async_commit();
    if (wait) {
        cp_async_wait<Waited>();
    }
    for (unsigned i = 0; i < 8; ++i) {
        store(out + i, held[i]);
    }
}

using Words = std::vector<std::uint32_t>;

template <int Waited> Words copied(bool exists, bool wait) {
    alignas(16) const std::uint32_t from[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    Words out(8);
    config() = {};
    stats() = {};
    launch(copy_two<Waited>, 1, 1, 0, Stream{}, +from, exists, wait, out.data());
    return out;
}

TEST(AsyncCopy, LandsAtTheWaitThatAsksForIt) {
    EXPECT_EQ(copied<0>(true, true), (Words{1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(copied<1>(true, true), (Words{1, 2, 3, 4, kPoison, kPoison, kPoison, kPoison}));
    EXPECT_EQ(copied<2>(true, true), Words(8, kPoison));
    EXPECT_EQ(copied<0>(true, false), Words(8, kPoison));
}

TEST(AsyncCopy, WritesZerosForWhatDoesNotExistAndReadsNothing) {
    EXPECT_EQ(copied<0>(false, true), (Words{1, 2, 3, 4, 0, 0, 0, 0}));
    EXPECT_EQ(stats().bytes_read, 16);
    copied<0>(true, true);
    EXPECT_EQ(stats().bytes_read, 32);
}

__global__ void copy_to(unsigned offset, const unsigned char* from) {
    SIMT_SHARED(float, aligned, 16);
    cp_async_16(reinterpret_cast<unsigned char*>(aligned) + offset, from, true);
}

TEST(AsyncCopy, AnAddressThatIsNotAlignedIsReported) {
    alignas(16) const unsigned char from[64] = {};
    EXPECT_SAYS(report_of(1, copy_to, 8u, from + 0), "no multiple of 16 bytes");
    EXPECT_SAYS(report_of(1, copy_to, 0u, from + 4), "no multiple of 16 bytes");
    EXPECT_EQ(report_of(1, copy_to, 16u, from + 16), "nothing was reported");
}

/// What a block never waited for is not there for the next one, which has the same threads.
__global__ void copy_in_the_first_block(const std::uint32_t* from, std::uint32_t* out) {
    SIMT_SHARED(float, aligned, 4);
    if (blockIdx.x == 0) {
        cp_async_16(aligned, from, true);
    }
    cp_async_commit();
    if (blockIdx.x == 1) {
        cp_async_wait<0>();
        store(out, bits_of(aligned[0]));
    }
}

TEST(AsyncCopy, NeverCrossesIntoAnotherBlock) {
    alignas(16) const std::uint32_t from[4] = {1, 2, 3, 4};
    std::uint32_t out = 0;
    config() = {};
    launch(copy_in_the_first_block, 2, 1, 0, Stream{}, +from, &out);
    EXPECT_EQ(out, kPoison);
}

} // namespace
} // namespace kvcaliper::simt
