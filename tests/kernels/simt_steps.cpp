// SPDX-License-Identifier: Apache-2.0
#include "simt_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kvcaliper::kernels::test {

namespace {

std::int64_t size_of(const std::vector<std::byte>& content) {
    return static_cast<std::int64_t>(content.size());
}

/// Makes slots first … slots - 1 of every plane NaN.
void poison_slots(Values& planes, std::int64_t slots, std::int64_t first, std::int64_t width) {
    const std::int64_t plane = slots * width;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(planes.size()); ++i) {
        if (i % plane >= first * width) {
            planes[static_cast<std::size_t>(i)] = std::numeric_limits<double>::quiet_NaN();
        }
    }
}

Values positive(Values values) {
    for (double& value : values) {
        value = static_cast<double>(static_cast<float>(0.05 + std::abs(value)));
    }
    return values;
}

Values negative(Values values) {
    values = positive(std::move(values));
    for (double& value : values) {
        value = -value;
    }
    return values;
}

} // namespace

Memory::Memory(Backend& backend, std::int64_t bytes)
    : backend_(backend), memory_(backend.allocate(std::max<std::int64_t>(bytes, 1))), size_(bytes) {
    backend_.fill(memory_, 0xff, size_);
}

Memory::Memory(Backend& backend, const std::vector<std::byte>& content)
    : Memory(backend, size_of(content)) {
    backend_.write(memory_, content.data(), size_);
}

Memory::~Memory() {
    backend_.release(memory_, std::max<std::int64_t>(size_, 1));
}

std::vector<std::byte> Memory::bytes() const {
    std::vector<std::byte> content(static_cast<std::size_t>(size_));
    backend_.synchronize();
    backend_.read(content.data(), memory_, size_);
    return content;
}

AttentionView attention_view(std::int64_t heads, std::int64_t kv_heads, std::int64_t width,
                             std::int64_t valid, Element element) {
    AttentionView view{};
    view.sequences = 1;
    view.heads = heads;
    view.kv_heads = kv_heads;
    view.key_width = width;
    view.value_width = width;
    view.slots = valid;
    view.valid = valid;
    view.scale = 1.0f / std::sqrt(static_cast<float>(width));
    view.element = element;
    view.key_format = view.value_format = format_of(element);
    return view;
}

LatentView latent_view(std::int64_t heads, std::int64_t rank, std::int64_t rope, std::int64_t valid,
                       Element element) {
    LatentView view{};
    view.sequences = 1;
    view.heads = heads;
    view.rank = rank;
    view.rope_width = rope;
    view.slots = valid;
    view.valid = valid;
    view.scale = 1.0f / std::sqrt(static_cast<float>(rank + rope));
    view.element = element;
    view.format = format_of(element);
    return view;
}

Mamba1View mamba_view(std::int64_t sequences, std::int64_t inner, std::int64_t state_size,
                      std::int64_t conv_kernel, std::int64_t count, Element element) {
    Mamba1View view{};
    view.sequences = sequences;
    view.inner = inner;
    view.state_size = state_size;
    view.conv_kernel = conv_kernel;
    view.count = count;
    view.element = element;
    return view;
}

AttentionData attention_data(const AttentionView& sizes, std::uint64_t seed, double peak) {
    const std::int64_t planes = sizes.sequences * sizes.kv_heads * sizes.slots;
    AttentionData data{
        normal_values(sizes.sequences * sizes.heads * sizes.key_width, seed, sizes.element, peak),
        normal_values(planes * sizes.key_width, seed + 1, sizes.element),
        normal_values(planes * sizes.value_width, seed + 2, sizes.element)};
    poison_slots(data.k, sizes.slots, sizes.valid, sizes.key_width);
    poison_slots(data.v, sizes.slots, sizes.valid, sizes.value_width);
    return data;
}

LatentData latent_data(const LatentView& sizes, std::uint64_t seed, double peak) {
    const std::int64_t rows = sizes.sequences * sizes.heads;
    const std::int64_t slots = sizes.sequences * sizes.slots;
    LatentData data{normal_values(rows * sizes.rank, seed, sizes.element, peak),
                    normal_values(rows * sizes.rope_width, seed + 1, sizes.element, peak),
                    normal_values(slots * sizes.rank, seed + 2, sizes.element),
                    normal_values(slots * sizes.rope_width, seed + 3, sizes.element)};
    poison_slots(data.latent, sizes.slots, sizes.valid, sizes.rank);
    poison_slots(data.rope, sizes.slots, sizes.valid, sizes.rope_width);
    return data;
}

MambaData mamba_data(const Mamba1View& sizes, std::uint64_t seed) {
    const std::int64_t steps = sizes.sequences * sizes.count;
    const std::int64_t channels = sizes.sequences * sizes.inner;
    const auto normal = [&](std::int64_t count, Element element) {
        return normal_values(count, ++seed, element);
    };
    MambaData data;
    data.x = normal(steps * sizes.inner, sizes.element);
    data.dt = positive(normal_values(steps * sizes.inner, ++seed, Element::f32, 0.1));
    data.b = normal(steps * sizes.state_size, Element::f32);
    data.c = normal(steps * sizes.state_size, Element::f32);
    data.a = negative(normal(sizes.inner * sizes.state_size, Element::f32));
    data.d = normal(sizes.inner, Element::f32);
    data.weight = normal(sizes.inner * sizes.conv_kernel, Element::f32);
    data.bias = normal(sizes.inner, Element::f32);
    data.history = normal(channels * (sizes.conv_kernel - 1), sizes.element);
    data.state = normal(channels * sizes.state_size, Element::f32);
    return data;
}

Values run_step(Backend& backend, AttentionView view, const AttentionData& data) {
    const Memory q(backend, data.q, view.element);
    const Memory k(backend, data.k, view.element);
    const Memory v(backend, data.v, view.element);
    const Memory out(backend, view.sequences * view.heads * view.value_width * 4);
    const Memory workspace(backend, backend.workspace_bytes(view));
    view.q = q.get();
    view.k = k.get();
    view.v = v.get();
    view.out = out.floats();
    backend.attend(view, workspace.get());
    return out.values(Element::f32);
}

Values run_step(Backend& backend, LatentView view, const LatentData& data) {
    const Memory q_latent(backend, data.q_latent, view.element);
    const Memory q_rope(backend, data.q_rope, view.element);
    const Memory latent(backend, data.latent, view.element);
    const Memory rope(backend, data.rope, view.element);
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

Values run_step(Backend& backend, Mamba1View view, MambaData& data) {
    const Memory x(backend, data.x, view.element);
    const Memory dt(backend, data.dt, Element::f32);
    const Memory b(backend, data.b, Element::f32);
    const Memory c(backend, data.c, Element::f32);
    const Memory a(backend, data.a, Element::f32);
    const Memory d(backend, data.d, Element::f32);
    const Memory weight(backend, data.weight, Element::f32);
    const Memory bias(backend, data.bias, Element::f32);
    const Memory history(backend, data.history, view.element);
    const Memory state(backend, data.state, Element::f32);
    const Memory out(backend, view.sequences * view.inner * 4);
    view.x = x.get();
    view.dt = dt.floats();
    view.b = b.floats();
    view.c = c.floats();
    view.a = a.floats();
    view.d = d.floats();
    view.weight = weight.floats();
    view.bias = bias.floats();
    view.history = history.get();
    view.state = state.floats();
    view.out = out.floats();
    backend.step(view);
    data.history = history.values(view.element);
    data.state = state.values(Element::f32);
    return out.values(Element::f32);
}

void run_append(Backend& backend, AppendView view, const Values& source, Values& plane) {
    const Memory from(backend, source, view.element);
    const Memory to(backend, plane, view.element);
    view.source = from.get();
    view.plane = to.get();
    backend.append(view);
    plane = to.values(view.element);
}

void reference_append(const AppendView& sizes, const Values& source, Values& plane) {
    for (std::int64_t sequence = 0; sequence < sizes.sequences; ++sequence) {
        for (std::int64_t token = 0; token < sizes.count; ++token) {
            for (std::int64_t row = 0; row < sizes.rows; ++row) {
                const std::int64_t slot = (sizes.first + token) % sizes.slots;
                const std::int64_t from =
                    ((sequence * sizes.count + token) * sizes.rows + row) * sizes.width;
                const std::int64_t to =
                    ((sequence * sizes.rows + row) * sizes.slots + slot) * sizes.width;
                std::copy_n(source.begin() + from, sizes.width, plane.begin() + to);
            }
        }
    }
}

} // namespace kvcaliper::kernels::test
