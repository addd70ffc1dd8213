// SPDX-License-Identifier: Apache-2.0
// The steps of the state layers against a plain double-precision computation. The same tests run
// on the emulator, on every build of the CPU backend's loops and, where there is one, on a GPU.
#include "backends_under_test.h"
#include "core/error.h"
#include "state_steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace kvcaliper::kernels::test {
namespace {

constexpr double kGate = 2e-6; // per head; the prototype's worst was 1.4e-7 over 64 steps

class SimtStateKernels : public testing::Test {
  protected:
    void SetUp() override {
        std::string why_not;
        backends_ = backends_under_test(why_not);
        if (backends_.empty()) {
            GTEST_SKIP() << why_not;
        }
    }

    void expect_agrees(const ConvView& view) {
        const ConvData start = conv_data(view, ++seed_);
        ConvData expected = start;
        const Values expected_out = reference(view, expected);
        for (const auto& backend : backends_) {
            SCOPED_TRACE(backend->info().name);
            ConvData found = start;
            EXPECT_LE(worst_error(run_step(*backend, view, found), expected_out, view.channels),
                      kGate);
            EXPECT_EQ(found.history, expected.history); // inputs are moved, never computed with
        }
    }

    void expect_agrees(const Mamba2View& view) {
        expect_state_agrees(view, mamba2_data(view, ++seed_), view.head_width,
                            view.head_width * view.state_size);
    }

    void expect_agrees(const DeltaView& view, bool delta_rule) {
        expect_state_agrees(view, delta_data(view, ++seed_, delta_rule), view.value_width,
                            view.key_width * view.value_width);
    }

    /// Every way a matrix state is driven: one gate or one per row, with and without the delta
    /// rule.
    void expect_every_rule_agrees(DeltaView view) {
        for (const bool delta_rule : {true, false}) {
            for (const bool column_gate : {false, true}) {
                SCOPED_TRACE(delta_rule ? "delta rule" : "no delta rule");
                SCOPED_TRACE(column_gate ? "column gate" : "head gate");
                view.gate_width = column_gate ? view.key_width : 1;
                view.normalise = delta_rule;
                view.log_gate = delta_rule || column_gate;
                expect_agrees(view, delta_rule);
            }
        }
    }

    std::vector<std::unique_ptr<Backend>> backends_;
    std::uint64_t seed_ = 500;

