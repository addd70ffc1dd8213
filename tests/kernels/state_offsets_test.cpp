// SPDX-License-Identifier: Apache-2.0
// Inputs of the state layers' steps that lie more than 2^31 floats apart, in memory that costs
// something only where it is written. A 32-bit product in a kernel would read elsewhere.
#include "kernels/backend_emulated.h"
#include "sparse_memory.h"
#include "state_steps.h"

#include <gtest/gtest.h>

namespace kvcaliper::kernels::test {
namespace {

constexpr std::int64_t kStride = (std::int64_t{1} << 31) + 8;

/// Two rows of `width` values, `from` apart in the data and kStride apart here.
class FarRows {
  public:
    FarRows(const Values& values, std::int64_t width, std::int64_t from)
        : memory_((kStride + width) * 4) {
        for (std::int64_t row = 0; memory_.reserved() && row < 2; ++row) {
            memory_.put(row * kStride, values, static_cast<std::size_t>(row * from),
                        static_cast<std::size_t>(width), Element::f32);
        }
    }
    const float* get() const { return static_cast<const float*>(memory_.get()); }
    bool reserved() const { return memory_.reserved(); }

  private:
    SparseMemory memory_;
};

TEST(StateOffsets, Mamba2ReadsRowsBeyond2To31Floats) {
    Mamba2View view = mamba2_view(2, 1, 8, 1, 16, 1);
    Mamba2Data data = mamba2_data(view, 1);
    const FarRows x(data.x, 8, view.x_stride);
    const FarRows b(data.b, 16, view.bc_stride);
    const FarRows c(data.c, 16, view.bc_stride);
    if (!x.reserved() || !b.reserved() || !c.reserved()) {
        GTEST_SKIP() << "this system reserves no address space without memory";
    }
    const auto backend = make_emulated_backend();
    const Memory dt(*backend, data.dt, Element::f32);
    const Memory a(*backend, data.a, Element::f32);
    const Memory d(*backend, data.d, Element::f32);
    const Memory state(*backend, data.state, Element::f32);
    const Memory out(*backend, 2 * 8 * 4);
    const Values expected = reference(view, data);
    view.x = x.get();
    view.b = b.get();
    view.c = c.get();
    view.dt = dt.floats();
    view.a = a.floats();
    view.d = d.floats();
    view.state = state.floats();
    view.out = out.floats();
    view.x_stride = view.bc_stride = kStride;
    backend->step(view);
    EXPECT_LE(worst_error(out.values(Element::f32), expected, 8), 2e-6);
}

TEST(StateOffsets, MatrixStateReadsRowsBeyond2To31Floats) {
    DeltaView view = delta_view(1, 1, 1, 16, 24, 2);
    DeltaData data = delta_data(view, 2);
    const FarRows q(data.q, 16, view.stride);
    const FarRows k(data.k, 16, view.stride);
    const FarRows v(data.v, 24, view.stride);
    if (!q.reserved() || !k.reserved() || !v.reserved()) {
        GTEST_SKIP() << "this system reserves no address space without memory";
    }
    const auto backend = make_emulated_backend();
    const Memory gate(*backend, data.gate, Element::f32);
    const Memory beta(*backend, data.beta, Element::f32);
    const Memory state(*backend, data.state, Element::f32);
    const Memory out(*backend, 24 * 4);
    const Values expected = reference(view, data);
    view.q = q.get();
    view.k = k.get();
    view.v = v.get();
    view.gate = gate.floats();
    view.beta = beta.floats();
    view.state = state.floats();
    view.out = out.floats();
    view.stride = kStride;
    backend->step(view);
    EXPECT_LE(worst_error(out.values(Element::f32), expected, 24), 2e-6);
}

} // namespace
} // namespace kvcaliper::kernels::test
