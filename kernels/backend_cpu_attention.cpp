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

/// How the rows of a block lie in memory.
template <bool bf16> struct HalfRows {
    using Value = std::uint16_t;
    static KV_INLINE Floats vector(const Value* from) { return load_floats<bf16>(from); }
    static KV_INLINE Floats tail(const Value* from, std::int64_t n) {
        return load_tail<bf16>(from, n);
    }
};

/// Made from quants a moment ago, padded with zeros.
struct FloatRows {
    using Value = float;
    static KV_INLINE Floats vector(const Value* from) { return load(from); }
    static KV_INLINE Floats tail(const Value* from, std::int64_t) { return load(from); }
};

template <typename Row> constexpr bool from_cache = sizeof(typename Row::Value) == 2;

/// The rows of one block of slots.
template <typename Row> struct Block {
    const typename Row::Value* keys[2];
    const typename Row::Value* values;
    std::int64_t key_strides[2], value_stride;
    std::int64_t first, count; ///< slots
};

/// The state of one task while it runs: rows in scratch memory.
struct Scratch {
    float* queries; ///< [heads][query_width]
    std::int64_t query_width;
    float* scores; ///< [4][token_block]
    float* rows;   ///< decoded ones: [token_block] of each kind
};

template <bool bf16> void convert_row(const std::uint16_t* from, std::int64_t width, float* to) {
    std::int64_t i = 0;
    for (; i + lanes <= width; i += lanes)
        store(to + i, load_floats<bf16>(from + i));
    for (; i < padded(width); i += lanes)
        store(to + i, load_tail<bf16>(from + i, i < width ? width - i : 0));
}

Scratch prepare(const AttendTask& task) {
    const std::int64_t first = padded(task.parts[0].keys.width);
    Scratch scratch{task.scratch, first + padded(task.parts[1].keys.width), nullptr, nullptr};
    scratch.scores = task.scratch + task.heads * scratch.query_width;
    scratch.rows = scratch.scores + 4 * token_block;
    for (std::int64_t h = 0; h < task.heads; ++h) {
        float* row = scratch.queries + h * scratch.query_width;
        for (int part = 0; part < 2; ++part) {
            const std::int64_t width = task.parts[part].keys.width;
            float* to = row + (part == 0 ? 0 : first);
            task.bf16 ? convert_row<true>(task.parts[part].q + h * width, width, to)
                      : convert_row<false>(task.parts[part].q + h * width, width, to);
        }
        task.maxima[h] = -__builtin_inff();
        task.sums[h] = 0;
        for (std::int64_t i = 0; i < padded(task.values.width); ++i)
            task.partial[h * padded(task.values.width) + i] = 0;
    }
    return scratch;
}

/// Rows as they lie in the cache.
template <bool bf16>
Block<HalfRows<bf16>> load_block(const AttendTask& task, const Scratch&, HalfRows<bf16>,
                                 std::int64_t first, std::int64_t count) {
    const auto rows = [&](const StoredRows& plane) {
        return static_cast<const std::uint16_t*>(plane.first) + first * plane.width;
    };
    return {{rows(task.parts[0].keys), rows(task.parts[1].keys)},
            rows(task.values),
            {task.parts[0].keys.width, task.parts[1].keys.width},
            task.values.width,
            first,
            count};
}

/// Packed rows, then recent ones, which lie in a ring.
void decode_split(const StoredRows& rows, std::int64_t first, std::int64_t count, float* out) {
    const std::int64_t last = first + count, end = rows.packed < last ? rows.packed : last;
    if (first < end) {
        decode_packed(rows, first, end - first, out);
        out += (end - first) * padded(rows.width);
        first = end;
    }
    const StoredRows recent{rows.recent, rows.width, 2 * rows.width, Format::f16};
    while (first < last) {
        const std::int64_t place = first % rows.ring, left = rows.ring - place;
        const std::int64_t run = last - first < left ? last - first : left;
        decode(recent, place, run, out);
        out += run * padded(rows.width);
        first += run;
    }
}

/// Rows made into floats, page by page where there are pages.
void decode_slots(const StoredRows& rows, std::int64_t first, std::int64_t count, float* out) {
    if (keeps_residual(rows.format))
        return decode_split(rows, first, count, out);
    if (rows.pages == nullptr)
        return decode(rows, first, count, out);
    for (std::int64_t done = 0; done < count;) {
        const std::int64_t slot = first + done, place = slot % rows.page_slots;
        const std::int64_t left = rows.page_slots - place;
        const std::int64_t run = count - done < left ? count - done : left;
        const StoredRows page{static_cast<const unsigned char*>(rows.first) +
                                  rows.pages[slot / rows.page_slots] * rows.page_bytes,
                              rows.width, rows.bytes, rows.format};
        decode(page, place, run, out + done * padded(rows.width));
        done += run;
    }
}

/// Rows made into floats; the values of a latent cache are its keys.
Block<FloatRows> load_block(const AttendTask& task, const Scratch& scratch, FloatRows,
                            std::int64_t first, std::int64_t count) {
    const StoredRows &keys = task.parts[0].keys, &ropes = task.parts[1].keys;
    float* rope = scratch.rows + token_block * padded(keys.width);
    float* values = rope + token_block * padded(ropes.width);
    decode_slots(keys, first, count, scratch.rows);
    if (ropes.width > 0)
        decode_slots(ropes, first, count, rope);
    if (task.values.first == keys.first && task.values.recent == keys.recent)
        values = scratch.rows;
    else
        decode_slots(task.values, first, count, values);
    return {{scratch.rows, rope},      values, {padded(keys.width), padded(ropes.width)},
            padded(task.values.width), first,  count};
}

/// Adds one key part to the accumulators of `heads` query rows × `tokens` key rows.
template <typename Row, int heads, int tokens>
KV_INLINE void add_dots(Floats* sums, const float* queries, std::int64_t query_width,
                        const typename Row::Value* const* rows, std::int64_t width) {
    std::int64_t i = 0;
    for (; i + lanes <= width; i += lanes) {
        Floats q[unsigned{heads}];
#pragma GCC unroll 16
        for (int h = 0; h < heads; ++h)
            q[h] = load(queries + h * query_width + i);
#pragma GCC unroll 16
        for (int t = 0; t < tokens; ++t) {
            const Floats key = Row::vector(rows[t] + i);
#pragma GCC unroll 16
            for (int h = 0; h < heads; ++h)
                sums[h * tokens + t] += q[h] * key;
        }
    }
    if (i == width)
        return;
    for (int t = 0; t < tokens; ++t) {
        const Floats key = Row::tail(rows[t] + i, width - i);
        for (int h = 0; h < heads; ++h)
            sums[h * tokens + t] += load(queries + h * query_width + i) * key;
    }
}

/// Memory is read one block ahead: the sums of a block take long enough to hide the way.
constexpr std::int64_t ahead = token_block;

KV_INLINE void fetch_row(const StoredRows& rows, std::int64_t slot) {
    const char* row = static_cast<const char*>(rows.first) + slot * rows.bytes;
    for (std::int64_t i = 0; i < rows.bytes; i += 64)
        __builtin_prefetch(row + i, 0, 3);
}

/// Scores of `heads` query rows against the slots of a block.
template <typename Row, int heads>
void score(const AttendTask& task, const Scratch& scratch, std::int64_t head,
           const Block<Row>& block) {
    constexpr int tokens = lanes / heads;
    const float* queries = scratch.queries + head * scratch.query_width;
    for (std::int64_t t = 0; t < block.count; t += tokens) {
        Floats sums[lanes] = {};
        for (int part = 0; part < 2; ++part) {
            const typename Row::Value* rows[unsigned{tokens}];
            for (int i = 0; i < tokens;
                 ++i) { // past the end: the last row again, thrown away below
                const std::int64_t slot = t + i < block.count ? t + i : block.count - 1;
                rows[i] = block.keys[part] + slot * block.key_strides[part];
            }
            if (const std::int64_t width = task.parts[part].keys.width; width > 0)
                add_dots<Row, heads, tokens>(
                    sums, queries + (part == 0 ? 0 : padded(task.parts[0].keys.width)),
                    scratch.query_width, rows, width);
        }
        float scores[unsigned{lanes}];
        store(scores, sum_each(sums) * task.scale);
        for (int h = 0; h < heads; ++h)
            __builtin_memcpy(scratch.scores + h * token_block + t, scores + h * tokens, tokens * 4);
        if (from_cache<Row> && head == 0)
            for (int i = 0; i < tokens; ++i)
                if (const std::int64_t slot = block.first + t + i + ahead; slot < task.last)
                    fetch_row(task.parts[0].keys, slot);
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
template <typename Row, int heads, int vectors>
KV_INLINE void add_values(const AttendTask& task, const Scratch& scratch, std::int64_t head,
                          const Block<Row>& block, std::int64_t column, const float* factors) {
    const std::int64_t stride = padded(task.values.width);
    Floats sums[unsigned{heads}][unsigned{vectors}];
    float* rows = task.partial + head * stride + column;
#pragma GCC unroll 16
    for (int h = 0; h < heads; ++h)
#pragma GCC unroll 16
        for (int j = 0; j < vectors; ++j)
            sums[h][j] = load(rows + h * stride + j * lanes) * factors[h];
    const typename Row::Value* values = block.values + column;
    const bool fetch = from_cache<Row> && head == 0 && column == 0 &&
                       task.values.first != task.parts[0].keys.first;
    for (std::int64_t t = 0; t < block.count; ++t, values += block.value_stride) {
        if (fetch && block.first + t + ahead < task.last)
            fetch_row(task.values, block.first + t + ahead);
        Floats value[unsigned{vectors}];
#pragma GCC unroll 16
        for (int j = 0; j < vectors; ++j)
            value[j] = Row::vector(values + j * lanes);
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
template <typename Row, int heads>
void add_value_tail(const AttendTask& task, const Scratch& scratch, std::int64_t head,
                    const Block<Row>& block, std::int64_t column, const float* factors) {
    const std::int64_t stride = padded(task.values.width);
    for (int h = 0; h < heads; ++h) {
        float* row = task.partial + (head + h) * stride + column;
        Floats sum = load(row) * factors[h];
        for (std::int64_t t = 0; t < block.count; ++t)
            sum += Row::tail(block.values + t * block.value_stride + column,
                             task.values.width - column) *
                   scratch.scores[h * token_block + t];
        store(row, sum);
    }
}

template <typename Row, int heads>
void attend_block(const AttendTask& task, const Scratch& scratch, std::int64_t head,
                  const Block<Row>& block) {
    score<Row, heads>(task, scratch, head, block);
    float factors[unsigned{heads}];
    for (int h = 0; h < heads; ++h)
        factors[h] = soften(scratch.scores + h * token_block, block.count, task.maxima + head + h,
                            task.sums + head + h);
    constexpr int vectors = lanes == 16 || heads == 1 ? 4 : 2; // as many sums as registers allow
    const std::int64_t width = task.values.width;
    std::int64_t column = 0;
    for (; column + vectors * lanes <= width; column += vectors * lanes)
        add_values<Row, heads, vectors>(task, scratch, head, block, column, factors);
    for (; column + lanes <= width; column += lanes)
        add_values<Row, heads, 1>(task, scratch, head, block, column, factors);
    if (column < width)
        add_value_tail<Row, heads>(task, scratch, head, block, column, factors);
}

template <typename Row> void attend_as(const AttendTask& task) {
    const Scratch scratch = prepare(task);
    // Many heads read a block again and again, so it must stay in the first-level cache.
    const std::int64_t row =
        task.parts[0].keys.width + task.parts[1].keys.width + task.values.width;
    const std::int64_t most = row > 512 ? token_block / 2 : token_block;
    for (std::int64_t first = task.first; first < task.last; first += most) {
        const std::int64_t count = task.last - first < most ? task.last - first : most;
        const Block<Row> block = load_block(task, scratch, Row{}, first, count);
        std::int64_t head = 0;
        for (; head + 4 <= task.heads; head += 4)
            attend_block<Row, 4>(task, scratch, head, block);
        for (; head + 2 <= task.heads; head += 2)
            attend_block<Row, 2>(task, scratch, head, block);
        for (; head < task.heads; ++head)
            attend_block<Row, 1>(task, scratch, head, block);
    }
}

} // namespace

void attend(const AttendTask& task) {
    if (task.decoded)
        return attend_as<FloatRows>(task);
    task.bf16 ? attend_as<HalfRows<true>>(task) : attend_as<HalfRows<false>>(task);
}

} // namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT
