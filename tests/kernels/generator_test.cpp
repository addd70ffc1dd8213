// SPDX-License-Identifier: Apache-2.0
#include "kernels/generator.h"

#include "kernels/backend_cpu.h"
#include "kernels/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kvcaliper::kernels {
namespace {

constexpr std::int64_t many = 100'000;

std::vector<double> normals(std::uint64_t key, Element element) {
    std::vector<double> values(many);
    normal_values(key, 0, many, element, values.data());
    return values;
}

double mean_product(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += a[i] * b[i];
    return sum / static_cast<double>(a.size());
}

TEST(Generator, NumbersAreBellShapedAndCentred) {
    const auto values = normals(token_key({1, 2, 3, Purpose::key}, 4), Element::f16);
    double sum = 0, fourth = 0;
    for (const double v : values) {
        sum += v;
        fourth += v * v * v * v;
        ASSERT_LE(std::abs(v), 4.0);
    }
    const double variance = mean_product(values, values);
    EXPECT_NEAR(sum / many, 0, 0.02);
    EXPECT_NEAR(std::sqrt(variance), 1.155, 0.01);
    EXPECT_NEAR(fourth / many / (variance * variance), 2.7, 0.1); // four uniform bytes: 3 - 1.2 / 4
}

TEST(Generator, StreamsAreUnrelated) {
    const StreamId base{1, 2, 3, Purpose::key};
    const auto first = normals(token_key(base, 4), Element::f16);
    for (const std::uint64_t other :
         {token_key(base, 5), token_key({2, 2, 3, Purpose::key}, 4),
          token_key({1, 3, 3, Purpose::key}, 4), token_key({1, 2, 4, Purpose::key}, 4),
          token_key({1, 2, 3, Purpose::value}, 4)})
        EXPECT_NEAR(mean_product(first, normals(other, Element::f16)), 0, 0.03);
    // Neighbours within one stream, too.
    auto shifted = first;
    shifted.erase(shifted.begin());
    EXPECT_NEAR(mean_product({first.begin(), first.end() - 1}, shifted), 0, 0.03);
}

TEST(Generator, EveryBuildMakesTheSameHalves) {
    for (const bool bf16 : {false, true})
        for (const std::int64_t count : {1, 15, 16, 17, 1000}) {
            std::vector<double> values(static_cast<std::size_t>(count));
            normal_values(0x123456789abcdef0, 3, count, bf16 ? Element::bf16 : Element::f16,
                          values.data());
            for (const VectorKernels* kernels : usable_vector_kernels()) {
                std::vector<std::uint16_t> halves(values.size() + 1, 0xffff);
                kernels->normal_halves(0x9abcdef0, 0x12345678, 3, count, bf16, halves.data());
                for (std::size_t i = 0; i < values.size(); ++i)
                    ASSERT_EQ(static_cast<double>(bf16 ? bf16_to_float(halves[i])
                                                       : f16_to_float(halves[i])),
                              values[i])
                        << kernels->name << " " << i;
                ASSERT_EQ(halves.back(), 0xffff);
            }
        }
}

TEST(Generator, HalvesDecodeToTheValuesAndNeverLookLikePoisonOrGuards) {
    for (const Element element : {Element::f16, Element::bf16}) {
        const std::uint64_t key = token_key({7, 0, 0, Purpose::latent}, 9);
        const auto values = normals(key, element);
        std::vector<std::uint16_t> halves(many);
        normal_halves(key, 0, many, element, halves.data());
        for (std::size_t i = 0; i < halves.size(); ++i) {
            const float decoded =
                element == Element::f16 ? f16_to_float(halves[i]) : bf16_to_float(halves[i]);
            ASSERT_EQ(static_cast<double>(decoded), values[i]);
            ASSERT_NE(halves[i], 0xffff);
            ASSERT_NE(halves[i] >> 8, 0xe5);
        }
    }
}

TEST(Generator, APartOfARowIsTheSameAsTheRow) {
    const std::uint64_t key = token_key({1, 1, 1, Purpose::value}, 1);
    std::vector<double> row(300), part(100);
    normal_values(key, 0, 300, Element::bf16, row.data());
    normal_values(key, 150, 100, Element::bf16, part.data());
    for (std::size_t i = 0; i < part.size(); ++i)
        ASSERT_EQ(part[i], row[150 + i]);
}

TEST(Generator, UniformNumbersArePositiveAndFillTheirRange) {
    std::vector<float> values(many);
    uniform_floats(token_key({1, 1, 1, Purpose::ssm_step}, 1), 0, many, 0.1f, values.data());
    double sum = 0;
    for (const float v : values) {
        ASSERT_GT(v, 0.0f);
        ASSERT_LE(v, 0.1f);
        sum += static_cast<double>(v);
    }
    EXPECT_NEAR(sum / many, 0.05, 0.001);
}

} // namespace
} // namespace kvcaliper::kernels
