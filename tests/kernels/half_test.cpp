// SPDX-License-Identifier: Apache-2.0
#include "kernels/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace kvcaliper::kernels {
namespace {

/// The definition of binary16, in arithmetic.
double f16_by_definition(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    const double size =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    return (bits & 0x8000) != 0 ? -size : size;
}

TEST(Half, EveryF16DecodesAsDefined) {
    for (std::uint32_t i = 0; i < 65536; ++i) {
        const auto bits = static_cast<std::uint16_t>(i);
        const float value = f16_to_float(bits);
        if ((bits & 0x7c00) != 0x7c00)
            ASSERT_EQ(static_cast<double>(value), f16_by_definition(bits)) << i;
        else if ((bits & 0x03ff) != 0)
            ASSERT_TRUE(std::isnan(value)) << i;
        else
            ASSERT_EQ(value, (bits & 0x8000) != 0 ? -INFINITY : INFINITY);
    }
}

TEST(Half, EveryF16AndBf16SurvivesARoundTrip) {
    for (std::uint32_t i = 0; i < 65536; ++i) {
        const auto bits = static_cast<std::uint16_t>(i);
        if (std::isnan(f16_to_float(bits)))
            ASSERT_TRUE(std::isnan(f16_to_float(float_to_f16(f16_to_float(bits)))));
        else
            ASSERT_EQ(float_to_f16(f16_to_float(bits)), bits);
        if (std::isnan(bf16_to_float(bits)))
            ASSERT_TRUE(std::isnan(bf16_to_float(float_to_bf16(bf16_to_float(bits)))));
        else
            ASSERT_EQ(float_to_bf16(bf16_to_float(bits)), bits);
    }
}

/// Of two neighbours, the nearer one; half way, the even one.
template <typename Decode, typename Encode>
void expect_nearest(std::uint16_t low, const Decode& decode, const Encode& encode) {
    const float a = decode(low), b = decode(static_cast<std::uint16_t>(low + 1));
    const float middle = a + (b - a) / 2; // exact in f32
    const auto even = static_cast<std::uint16_t>(low + (low & 1));
    ASSERT_EQ(encode(middle), even) << low;
    ASSERT_EQ(encode(std::nextafter(middle, 0.0f)), low) << low;
    ASSERT_EQ(encode(std::nextafter(middle, INFINITY)), low + 1) << low;
    ASSERT_EQ(encode(-middle), even | 0x8000) << low;
}

TEST(Half, BetweenAnyTwoNeighboursRoundingIsToNearestEven) {
    for (std::uint16_t low = 0; low < 0x7bff; ++low)
        expect_nearest(low, f16_to_float, float_to_f16);
    for (std::uint16_t low = 0x80; low < 0x7f7f; ++low) // normals: f32 has no bits below subnormals
        expect_nearest(low, bf16_to_float, float_to_bf16);
}

TEST(Half, TooLargeBecomesInfinity) {
    EXPECT_EQ(float_to_f16(65519.99f), 0x7bff);
    EXPECT_EQ(float_to_f16(65520.0f), 0x7c00);
    EXPECT_EQ(float_to_f16(-1e30f), 0xfc00);
    EXPECT_EQ(float_to_bf16(3.4e38f), 0x7f80);
}

} // namespace
} // namespace kvcaliper::kernels
