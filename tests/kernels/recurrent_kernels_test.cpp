// SPDX-License-Identifier: Apache-2.0
// The steps of RG-LRU, RWKV and xLSTM against a plain double-precision computation. The same tests
// run on the emulator, on every build of the CPU backend's loops and, where there is one, on a GPU.
#include "backends_under_test.h"
#include "core/error.h"
#include "recurrent_steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kvcaliper::kernels::test {
namespace {

constexpr double kGate = 2e-6; // per row of the output; 4e-7 seen over 64 steps

class SimtRecurrentKernels : public testing::Test {
  protected:
    void SetUp() override {
        std::string why_not;
        backends_ = backends_under_test(why_not);
        if (backends_.empty()) {
            GTEST_SKIP() << why_not;
        }
    }

    /// Output rows of `row` numbers and states of `state`.
    template <class View, class Data>
    void expect_agrees(const View& view, const Data& start, std::int64_t row, std::int64_t state) {
        Data expected = start;
        const Values expected_out = reference(view, expected);
        for (const auto& backend : backends_) {
            SCOPED_TRACE(backend->info().name);
            Data found = start;
            EXPECT_LE(worst_error(run_step(*backend, view, found), expected_out, row), kGate);
            EXPECT_LE(worst_error(found.state, expected.state, state), kGate);
        }
    }
    void expect_agrees(const RglruView& view) {
        expect_agrees(view, rglru_data(view, ++seed_), view.width, view.width);
    }
    void expect_agrees(const Rwkv4View& view) {
        expect_agrees(view, rwkv4_data(view, seed_ += 20), view.width, view.width);
    }
    void expect_agrees(const RwkvView& view) {
        for (const bool bonus : {true, false}) {
            SCOPED_TRACE(bonus ? "bonus" : "delta rule");
            expect_agrees(view, rwkv_data(view, seed_ += 1000, bonus), view.width,
                          view.width * view.width);
        }
    }
    void expect_agrees(const XlstmView& view) {
        expect_agrees(view, xlstm_data(view, seed_ += 1000), view.value_width + 1,
                      xlstm_state(view.key_width, view.value_width));
    }

    std::vector<std::unique_ptr<Backend>> backends_;
    std::uint64_t seed_ = 900;
};

TEST_F(SimtRecurrentKernels, RglruAgreesForEveryWidth) {
    for (const std::int64_t width : {3, 15, 16, 33, 127, 128, 300}) {
        SCOPED_TRACE(width);
        expect_agrees(rglru_view(2, width, 3));
    }
}

TEST_F(SimtRecurrentKernels, Rwkv4AgreesForEveryWidth) {
    for (const std::int64_t width : {3, 15, 16, 33, 127, 128, 300}) {
        SCOPED_TRACE(width);
        expect_agrees(rwkv4_view(2, width, 3));
    }
}

TEST_F(SimtRecurrentKernels, Rwkv4BeginsWithNothing) {
    const Rwkv4View view = rwkv4_view(1, 40, 2);
    Rwkv4Data data = rwkv4_data(view, ++seed_);
    for (std::size_t i = 0; i < 120; ++i) {
        data.state[i] = i < 80 ? 0.0 : static_cast<double>(rwkv4_nothing);
    }
    expect_agrees(view, data, 40, 40);
}

TEST_F(SimtRecurrentKernels, RwkvAgreesForEveryWidth) {
    for (const std::int64_t width : {3, 5, 16, 31, 33, 64, 65, 128}) {
        SCOPED_TRACE(width);
        expect_agrees(rwkv_view(1, 3, width, 3));
    }
    expect_agrees(rwkv_view(2, 2, 24, 1));
}

TEST_F(SimtRecurrentKernels, XlstmAgreesForEveryShape) {
    for (const std::int64_t key_width : {1, 5, 32, 65, 128, 129, 255, 256}) {
        SCOPED_TRACE(key_width);
        expect_agrees(xlstm_view(1, 2, key_width, 33, 2));
    }
    for (const std::int64_t value_width : {1, 15, 30, 31, 32, 64, 127, 128}) {
        SCOPED_TRACE(value_width);
        expect_agrees(xlstm_view(2, 3, 24, value_width, 3));
    }
}

TEST_F(SimtRecurrentKernels, AllAgreeOverManySteps) {
    expect_agrees(rglru_view(1, 130, 64));
    expect_agrees(rwkv4_view(1, 130, 64));
    expect_agrees(rwkv_view(2, 2, 64, 64));
    expect_agrees(xlstm_view(2, 2, 64, 40, 64));
}

/// Every number of the state, as NaN, must show in the output row that `row_of` names.
template <class View, class Data, class RowOf>
void expect_all_read(Backend& backend, const View& view, const Data& start, RowOf row_of) {
    for (std::size_t i = 0; i < start.state.size(); ++i) {
        Data data = start;
        data.state[i] = std::numeric_limits<double>::quiet_NaN();
        const Values out = run_step(backend, view, data);
        ASSERT_TRUE(std::isnan(out[row_of(i)])) << i;
    }
}

TEST_F(SimtRecurrentKernels, NoNumberOfTheStateIsLeftOut) {
    const RwkvView rwkv = rwkv_view(1, 2, 9, 1);
    const XlstmView xlstm = xlstm_view(1, 2, 5, 34, 1);
    for (const auto& backend : backends_) {
        SCOPED_TRACE(backend->info().name);
        const auto same = [](std::size_t i) { return i; };
        expect_all_read(*backend, rglru_view(2, 9, 1), rglru_data(rglru_view(2, 9, 1), 1), same);
        expect_all_read(*backend, rwkv4_view(2, 9, 1), rwkv4_data(rwkv4_view(2, 9, 1), 2),
                        [](std::size_t i) { return i / 27 * 9 + i % 9; });
        for (const bool bonus : {true, false}) {
            expect_all_read(*backend, rwkv, rwkv_data(rwkv, 3, bonus),
                            [](std::size_t i) { return i / 81 * 9 + i % 9; });
        }
        // A number of n makes what is divided by NaN or, where a comparison lets it go, nothing at
        // all: the numbers of C and m are looked at here, those of n in the next test.
        XlstmData data = xlstm_data(xlstm, 4);
        for (std::size_t i = 0; i < data.state.size(); ++i) {
            const std::size_t head = i / 176, place = i % 176; // 5 · 35 + 1
            if (place < 175 && place % 35 < 34) {
                XlstmData changed = data;
                changed.state[i] = std::numeric_limits<double>::quiet_NaN();
                ASSERT_TRUE(std::isnan(run_step(*backend, xlstm, changed)[head * 35 + place % 35]))
                    << i;
            }
        }
    }
}

TEST_F(SimtRecurrentKernels, EveryNumberOfNAndMCounts) {
    const XlstmView view = xlstm_view(1, 1, 5, 3, 1);
    XlstmData start = xlstm_data(view, 5);
    for (std::size_t j = 0; j < 5; ++j) {
        start.state[j * 4 + 3] = start.q[j] > 0 ? 8.0 : -8.0; // n · q decides what is divided by
    }
    for (const auto& backend : backends_) {
        SCOPED_TRACE(backend->info().name);
        XlstmData same = start;
        const Values before = run_step(*backend, view, same);
        for (const std::size_t i : {3u, 7u, 11u, 15u, 19u, 20u}) {
            XlstmData changed = start;
            changed.state[i] += 1.0;
            EXPECT_GT(std::abs(run_step(*backend, view, changed)[3] - before[3]), 1e-3) << i;
        }
    }
}

TEST_F(SimtRecurrentKernels, ARefusedShapeIsAnError) {
    for (const auto& backend : backends_) {
        EXPECT_THROW(backend->step(rglru_view(1, 0, 1)), Error);
        EXPECT_THROW(backend->step(rwkv4_view(1, 8, 0)), Error);
        EXPECT_THROW(backend->step(rwkv_view(1, 1, 385, 1)), Error);
        EXPECT_THROW(backend->step(rwkv_view(0, 1, 64, 1)), Error);
        EXPECT_THROW(backend->step(xlstm_view(1, 1, 385, 8, 1)), Error);
        EXPECT_THROW(backend->step(xlstm_view(1, 1, 8, 0, 1)), Error);
    }
}

} // namespace
} // namespace kvcaliper::kernels::test
