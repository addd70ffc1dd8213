// SPDX-License-Identifier: Apache-2.0
#include "simt_reference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <random>

namespace kvcaliper::kernels::test {

namespace {

std::size_t at(std::int64_t index) {
    return static_cast<std::size_t>(index);
}

double kept_by(double value, Element element) {
    const auto narrow = static_cast<float>(value);
    if (element == Element::f16) {
        return static_cast<double>(simt::widen(simt::to_f16(narrow)));
    }
    if (element == Element::bf16) {
        return static_cast<double>(simt::widen(simt::to_bf16(narrow)));
    }
    return static_cast<double>(narrow);
}

double dot(const double* left, const double* right, std::int64_t width) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < width; ++i) {
        sum += left[i] * right[i];
    }
    return sum;
}

/// Scores become weights that sum to one.
void softmax(Values& scores) {
    const double largest = *std::max_element(scores.begin(), scores.end());
    double total = 0.0;
    for (double& score : scores) {
        score = std::exp(score - largest);
        total += score;
    }
    for (double& score : scores) {
        score /= total;
    }
}

void add_weighted(const Values& weights, const double* rows, std::int64_t width, double* out) {
    for (std::int64_t slot = 0; slot < static_cast<std::int64_t>(weights.size()); ++slot) {
        for (std::int64_t i = 0; i < width; ++i) {
            out[i] += weights[at(slot)] * rows[slot * width + i];
        }
    }
}

} // namespace

Values normal_values(std::int64_t count, std::uint64_t seed, Element element, double spread) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0.0, spread);
    Values values(at(count));
    for (double& value : values) {
        value = kept_by(normal(random), element);
    }
    return values;
}

std::vector<std::byte> stored(const Values& values, Element element) {
    const auto bytes = static_cast<std::size_t>(element_bytes(element));
    std::vector<std::byte> memory(values.size() * bytes);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto value = static_cast<float>(values[i]);
        const std::uint32_t bits = element == Element::f16    ? simt::to_f16(value).bits
                                   : element == Element::bf16 ? simt::to_bf16(value).bits
                                                              : simt::bits_of(value);
        std::memcpy(memory.data() + i * bytes, &bits, bytes); // little-endian
    }
    return memory;
}

Values restored(const std::vector<std::byte>& memory, Element element) {
    const auto bytes = static_cast<std::size_t>(element_bytes(element));
    Values values(memory.size() / bytes);
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, memory.data() + i * bytes, bytes);
        const auto low = static_cast<std::uint16_t>(bits);
        const float value = element == Element::f16    ? simt::widen(simt::F16{low})
                            : element == Element::bf16 ? simt::widen(simt::Bf16{low})
                                                       : simt::float_from_bits(bits);
        values[i] = static_cast<double>(value);
    }
    return values;
}

Values reference(const AttentionView& sizes, const AttentionData& data) {
    const std::int64_t rows = sizes.sequences * sizes.heads;
    const std::int64_t group = sizes.heads / sizes.kv_heads;
    Values out(at(rows * sizes.value_width), 0.0);
    Values scores(at(sizes.valid));
    for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t plane = row / group * sizes.slots; // heads of a sequence lie together
        for (std::int64_t slot = 0; slot < sizes.valid; ++slot) {
            scores[at(slot)] = static_cast<double>(sizes.scale) *
                               dot(&data.q[at(row * sizes.key_width)],
                                   &data.k[at((plane + slot) * sizes.key_width)], sizes.key_width);
        }
        softmax(scores);
        add_weighted(scores, &data.v[at(plane * sizes.value_width)], sizes.value_width,
                     &out[at(row * sizes.value_width)]);
    }
    return out;
}

Values reference(const LatentView& sizes, const LatentData& data) {
    const std::int64_t rows = sizes.sequences * sizes.heads;
    Values out(at(rows * sizes.rank), 0.0);
    Values scores(at(sizes.valid));
    for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t plane = row / sizes.heads * sizes.slots;
        for (std::int64_t slot = 0; slot < sizes.valid; ++slot) {
            const double latent = dot(data.q_latent.data() + row * sizes.rank,
                                      data.latent.data() + (plane + slot) * sizes.rank, sizes.rank);
            const double rope =
                dot(data.q_rope.data() + row * sizes.rope_width,
                    data.rope.data() + (plane + slot) * sizes.rope_width, sizes.rope_width);
            scores[at(slot)] = static_cast<double>(sizes.scale) * (latent + rope);
        }
        softmax(scores);
        add_weighted(scores, &data.latent[at(plane * sizes.rank)], sizes.rank,
                     &out[at(row * sizes.rank)]);
    }
    return out;
}

namespace {

/// One step of one channel; `step` and `row` index all sequences' steps and channels.
double mamba_step(const Mamba1View& sizes, MambaData& data, std::int64_t step, std::int64_t row) {
    const std::int64_t channel = row % sizes.inner;
    const std::int64_t past = sizes.conv_kernel - 1;
    const double x = data.x[at(step * sizes.inner + channel)];
    const double dt = data.dt[at(step * sizes.inner + channel)];
    double* const history = data.history.data() + row * past;
    const double* const weight = &data.weight[at(channel * sizes.conv_kernel)];
    const double sum = data.bias[at(channel)] + dot(weight, history, past) + weight[past] * x;
    const double u = sum / (1.0 + std::exp(-sum));
    if (past > 0) {
        std::rotate(history, history + 1, history + past);
        history[past - 1] = x;
    }
    double y = data.d[at(channel)] * u;
    for (std::int64_t n = 0; n < sizes.state_size; ++n) {
        double& state = data.state[at(row * sizes.state_size + n)];
        const double decay = std::exp(dt * data.a[at(channel * sizes.state_size + n)]);
        state = decay * state + dt * u * data.b[at(step * sizes.state_size + n)];
        y += state * data.c[at(step * sizes.state_size + n)];
    }
    return y;
}

} // namespace

Values reference(const Mamba1View& sizes, MambaData& data) {
    Values out(at(sizes.sequences * sizes.inner));
    for (std::int64_t row = 0; row < sizes.sequences * sizes.inner; ++row) {
        for (std::int64_t step = 0; step < sizes.count; ++step) {
            const std::int64_t sequence = row / sizes.inner;
            out[at(row)] = mamba_step(sizes, data, sequence * sizes.count + step, row);
        }
    }
    return out;
}

double worst_error(const Values& found, const Values& expected, std::int64_t width) {
    double worst = 0.0;
    for (std::size_t begin = 0; begin < expected.size(); begin += at(width)) {
        double difference = 0.0;
        double size = 0.0;
        for (std::size_t i = begin; i < begin + at(width); ++i) {
            difference += (found[i] - expected[i]) * (found[i] - expected[i]);
            size += expected[i] * expected[i];
        }
        const double error = std::sqrt(difference / size);
        if (!(error <= worst)) { // NaN too
            worst = error;
        }
        if (std::isnan(worst)) {
            return worst;
        }
    }
    return worst;
}

} // namespace kvcaliper::kernels::test