  private:
    template <class View, class Data>
    void expect_state_agrees(const View& view, const Data& start, std::int64_t head,
                             std::int64_t state) {
        Data expected = start;
        const Values expected_out = reference(view, expected);
        for (const auto& backend : backends_) {
            SCOPED_TRACE(backend->info().name);
            Data found = start;
            EXPECT_LE(worst_error(run_step(*backend, view, found), expected_out, head), kGate);
            EXPECT_LE(worst_error(found.state, expected.state, state), kGate);
        }
    }
};

TEST_F(SimtStateKernels, ConvolutionAgreesForEveryKernel) {
    for (const std::int64_t conv_kernel : {1, 2, 3, 4, 8}) {
        for (const Element element : {Element::f16, Element::bf16, Element::f32}) {
            for (const std::int64_t count : {1, 2, 7}) {
                SCOPED_TRACE(conv_kernel);
                expect_agrees(conv_view(2, 130, conv_kernel, count, true, element));
            }
        }
    }
}

TEST_F(SimtStateKernels, ConvolutionAgreesForEveryNumberOfChannelsWithoutAGate) {
    for (const std::int64_t channels : {1, 15, 16, 33, 64, 300}) {
        SCOPED_TRACE(channels);
        expect_agrees(conv_view(1, channels, 3, 4, false, Element::bf16));
    }
}

TEST_F(SimtStateKernels, Mamba2AgreesForEveryShape) {
    for (const std::int64_t heads : {1, 3}) {
        for (const std::int64_t width : {16, 24, 64, 128}) {
            for (const std::int64_t state_size : {16, 24, 64, 128}) {
                SCOPED_TRACE(testing::Message() << heads << " x " << width << " x " << state_size);
                expect_agrees(mamba2_view(1, heads, width, 1, state_size, 3));
            }
        }
    }
}

TEST_F(SimtStateKernels, Mamba2AgreesForOddSizesAndTheLargest) {
    for (const std::int64_t state_size : {1, 5, 31, 33, 100, 256}) {
        SCOPED_TRACE(state_size);
        expect_agrees(mamba2_view(2, 2, 7, 2, state_size, 2));
    }
}

TEST_F(SimtStateKernels, Mamba2SharesBAndCWithinAGroup) {
    for (const std::int64_t groups : {1, 2, 3, 6}) {
        SCOPED_TRACE(groups);
        expect_agrees(mamba2_view(2, 6, 16, groups, 16, 4));
    }
}

TEST_F(SimtStateKernels, Mamba2AgreesOverManySteps) {
    expect_agrees(mamba2_view(2, 3, 24, 1, 64, 64));
}

TEST_F(SimtStateKernels, MatrixStateAgreesForEveryShape) {
    for (const std::int64_t heads : {1, 3}) {
        for (const std::int64_t key_width : {16, 24, 64, 128}) {
            for (const std::int64_t value_width : {16, 24, 64, 128}) {
                SCOPED_TRACE(testing::Message() << heads << " " << key_width << " " << value_width);
                expect_agrees(delta_view(1, 1, heads, key_width, value_width, 3), true);
            }
        }
    }
}

TEST_F(SimtStateKernels, MatrixStateAgreesForEveryRule) {
    expect_every_rule_agrees(delta_view(2, 2, 4, 24, 40, 5));
    expect_every_rule_agrees(delta_view(1, 3, 3, 64, 64, 2));
}

TEST_F(SimtStateKernels, MatrixStateAgreesForOddSizesAndTheLargest) {
    for (const std::int64_t key_width : {1, 5, 65, 129, 257, 384}) {
        SCOPED_TRACE(key_width);
        expect_every_rule_agrees(delta_view(1, 1, 2, key_width, 33, 2));
    }
    expect_every_rule_agrees(delta_view(1, 1, 1, 8, 1, 2));
}

TEST_F(SimtStateKernels, MatrixStateAgreesOverManySteps) {
    expect_every_rule_agrees(delta_view(2, 1, 3, 64, 64, 64));
}

TEST_F(SimtStateKernels, NoNumberOfTheStateIsLeftOut) {
    Mamba2View view = mamba2_view(1, 2, 5, 1, 17, 1);
    const Mamba2Data start = mamba2_data(view, ++seed_);
    for (const auto& backend : backends_) {
        for (std::size_t i = 0; i < start.state.size(); ++i) {
            Mamba2Data data = start;
            data.state[i] = std::numeric_limits<double>::quiet_NaN();
            const Values out = run_step(*backend, view, data);
            ASSERT_TRUE(std::isnan(out[i / 17])) << i;
        }
    }
    const DeltaView matrix = delta_view(1, 1, 1, 9, 35, 1);
    const DeltaData whole = delta_data(matrix, ++seed_);
    for (const auto& backend : backends_) {
        for (std::size_t i = 0; i < whole.state.size(); ++i) {
            DeltaData data = whole;
            data.state[i] = std::numeric_limits<double>::quiet_NaN();
            const Values out = run_step(*backend, matrix, data);
            ASSERT_TRUE(std::isnan(out[i % 35])) << i;
        }
    }
}

TEST_F(SimtStateKernels, ARefusedShapeIsAnError) {
    DeltaView gates = delta_view(1, 1, 1, 8, 8, 1);
    gates.gate_width = 3;
    for (const auto& backend : backends_) {
        EXPECT_THROW(backend->step(mamba2_view(1, 4, 8, 3, 16, 1)), Error);
        EXPECT_THROW(backend->step(mamba2_view(1, 4, 8, 1, 1025, 1)), Error);
        EXPECT_THROW(backend->step(delta_view(1, 2, 3, 8, 8, 1)), Error);
        EXPECT_THROW(backend->step(delta_view(1, 1, 1, 385, 8, 1)), Error);
        EXPECT_THROW(backend->step(gates), Error);
        EXPECT_THROW(backend->step(conv_view(1, 8, 0, 1)), Error);
    }
}

} // namespace
} // namespace kvcaliper::kernels::test
