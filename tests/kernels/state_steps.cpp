// SPDX-License-Identifier: Apache-2.0
#include "state_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kvcaliper::kernels::test {

namespace {

std::size_t at(std::int64_t index) {
    return static_cast<std::size_t>(index);
}

double silu(double x) {
    return x / (1.0 + std::exp(-x));
}

double dot_column(const double* matrix, std::int64_t rows, std::int64_t width, const double* x) {
    double sum = 0.0;
    for (std::int64_t row = 0; row < rows; ++row) {
        sum += matrix[row * width] * x[row];
    }
    return sum;
}

Values taken(const double* row, std::int64_t width, bool normalise) {
    Values values(row, row + width);
    double square = 1e-6;
    for (const double value : values) {
        square += value * value;
    }
    for (double& value : values) {
        value /= normalise ? std::sqrt(square) : 1.0;
    }
    return values;
}

} // namespace

Values normal_floats(std::int64_t count, std::uint64_t seed, double spread) {
    return normal_values(count, seed, Element::f32, spread);
}

Values rows_apart(std::int64_t rows, std::int64_t width, std::int64_t stride, std::uint64_t seed) {
    Values values = normal_floats(rows * stride, seed);
    for (std::int64_t i = 0; i < rows * stride; ++i) {
        if (i % stride >= width) {
            values[at(i)] = std::numeric_limits<double>::quiet_NaN();
        }
    }
    return values;
}

Values between(Values values, double low, double high) {
    for (double& value : values) {
        const double part = 1.0 / (1.0 + std::exp(-value));
        value = static_cast<double>(static_cast<float>(low + (high - low) * part));
    }
    return values;
}

ConvView conv_view(std::int64_t sequences, std::int64_t channels, std::int64_t conv_kernel,
                   std::int64_t count, bool silu, Element element) {
    ConvView view{};
    view.sequences = sequences;
    view.channels = channels;
    view.conv_kernel = conv_kernel;
    view.count = count;
    view.silu = silu;
    view.element = element;
    return view;
}

Mamba2View mamba2_view(std::int64_t sequences, std::int64_t heads, std::int64_t head_width,
                       std::int64_t groups, std::int64_t state_size, std::int64_t count) {
    Mamba2View view{};
    view.sequences = sequences;
    view.heads = heads;
    view.head_width = head_width;
    view.groups = groups;
    view.state_size = state_size;
    view.count = count;
    view.x_stride = heads * head_width + row_gap;
    view.bc_stride = groups * state_size + row_gap + 2;
    return view;
}

DeltaView delta_view(std::int64_t sequences, std::int64_t key_heads, std::int64_t value_heads,
                     std::int64_t key_width, std::int64_t value_width, std::int64_t count) {
    DeltaView view{};
    view.sequences = sequences;
    view.key_heads = key_heads;
    view.value_heads = value_heads;
    view.key_width = key_width;
    view.value_width = value_width;
    view.count = count;
    view.stride = std::max(key_heads * key_width, value_heads * value_width) + row_gap;
    view.gate_width = 1;
    view.log_gate = true;
    view.normalise = true;
    view.scale = 0.125f;
    return view;
}

ConvData conv_data(const ConvView& sizes, std::uint64_t seed) {
    ConvData data;
    data.x = normal_values(sizes.sequences * sizes.count * sizes.channels, seed, sizes.element);
    data.weight = normal_floats(sizes.channels * sizes.conv_kernel, seed + 1);
    data.bias = normal_floats(sizes.channels, seed + 2);
    data.history = normal_values(sizes.sequences * sizes.channels * (sizes.conv_kernel - 1),
                                 seed + 3, sizes.element);
    return data;
}

Mamba2Data mamba2_data(const Mamba2View& sizes, std::uint64_t seed) {
    const std::int64_t steps = sizes.sequences * sizes.count;
    const std::int64_t inner = sizes.heads * sizes.head_width;
    const std::int64_t mix = sizes.groups * sizes.state_size;
    Mamba2Data data;
    data.x = rows_apart(steps, inner, sizes.x_stride, seed);
    data.b = rows_apart(steps, mix, sizes.bc_stride, seed + 1);
    data.c = rows_apart(steps, mix, sizes.bc_stride, seed + 2);
    data.dt = between(normal_floats(steps * sizes.heads, seed + 3), 0.001, 0.2);
    data.a = between(normal_floats(sizes.heads, seed + 4), -8.0, -0.5);
    data.d = between(normal_floats(sizes.heads, seed + 5), 0.5, 1.5);
    data.state = normal_floats(sizes.sequences * inner * sizes.state_size, seed + 6);
    return data;
}

DeltaData delta_data(const DeltaView& sizes, std::uint64_t seed, bool delta_rule) {
    const std::int64_t steps = sizes.sequences * sizes.count;
    const std::int64_t heads = steps * sizes.value_heads;
    const std::int64_t keys = sizes.key_heads * sizes.key_width;
    DeltaData data;
    data.q = rows_apart(steps, keys, sizes.stride, seed);
    data.k = rows_apart(steps, keys, sizes.stride, seed + 1);
    data.v = rows_apart(steps, sizes.value_heads * sizes.value_width, sizes.stride, seed + 2);
    data.gate = between(normal_floats(heads * sizes.gate_width, seed + 3),
                        sizes.log_gate ? -1.0 : 0.4, sizes.log_gate ? -0.01 : 0.99);
    data.beta = delta_rule ? between(normal_floats(heads, seed + 4), 0.0, 1.0) : Values{};
    data.state = normal_floats(
        sizes.sequences * sizes.value_heads * sizes.key_width * sizes.value_width, seed + 5);
    return data;
}

Values reference(const ConvView& sizes, ConvData& data) {
    const std::int64_t past = sizes.conv_kernel - 1;
    Values out(at(sizes.sequences * sizes.count * sizes.channels));
    for (std::int64_t row = 0; row < sizes.sequences * sizes.channels; ++row) {
        const std::int64_t channel = row % sizes.channels;
        double* const history = data.history.data() + row * past;
        const double* const weight = &data.weight[at(channel * sizes.conv_kernel)];
        for (std::int64_t step = 0; step < sizes.count; ++step) {
            const std::int64_t index =
                (row / sizes.channels * sizes.count + step) * sizes.channels + channel;
            const double x = data.x[at(index)];
            double sum = data.bias[at(channel)] + weight[past] * x;
            for (std::int64_t j = 0; j < past; ++j) {
                sum += weight[j] * history[j];
                history[j] = j + 1 < past ? history[j + 1] : x;
            }
            out[at(index)] = sizes.silu ? silu(sum) : sum;
        }
    }
    return out;
}

Values reference(const Mamba2View& sizes, Mamba2Data& data) {
    const std::int64_t inner = sizes.heads * sizes.head_width;
    Values out(at(sizes.sequences * inner));
    for (std::int64_t row = 0; row < sizes.sequences * inner; ++row) {
        const std::int64_t head = row % inner / sizes.head_width;
        const std::int64_t group = head / (sizes.heads / sizes.groups);
        for (std::int64_t step = 0; step < sizes.count; ++step) {
            const std::int64_t index = row / inner * sizes.count + step;
            const double x = data.x[at(index * sizes.x_stride + row % inner)];
            const double dt = data.dt[at(index * sizes.heads + head)];
            double y = data.d[at(head)] * x;
            for (std::int64_t n = 0; n < sizes.state_size; ++n) {
                const std::int64_t mix = index * sizes.bc_stride + group * sizes.state_size + n;
                double& state = data.state[at(row * sizes.state_size + n)];
                state = std::exp(dt * data.a[at(head)]) * state + dt * x * data.b[at(mix)];
                y += state * data.c[at(mix)];
            }
            out[at(row)] = y;
        }
    }
    return out;
}

namespace {

/// One step of one value head of one sequence; `index` counts steps over all sequences.
void delta_step(const DeltaView& sizes, const DeltaData& data, std::int64_t index,
                std::int64_t head, double* state, double* out) {
    const std::int64_t key_head = head / (sizes.value_heads / sizes.key_heads);
    const std::int64_t key = index * sizes.stride + key_head * sizes.key_width;
    const std::int64_t gate = (index * sizes.value_heads + head) * sizes.gate_width;
    const Values k = taken(&data.k[at(key)], sizes.key_width, sizes.normalise);
    const Values q = taken(&data.q[at(key)], sizes.key_width, sizes.normalise);
    for (std::int64_t row = 0; row < sizes.key_width; ++row) {
        const double g = data.gate[at(gate + (sizes.gate_width == 1 ? 0 : row))];
        for (std::int64_t i = 0; i < sizes.value_width; ++i) {
            state[row * sizes.value_width + i] *= sizes.log_gate ? std::exp(g) : g;
        }
    }
    for (std::int64_t i = 0; i < sizes.value_width; ++i) {
        double u = data.v[at(index * sizes.stride + head * sizes.value_width + i)];
        if (!data.beta.empty()) {
            u -= dot_column(state + i, sizes.key_width, sizes.value_width, k.data());
            u *= data.beta[at(index * sizes.value_heads + head)];
        }
        for (std::int64_t row = 0; row < sizes.key_width; ++row) {
            state[row * sizes.value_width + i] += k[at(row)] * u;
        }
        out[i] = static_cast<double>(sizes.scale) *
                 dot_column(state + i, sizes.key_width, sizes.value_width, q.data());
    }
}

} // namespace

Values reference(const DeltaView& sizes, DeltaData& data) {
    const std::int64_t heads = sizes.sequences * sizes.value_heads;
    Values out(at(heads * sizes.value_width));
    for (std::int64_t i = 0; i < heads; ++i) {
        for (std::int64_t step = 0; step < sizes.count; ++step) {
            delta_step(sizes, data, i / sizes.value_heads * sizes.count + step,
                       i % sizes.value_heads,
                       &data.state[at(i * sizes.key_width * sizes.value_width)],
                       &out[at(i * sizes.value_width)]);
        }
    }
    return out;
}

Values run_step(Backend& backend, ConvView view, ConvData& data) {
    const Memory x(backend, data.x, view.element);
    const Memory weight(backend, data.weight, Element::f32);
    const Memory bias(backend, data.bias, Element::f32);
    const Memory history(backend, data.history, view.element);
    const Memory out(backend, view.sequences * view.count * view.channels * 4);
    view.x = x.get();
    view.weight = weight.floats();
    view.bias = bias.floats();
    view.history = history.get();
    view.out = out.floats();
    backend.step(view);
    data.history = history.values(view.element);
    return out.values(Element::f32);
}

Values run_step(Backend& backend, Mamba2View view, Mamba2Data& data) {
    const Memory x(backend, data.x, Element::f32);
    const Memory b(backend, data.b, Element::f32);
    const Memory c(backend, data.c, Element::f32);
    const Memory dt(backend, data.dt, Element::f32);
    const Memory a(backend, data.a, Element::f32);
    const Memory d(backend, data.d, Element::f32);
    const Memory state(backend, data.state, Element::f32);
    const Memory out(backend, view.sequences * view.heads * view.head_width * 4);
    view.x = x.floats();
    view.b = b.floats();
    view.c = c.floats();
    view.dt = dt.floats();
    view.a = a.floats();
    view.d = d.floats();
    view.state = state.floats();
    view.out = out.floats();
    backend.step(view);
    data.state = state.values(Element::f32);
    return out.values(Element::f32);
}

Values run_step(Backend& backend, DeltaView view, DeltaData& data) {
    const Memory q(backend, data.q, Element::f32);
    const Memory k(backend, data.k, Element::f32);
    const Memory v(backend, data.v, Element::f32);
    const Memory gate(backend, data.gate, Element::f32);
    const Memory beta(backend, data.beta, Element::f32);
    const Memory state(backend, data.state, Element::f32);
    const Memory out(backend, view.sequences * view.value_heads * view.value_width * 4);
    view.q = q.floats();
    view.k = k.floats();
    view.v = v.floats();
    view.gate = gate.floats();
    view.beta = data.beta.empty() ? nullptr : beta.floats();
    view.state = state.floats();
    view.out = out.floats();
    backend.step(view);
    data.state = state.values(Element::f32);
    return out.values(Element::f32);
}

} // namespace kvcaliper::kernels::test
