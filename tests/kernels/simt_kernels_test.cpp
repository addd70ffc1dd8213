// SPDX-License-Identifier: Apache-2.0
// Every kernel against a plain double-precision computation. The same tests run on the emulator
// and, where there is one, on a GPU.
//
// Gates: relative L2 error per head. For f32 accumulation over exactly widened 16-bit values the
// prototype's worst head was 3.1e-7 on normal data and 3.9e-6 with q multiplied by 16; for the
// Mamba state and output 1.1e-7 over 64 steps. The gates below leave a factor of 5 or more for
// other shapes, and stand two orders of magnitude under what a missing or misread row would give.
#include "core/error.h"
#include "simt_steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace kvcaliper::kernels::test {
namespace {

constexpr double kGate = 2e-6;
constexpr double kPeakyGate = 2e-5;
constexpr double kStateGate = 2e-6;

class SimtKernels : public testing::Test {
  protected:
    void SetUp() override {
        std::string why_not;
        backend_ = make_backend_under_test(why_not);
        if (!backend_) {
            GTEST_SKIP() << why_not;
        }
    }

    double error_of(const AttentionView& view, double peak = 1.0) {
        const AttentionData data = attention_data(view, ++seed_, peak);
        return worst_error(run_step(*backend_, view, data), reference(view, data),
                           view.value_width);
    }

    double error_of(const LatentView& view, double peak = 1.0) {
        const LatentData data = latent_data(view, ++seed_, peak);
        return worst_error(run_step(*backend_, view, data), reference(view, data), view.rank);
    }

    void expect_mamba_agrees(const Mamba1View& view) {
        MambaData found = mamba_data(view, ++seed_);
        MambaData expected = found;
        const Values out = run_step(*backend_, view, found);
        const Values expected_out = reference(view, expected);
        EXPECT_LE(worst_error(out, expected_out, view.inner), kStateGate);
        EXPECT_LE(worst_error(found.state, expected.state, view.inner * view.state_size),
                  kStateGate);
        EXPECT_EQ(found.history, expected.history); // inputs are moved, never computed with
    }

    void expect_append_agrees(const AppendView& view) {
        const Values source = normal_values(view.sequences * view.count * view.rows * view.width,
                                            ++seed_, view.element);
        Values expected = normal_values(view.sequences * view.rows * view.slots * view.width,
                                        ++seed_, view.element);
        Values found = expected;
        reference_append(view, source, expected);
        run_append(*backend_, view, source, found);
        EXPECT_EQ(found, expected);
    }

    std::unique_ptr<Backend> backend_;
    std::uint64_t seed_ = 100;
};

TEST_F(SimtKernels, AttentionAgreesForEveryGroupSize) {
    for (const std::int64_t group : {1, 2, 3, 4, 5, 7, 8, 12}) {
        for (const Element element : {Element::f16, Element::bf16}) {
            SCOPED_TRACE(group);
            EXPECT_LE(error_of(attention_view(2 * group, 2, 64, 77, element)), kGate);
        }
    }
}

TEST_F(SimtKernels, AttentionAgreesForEveryWidth) {
    for (const std::int64_t width : {1, 31, 64, 80, 96, 112, 128, 192, 256, 512}) {
        for (const std::int64_t heads : {1, 4}) {
            SCOPED_TRACE(width);
            EXPECT_LE(error_of(attention_view(heads, 1, width, 45, Element::bf16)), kGate);
        }
    }
}

TEST_F(SimtKernels, AttentionAgreesAtEveryLength) {
    for (const std::int64_t length : {1, 2, 3, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1000}) {
        SCOPED_TRACE(length);
        EXPECT_LE(error_of(attention_view(3, 1, 64, length)), kGate);
    }
}

TEST_F(SimtKernels, AttentionTakesValuesNarrowerOrWiderThanKeys) {
    AttentionView view = attention_view(6, 2, 192, 140);
    view.value_width = 128;
    EXPECT_LE(error_of(view), kGate);
    view.key_width = 40;
    view.value_width = 72;
    EXPECT_LE(error_of(view), kGate);
}

TEST_F(SimtKernels, AttentionKeepsSequencesAndHeadsApart) {
    AttentionView view = attention_view(10, 5, 64, 70);
    view.sequences = 3;
    EXPECT_LE(error_of(view), kGate);
}

TEST_F(SimtKernels, AttentionNeverReadsSlotsThatHoldNothing) {
    for (const std::int64_t valid : {1, 5, 129, 299}) {
        SCOPED_TRACE(valid);
        AttentionView view = attention_view(8, 2, 64, valid);
        view.slots = 300;
        EXPECT_LE(error_of(view), kGate);
    }
}

TEST_F(SimtKernels, AttentionHoldsForPeakyLogits) {
    EXPECT_LE(error_of(attention_view(8, 2, 128, 300), 16.0), kPeakyGate);
}

TEST_F(SimtKernels, AttentionSurvivesScoresFarBelowAndAboveZero) {
    AttentionView view = attention_view(2, 1, 64, 200, Element::bf16);
    view.scale = 40.0f;              // exp of the raw scores would overflow or vanish
    EXPECT_LE(error_of(view), 1e-3); // f32 scores of size 1000 carry 1e-4 of absolute error
}

/// The weights are summed relative to the largest score. If a warp or a split were left out when
/// the largest is sought, a slot that outweighs all others by more than a float can hold would
/// overflow.
TEST_F(SimtKernels, AttentionSurvivesOneOverwhelmingSlotWhereverItIs) {
    AttentionView view = attention_view(1, 1, 32, 290, Element::bf16);
    view.scale = 10.0f;
    for (const std::int64_t slot : {0, 5, 10, 15, 144, 149, 154, 159, 289}) {
        SCOPED_TRACE(slot);
        AttentionData data = attention_data(view, ++seed_, 0.01);
        for (std::int64_t i = 0; i < view.key_width; ++i) {
            const auto column = static_cast<std::size_t>(i);
            data.k[static_cast<std::size_t>(slot * view.key_width) + column] =
                std::copysign(1024.0, data.q[column]);
        }
        const Values found = run_step(*backend_, view, data);
        EXPECT_LE(worst_error(found, reference(view, data), view.value_width), kGate);
    }
}

TEST_F(SimtKernels, LatentAttentionAgrees) {
    for (const std::int64_t heads : {1, 4, 6, 16}) {
        for (const Element element : {Element::f16, Element::bf16}) {
            SCOPED_TRACE(heads);
            EXPECT_LE(error_of(latent_view(heads, 512, 64, 65, element)), kGate);
        }
    }
}

TEST_F(SimtKernels, LatentAttentionAgreesForOtherSizesAndLengths) {
    EXPECT_LE(error_of(latent_view(3, 256, 32, 129)), kGate);
    EXPECT_LE(error_of(latent_view(5, 100, 10, 1)), kGate);
    EXPECT_LE(error_of(latent_view(5, 64, 0, 33)), kGate);
    EXPECT_LE(error_of(latent_view(4, 512, 64, 300), 16.0), kPeakyGate);
}

TEST_F(SimtKernels, LatentAttentionKeepsSequencesApartAndNeverReadsUnusedSlots) {
    LatentView view = latent_view(5, 128, 64, 37);
    view.sequences = 3;
    view.slots = 50;
    EXPECT_LE(error_of(view), kGate);
}

TEST_F(SimtKernels, MambaAgreesForEveryStateSizeAndKernel) {
    for (const std::int64_t state_size : {1, 16, 64, 128, 256}) {
        SCOPED_TRACE(state_size);
        expect_mamba_agrees(mamba_view(1, 40, state_size, 4, 3));
    }
    for (const std::int64_t conv_kernel : {1, 2, 3, 4, 8}) {
        SCOPED_TRACE(conv_kernel);
        expect_mamba_agrees(mamba_view(2, 33, 16, conv_kernel, 5, Element::bf16));
    }
}

TEST_F(SimtKernels, MambaAgreesOverManySteps) {
    expect_mamba_agrees(mamba_view(2, 130, 16, 4, 64));
}

TEST_F(SimtKernels, AppendFillsContiguousPlanes) {
    expect_append_agrees({nullptr, nullptr, 2, 3, 80, 50, 0, 50, Element::f16});
    expect_append_agrees({nullptr, nullptr, 3, 2, 64, 50, 49, 1, Element::bf16});
    expect_append_agrees({nullptr, nullptr, 1, 1, 7, 5, 2, 2, Element::f32});
}

TEST_F(SimtKernels, AppendWrapsRingsAtEveryOffset) {
    for (std::int64_t first = 0; first < 9; ++first) {
        SCOPED_TRACE(first);
        expect_append_agrees({nullptr, nullptr, 2, 2, 33, 8, first, 1, Element::f16});
        expect_append_agrees({nullptr, nullptr, 2, 2, 33, 8, first, 5, Element::f16});
    }
}

TEST_F(SimtKernels, AppendKeepsTheLastTokensOfABulkLongerThanTheRing) {
    expect_append_agrees({nullptr, nullptr, 2, 2, 33, 8, 0, 100, Element::f16});
    expect_append_agrees({nullptr, nullptr, 1, 3, 64, 7, 1000, 15, Element::bf16});
}

TEST_F(SimtKernels, AppendCopiesNaNPayloadsUntouched) {
    std::vector<std::byte> source(64, std::byte{0xff});
    source[1] = std::byte{0x7c}; // a signalling NaN in f16
    const Memory from(*backend_, source);
    const Memory to(*backend_, std::vector<std::byte>(64));
    backend_->append({from.get(), to.get(), 1, 1, 32, 1, 0, 1, Element::f16});
    EXPECT_EQ(to.bytes(), source);
}

TEST_F(SimtKernels, ARefusedShapeIsAnErrorWithItsReason) {
    AttentionView view = attention_view(2, 1, 513, 4);
    try {
        backend_->attend(view, nullptr);
        FAIL() << "513 columns were accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::impossible_here);
        EXPECT_STREQ(error.what(), "attention: expected key_width from 1 to 512, found 513");
    }
    EXPECT_THROW(backend_->attend(latent_view(1, 513, 64, 4), nullptr), Error);
    EXPECT_THROW(backend_->step(mamba_view(1, 8, 257, 4, 1)), Error);
    EXPECT_THROW(backend_->append({nullptr, nullptr, 1, 1, 8, 0, 0, 1, Element::f16}), Error);
}

TEST_F(SimtKernels, ReadBandwidthIsMeasured) {
    EXPECT_GT(backend_->read_bandwidth(), 1e3);
}

} // namespace
} // namespace kvcaliper::kernels::test
