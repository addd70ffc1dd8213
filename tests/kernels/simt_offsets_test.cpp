// SPDX-License-Identifier: Apache-2.0
// Planes of more than 2^31 elements on a small machine: address space is reserved without memory,
// and the step touches only a few pages of it. A 32-bit product in a kernel would read or write
// elsewhere.
#include "kernels/backend_emulated.h"
#include "simt_steps.h"
#include "sparse_memory.h"

#include <gtest/gtest.h>

namespace kvcaliper::kernels::test {
namespace {

constexpr std::int64_t kSlots = std::int64_t{1} << 25;

TEST(SimtOffsets, AttentionReadsPlanesBeyond2To31Elements) {
    AttentionView view = attention_view(2, 2, 64, 5);
    const AttentionData data = attention_data(view, 1);
    const Values expected = reference(view, data);
    view.slots = kSlots;
    SparseMemory k(2 * kSlots * 64 * 2); // the second head starts at element 2^31
    SparseMemory v(2 * kSlots * 64 * 2);
    if (!k.reserved() || !v.reserved()) {
        GTEST_SKIP() << "this system reserves no address space without memory";
    }
    for (std::int64_t head = 0; head < 2; ++head) {
        k.put(head * kSlots * 64, data.k, static_cast<std::size_t>(head) * 320, 320);
        v.put(head * kSlots * 64, data.v, static_cast<std::size_t>(head) * 320, 320);
    }
    const auto backend = make_emulated_backend();
    const Memory q(*backend, data.q, view.element);
    const Memory out(*backend, 2 * 64 * 4);
    const Memory workspace(*backend, backend->workspace_bytes(view));
    view.q = q.get();
    view.k = k.get();
    view.v = v.get();
    view.out = out.floats();
    backend->attend(view, workspace.get());
    EXPECT_LE(worst_error(out.values(Element::f32), expected, 64), 2e-6);
}

TEST(SimtOffsets, LatentAttentionReadsPlanesBeyond2To31Elements) {
    LatentView view = latent_view(1, 256, 64, 5);
    view.sequences = 2;
    const LatentData data = latent_data(view, 2);
    const Values expected = reference(view, data);
    view.slots = kSlots;
    SparseMemory latent(2 * kSlots * 256 * 2);
    SparseMemory rope(2 * kSlots * 64 * 2);
    if (!latent.reserved() || !rope.reserved()) {
        GTEST_SKIP() << "this system reserves no address space without memory";
    }
    for (std::int64_t sequence = 0; sequence < 2; ++sequence) {
        const auto row = static_cast<std::size_t>(sequence) * 5;
        latent.put(sequence * kSlots * 256, data.latent, row * 256, std::size_t{5} * 256);
        rope.put(sequence * kSlots * 64, data.rope, row * 64, std::size_t{5} * 64);
    }
    const auto backend = make_emulated_backend();
    const Memory q_latent(*backend, data.q_latent, view.element);
    const Memory q_rope(*backend, data.q_rope, view.element);
    const Memory out(*backend, 2 * 256 * 4);
    const Memory workspace(*backend, backend->workspace_bytes(view));
    view.q_latent = q_latent.get();
    view.q_rope = q_rope.get();
    view.latent = latent.get();
    view.rope = rope.get();
    view.out = out.floats();
    backend->attend(view, workspace.get());
    EXPECT_LE(worst_error(out.values(Element::f32), expected, 256), 2e-6);
}

TEST(SimtOffsets, AppendWritesPlanesBeyond2To31Elements) {
    AppendView view{nullptr, nullptr, 1, 3, 64, kSlots, kSlots - 1, 2, Element::f16};
    const Values source = normal_values(2 * 3 * 64, 3, view.element);
    SparseMemory plane(3 * kSlots * 64 * 2);
    if (!plane.reserved()) {
        GTEST_SKIP() << "this system reserves no address space without memory";
    }
    const auto backend = make_emulated_backend();
    const Memory from(*backend, source, view.element);
    view.source = from.get();
    view.plane = plane.get();
    backend->append(view);
    for (std::int64_t row = 0; row < 3; ++row) {
        for (std::int64_t column = 0; column < 64; ++column) {
            const std::int64_t first = row * 64 + column;
            const std::int64_t last_slot = (row * kSlots + kSlots - 1) * 64 + column;
            EXPECT_EQ(plane.at(last_slot), source[static_cast<std::size_t>(first)]);
            const std::int64_t second = (3 + row) * 64 + column; // wraps to slot 0
            EXPECT_EQ(plane.at(row * kSlots * 64 + column),
                      source[static_cast<std::size_t>(second)]);
        }
    }
}

} // namespace
} // namespace kvcaliper::kernels::test
