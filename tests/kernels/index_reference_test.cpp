// SPDX-License-Identifier: Apache-2.0
// The double-precision reference of indexers and compressed entries, against sums made by hand.
#include "kernels/reference.h"
#include "kernels/reference_formats.h"
#include "kernels/reference_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kvcaliper::kernels {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

TEST(IndexReference, AScoreIsTheWeightedSumOfPositiveProducts) {
    // Two heads of width 2; head 0 sees 1·3 + 2·4 = 11, head 1 sees -1·3 + 0·4 < 0.
    const std::vector<double> q{1, 2, -1, 0};
    const std::vector<float> weights{0.5f, 8.0f};
    const auto keys = [](std::int64_t row, double* key) {
        key[0] = row == 0 ? 3 : -3;
        key[1] = row == 0 ? 4 : 1;
    };
    // Row 1: head 0 sees -3 + 2 < 0, head 1 sees 3.
    EXPECT_THAT(index_scores_reference(q, weights, 2, keys), ElementsAre(5.5, 24));
}

TEST(IndexReference, AChoiceMustBeTheGreatestInAscendingOrder) {
    const std::vector<double> scores{3, -1, 7, 0, 5};
    const auto holds = [&](std::vector<std::int32_t> rows, std::int64_t count, double off = 0) {
        return holds_greatest(scores, rows, count, off);
    };
    EXPECT_TRUE(holds({0, 2, 4}, 3));
    EXPECT_FALSE(holds({0, 2, 3}, 3)); // 5 is left out
    EXPECT_FALSE(holds({2, 0, 4}, 3));
    EXPECT_FALSE(holds({2, 2, 4}, 3));
    EXPECT_FALSE(holds({0, 2}, 3));
    EXPECT_FALSE(holds({2, 4, 5}, 3)); // there is no row 5
    EXPECT_FALSE(holds({-1, 2, 4}, 3));
    EXPECT_FALSE(holds({0, 2}, 2, 1.9));
    EXPECT_TRUE(holds({0, 2}, 2, 2.1)); // 3 for 5, which may be 2.1 off
}

TEST(IndexReference, AnEntryIsTheSoftmaxOfItsGates) {
    // One part, a group of two: values 1 and 5, gates ln 3 and 0: (3 · 1 + 1 · 5) / 4.
    const auto rows = [](std::int64_t token, float* row) {
        row[0] = token == 2 ? 1.0f : 5.0f;
        row[1] = token == 2 ? std::log(3.0f) : 0.0f;
    };
    EXPECT_NEAR(pool_reference(1, 2, 1, 1, rows).front(), 2, 1e-7);
}

TEST(IndexReference, WithTwoPartsTheGroupBeforeTakesPart) {
    // A token's row: value for the next entry, value for its own, two gates of 0.
    const auto rows = [](std::int64_t token, float* row) {
        row[0] = static_cast<float>(100 + token);
        row[1] = static_cast<float>(token);
        row[2] = row[3] = 0;
    };
    EXPECT_THAT(pool_reference(0, 2, 2, 1, rows), ElementsAre(DoubleEq(0.5))); // of 0 and 1
    EXPECT_THAT(pool_reference(1, 2, 2, 1, rows), ElementsAre(DoubleEq((100 + 101 + 2 + 3) / 4.0)));
}

TEST(IndexReference, NumbersAreRoundedToTheNearestOfTheirType) {
    EXPECT_EQ(rounded_to(Element::bf16, 1 + 0x1p-8), 1); // half way: the even one
    EXPECT_EQ(rounded_to(Element::bf16, 1 + 3 * 0x1p-8), 1 + 0x1p-6);
    EXPECT_EQ(rounded_to(Element::bf16, 1.01), 1 + 0x1p-7);
    EXPECT_EQ(rounded_to(Element::f16, 1 + 0x1p-11), 1);
    EXPECT_EQ(rounded_to(Element::f16, 1.001), 1 + 0x1p-10);
    EXPECT_EQ(rounded_to(Element::f32, 0.1), static_cast<double>(0.1f));
}

TEST(IndexReference, RowsOfZerosAreEqual) {
    const std::vector<double> wanted{0, 0, 1, 1};
    EXPECT_EQ(largest_relative_error(std::vector<float>{0, 0, 1, 1}, wanted, 2), 0);
    EXPECT_EQ(largest_relative_error(std::vector<float>{0, 1e-9f, 1, 1}, wanted, 2),
              std::numeric_limits<double>::infinity());
}

} // namespace
} // namespace kvcaliper::kernels
