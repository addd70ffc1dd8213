// SPDX-License-Identifier: Apache-2.0
// Attention over a block of tokens at a time: scores, running softmax, weighted values.
#include "kernels/backend_cpu_simd.h"

namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT {
namespace {

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

/// Memory is read one block ahead: the sums of a block take long enough to hide the way.
constexpr std::int64_t ahead = token_block;

KV_INLINE void fetch_row(const std::uint16_t* rows, std::int64_t width, std::int64_t slot) {
    const char* row = reinterpret_cast<const char*>(rows + slot * width);
    for (std::int64_t i = 0; i < 2 * width; i += 64)
        __builtin_prefetch(row + i, 0, 3);
}

KV_INLINE void fetch_ahead(const KeyPart& part, const AttendTask& task, std::int64_t slot) {
    if (slot < task.last)
        fetch_row(part.keys, part.width, slot);
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
        float scores[unsigned{lanes}];
        store(scores, sum_each(sums) * task.scale);
        for (int h = 0; h < heads; ++h)
            __builtin_memcpy(scratch.scores + h * token_block + t, scores + h * tokens, tokens * 4);
        if (head == 0)
            for (int i = 0; i < tokens; ++i)
                fetch_ahead(task.parts[0], task, first + t + i + ahead);
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
    const bool fetch = head == 0 && column == 0 && task.values != task.parts[0].keys;
    for (std::int64_t t = 0; t < count; ++t, values += task.value_width) {
        if (fetch && first + t + ahead < task.last)
            fetch_row(task.values, task.value_width, first + t + ahead);
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

} // namespace

void attend(const AttendTask& task) {
    task.bf16 ? attend_as<true>(task) : attend_as<false>(task);
}

} // namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT
