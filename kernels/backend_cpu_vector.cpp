// SPDX-License-Identifier: Apache-2.0
// The loops of the native CPU backend, written once with the compiler's vector types and built for
// several instruction sets. No standard library function is called here: an inline one compiled for
// a new processor could be the copy that the linker keeps for everybody.
#include "kernels/backend_cpu_vector.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

#ifndef KVCALIPER_CPU_VARIANT
#define KVCALIPER_CPU_VARIANT baseline
#define KVCALIPER_CPU_VARIANT_NAME "baseline"
#endif

#define KV_INLINE inline __attribute__((always_inline))

namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT {
namespace {

#if defined(__AVX512F__)
constexpr int lanes = 16;
#elif defined(__AVX2__)
constexpr int lanes = 8;
#else
constexpr int lanes = 4;
#endif

constexpr unsigned vector_bytes = lanes * 4;
typedef float Floats __attribute__((vector_size(vector_bytes)));
typedef std::int32_t Ints __attribute__((vector_size(vector_bytes)));
typedef std::uint32_t Words __attribute__((vector_size(vector_bytes)));
typedef std::uint16_t Halves __attribute__((vector_size(vector_bytes / 2)));
typedef std::uint64_t Longs __attribute__((vector_size(vector_bytes)));

KV_INLINE Floats load(const float* from) {
    Floats value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

KV_INLINE void store(float* to, Floats value) {
    __builtin_memcpy(to, &value, sizeof value);
}

KV_INLINE Floats broadcast(float value) {
    return Floats{} + value;
}

KV_INLINE Halves load_halves(const std::uint16_t* from) {
    Halves value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

template <bool bf16> KV_INLINE Floats to_floats(Halves halves) {
    if constexpr (bf16)
        return (Floats)(__builtin_convertvector(halves, Words) << 16);
#if defined(__AVX512F__)
    return (Floats)_mm512_maskz_cvtph_ps(0xffff, (__m256i)halves);
#elif defined(__F16C__)
    return (Floats)_mm256_cvtph_ps((__m128i)halves);
#else
    // Moving the exponent bias from 15 to 127 by a product keeps subnormals right.
    const Words wide = __builtin_convertvector(halves, Words);
    const Words magnitude = (wide & 0x7fffu) << 13;
    const Words special = (Words)(magnitude >= 0x0f800000u) & 0x7f800000u;
    const Floats scaled = (Floats)magnitude * 0x1p112f;
    return (Floats)((Words)scaled | special | (wide & 0x8000u) << 16);
#endif
}

template <bool bf16> KV_INLINE Floats load_floats(const std::uint16_t* from) {
    return to_floats<bf16>(load_halves(from));
}

/// The first n lanes from memory, zero in the others: what lies behind a row is never used.
template <bool bf16> KV_INLINE Floats load_tail(const std::uint16_t* from, std::int64_t n) {
    std::uint16_t copy[lanes] = {};
    for (std::int64_t i = 0; i < n; ++i)
        copy[i] = from[i];
    return load_floats<bf16>(copy);
}

KV_INLINE std::int64_t padded(std::int64_t width) {
    return (width + scratch_padding - 1) / scratch_padding * scratch_padding;
}

KV_INLINE Floats maximum(Floats a, Floats b) {
    return a > b ? a : b;
}

/// e^x for x <= 88; 0 below -87. Cody-Waite reduction by ln 2 in two parts, then a Taylor
/// polynomial of degree 7 on [-ln 2 / 2, ln 2 / 2], whose remainder is below 6e-9.
KV_INLINE Floats exponential(Floats x) {
    const Floats tiny = broadcast(-87.0f);
    const Floats y = maximum(x, tiny);
    const Floats shifted =
        y * 1.44269504088896341f + 12582912.0f; // 1.5 · 2^23 rounds to an integer
    const Floats n = shifted - 12582912.0f;
    Floats r = y - n * 0.693359375f;
    r = r + n * 2.12194440054690583e-4f;
    Floats p = broadcast(1.0f / 5040.0f);
    p = p * r + 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    p = p * r * r + r + 1.0f;
    const Ints exponent = (((Ints)shifted - 0x4b400000) + 127) << 23;
    const Floats result = p * (Floats)exponent;
    return x < tiny ? Floats{} : result;
}

KV_INLINE float largest(Floats value) {
    float best = value[0];
    for (int i = 1; i < lanes; ++i)
        best = value[i] > best ? value[i] : best;
    return best;
}

KV_INLINE float total(Floats value) {
    float sum = 0;
    for (int i = 0; i < lanes; ++i)
        sum += value[i];
    return sum;
}

// Sums `lanes` vectors into one whose lane i is the sum of vector i, in log2(lanes) rounds.
#if defined(__AVX512F__)
KV_INLINE Floats fold_words(Floats a, Floats b) { // unpack low + unpack high, per 128 bits
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29) +
           __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15,
                                   31);
}
KV_INLINE Floats fold_pairs(Floats a, Floats b) {
    return __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
           __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30,
                                   31);
}
KV_INLINE Floats fold_quads(Floats a, Floats b) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27) +
           __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30,
                                   31);
}
KV_INLINE Floats sum_each(const Floats* v) {
    Floats quads[4];
    for (int i = 0; i < 4; ++i)
        quads[i] =
            fold_pairs(fold_words(v[4 * i], v[4 * i + 1]), fold_words(v[4 * i + 2], v[4 * i + 3]));
    return fold_quads(fold_quads(quads[0], quads[1]), fold_quads(quads[2], quads[3]));
}
#elif defined(__AVX2__)
KV_INLINE Floats fold_words(Floats a, Floats b) {
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13) +
           __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
}
KV_INLINE Floats fold_pairs(Floats a, Floats b) {
    return __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13) +
           __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
}
KV_INLINE Floats sum_each(const Floats* v) {
    const Floats low = fold_pairs(fold_words(v[0], v[1]), fold_words(v[2], v[3]));
    const Floats high = fold_pairs(fold_words(v[4], v[5]), fold_words(v[6], v[7]));
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 8, 9, 10, 11) +
           __builtin_shufflevector(low, high, 4, 5, 6, 7, 12, 13, 14, 15);
}
#else
KV_INLINE Floats sum_each(const Floats* v) {
    const Floats a = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5) +
                     __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
    const Floats b = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5) +
                     __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
    return __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
}
#endif

/// The state of one task while it runs: rows in scratch memory.
struct Scratch {
    float* queries; ///< [heads][query_width]
    std::int64_t query_width;
    float* scores; ///< [4][token_block]
};

template <bool bf16> void convert_row(const std::uint16_t* from, std::int64_t width, float* to) {
    std::int64_t i = 0;
    for (; i + lanes <= width; i += lanes)
        store(to + i, load_floats<bf16>(from + i));
    for (; i < padded(width); i += lanes)
        store(to + i, load_tail<bf16>(from + i, i < width ? width - i : 0));
}

template <bool bf16> Scratch prepare(const AttendTask& task) {
    const std::int64_t first = padded(task.parts[0].width);
    Scratch scratch{task.scratch, first + padded(task.parts[1].width), nullptr};
    scratch.scores = task.scratch + task.heads * scratch.query_width;
    for (std::int64_t h = 0; h < task.heads; ++h) {
        float* row = scratch.queries + h * scratch.query_width;
        for (int part = 0; part < 2; ++part) {
            const std::int64_t width = task.parts[part].width;
            convert_row<bf16>(task.parts[part].q + h * width, width, row + (part == 0 ? 0 : first));
        }
        task.maxima[h] = -__builtin_inff();
        task.sums[h] = 0;
        for (std::int64_t i = 0; i < padded(task.value_width); ++i)
            task.partial[h * padded(task.value_width) + i] = 0;
    }
    return scratch;
}

/// Adds one key part to the accumulators of `heads` query rows × `tokens` key rows.
template <bool bf16, int heads, int tokens>
KV_INLINE void add_dots(Floats* sums, const float* queries, std::int64_t query_width,
                        const std::uint16_t* const* rows, std::int64_t width) {
    std::int64_t i = 0;
    for (; i + lanes <= width; i += lanes) {
        Floats q[unsigned{heads}];
#pragma GCC unroll 16
        for (int h = 0; h < heads; ++h)
            q[h] = load(queries + h * query_width + i);
#pragma GCC unroll 16
        for (int t = 0; t < tokens; ++t) {
            const Floats key = load_floats<bf16>(rows[t] + i);
#pragma GCC unroll 16
            for (int h = 0; h < heads; ++h)
                sums[h * tokens + t] += q[h] * key;
        }
    }
    if (i == width)
        return;
    for (int t = 0; t < tokens; ++t) {
        const Floats key = load_tail<bf16>(rows[t] + i, width - i);
        for (int h = 0; h < heads; ++h)
            sums[h * tokens + t] += load(queries + h * query_width + i) * key;
    }
}

/// Scores of `heads` query rows against slots first … first + count - 1.
template <bool bf16, int heads>
void score(const AttendTask& task, const Scratch& scratch, std::int64_t head, std::int64_t first,
           std::int64_t count) {
    constexpr int tokens = lanes / heads;
    const float* queries = scratch.queries + head * scratch.query_width;
    for (std::int64_t t = 0; t < count; t += tokens) {
        Floats sums[lanes] = {};
        for (int part = 0; part < 2; ++part) {
            const KeyPart& keys = task.parts[part];
            const std::uint16_t* rows[unsigned{tokens}];
            for (int i = 0; i < tokens;
                 ++i) { // past the end: the last row again, thrown away below
                const std::int64_t slot = first + (t + i < count ? t + i : count - 1);
                rows[i] = keys.keys + slot * keys.width;
            }
            if (keys.width > 0)
                add_dots<bf16, heads, tokens>(
                    sums, queries + (part == 0 ? 0 : padded(task.parts[0].width)),
                    scratch.query_width, rows, keys.width);
        }
        const Floats scores = sum_each(sums) * task.scale;
        for (int h = 0; h < heads; ++h)
            for (int i = 0; i < tokens; ++i)
                scratch.scores[h * token_block + t + i] = scores[h * tokens + i];
    }
}

/// Turns the scores of one head into weights under the running maximum; returns the factor by which
/// what was summed before shrinks.
KV_INLINE float soften(float* scores, std::int64_t count, float* maximum_so_far, float* sum) {
    for (std::int64_t t = count; t % lanes != 0; ++t)
        scores[t] = -__builtin_inff();
    Floats best = broadcast(*maximum_so_far);
    for (std::int64_t t = 0; t < count; t += lanes)
        best = maximum(load(scores + t), best);
    const float top = largest(best);
    Floats weights{};
    for (std::int64_t t = 0; t < count; t += lanes) {
        const Floats weight = exponential(load(scores + t) - top);
        store(scores + t, weight);
        weights += weight;
    }
    const float factor = exponential(broadcast(*maximum_so_far - top))[0];
    *maximum_so_far = top;
    *sum = *sum * factor + total(weights);
    return factor;
}

/// partial = partial · factor + Σ weight · value, for `heads` rows and `vectors` vectors of
/// columns.
template <bool bf16, int heads, int vectors>
KV_INLINE void add_values(const AttendTask& task, const Scratch& scratch, std::int64_t head,
                          std::int64_t first, std::int64_t count, std::int64_t column,
                          const float* factors) {
    const std::int64_t stride = padded(task.value_width);
    Floats sums[unsigned{heads}][unsigned{vectors}];
    float* rows = task.partial + head * stride + column;
#pragma GCC unroll 16
    for (int h = 0; h < heads; ++h)
#pragma GCC unroll 16
        for (int j = 0; j < vectors; ++j)
            sums[h][j] = load(rows + h * stride + j * lanes) * factors[h];
    const std::uint16_t* values = task.values + first * task.value_width + column;
    for (std::int64_t t = 0; t < count; ++t, values += task.value_width) {
        Floats value[unsigned{vectors}];
#pragma GCC unroll 16
        for (int j = 0; j < vectors; ++j)
            value[j] = load_floats<bf16>(values + j * lanes);
#pragma GCC unroll 16
        for (int h = 0; h < heads; ++h)
#pragma GCC unroll 16
            for (int j = 0; j < vectors; ++j)
                sums[h][j] += value[j] * scratch.scores[h * token_block + t];
    }
#pragma GCC unroll 16
    for (int h = 0; h < heads; ++h)
#pragma GCC unroll 16
        for (int j = 0; j < vectors; ++j)
            store(rows + h * stride + j * lanes, sums[h][j]);
}

/// The last columns of a row that is no multiple of the vector length.
template <bool bf16, int heads>
void add_value_tail(const AttendTask& task, const Scratch& scratch, std::int64_t head,
                    std::int64_t first, std::int64_t count, std::int64_t column,
                    const float* factors) {
    const std::int64_t stride = padded(task.value_width);
    for (int h = 0; h < heads; ++h) {
        float* row = task.partial + (head + h) * stride + column;
        Floats sum = load(row) * factors[h];
        for (std::int64_t t = 0; t < count; ++t)
            sum += load_tail<bf16>(task.values + (first + t) * task.value_width + column,
                                   task.value_width - column) *
                   scratch.scores[h * token_block + t];
        store(row, sum);
    }
}

