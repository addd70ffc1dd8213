// SPDX-License-Identifier: Apache-2.0
// Steps of RG-LRU and RWKV 4: neighbouring channels are the lanes of a vector, whose few numbers
// stay in registers through all steps.
#include "kernels/backend_cpu_simd.h"

namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT {
namespace {

KV_INLINE Floats root(Floats value) {
    Floats result;
    for (int i = 0; i < lanes; ++i)
        result[i] = __builtin_sqrtf(value[i]);
    return result;
}

/// The sums of a channel, relative to e^largest.
struct WeightedSums {
    Floats values, weights, largest;
};

/// Both after `decay`, and with one more value of weight e^exponent.
KV_INLINE WeightedSums add(const WeightedSums& sums, Floats decay, Floats exponent, Floats value) {
    const Floats most = maximum(sums.largest + decay, exponent);
    const Floats kept = exponential(sums.largest + decay - most);
    const Floats added = exponential(exponent - most);
    return {kept * sums.values + added * value, kept * sums.weights + added, most};
}

void step_rwkv4(const Rwkv4Task& task, std::int64_t channel, std::int64_t left) {
    const Floats decay = load_some(task.decay + channel, left);
    const Floats bonus = load_some(task.bonus + channel, left);
    float* state = task.state + channel;
    WeightedSums sums{load_some(state, left), load_some(state + task.width, left),
                      load_some(state + 2 * task.width, left)};
    for (std::int64_t t = 0; t < task.count; ++t) {
        const float* row = task.rows + t * 2 * task.width + channel;
        const Floats k = load_some(row, left), v = load_some(row + task.width, left);
        if (t + 1 == task.count) {
            const WeightedSums seen = add(sums, Floats{}, bonus + k, v);
            store_some(task.out + channel, seen.values / seen.weights, left);
        }
        sums = add(sums, decay, k, v);
    }
    store_some(state, sums.values, left);
    store_some(state + task.width, sums.weights, left);
    store_some(state + 2 * task.width, sums.largest, left);
}

} // namespace

void rglru(const RglruTask& task) {
    for (std::int64_t channel = task.first; channel < task.last; channel += lanes) {
        const std::int64_t left = task.last - channel;
        const Floats decay = load_some(task.decay + channel, left);
        Floats h = load_some(task.state + channel, left);
        for (std::int64_t t = 0; t < task.count; ++t) {
            const float* gates = task.gates + t * 2 * task.width + channel;
            const Floats a = exponential(-decay * load_some(gates, left));
            const Floats x = load_some(task.x + t * task.width + channel, left);
            const Floats input = load_some(gates + task.width, left) * x;
            h = a * h + root(maximum(1.0f - a * a, Floats{})) * input;
        }
        store_some(task.state + channel, h, left);
        store_some(task.out + channel, h, left);
    }
}

void rwkv4(const Rwkv4Task& task) {
    for (std::int64_t channel = task.first; channel < task.last; channel += lanes)
        step_rwkv4(task, channel, task.last - channel);
}

} // namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT
