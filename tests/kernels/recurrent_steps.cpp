// SPDX-License-Identifier: Apache-2.0
#include "recurrent_steps.h"

#include <algorithm>
#include <cmath>

namespace kvcaliper::kernels::test {

namespace {

std::size_t at(std::int64_t index) {
    return static_cast<std::size_t>(index);
}

double narrowed(double value) {
    return static_cast<double>(static_cast<float>(value));
}

void append(Values& values, const Values& more) {
    values.insert(values.end(), more.begin(), more.end());
}

/// a = -κ and b = κ · η, with κ of length one in every head.
void append_removals(Values& rows, const RwkvView& sizes, std::uint64_t seed) {
    const std::int64_t inner = sizes.heads * sizes.width;
    Values a = normal_floats(inner, seed);
    Values b = between(normal_floats(inner, seed + 1), 0.0, 1.0);
    for (std::int64_t head = 0; head < inner; head += sizes.width) {
        double square = 0.0;
        for (std::int64_t i = head; i < head + sizes.width; ++i) {
            square += a[at(i)] * a[at(i)];
        }
        for (std::int64_t i = head; i < head + sizes.width; ++i) {
            a[at(i)] = narrowed(-a[at(i)] / std::sqrt(square));
            b[at(i)] = narrowed(-a[at(i)] * b[at(i)]);
        }
    }
    append(rows, a);
    append(rows, b);
}

} // namespace

RglruView rglru_view(std::int64_t sequences, std::int64_t width, std::int64_t count) {
    RglruView view{};
    view.sequences = sequences;
    view.width = width;
    view.count = count;
    return view;
}

Rwkv4View rwkv4_view(std::int64_t sequences, std::int64_t width, std::int64_t count) {
    Rwkv4View view{};
    view.sequences = sequences;
    view.width = width;
    view.count = count;
    return view;
}

RwkvView rwkv_view(std::int64_t sequences, std::int64_t heads, std::int64_t width,
                   std::int64_t count) {
    RwkvView view{};
    view.sequences = sequences;
    view.heads = heads;
    view.width = width;
    view.count = count;
    return view;
}

XlstmView xlstm_view(std::int64_t sequences, std::int64_t heads, std::int64_t key_width,
                     std::int64_t value_width, std::int64_t count) {
    XlstmView view{};
    view.sequences = sequences;
    view.heads = heads;
    view.key_width = key_width;
    view.value_width = value_width;
    view.count = count;
    view.stride = heads * std::max(key_width, value_width) + row_gap;
    view.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(key_width)));
    return view;
}

RglruData rglru_data(const RglruView& sizes, std::uint64_t seed) {
    const std::int64_t numbers = sizes.sequences * sizes.count * sizes.width;
    return {normal_floats(numbers, seed), between(normal_floats(2 * numbers, seed + 1), 0.0, 1.0),
            between(normal_floats(sizes.width, seed + 2), 0.05, 1.0),
            normal_floats(sizes.sequences * sizes.width, seed + 3)};
}

Rwkv4Data rwkv4_data(const Rwkv4View& sizes, std::uint64_t seed) {
    Rwkv4Data data;
    data.rows = normal_floats(sizes.sequences * sizes.count * 2 * sizes.width, seed);
    data.decay = between(normal_floats(sizes.width, seed + 1), -1.0, -0.05);
    data.bonus = normal_floats(sizes.width, seed + 2);
    for (std::int64_t s = 0; s < sizes.sequences; ++s) {
        const std::uint64_t own = seed + 3 + 3 * static_cast<std::uint64_t>(s);
        append(data.state, normal_floats(sizes.width, own));
        append(data.state, between(normal_floats(sizes.width, own + 1), 0.5, 2.0));
        append(data.state, normal_floats(sizes.width, own + 2));
    }
    return data;
}

RwkvData rwkv_data(const RwkvView& sizes, std::uint64_t seed, bool bonus) {
    const std::int64_t inner = sizes.heads * sizes.width;
    RwkvData data;
    std::uint64_t own = seed;
    for (std::int64_t step = 0; step < sizes.sequences * sizes.count; ++step, own += 4) {
        append(data.rows, normal_floats(3 * inner, own));
        append(data.rows, between(normal_floats(inner, own + 1), 0.5, 1.0));
        if (!bonus) {
            append_removals(data.rows, sizes, own + 2);
        }
    }
    data.bonus = bonus ? normal_floats(inner, own) : Values{};
    data.state = normal_floats(sizes.sequences * inner * sizes.width, own + 1);
    return data;
}

XlstmData xlstm_data(const XlstmView& sizes, std::uint64_t seed) {
    const std::int64_t steps = sizes.sequences * sizes.count;
    XlstmData data;
    data.q = rows_apart(steps, sizes.heads * sizes.key_width, sizes.stride, seed);
    data.k = rows_apart(steps, sizes.heads * sizes.key_width, sizes.stride, seed + 1);
    data.v = rows_apart(steps, sizes.heads * sizes.value_width, sizes.stride, seed + 2);
    std::uint64_t own = seed + 3;
    for (std::int64_t step = 0; step < steps; ++step, own += 2) {
        append(data.gates, between(normal_floats(sizes.heads, own), -1.0, -0.01));
        append(data.gates, between(normal_floats(sizes.heads, own + 1), -3.0, 0.5));
    }
    data.state = normal_floats(
        sizes.sequences * sizes.heads * xlstm_state(sizes.key_width, sizes.value_width), own);
    return data;
}

Values reference(const RglruView& sizes, RglruData& data) {
    for (std::int64_t row = 0; row < sizes.sequences * sizes.width; ++row) {
        const std::int64_t sequence = row / sizes.width, channel = row % sizes.width;
        for (std::int64_t step = 0; step < sizes.count; ++step) {
            const std::int64_t index = sequence * sizes.count + step;
            const double r = data.gates[at(index * 2 * sizes.width + channel)];
            const double i = data.gates[at((index * 2 + 1) * sizes.width + channel)];
            const double a = std::exp(-data.decay[at(channel)] * r);
            double& h = data.state[at(row)];
            h = a * h + std::sqrt(1.0 - a * a) * i * data.x[at(index * sizes.width + channel)];
        }
    }
    return data.state;
}

Values reference(const Rwkv4View& sizes, Rwkv4Data& data) {
    Values out(at(sizes.sequences * sizes.width));
    for (std::int64_t row = 0; row < sizes.sequences * sizes.width; ++row) {
        const std::int64_t sequence = row / sizes.width, channel = row % sizes.width;
        double* const state = &data.state[at(sequence * 3 * sizes.width + channel)];
        double &num = state[0], &den = state[sizes.width], &largest = state[2 * sizes.width];
        for (std::int64_t step = 0; step < sizes.count; ++step) {
            const std::int64_t index = (sequence * sizes.count + step) * 2 * sizes.width + channel;
            const double k = data.rows[at(index)], v = data.rows[at(index + sizes.width)];
            const double seen = std::exp(largest), now = std::exp(k + data.bonus[at(channel)]);
            out[at(row)] = (seen * num + now * v) / (seen * den + now);
            const double kept = largest + data.decay[at(channel)], most = std::max(kept, k);
            num = std::exp(kept - most) * num + std::exp(k - most) * v;
            den = std::exp(kept - most) * den + std::exp(k - most);
            largest = most;
        }
    }
    return out;
}

namespace {

/// One step of one head; `row` are its r, every other row of it `inner` further.
void rwkv_step(const RwkvView& sizes, const double* row, const double* bonus, double* state,
               double* out) {
    const std::int64_t width = sizes.width, inner = sizes.heads * width;
    const double *r = row, *k = row + inner, *v = row + 2 * inner, *decay = row + 3 * inner;
    for (std::int64_t i = 0; i < width; ++i) { // a column at a time
        double found = 0.0, before = 0.0, after = 0.0;
        for (std::int64_t j = 0; j < width; ++j) {
            found += bonus == nullptr ? state[j * width + i] * row[4 * inner + j] : 0.0;
        }
        for (std::int64_t j = 0; j < width; ++j) {
            double& number = state[j * width + i];
            before += bonus == nullptr ? 0.0 : (number + bonus[j] * k[j] * v[i]) * r[j];
            number = decay[j] * number + k[j] * v[i];
            number += bonus == nullptr ? row[5 * inner + j] * found : 0.0;
            after += number * r[j];
        }
        out[i] = bonus == nullptr ? after : before;
    }
}

/// One step of one head; everything points at its numbers.
void xlstm_step(const XlstmView& sizes, const double* q, const double* k, const double* v,
                double log_forget, double input, double* state, double* out) {
    const std::int64_t columns = sizes.value_width + 1;
    double& m = state[sizes.key_width * columns];
    const double next = std::max(log_forget + m, input);
    const double forget = std::exp(log_forget + m - next), push = std::exp(input - next);
    m = next;
    for (std::int64_t i = 0; i < columns; ++i) {
        out[i] = 0.0;
        for (std::int64_t j = 0; j < sizes.key_width; ++j) {
            double& number = state[j * columns + i];
            number = forget * number + push * k[j] * (i < sizes.value_width ? v[i] : 1.0);
            out[i] += static_cast<double>(sizes.scale) * number * q[j];
        }
    }
    double& divisor = out[sizes.value_width];
    divisor = std::max(std::abs(divisor), std::exp(-m)) + 1e-6;
    for (std::int64_t i = 0; i < sizes.value_width; ++i) {
        out[i] /= divisor;
    }
}

} // namespace

Values reference(const RwkvView& sizes, RwkvData& data) {
    const std::int64_t inner = sizes.heads * sizes.width;
    const bool bonus = !data.bonus.empty();
    Values out(at(sizes.sequences * inner));
    for (std::int64_t i = 0; i < sizes.sequences * sizes.heads; ++i) {
        const std::int64_t channel = i % sizes.heads * sizes.width;
        for (std::int64_t step = 0; step < sizes.count; ++step) {
            const std::int64_t index = i / sizes.heads * sizes.count + step;
            rwkv_step(sizes, &data.rows[at(index * (bonus ? 4 : 6) * inner + channel)],
                      bonus ? &data.bonus[at(channel)] : nullptr,
                      &data.state[at(i * sizes.width * sizes.width)], &out[at(i * sizes.width)]);
        }
    }
    return out;
}

Values reference(const XlstmView& sizes, XlstmData& data) {
    const std::int64_t heads = sizes.sequences * sizes.heads;
    Values out(at(heads * (sizes.value_width + 1)));
    for (std::int64_t i = 0; i < heads; ++i) {
        const std::int64_t head = i % sizes.heads;
        for (std::int64_t step = 0; step < sizes.count; ++step) {
            const std::int64_t index = i / sizes.heads * sizes.count + step;
            xlstm_step(sizes, &data.q[at(index * sizes.stride + head * sizes.key_width)],
                       &data.k[at(index * sizes.stride + head * sizes.key_width)],
                       &data.v[at(index * sizes.stride + head * sizes.value_width)],
                       data.gates[at(index * 2 * sizes.heads + head)],
                       data.gates[at((index * 2 + 1) * sizes.heads + head)],
                       &data.state[at(i * xlstm_state(sizes.key_width, sizes.value_width))],
                       &out[at(i * (sizes.value_width + 1))]);
        }
    }
    return out;
}

Values run_step(Backend& backend, RglruView view, RglruData& data) {
    const Memory x(backend, data.x, Element::f32);
    const Memory gates(backend, data.gates, Element::f32);
    const Memory decay(backend, data.decay, Element::f32);
    const Memory state(backend, data.state, Element::f32);
    const Memory out(backend, view.sequences * view.width * 4);
    view.x = x.floats();
    view.gates = gates.floats();
    view.decay = decay.floats();
    view.state = state.floats();
    view.out = out.floats();
    backend.step(view);
    data.state = state.values(Element::f32);
    return out.values(Element::f32);
}

Values run_step(Backend& backend, Rwkv4View view, Rwkv4Data& data) {
    const Memory rows(backend, data.rows, Element::f32);
    const Memory decay(backend, data.decay, Element::f32);
    const Memory bonus(backend, data.bonus, Element::f32);
    const Memory state(backend, data.state, Element::f32);
    const Memory out(backend, view.sequences * view.width * 4);
    view.rows = rows.floats();
    view.decay = decay.floats();
    view.bonus = bonus.floats();
    view.state = state.floats();
    view.out = out.floats();
    backend.step(view);
    data.state = state.values(Element::f32);
    return out.values(Element::f32);
}

Values run_step(Backend& backend, RwkvView view, RwkvData& data) {
    const Memory rows(backend, data.rows, Element::f32);
    const Memory bonus(backend, data.bonus, Element::f32);
    const Memory state(backend, data.state, Element::f32);
    const Memory out(backend, view.sequences * view.heads * view.width * 4);
    view.rows = rows.floats();
    view.bonus = data.bonus.empty() ? nullptr : bonus.floats();
    view.state = state.floats();
    view.out = out.floats();
    backend.step(view);
    data.state = state.values(Element::f32);
    return out.values(Element::f32);
}

Values run_step(Backend& backend, XlstmView view, XlstmData& data) {
    const Memory q(backend, data.q, Element::f32);
    const Memory k(backend, data.k, Element::f32);
    const Memory v(backend, data.v, Element::f32);
    const Memory gates(backend, data.gates, Element::f32);
    const Memory state(backend, data.state, Element::f32);
    const Memory out(backend, view.sequences * view.heads * (view.value_width + 1) * 4);
    view.q = q.floats();
    view.k = k.floats();
    view.v = v.floats();
    view.gates = gates.floats();
    view.state = state.floats();
    view.out = out.floats();
    backend.step(view);
    data.state = state.values(Element::f32);
    return out.values(Element::f32);
}

} // namespace kvcaliper::kernels::test
