// SPDX-License-Identifier: Apache-2.0
#include "core/growth_mark.h"

#include <gtest/gtest.h>

namespace kvcaliper {
namespace {

Ratio kib(std::int64_t tenths) {
    return {tenths * 1024, 10};
}

// Words of S. Raschka, LLM Architecture Gallery (list of June 2026), for KiB per token; its "very
// low" is low here, its "very high" is high.
TEST(GrowthMark, AgreesWithTheGallery) {
    const std::pair<std::int64_t, GrowthMark> published[] = {
        {54, GrowthMark::low},        // DeepSeek V4-Flash, 5.4 KiB, very low
        {240, GrowthMark::low},       // Qwen3 Next, 24 KiB, very low
        {300, GrowthMark::low},       // Qwen3.5 397B, 30 KiB
        {686, GrowthMark::low},       // DeepSeek V3, 68.6 KiB
        {720, GrowthMark::low},       // SmolLM3, 72 KiB
        {840, GrowthMark::moderate},  // Gemma 4 E4B, 84 KiB
        {878, GrowthMark::moderate},  // GLM-5, 87.8 KiB
        {1280, GrowthMark::moderate}, // Llama 3 8B, 128 KiB
        {1600, GrowthMark::moderate}, // Mistral Small 3.1, 160 KiB
        {1840, GrowthMark::high},     // GLM-4.5-Air, 184 KiB
        {3000, GrowthMark::high},     // GPT-2 XL, 300 KiB
        {3200, GrowthMark::high},     // Tencent Hy3, 320 KiB, very high
        {8400, GrowthMark::high}};    // Gemma 4 31B, 840 KiB, very high
    for (const auto& [tenths, mark] : published) {
        EXPECT_EQ(growth_mark(kib(tenths)), mark) << tenths;
    }
    EXPECT_EQ(growth_mark(0), GrowthMark::none); // xLSTM: "0 B, no cache"
}

// 10 GiB / 131,072 tokens = 81,920 B; 20 GiB / 131,072 = 163,840 B.
TEST(GrowthMark, BoundsBelongToTheLowerMark) {
    EXPECT_EQ(growth_mark(81'920), GrowthMark::low);
    EXPECT_EQ(growth_mark(Ratio(163'841, 2)), GrowthMark::moderate);
    EXPECT_EQ(growth_mark(163'840), GrowthMark::moderate);
    EXPECT_EQ(growth_mark(163'841), GrowthMark::high);
    EXPECT_EQ(growth_mark(Ratio(1, 3)), GrowthMark::low);
}

TEST(GrowthMark, HasWords) {
    EXPECT_EQ(to_string(GrowthMark::moderate), "moderate");
}

} // namespace
} // namespace kvcaliper
