// SPDX-License-Identifier: Apache-2.0
// The tensor cores' kernel against a plain double-precision computation over the stored numbers, on
// the emulator and, where there is one, on a GPU.
//
// Gates: relative L2 error per head. Prototypes of this kernel showed 2.1e-4 with weights and rows
// rounded to f16, whose half unit is 2^-12 = 2.4e-4; the sum of two bf16 numbers has 16 bits, half
// a unit being 2^-17 = 7.6e-6. A lost row, a scale applied twice or a value of a wrong column costs
// a hundredth or more at these lengths.
#include "kernels/launch_shape.h"
#include "matrix_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <tuple>

namespace kvcaliper::kernels::test {
namespace {

constexpr double kF16Gate = 1e-3;
constexpr double kBf16Gate = 5e-5;

class MatrixKernels : public testing::Test {
  protected:
    void SetUp() override {
        std::string why_not;
        backends_ = matrix_backends(why_not);
        if (backends_.empty()) {
            GTEST_SKIP() << why_not;
        }
    }

    /// bf16 weights only where the cache is bf16; everything else is multiplied in f16.
    void expect_agrees(const AttentionView& view, std::int64_t tokens, double peak = 1.0) {
        SCOPED_TRACE(std::string(name_of(view.key_format)) + " " + name_of(view.value_format) +
                     " heads " + std::to_string(view.heads) + "/" + std::to_string(view.kv_heads) +
                     " widths " + std::to_string(view.key_width) + "/" +
                     std::to_string(view.value_width) + " tokens " + std::to_string(tokens) +
                     " of " + std::to_string(view.slots));
        const bool bf16 = view.key_format == Format::bf16 || view.value_format == Format::bf16;
        for (const auto& backend : backends_) {
            ASSERT_EQ(backend->attention_bound(view), bf16 ? kBf16Gate : kF16Gate)
                << "another kernel runs";
            const StoredAttention data = stored_attention(*backend, view, tokens, ++seed_, peak);
            EXPECT_LE(worst_error(run_step(*backend, view, data), reference(view, data.numbers),
                                  view.value_width),
                      bf16 ? kBf16Gate : kF16Gate);
        }
        shapes_.insert({view.heads / view.kv_heads, view.kv_heads, view.sequences, view.key_width,
                        view.value_width, view.slots, tokens, view.element, view.key_format,
                        view.value_format});
    }
    void expect_agrees(const AttentionView& view) { expect_agrees(view, view.valid); }

    void expect_agrees(const LatentView& view, double peak = 1.0) {
        SCOPED_TRACE(std::string(name_of(view.format)) + " heads " + std::to_string(view.heads) +
                     " rank " + std::to_string(view.rank) + " + " +
                     std::to_string(view.rope_width) + " tokens " + std::to_string(view.valid) +
                     " of " + std::to_string(view.slots));
        const double gate = view.format == Format::bf16 ? kBf16Gate : kF16Gate;
        for (const auto& backend : backends_) {
            ASSERT_EQ(backend->attention_bound(view), gate) << "another kernel runs";
            const StoredLatent data = stored_latent(*backend, view, ++seed_, peak);
            EXPECT_LE(worst_error(run_step(*backend, view, data), reference(view, data.numbers),
                                  view.rank),
                      gate);
        }
        shapes_.insert({view.heads, 1, view.sequences, view.rank, view.rope_width, view.slots,
                        view.valid, view.element, view.format, view.format});
    }

    /// Guards the coverage that this program is there for.
    void expect_shapes(std::size_t least) { EXPECT_GE(shapes_.size(), least); }

    std::vector<std::shared_ptr<Backend>> backends_;
    std::uint64_t seed_ = 500;

