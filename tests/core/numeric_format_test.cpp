// SPDX-License-Identifier: Apache-2.0
#include "core/numeric_format.h"

#include "core/error.h"

#include <gtest/gtest.h>
#include <set>

namespace kvcaliper {
namespace {

struct Row {
    const char* format;
    std::int64_t width;
    std::int64_t bytes;
};

// Rows of 128: rule catalogue section 6. The others: ggml's block structs by hand.
constexpr Row rows[] = {{"f32", 128, 512},
                        {"bf16", 128, 256},
                        {"f16", 128, 256},
                        {"fp8_e4m3", 128, 128},
                        {"fp8_per_token_head", 128, 132},
                        {"int8", 128, 128},
                        {"q8_0", 128, 136},
                        {"q8_1", 128, 144},
                        {"q5_1", 128, 96},
                        {"q5_0", 128, 88},
                        {"q4_1", 128, 80},
                        {"q4_0", 128, 72},
                        {"iq4_nl", 128, 72},
                        {"q6_0", 128, 104},
                        {"q8_kv", 128, 136}, // row_meta_size 8 of ggml.c (ik_llama.cpp 8337e4c)
                        {"mxfp4", 128, 68},
                        {"nvfp4", 128, 72},
                        {"nvfp4_ggml", 128, 72},
                        {"mxfp8", 128, 132},
                        {"dsa_index_fp8", 128, 132},
                        {"dsa_index_fp4", 128, 68},
                        {"quanto_4bit", 128, 72},
                        {"quanto_2bit", 128, 40},
                        {"hqq_8bit", 128, 136},
                        {"hqq_1bit", 128, 24},
                        {"kivi_2bit", 128, 48},
                        {"kivi_2bit_r32", 128, 48},
                        {"kivi_2bit_g64", 128, 40},
                        {"kivi_2bit_g128", 128, 36},
                        {"kivi_4bit", 128, 80},
                        {"kivi_4bit_r32", 128, 80},
                        {"kivi_4bit_g64", 128, 72},
                        {"kivi_4bit_g128", 128, 68},
                        {"mlx_8bit", 128, 136},
                        {"mlx_6bit", 128, 104},
                        {"mlx_4bit", 128, 72},
                        {"mlx_3bit", 128, 56},
                        {"mlx_2bit", 128, 40},
                        {"q8_0", 32, 34},
                        {"q4_0", 576, 324}};

TEST(NumericFormat, RowsTakeWhatTheBlocksSay) {
    for (const Row& row : rows) {
        EXPECT_EQ(row_bytes(numeric_format(row.format), row.width), Bytes(row.bytes)) << row.format;
    }
}

TEST(NumericFormat, ARowOfHalfBlocksIsNotStorable) {
    // Phi-2's head width (catalogue 8, trap 26): 80 is no multiple of 32.
    EXPECT_FALSE(storable(numeric_format("q8_0"), 80));
    EXPECT_TRUE(storable(numeric_format("q8_0"), 96));
    EXPECT_TRUE(storable(numeric_format("nvfp4"), 80));
    EXPECT_THROW(row_bytes(numeric_format("q8_0"), 80), Error);
    EXPECT_EQ(not_storable_reason(numeric_format("q8_0"), 80),
              "q8_0 can not store rows of 80: 32 does not divide 80");
}

TEST(NumericFormat, SpellingsAndMistakes) {
    EXPECT_EQ(&numeric_format("bfloat16"), &numeric_format("bf16"));
    EXPECT_EQ(&numeric_format("fp16"), &numeric_format("f16"));
    EXPECT_EQ(&numeric_format("fp8"), &numeric_format("fp8_e4m3"));
    EXPECT_EQ(find_numeric_format("nonsense"), nullptr);
    try {
        numeric_format("q8_o");
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean q8_0"), std::string::npos);
    }
}

TEST(NumericFormat, NamesAreUnique) {
    std::set<std::string_view> names;
    for (const NumericFormat& format : numeric_formats()) {
        EXPECT_TRUE(names.insert(format.name).second) << format.name;
        EXPECT_EQ(find_numeric_format(format.name), &format);
    }
}

} // namespace
} // namespace kvcaliper
