// SPDX-License-Identifier: Apache-2.0
#include "kernels/geometry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace kvcaliper::kernels {
namespace {

/// "key 8x100x128 ×2" of every plane.
std::vector<std::string> planes(const LayerDims& dims, std::int64_t tokens) {
    std::vector<std::string> texts;
    for (const Plane& p : layer_planes({LayerKind::full_attention, dims}, tokens, {})) {
        std::ostringstream text;
        text << p.role << " " << p.rows << "x" << p.slots << "x" << p.width << " "
             << element_bytes(p.element);
        texts.push_back(text.str());
    }
    return texts;
}

using testing::ElementsAre;

TEST(Geometry, PlanesFollowFromTheDimensions) {
    EXPECT_THAT(planes(AttentionDims{32, 8, 128, 64, {}}, 100),
                ElementsAre("key 8x100x128 2", "value 8x100x64 2"));
    EXPECT_THAT(planes(AttentionDims{32, 8, 128, 128, 30}, 100),
                ElementsAre("key 8x30x128 2", "value 8x30x128 2"));
    EXPECT_THAT(planes(AttentionDims{32, 8, 128, 128, 300}, 100),
                ElementsAre("key 8x100x128 2", "value 8x100x128 2"));
    EXPECT_THAT(planes(LatentDims{128, 512, 64, 128, 128}, 7),
                ElementsAre("latent 1x7x512 2", "rope_key 1x7x64 2"));
    EXPECT_THAT(planes(Mamba1Dims{8192, 16, 4}, 7),
                ElementsAre("conv_state 8192x1x3 2", "recurrent_state 8192x1x16 4"));
    EXPECT_THAT(planes(Mamba1Dims{8192, 16, 1}, 7), ElementsAre("recurrent_state 8192x1x16 4"));
    EXPECT_THAT(planes(Mamba2Dims{512, 8, 64, 2, 128, 4}, 7),
                ElementsAre("conv_state 1024x1x3 2", "recurrent_state 512x1x128 4"));
    EXPECT_THAT(planes(Mamba2Dims{512, 8, 64, 0, 128, 4}, 7),
                ElementsAre("conv_state 512x1x3 2", "recurrent_state 512x1x128 4"));
    EXPECT_THAT(planes(DeltaDims{16, 32, 128, 64, 4}, 7),
                ElementsAre("conv_state 6144x1x3 2", "recurrent_state 4096x1x64 4"));
    EXPECT_THAT(planes(DeltaDims{8, 8, 128, 128, 1}, 7),
                ElementsAre("recurrent_state 1024x1x128 4"));
    EXPECT_THAT(planes(LatentDims{128, 512, 64, 128, 128, 128}, 7),
                ElementsAre("latent 1x7x512 2", "rope_key 1x7x64 2", "index_key 1x7x128 2"));
    EXPECT_THAT(planes(AttentionDims{64, 4, 128, 128, {}, 128}, 7),
                ElementsAre("key 4x7x128 2", "value 4x7x128 2", "index_key 1x7x128 2"));
    EXPECT_THAT(planes(ConvDims{2048, 2, 0}, 7), ElementsAre("conv_state 2048x1x2 2"));
    EXPECT_THAT(planes(ConvDims{2048, 2, 1}, 7), ElementsAre("conv_state 2048x1x2 4"));
    EXPECT_THAT(planes(RglruDims{2560, 4}, 7),
                ElementsAre("conv_state 2560x1x3 2", "recurrent_state 1x1x2560 4"));
    EXPECT_THAT(planes(RwkvDims{4096, 2048, 0, 0}, 7),
                ElementsAre("shift 2x1x4096 2", "recurrent_state 3x1x2048 4"));
    EXPECT_THAT(planes(RwkvDims{2560, 0, 64, 7}, 7),
                ElementsAre("shift 2x1x2560 2", "recurrent_state 2560x1x64 4"));
    // C of 256 by 512, n of 256 and m.
    EXPECT_THAT(planes(XlstmDims{8, 256, 512}, 7), ElementsAre("recurrent_state 8x1x131329 4"));
}

// DeepSeek-V4 as transformers 5.24 has it: entries of whole groups; per token of a sparse layer two
// values and two gates per column, of the last two groups, and of a heavily compressed one a value
// and a gate.
TEST(Geometry, PlanesOfCompressedAttention) {
    EXPECT_THAT(planes(CompressedDims{64, 512, 128}, 100), ElementsAre("key_value 1x100x512 2"));
    EXPECT_THAT(planes(CompressedDims{64, 512, 128, 4, 128}, 130),
                ElementsAre("key_value 1x128x512 2", "compressed 1x32x512 2",
                            "index_key 1x32x128 2", "tail 1x8x2048 4", "index_tail 1x8x512 4"));
    EXPECT_THAT(planes(CompressedDims{64, 512, 128, 128}, 130),
                ElementsAre("key_value 1x128x512 2", "compressed 1x1x512 2", "tail 1x128x1024 4"));
    EXPECT_THAT(planes(CompressedDims{64, 512, 128, 128}, 127),
                ElementsAre("key_value 1x127x512 2", "compressed 1x0x512 2", "tail 1x127x1024 4"));
}

TEST(Geometry, AnIndexerThatDoesNotSayChoosesWhatItsModelsDo) {
    const auto text = [](const LayerDims& dims) {
        const auto shape = index_shape({LayerKind::full_attention, dims});
        return shape ? std::to_string(shape->heads) + " of " + std::to_string(shape->width) +
                           " choose " + std::to_string(shape->top)
                     : "none";
    };
    EXPECT_EQ(text(LatentDims{128, 512, 64, 128, 128}), "none");
    EXPECT_EQ(text(LatentDims{128, 512, 64, 128, 128, 128}), "64 of 128 choose 2048");
    EXPECT_EQ(text(LatentDims{64, 512, 64, 192, 256, 128, 32, 1024}), "32 of 128 choose 1024");
    EXPECT_EQ(text(CompressedDims{64, 512, 128, 4, 128}), "64 of 128 choose 512");
    EXPECT_EQ(text(CompressedDims{64, 512, 128, 128}), "none");
}

TEST(Geometry, ExtentsAreExactAndNeverWrap) {
    EXPECT_EQ(extent_bytes({"key", 8, 100, 128, Element::bf16}, 3), 3 * 8 * 100 * 128 * 2);
    EXPECT_EQ(extent_bytes({"key", 8, 100, 128, Element::f16, Format::q8_0}, 3),
              3 * 8 * 100 * 4 * 34);
    EXPECT_EQ(extent_bytes({"value", 8, 100, 128, Element::f16, Format::q4_0}, 1),
              8 * 100 * 4 * 18);
    EXPECT_ANY_THROW(extent_bytes({"key", 1LL << 31, 1LL << 31, 128, Element::f32}, 1));
}

// The geometry must not know the prediction it is meant to test.
TEST(Geometry, DoesNotKnowThePrediction) {
    for (const char* file :
         {"kernels/geometry.h", "kernels/geometry.cpp", "kernels/reference.h",
          "kernels/reference.cpp", "kernels/reference_mamba1.cpp", "kernels/reference_state.h",
          "kernels/reference_state.cpp", "kernels/reference_recurrent.h",
          "kernels/reference_recurrent.cpp", "kernels/reference_formats.cpp",
          "kernels/reference_index.h", "kernels/reference_index.cpp", "kernels/views_recurrent.h",
          "kernels/formats.h", "kernels/generator.h", "kernels/generator.cpp",
          "core/layer_plan.h"}) {
        std::ifstream in(std::string(KVCALIPER_SOURCE_DIR "/") + file);
        std::stringstream text;
        text << in.rdbuf();
        ASSERT_FALSE(text.str().empty()) << file;
        EXPECT_EQ(text.str().find("cache_spec"), std::string::npos) << file;
        EXPECT_EQ(text.str().find("component_bytes"), std::string::npos) << file;
        EXPECT_EQ(text.str().find("numeric_format"), std::string::npos) << file;
    }
}

} // namespace
} // namespace kvcaliper::kernels