  private:
    using Shape = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                             std::int64_t, std::int64_t, Element, Format, Format>;
    std::set<Shape> shapes_;
};

constexpr std::int64_t kGroups[] = {3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 128};
constexpr std::int64_t kLengths[] = {1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000};

TEST_F(MatrixKernels, EveryGroupAgrees) {
    for (const std::int64_t group : kGroups) {
        for (const Element element : {Element::f16, Element::bf16}) {
            expect_agrees(attention_view(2 * group, 2, 64, 77, element));
            expect_agrees(attention_view(group, 1, 128, 130, element));
        }
    }
    expect_shapes(44);
}

TEST_F(MatrixKernels, EveryWidthAgrees) {
    for (const std::int64_t width : {16, 48, 64, 80, 96, 112, 128, 192, 256, 512}) {
        for (const Element element : {Element::f16, Element::bf16}) {
            expect_agrees(attention_view(5, 1, width, 70, element));
        }
    }
    expect_shapes(20);
}

TEST_F(MatrixKernels, EveryLengthAgrees) {
    for (const std::int64_t length : kLengths) {
        expect_agrees(attention_view(8, 2, 80, length));
        expect_agrees(attention_view(20, 1, 256, length, Element::bf16));
    }
    expect_shapes(30);
}

TEST_F(MatrixKernels, KeysAndValuesOfDifferentWidthsAgree) {
    for (const auto& [key, value] : std::initializer_list<std::pair<int, int>>{
             {192, 128}, {512, 256}, {128, 192}, {64, 512}, {48, 16}, {512, 64}, {80, 112}}) {
        for (const Element element : {Element::f16, Element::bf16}) {
            AttentionView view = attention_view(12, 2, key, 66, element);
            view.value_width = value;
            expect_agrees(view);
        }
    }
    expect_shapes(14);
}

/// Queries of either type over every pair of formats whose numbers one 16-bit type holds.
TEST_F(MatrixKernels, EveryPairOfFormatsAgrees) {
    constexpr Format in_f16[] = {Format::f16,  Format::fp8_e4m3, Format::q8_0,
                                 Format::q4_0, Format::q5_0,     Format::q4_1,
                                 Format::q5_1, Format::iq4_nl,   Format::nvfp4};
    for (const Format key : in_f16) {
        for (const Format value : in_f16) {
            expect_agrees(in_formats(attention_view(6, 2, 96, 50), key, value));
            expect_agrees(in_formats(attention_view(3, 1, 64, 67, Element::bf16), key, value));
        }
    }
    expect_shapes(162);
}

constexpr std::pair<Format, Format> kPairs[] = {
    {Format::q8_0, Format::q8_0},   {Format::q8_0, Format::q4_0},
    {Format::q4_1, Format::q5_0},   {Format::fp8_e4m3, Format::fp8_e4m3},
    {Format::nvfp4, Format::nvfp4}, {Format::q5_1, Format::iq4_nl}};

TEST_F(MatrixKernels, QuantisedCachesOfEveryWidthAndLengthAgree) {
    for (const auto& [key, value] : kPairs) {
        for (const std::int64_t width : {64, 96, 128, 192, 256}) {
            expect_agrees(in_formats(attention_view(7, 1, width, 40), key, value));
        }
        for (const std::int64_t length : {1, 2, 16, 33, 64, 65, 129, 1000}) {
            expect_agrees(in_formats(attention_view(16, 2, 64, length), key, value));
        }
    }
    expect_shapes(78);
}

TEST_F(MatrixKernels, RingsThatWrappedAgree) {
    for (const std::int64_t tokens : {70, 71, 90, 139, 210}) {
        expect_agrees(attention_view(8, 2, 64, 70), tokens);
        expect_agrees(in_formats(attention_view(8, 2, 64, 70), Format::q8_0, Format::q4_0), tokens);
    }
    expect_shapes(10);
}

TEST_F(MatrixKernels, SequencesAndHeadsStayApartAndUnusedSlotsUnread) {
    for (const std::int64_t valid : {1, 5, 63, 129, 299}) {
        AttentionView view = attention_view(15, 3, 64, valid);
        view.sequences = 3;
        view.slots = 300;
        expect_agrees(view);
        expect_agrees(in_formats(view, Format::q4_0, Format::fp8_e4m3));
    }
    expect_shapes(10);
}

TEST_F(MatrixKernels, LatentAttentionAgrees) {
    for (const std::int64_t heads : {3, 5, 16, 20, 128}) {
        for (const Element element : {Element::f16, Element::bf16}) {
            expect_agrees(latent_view(heads, 512, 64, 65, element));
        }
    }
    for (const std::int64_t length : kLengths) {
        expect_agrees(latent_view(16, 512, 64, length));
    }
    expect_shapes(24);
}

TEST_F(MatrixKernels, LatentAttentionAgreesForOtherSizes) {
    expect_agrees(latent_view(3, 256, 32, 129));
    expect_agrees(latent_view(24, 128, 64, 40, Element::bf16));
    expect_agrees(latent_view(5, 64, 0, 33));
    expect_agrees(latent_view(4, 80, 16, 100));
    LatentView view = latent_view(20, 512, 64, 37);
    view.sequences = 3;
    view.slots = 50;
    expect_agrees(view);
}

TEST_F(MatrixKernels, LatentAttentionAgreesInEveryFormat) {
    for (const Format format : {Format::fp8_e4m3, Format::q8_0, Format::q4_0, Format::q5_0,
                                Format::q4_1, Format::q5_1, Format::iq4_nl, Format::nvfp4}) {
        for (const std::int64_t valid : {1, 33, 70}) {
            expect_agrees(in_format(latent_view(16, 512, 64, valid), format));
            expect_agrees(in_format(latent_view(6, 512, 64, valid, Element::bf16), format));
        }
    }
    expect_shapes(48);
}

TEST_F(MatrixKernels, PeakyScoresAgree) {
    for (const double peak : {4.0, 16.0}) {
        const AttentionView view = attention_view(8, 2, 128, 300);
        expect_agrees(view, view.valid, peak);
        expect_agrees(latent_view(16, 512, 64, 300), peak);
        expect_agrees(latent_view(16, 512, 64, 300, Element::bf16), peak);
        for (const auto& [key, value] : kPairs) {
            expect_agrees(in_formats(view, key, value), view.valid, peak);
            expect_agrees(in_format(latent_view(16, 512, 64, 90, Element::bf16), key), peak);
        }
    }
}

/// The weights are relative to the largest score so far: of this warp's tokens, of the other
/// warps', of another tile and of another split, it must be found wherever it is.
TEST_F(MatrixKernels, OneOverwhelmingSlotIsFoundWhereverItIs) {
    AttentionView view = attention_view(4, 1, 32, 290, Element::bf16);
    view.scale = 10.0f;
    for (const std::int64_t slot : {0, 7, 8, 17, 31, 33, 63, 64, 144, 145, 280, 289}) {
        SCOPED_TRACE(slot);
        AttentionData data = attention_data(view, ++seed_, 0.01);
        for (std::int64_t i = 0; i < view.key_width; ++i) {
            const auto column = static_cast<std::size_t>(i);
            data.k[static_cast<std::size_t>(slot * view.key_width) + column] =
                std::copysign(1024.0, data.q[column]);
        }
        for (const auto& backend : backends_) {
            EXPECT_LE(worst_error(run_step(*backend, view, data), reference(view, data),
                                  view.value_width),
                      kBf16Gate);
        }
    }
}

/// f16 ends at 65504: such an output must not look like a result.
TEST_F(MatrixKernels, AQueryTooLargeForF16GivesNan) {
    const AttentionView view =
        in_formats(attention_view(3, 1, 32, 40, Element::bf16), Format::q8_0, Format::q8_0);
    for (const auto& backend : backends_) {
        StoredAttention data = stored_attention(*backend, view, 40, ++seed_);
        data.numbers.q[32] = 131072.0; // the second head
        const Values out = run_step(*backend, view, data);
        EXPECT_FALSE(std::isnan(out[0]));
        EXPECT_TRUE(std::isnan(out[32]));
    }
}

TEST_F(MatrixKernels, ANanInAnyValidKeyOrValueReachesTheOutput) {
    const AttentionView view = attention_view(3, 1, 32, 70);
    const AttentionData clean = attention_data(view, ++seed_);
    for (std::int64_t slot = 0; slot < view.valid; slot += 3) {
        for (const bool in_key : {true, false}) {
            SCOPED_TRACE(slot);
            AttentionData data = clean;
            (in_key ? data.k : data.v)[static_cast<std::size_t>(slot * 32 + 31)] =
                std::numeric_limits<double>::quiet_NaN();
            const Values out = run_step(*backends_.front(), view, data);
            EXPECT_TRUE(std::isnan(out.back()));
        }
    }
}

} // namespace
} // namespace kvcaliper::kernels::test