template <bool bf16, int heads>
void attend_block(const AttendTask& task, const Scratch& scratch, std::int64_t head,
                  std::int64_t first, std::int64_t count) {
    score<bf16, heads>(task, scratch, head, first, count);
    float factors[unsigned{heads}];
    for (int h = 0; h < heads; ++h)
        factors[h] = soften(scratch.scores + h * token_block, count, task.maxima + head + h,
                            task.sums + head + h);
    constexpr int vectors = lanes == 16 || heads == 1 ? 4 : 2; // as many sums as registers allow
    std::int64_t column = 0;
    for (; column + vectors * lanes <= task.value_width; column += vectors * lanes)
        add_values<bf16, heads, vectors>(task, scratch, head, first, count, column, factors);
    for (; column + lanes <= task.value_width; column += lanes)
        add_values<bf16, heads, 1>(task, scratch, head, first, count, column, factors);
    if (column < task.value_width)
        add_value_tail<bf16, heads>(task, scratch, head, first, count, column, factors);
}

template <bool bf16> void attend_as(const AttendTask& task) {
    const Scratch scratch = prepare<bf16>(task);
    // Many heads read a block again and again, so it must stay in the first-level cache.
    const std::int64_t row = task.parts[0].width + task.parts[1].width + task.value_width;
    const std::int64_t block = row > 512 ? token_block / 2 : token_block;
    for (std::int64_t first = task.first; first < task.last; first += block) {
        const std::int64_t count = task.last - first < block ? task.last - first : block;
        std::int64_t head = 0;
        for (; head + 4 <= task.heads; head += 4)
            attend_block<bf16, 4>(task, scratch, head, first, count);
        for (; head + 2 <= task.heads; head += 2)
            attend_block<bf16, 2>(task, scratch, head, first, count);
        for (; head < task.heads; ++head)
            attend_block<bf16, 1>(task, scratch, head, first, count);
    }
}

void attend(const AttendTask& task) {
    task.bf16 ? attend_as<true>(task) : attend_as<false>(task);
}

// Mamba-1 keeps a block of channels on the stack, convolution columns transposed so that a vector
// holds neighbouring channels, states as rows padded to whole vectors.
constexpr std::int64_t block_channels = 64;
constexpr std::int64_t block_floats = 4096;

struct ChannelBlock {
    std::int64_t first, count; ///< channels
    std::int64_t stride;       ///< floats per state row
    alignas(64) float history[max_conv_kernel][block_channels];
    alignas(64) float weight[max_conv_kernel][block_channels];
    alignas(64) float bias[block_channels];
    alignas(64) float drive[block_channels]; ///< u
    alignas(64) float state[block_floats];
    alignas(64) float a[block_floats];
};

KV_INLINE float half_to_float(std::uint16_t half, bool bf16) {
    Halves halves{};
    halves[0] = half;
    return bf16 ? to_floats<true>(halves)[0] : to_floats<false>(halves)[0];
}

/// The inverse for values that came from half_to_float, so nothing is ever rounded.
KV_INLINE std::uint16_t exact_half(float value, bool bf16) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    if (bf16)
        return static_cast<std::uint16_t>(bits >> 16);
    const std::uint32_t sign = bits >> 16 & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude >= 0x7f800000u)
        return static_cast<std::uint16_t>(sign | 0x7c00u | (magnitude >> 13 & 0x3ffu));
    float scaled;
    __builtin_memcpy(&scaled, &magnitude, sizeof scaled);
    scaled *= 0x1p-112f;
    __builtin_memcpy(&bits, &scaled, sizeof bits);
    return static_cast<std::uint16_t>(sign | bits >> 13);
}

void load_block(const Mamba1Task& task, ChannelBlock& block) {
    const std::int64_t past = task.conv_kernel - 1;
    for (std::int64_t i = 0; i < block_channels; ++i) {
        const bool real = i < block.count;
        const std::int64_t channel = block.first + (real ? i : 0);
        for (std::int64_t j = 0; j < task.conv_kernel; ++j) {
            block.weight[j][i] = real ? task.weight[channel * task.conv_kernel + j] : 0;
            if (j < past)
                block.history[j][i] =
                    real ? half_to_float(task.history[channel * past + j], task.bf16) : 0;
        }
        block.bias[i] = real ? task.bias[channel] : 0;
    }
    for (std::int64_t i = 0; i < block.count; ++i)
        for (std::int64_t n = 0; n < block.stride; ++n) {
            const std::int64_t at = (block.first + i) * task.state_size + n;
            block.state[i * block.stride + n] = n < task.state_size ? task.state[at] : 0;
            block.a[i * block.stride + n] = n < task.state_size ? task.a[at] : 0;
        }
}

void store_block(const Mamba1Task& task, const ChannelBlock& block) {
    const std::int64_t past = task.conv_kernel - 1;
    for (std::int64_t i = 0; i < block.count; ++i) {
        const std::int64_t channel = block.first + i;
        for (std::int64_t j = 0; j < past; ++j)
            task.history[channel * past + j] = exact_half(block.history[j][i], task.bf16);
        for (std::int64_t n = 0; n < task.state_size; ++n)
            task.state[channel * task.state_size + n] = block.state[i * block.stride + n];
    }
}

/// Convolution and gate of one token: u for every channel of the block.
void convolve(const Mamba1Task& task, ChannelBlock& block, std::int64_t token) {
    const std::int64_t past = task.conv_kernel - 1;
    const std::uint16_t* x = task.x + token * task.inner + block.first;
    alignas(64) float input[block_channels] = {};
    for (std::int64_t i = 0; i < block.count; ++i)
        input[i] = half_to_float(x[i], task.bf16);
    for (std::int64_t i = 0; i < block_channels; i += lanes) {
        const Floats now = load(input + i);
        Floats sum = load(block.bias + i) + load(block.weight[past] + i) * now;
        for (std::int64_t j = 0; j < past; ++j) {
            const Floats old = load(block.history[j] + i);
            sum += load(block.weight[j] + i) * old;
            store(block.history[j] + i, j + 1 < past ? load(block.history[j + 1] + i) : now);
        }
        store(block.drive + i, sum / (1.0f + exponential(-sum)));
    }
}

void advance_states(const Mamba1Task& task, ChannelBlock& block, std::int64_t token,
                    const float* b) {
    const float* dt = task.dt + token * task.inner + block.first;
    for (std::int64_t i = 0; i < block.count; ++i) {
        const Floats step = broadcast(dt[i]);
        const Floats push = broadcast(dt[i] * block.drive[i]);
        float* state = block.state + i * block.stride;
        const float* a = block.a + i * block.stride;
        for (std::int64_t n = 0; n < block.stride; n += lanes)
            store(state + n,
                  exponential(step * load(a + n)) * load(state + n) + push * load(b + n));
    }
}

void read_out(const Mamba1Task& task, const ChannelBlock& block, const float* c) {
    for (std::int64_t i = 0; i < block.count; ++i) {
        Floats sum{};
        for (std::int64_t n = 0; n < block.stride; n += lanes)
            sum += load(block.state + i * block.stride + n) * load(c + n);
        const std::int64_t channel = block.first + i;
        task.out[channel] = total(sum) + task.d[channel] * block.drive[i];
    }
}

void mamba1(const Mamba1Task& task) {
    ChannelBlock block;
    block.stride = (task.state_size + lanes - 1) / lanes * lanes;
    const std::int64_t fit = block_floats / block.stride;
    const std::int64_t size = fit < block_channels ? fit : block_channels;
    for (block.first = task.first; block.first < task.last; block.first += size) {
        block.count = task.last - block.first < size ? task.last - block.first : size;
        load_block(task, block);
        for (std::int64_t t = 0; t < task.count; ++t) {
            alignas(64) float b[max_state_size + lanes] = {};
            alignas(64) float c[max_state_size + lanes] = {};
            for (std::int64_t n = 0; n < task.state_size; ++n) {
                b[n] = task.b[t * task.state_size + n];
                c[n] = task.c[t * task.state_size + n];
            }
            convolve(task, block, t);
            advance_states(task, block, t, b);
            if (t + 1 == task.count)
                read_out(task, block, c);
        }
        store_block(task, block);
    }
}

void exponentials(const float* x, float* y, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += lanes) {
        float in[lanes] = {}, out[lanes];
        const std::int64_t n = count - i < lanes ? count - i : lanes;
        for (std::int64_t j = 0; j < n; ++j)
            in[j] = x[i + j];
        store(out, exponential(load(in)));
        for (std::int64_t j = 0; j < n; ++j)
            y[i + j] = out[j];
    }
}

std::uint64_t checksum(const void* memory, std::int64_t bytes) {
    constexpr std::int64_t step = 8 * static_cast<std::int64_t>(sizeof(Longs));
    const unsigned char* at = static_cast<const unsigned char*>(memory);
    Longs sums[8] = {};
    for (std::int64_t i = 0; i + step <= bytes; i += step)
        for (int j = 0; j < 8; ++j) {
            Longs value;
            __builtin_memcpy(&value, at + i + j * static_cast<std::int64_t>(sizeof value),
                             sizeof value);
            sums[j] ^= value;
        }
    for (int j = 1; j < 8; ++j)
        sums[0] ^= sums[j];
    return sums[0][0] ^ sums[0][1];
}

} // namespace

extern const VectorKernels vector_kernels{KVCALIPER_CPU_VARIANT_NAME, attend, mamba1, exponentials,
                                          checksum};

} // namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT
