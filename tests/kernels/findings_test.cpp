// SPDX-License-Identifier: Apache-2.0
#include "kernels/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvcaliper::kernels {
namespace {

TEST(Findings, EqualOnesOfManyLayersAreOneLine) {
    Findings findings;
    for (const std::int64_t context : {256, 1024})
        for (const int layer : {0, 1, 2, 5, 7, 8})
            findings.add(context, layer, "value", "after",
                         "kernel wrote 2 bytes past the predicted 6");
    findings.add(1024, 3, "key", "untouched", "8 bytes were never touched");
    EXPECT_THAT(findings.lines(),
                testing::ElementsAre("layers 0-2, 5, 7-8 value: kernel wrote 2 bytes past the "
                                     "predicted 6 (at 256 tokens)",
                                     "layer 3 key: 8 bytes were never touched (at 1,024 tokens)"));
}

TEST(Findings, OnlyTheFirstFewAreTold) {
    Findings findings;
    for (int layer = 0; layer < 20; ++layer)
        findings.add(8, layer, "key", "after", "text " + std::to_string(layer));
    EXPECT_EQ(findings.lines(3).size(), 4u);
    EXPECT_EQ(findings.lines(3).back(), "and 17 more");
}

} // namespace
} // namespace kvcaliper::kernels
