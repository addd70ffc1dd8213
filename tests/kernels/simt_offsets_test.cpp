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

/// The bytes of rows of f16 numbers in another format.
std::vector<std::byte> encoded(Backend& backend, const Values& rows, std::int64_t width,
                               Format format) {
    const auto count = static_cast<std::int64_t>(rows.size()) / width;
    const Memory from(backend, rows, Element::f16);
    const Memory to(backend, count * stored_row_bytes(format, width));
    backend.append({from.get(), to.get(), 1, 1, width, count, 0, count, Element::f16, format});
    return to.bytes();
}

TEST(SimtOffsets, QuantisedPlanesBeyond2To31BytesAreReadAndWritten) {
    AttentionView view = attention_view(2, 2, 64, 5);
    view.key_format = Format::q8_0;
    view.value_format = Format::q4_0;
    const AttentionData data = attention_data(view, 4);
    const auto backend = make_emulated_backend();
    const auto keys = encoded(*backend, data.k, 64, view.key_format);
    const auto values = encoded(*backend, data.v, 64, view.value_format);
    const Memory q(*backend, data.q, view.element);
    const auto attend = [&](const void* k, const void* v) {
        const Memory out(*backend, 2 * 64 * 4);
        const Memory workspace(*backend, backend->workspace_bytes(view));
        view.q = q.get();
        view.k = k;
        view.v = v;
        view.out = out.floats();
        backend->attend(view, workspace.get());
        return out.values(Element::f32);
    };
    const Values expected = attend(keys.data(), values.data());
    view.slots = kSlots;
    SparseMemory k(2 * kSlots * 68); // two blocks to a row
    SparseMemory v(2 * kSlots * 36);
    if (!k.reserved() || !v.reserved()) {
        GTEST_SKIP() << "this system reserves no address space without memory";
    }
    for (std::int64_t head = 0; head < 2; ++head) {
        k.put_bytes(head * kSlots * 68,
                    {keys.begin() + head * 340, keys.begin() + head * 340 + 340});
        v.put_bytes(head * kSlots * 36,
                    {values.begin() + head * 180, values.begin() + head * 180 + 180});
    }
    EXPECT_EQ(attend(k.get(), v.get()), expected);

    const Memory source(*backend, data.k, Element::f16);
    backend->append(
        {source.get(), k.get(), 1, 2, 64, kSlots, kSlots - 1, 1, Element::f16, Format::q8_0});
    EXPECT_EQ(k.bytes_at((2 * kSlots - 1) * 68, 68),
              std::vector<std::byte>(keys.begin() + 68, keys.begin() + 136));
}

} // namespace
} // namespace kvcaliper::kernels::test
