// SPDX-License-Identifier: Apache-2.0
// Rows into q5_1, iq4_nl, nvfp4, mxfp8 and the formats of one scale per row: the bytes that other
// programs make, that their specifications ask for, or that are worked out by hand; ties, zeros,
// subnormal and saturated numbers, and what is no number, on every backend.
#include "format_rows.h"
#include "kernels/reference_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

namespace kvcaliper::kernels::test {
namespace {

using testing::ElementsAreArray;

constexpr float no_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinite = std::numeric_limits<float>::infinity();

/// "03 3c …" as bytes.
Bytes bytes_of(const std::string& hex) {
    Bytes bytes;
    std::istringstream words(hex);
    for (std::string word; words >> word;)
        bytes.push_back(static_cast<unsigned char>(std::stoi(word, nullptr, 16)));
    return bytes;
}

std::vector<float> row_of(std::vector<float> first, std::size_t width) {
    first.resize(width);
    return first;
}

void expect_bytes(Format format, const std::vector<float>& row, const Bytes& wanted) {
    for (const auto& backend : all_backends()) {
        SCOPED_TRACE(name_of_backend(*backend));
        EXPECT_THAT(stored_row(*backend, format, row), ElementsAreArray(wanted));
    }
}

/// What every backend gives back for a row, by the definition of the format.
std::vector<double> given_back(Format format, const std::vector<float>& row) {
    const auto width = static_cast<std::int64_t>(row.size());
    const Bytes bytes = stored_row(*all_backends().front(), format, row);
    expect_bytes(format, row, bytes);
    return numbers_in(bytes, format, width);
}

/// 32 numbers of both signs and three sizes.
std::vector<float> mixed_row() {
    std::vector<float> row;
    for (int i = 0; i < 32; ++i)
        row.push_back(static_cast<float>(i * 37 % 64 - 29) / 16 * (i % 5 == 0 ? 4.0f : 1.0f));
    return row;
}

TEST(Q5One, HasTheBytesThatTheGgufPackageMakes) { // gguf 0.19.0, quants.quantize(…, Q5_1)
    expect_bytes(Format::q5_1, mixed_row(),
                 bytes_of("5b 37 40 c7 6a b5 5a ab e0 31 fd 42 4f df 20 ec 31 0e cb 1f d4 20 cd "
                          "47"));
    std::vector<float> row(32, 2.0f);
    row[1] = 33;    // (33 - 2) / 31 = 1
    row[16] = 2.5f; // half a step goes up
    row[17] = 32.4f;
    row[18] = 20;
    expect_bytes(Format::q5_1, row,
                 bytes_of("00 3c 00 40 02 00 06 00 10 ef 20 00 00 00 00 00 00 00 00 00 00 00 00 "
                          "00"));
}

TEST(Q5One, OfEqualNumbersHasNoScale) {
    for (const double number : given_back(Format::q5_1, std::vector<float>(32, 0x1p-20f)))
        EXPECT_EQ(number, 0x1p-20); // subnormal in f16
}

TEST(Q5One, StoresWhatIsNoNumberAsTheLeast) {
    std::vector<float> row(32, 2.0f);
    row[1] = 33;
    row[3] = no_number;
    EXPECT_EQ(given_back(Format::q5_1, row)[3], 2);
    EXPECT_EQ(given_back(Format::q5_1, row)[1], 33);
}

TEST(Iq4Nl, StoresLevelsAsTheyAre) {
    // The gguf package reads these bytes as 0.5 · {-127, -104, -83, …, 113} and the same backwards.
    const float levels[] = {-63.5f, -52,  -41.5f, -32.5f, -24.5f, -17.5f, -11,   -5,
                            0.5f,   6.5f, 12.5f,  19,     26.5f,  34.5f,  44.5f, 56.5f};
    std::vector<float> row(levels, levels + 16);
    row.insert(row.end(), std::rbegin(levels), std::rend(levels));
    expect_bytes(Format::iq4_nl, row,
                 bytes_of("00 38 f0 e1 d2 c3 b4 a5 96 87 78 69 5a 4b 3c 2d 1e 0f"));
}

TEST(Iq4Nl, FitsItsScaleToTheSquares) {
    // By hand, as ggml-quants.c fits without weights: quants of -127 and 113 (120's nearest level),
    // d = (127⁴ + 120³ · 113) / (127⁴ + 120² · 113²) = 455408641 / 444018241 = 1.02565, 0x3c1a.
    expect_bytes(Format::iq4_nl, row_of({-127, 120}, 32),
                 bytes_of("1a 3c 80 8f 88 88 88 88 88 88 88 88 88 88 88 88 88 88"));
}

TEST(Iq4Nl, RoundsTheMiddleOfTwoLevelsUp) {
    // Around 19 = (13 + 25) / 2 and -115.5 = (-127 - 104) / 2.
    const std::vector<double> got =
        given_back(Format::iq4_nl, row_of({-127, 19, 18.9f, -115.5f, -115.6f}, 32));
    const double d = got[0] / -127;
    EXPECT_EQ(got[1], 25 * d);
    EXPECT_EQ(got[2], 13 * d);
    EXPECT_EQ(got[3], -104 * d);
    EXPECT_EQ(got[4], -127 * d);
}

TEST(Iq4Nl, OfAlmostNothingIsNothing) { // GROUP_MAX_EPS of ggml-quants.c
    for (const double number : given_back(Format::iq4_nl, std::vector<float>(32, 0.9e-15f)))
        EXPECT_EQ(number, 0);
    // The least scale of f16 is 2^-24, and all are the greatest: level -127 of -2^-24.
    for (const double number : given_back(Format::iq4_nl, std::vector<float>(32, 127 * 0x1p-24f)))
        EXPECT_EQ(number, 127 * 0x1p-24);
}

TEST(Iq4Nl, LosesABlockToWhatIsNoNumber) {
    for (const double number : given_back(Format::iq4_nl, row_of({1, no_number}, 32)))
        EXPECT_TRUE(std::isnan(number));
}

TEST(Nvfp4, RoundsToTheEightSizesWithTiesToEven) {
    // Sizes of e2m1 (OCP MX 1.0, FP4): 0, 0.5, 1, 1.5, 2, 3, 4, 6. The greatest is 6, so the
    // block's scale is 1, which is 0x38 in e4m3; the second block has a scale of 0.5, 0x30.
    const std::vector<float> row{0.25f, 0.75f, 1.25f, 1.75f, 2.5f,  3.5f, 5, 5.01f, -0.25f, -6,
                                 0.26f, -3,    0,     -0.0f, -1.3f, 6,    3, -1.5f, 0.5f,   0.375f};
    expect_bytes(Format::nvfp4, row_of(row, 32),
                 bytes_of("20 42 64 76 f8 d1 80 7b d7 22 00 00 00 00 00 00 38 30"));
    EXPECT_THAT(given_back(Format::nvfp4, row_of(row, 16)),
                testing::ElementsAre(0, 1, 1, 2, 2, 4, 4, 6, 0, -6, 0.5, -3, 0, 0, -1.5, 6));
}

TEST(Nvfp4, HasScalesFromTheLeastSubnormalTo448) {
    const auto first = [](float number) {
        return given_back(Format::nvfp4, row_of({number, -number / 2}, 16));
    };
    EXPECT_EQ(first(6 * 0x1p-9f)[0], 6 * 0x1p-9);
    EXPECT_EQ(first(6 * 0x1p-9f)[1], -3 * 0x1p-9);
    EXPECT_EQ(first(6 * 0x1p-10f)[0], 0); // half a subnormal goes to even, and all is lost
    EXPECT_EQ(first(6 * 448.0f)[0], 2688);
    EXPECT_EQ(first(1e6f)[0], 2688); // cut, and so is half of it
    EXPECT_EQ(first(1e6f)[1], -2688);
    EXPECT_EQ(first(infinite)[0], 2688);
}

TEST(Nvfp4, MakesSixOfWhatIsNoNumber) { // as cvt.rn.satfinite.e2m1x2.f32 does (PTX ISA 8.6)
    const std::vector<double> got = given_back(Format::nvfp4, row_of({3, -no_number, -1}, 16));
    EXPECT_EQ(got[0], 3);
    EXPECT_EQ(got[1], 3); // 6 · 0.5
    EXPECT_EQ(got[2], -1);
}

TEST(Mxfp8, HasAPowerOfTwoBelowTheGreatestSize) {
    // OCP MX 1.0, 6.3: the scale is 2^(floor(log2 max) - 8), 8 being e4m3's greatest exponent; its
    // code is that exponent + 127. 500 has exponent 8 too and is cut to 448.
    std::vector<float> row{448, 17, 19, -0x1p-10f, 0x3p-10f, 500, 1, 464};
    expect_bytes(Format::mxfp8, row_of(row, 32), [&] {
        Bytes wanted = bytes_of("7e 58 5a 80 02 7e 38 7e");
        wanted.resize(33);
        wanted[32] = 127;
        return wanted;
    }());
    Bytes wanted(33);
    wanted[0] = 0x78; // 1 is 256 · 2^-8
    wanted[1] = 0xf0; // -0.5
    wanted[32] = 119;
    expect_bytes(Format::mxfp8, row_of({1, -0.5f}, 32), wanted);
}

TEST(Mxfp8, KeepsEachBlocksScaleBehindTheRow) {
    std::vector<float> row(64);
    row[0] = 256;
    row[32] = 0x1p-100f;
    const Bytes bytes = stored_row(*all_backends().front(), Format::mxfp8, row);
    EXPECT_EQ(bytes.size(), 66u);
    EXPECT_EQ(bytes[64], 127);
    EXPECT_EQ(bytes[65], 127 - 108);
    EXPECT_EQ(given_back(Format::mxfp8, row)[32], 0x1p-100);
}

TEST(Mxfp8, EndsAtTheLeastScale) { // 2^-127, code 0; its numbers end at 2^-136
    EXPECT_EQ(given_back(Format::mxfp8, row_of({0x1p-126f}, 32))[0], 0x1p-126);
    EXPECT_EQ(given_back(Format::mxfp8, row_of({0x1p-136f}, 32))[0], 0x1p-136);
    EXPECT_EQ(given_back(Format::mxfp8, row_of({0x1p-137f}, 32))[0], 0); // half of it, to even
    EXPECT_EQ(given_back(Format::mxfp8, row_of({infinite}, 32))[0], 448 * 0x1p120);
}

TEST(Mxfp8, KeepsWhatIsNoNumber) {
    const std::vector<double> got = given_back(Format::mxfp8, row_of({1, no_number, 2}, 32));
    EXPECT_EQ(got[0], 1);
    EXPECT_TRUE(std::isnan(got[1]));
    EXPECT_EQ(got[2], 2);
}

TEST(PerTokenHead, Int8ByHand) {
    // The greatest size is 127, so the scale is 1, 0x3f800000; halves go away from zero.
    Bytes wanted{127, 129, 1, 255, 0, 253, 0, 64, 0x00, 0x00, 0x80, 0x3f};
    expect_bytes(Format::int8_per_token_head, {127, -127, 0.5f, -0.5f, 0.49f, -2.5f, 0, 63.5f},
                 wanted);
}

TEST(PerTokenHead, Fp8ByHand) {
    // 896 = 2 · 448: the scale is 2, 0x40000000. Rows of an odd width have an unaligned scale.
    expect_bytes(Format::fp8_per_token_head, {2, -896, 895, 3.5f, 0},
                 bytes_of("38 fe 7e 3e 00 00 00 00 40"));
}

TEST(PerTokenHead, HasOneScaleHoweverWideTheRow) {
    std::vector<float> row(96, 1.0f);
    row[95] = -254;
    const std::vector<double> got = given_back(Format::int8_per_token_head, row);
    EXPECT_EQ(got[95], -254);
    EXPECT_EQ(got[0], 2); // half a step of 2 goes up
}

TEST(PerTokenHead, HasAScaleOfAMillionthAtLeast) { // 0x358637bd is 1e-6f
    for (const Format format : {Format::int8_per_token_head, Format::fp8_per_token_head})
        expect_bytes(format, {0, 0, 0, 0}, bytes_of("00 00 00 00 bd 37 86 35"));
    expect_bytes(Format::int8_per_token_head, {0x1p-20f, -0x1p-22f}, // 0.95 and -0.24 millionths
                 bytes_of("01 00 bd 37 86 35"));
}

TEST(PerTokenHead, WhatIsNoNumberIsZeroInInt8AndStaysInFp8) {
    EXPECT_THAT(given_back(Format::int8_per_token_head, {127, no_number, -127}),
                testing::ElementsAre(127, 0, -127));
    const std::vector<double> got = given_back(Format::fp8_per_token_head, {448, no_number, -1});
    EXPECT_EQ(got[0], 448);
    EXPECT_TRUE(std::isnan(got[1]));
    EXPECT_EQ(got[2], -1);
    for (const double number : given_back(Format::int8_per_token_head, {1, infinite}))
        EXPECT_TRUE(std::isnan(number)); // its scale is infinite
}

/// The reference's own arithmetic where it could go wrong unseen: a row is stored as it restores.
TEST(ScaledFormats, TheReferenceAgreesAtTheEdges) {
    const std::vector<std::vector<float>> rows{mixed_row(),
                                               row_of({0x1p-24f, -0x1p-24f}, 32),
                                               row_of({65504, -65504, 1, 0x1p-14f}, 32),
                                               row_of({6 * 0x1p-10f, 0x1p-9f}, 32),
                                               std::vector<float>(32, -0.0f),
                                               row_of({2700, 1e-3f, 449, 464, 480}, 32)};
    for (const Format format : {Format::q5_1, Format::iq4_nl, Format::nvfp4, Format::mxfp8,
                                Format::fp8_per_token_head, Format::int8_per_token_head})
        for (const std::vector<float>& row : rows) {
            std::vector<double> wanted(row.begin(), row.end());
            store_and_restore(format, 32, wanted.data());
            EXPECT_EQ(given_back(format, row), wanted) << name_of(format) << " " << row[0];
        }
}

} // namespace
} // namespace kvcaliper::kernels::test
