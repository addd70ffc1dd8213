// SPDX-License-Identifier: Apache-2.0
#include "matrix_steps.h"

#include "format_rows.h"

#include <algorithm>

namespace kvcaliper::kernels::test {

namespace {

/// Planes of rows that were normally distributed before they were stored.
std::vector<std::byte> stored_planes(Backend& backend, std::int64_t sequences, std::int64_t rows,
                                     std::int64_t slots, std::int64_t width, std::int64_t tokens,
                                     Format format, std::uint64_t seed) {
    const Element element = format == Format::bf16  ? Element::bf16
                            : format == Format::f32 ? Element::f32
                                                    : Element::f16;
    const Values source = normal_values(sequences * tokens * rows * width, seed, element);
    const Memory from(backend, source, element);
    const Memory plane(backend, sequences * rows * slots * stored_row_bytes(format, width));
    if (width > 0) {
        backend.append(
            {from.get(), plane.get(), sequences, rows, width, slots, 0, tokens, element, format});
    }
    return plane.bytes();
}

Values numbers_of(const std::vector<std::byte>& planes, Format format, std::int64_t width) {
    Bytes bytes(planes.size());
    std::transform(planes.begin(), planes.end(), bytes.begin(),
                   [](std::byte byte) { return static_cast<unsigned char>(byte); });
    return numbers_in(bytes, format, width);
}

} // namespace

StoredAttention stored_attention(Backend& backend, const AttentionView& sizes, std::int64_t tokens,
                                 std::uint64_t seed, double peak) {
    StoredAttention data;
    data.k = stored_planes(backend, sizes.sequences, sizes.kv_heads, sizes.slots, sizes.key_width,
                           tokens, sizes.key_format, seed);
    data.v = stored_planes(backend, sizes.sequences, sizes.kv_heads, sizes.slots, sizes.value_width,
                           tokens, sizes.value_format, seed + 1);
    data.numbers = {normal_values(sizes.sequences * sizes.heads * sizes.key_width, seed + 2,
                                  sizes.element, peak),
                    numbers_of(data.k, sizes.key_format, sizes.key_width),
                    numbers_of(data.v, sizes.value_format, sizes.value_width)};
    return data;
}

Values run_step(Backend& backend, AttentionView view, const StoredAttention& data) {
    const Memory q(backend, data.numbers.q, view.element);
    const Memory k(backend, data.k);
    const Memory v(backend, data.v);
    const Memory out(backend, view.sequences * view.heads * view.value_width * 4);
    const Memory workspace(backend, backend.workspace_bytes(view));
    view.q = q.get();
    view.k = k.get();
    view.v = v.get();
    view.out = out.floats();
    backend.attend(view, workspace.get());
    return out.values(Element::f32);
}

StoredLatent stored_latent(Backend& backend, const LatentView& sizes, std::uint64_t seed,
                           double peak) {
    const std::int64_t rows = sizes.sequences * sizes.heads;
    StoredLatent data;
    data.latent = stored_planes(backend, sizes.sequences, 1, sizes.slots, sizes.rank, sizes.valid,
                                sizes.format, seed);
    data.rope = stored_planes(backend, sizes.sequences, 1, sizes.slots, sizes.rope_width,
                              sizes.valid, sizes.format, seed + 1);
    data.numbers = {normal_values(rows * sizes.rank, seed + 2, sizes.element, peak),
                    normal_values(rows * sizes.rope_width, seed + 3, sizes.element, peak),
                    numbers_of(data.latent, sizes.format, sizes.rank),
                    numbers_of(data.rope, sizes.format, sizes.rope_width)};
    return data;
}

Values run_step(Backend& backend, LatentView view, const StoredLatent& data) {
    const Memory q_latent(backend, data.numbers.q_latent, view.element);
    const Memory q_rope(backend, data.numbers.q_rope, view.element);
    const Memory latent(backend, data.latent);
    const Memory rope(backend, data.rope);
    const Memory out(backend, view.sequences * view.heads * view.rank * 4);
    const Memory workspace(backend, backend.workspace_bytes(view));
    view.q_latent = q_latent.get();
    view.q_rope = q_rope.get();
    view.latent = latent.get();
    view.rope = rope.get();
    view.out = out.floats();
    backend.attend(view, workspace.get());
    return out.values(Element::f32);
}

AttentionView in_formats(AttentionView view, Format key, Format value) {
    view.key_format = key;
    view.value_format = value;
    return view;
}

LatentView in_format(LatentView view, Format format) {
    view.format = format;
    return view;
}

} // namespace kvcaliper::kernels::test
