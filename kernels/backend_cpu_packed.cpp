// SPDX-License-Identifier: Apache-2.0
// Rows of formats that keep a residual: packed per channel or per token, see PackView.
#include "kernels/backend_cpu_formats.h"

namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT {
namespace {

KV_INLINE Floats halves_at(const unsigned char* from, std::int64_t n) {
    std::uint16_t halves[unsigned{lanes}] = {};
    if (n == lanes)
        __builtin_memcpy(halves, from, sizeof halves);
    else
        __builtin_memcpy(halves, from, static_cast<std::size_t>(2 * n));
    return load_floats<false>(halves);
}

KV_INLINE Words words_at(const unsigned char* from, std::int64_t n) {
    Words words{};
    if (n == lanes)
        __builtin_memcpy(&words, from, sizeof words);
    else
        __builtin_memcpy(&words, from, static_cast<std::size_t>(4 * n));
    return words;
}

/// To nearest, ties to even; below 2^22.
KV_INLINE Floats nearest_even(Floats x) {
    return (x + 12582912.0f) - 12582912.0f; // 1.5 · 2^23
}

KV_INLINE Floats minimum(Floats a, Floats b) {
    return a < b ? a : b;
}

/// The code of a number above m, a step being d; 0 where all numbers of the group are equal.
KV_INLINE Words code_of(Floats x, Floats m, Floats d, float most) {
    const Floats place = nearest_even((x - m) / d);
    const Floats clamped = minimum(maximum(place, Floats{}), broadcast(most));
    return (Words) __builtin_convertvector(d > 0.0f ? clamped : Floats{}, Ints);
}

/// A vector of channels.
struct Channels {
    const PackTask& task;
    std::int64_t first, count; ///< how many of the lanes exist

    KV_INLINE Floats numbers(std::int64_t token) const {
        const std::uint16_t* from = task.source + token * task.token_step + first;
        return count < lanes ? load_tail<false>(from, count) : load_floats<false>(from);
    }
    /// Stores the scale and the least of the group and gives back what they are read as.
    KV_INLINE void store_scales(Floats low, Floats high, float most, Floats* d) const {
        for (std::int64_t i = 0; i < count; ++i) {
            const std::uint16_t scale = float_to_half((high[i] - low[i]) / most);
            (*d)[i] = half_to_float(scale);
            store_as(task.out + 2 * (first + i), scale);
            store_as(task.out + 2 * (task.width + first + i), float_to_half(low[i]));
        }
    }
};

void pack_channels(const PackTask& task, const Channels& at) {
    const Packing packing = packing_of(task.format);
    const auto most = static_cast<float>((1 << packing.bits) - 1);
    Floats low = at.numbers(0), high = low, d{};
    for (std::int64_t t = 1; t < packing.group; ++t) {
        low = minimum(at.numbers(t), low);
        high = maximum(at.numbers(t), high);
    }
    at.store_scales(low, high, most, &d);
    const std::int64_t per_word = 32 / packing.bits;
    for (std::int64_t w = 0; w < packing.words(); ++w) {
        Words word{};
        for (std::int64_t j = 0; j < per_word; ++j)
            word |= code_of(at.numbers(w * per_word + j), low, d, most)
                    << static_cast<std::uint32_t>(j * packing.bits);
        unsigned char* out = task.out + 4 * (task.width * (w + 1) + at.first);
        __builtin_memcpy(out, &word, static_cast<std::size_t>(4 * at.count));
    }
}

/// One group of neighbouring channels of a token.
void pack_neighbours(const std::uint16_t* from, const Packing& packing, unsigned char* out) {
    const auto most = static_cast<float>((1 << packing.bits) - 1);
    Floats lows = load_floats<false>(from), highs = lows;
    for (std::int64_t i = lanes; i < packing.group; i += lanes) {
        lows = minimum(load_floats<false>(from + i), lows);
        highs = maximum(load_floats<false>(from + i), highs);
    }
    const float low = -largest(-lows);
    const std::uint16_t scale = float_to_half((largest(highs) - low) / most);
    store_as(out, scale);
    store_as(out + 2, float_to_half(low));
    std::uint32_t codes[max_packed_group];
    for (std::int64_t i = 0; i < packing.group; i += lanes) {
        const Words code = code_of(load_floats<false>(from + i), broadcast(low),
                                   broadcast(half_to_float(scale)), most);
        __builtin_memcpy(codes + i, &code, sizeof code);
    }
    const std::int64_t per_word = 32 / packing.bits;
    for (std::int64_t w = 0; w < packing.words(); ++w) {
        std::uint32_t word = 0;
        for (std::int64_t j = 0; j < per_word; ++j)
            word |= codes[w * per_word + j] << (j * packing.bits);
        store_as(out + 4 + 4 * w, word);
    }
}

/// `count` tokens from `token` on of a group that is packed per channel. A vector of channels after
/// the other: a word of theirs serves several tokens.
void decode_channels(const StoredRows& rows, const Packing& packing, const unsigned char* group,
                     std::int64_t token, std::int64_t count, float* out) {
    const std::uint32_t mask = (1u << packing.bits) - 1;
    for (std::int64_t i = 0; i < padded(rows.width); i += lanes) {
        const std::int64_t left = rows.width > i ? rows.width - i : 0;
        const std::int64_t n = left < lanes ? left : lanes;
        const Floats d = halves_at(group + 2 * i, n);
        const Floats m = halves_at(group + 2 * (rows.width + i), n);
        const unsigned char* words = group + 4 * (rows.width + i);
        float* to = out + i;
        for (std::int64_t t = token; t < token + count; ++t, to += padded(rows.width)) {
            const Words word = words_at(words + 4 * rows.width * (t * packing.bits / 32), n);
            const auto shift = static_cast<std::uint32_t>(t * packing.bits % 32);
            store(to, __builtin_convertvector((Ints)(word >> shift & mask), Floats) * d + m);
        }
    }
}

/// The codes of a vector of neighbours, the first one being number i of its group.
template <int bits> KV_INLINE Words neighbour_codes(const unsigned char* words, std::int64_t i) {
    constexpr int per_word = 32 / bits;
    constexpr std::uint32_t mask = (1u << bits) - 1;
    Words lane{};
    for (int j = 0; j < lanes; ++j)
        lane[j] = static_cast<std::uint32_t>(j);
    const Words word = Words{} + load_as<std::uint32_t>(words + i / per_word * 4);
    if constexpr (lanes <= per_word) {
        return word >> ((lane + static_cast<std::uint32_t>(i % per_word)) * bits) & mask;
    } else {
        static_assert(lanes == 2 * per_word);
        const Words next = Words{} + load_as<std::uint32_t>(words + i / per_word * 4 + 4);
        return (lane < per_word ? word : next) >> (lane % per_word * bits) & mask;
    }
}

/// One token that is packed in groups of neighbouring channels.
template <int bits>
void decode_neighbours(const StoredRows& rows, const Packing& packing, const unsigned char* row,
                       float* out) {
    for (std::int64_t first = 0; first < rows.width; first += packing.group) {
        const Floats d = broadcast(half_to_float(load_as<std::uint16_t>(row)));
        const Floats m = broadcast(half_to_float(load_as<std::uint16_t>(row + 2)));
        for (std::int64_t i = 0; i < packing.group; i += lanes)
            store(out + first + i,
                  __builtin_convertvector((Ints)neighbour_codes<bits>(row + 4, i), Floats) * d + m);
        row += packing.group_bytes();
    }
    for (std::int64_t i = rows.width; i < padded(rows.width); ++i)
        out[i] = 0;
}

} // namespace

void pack(const PackTask& task) {
    const Packing packing = packing_of(task.format);
    if (task.per_channel) {
        for (std::int64_t i = 0; i < task.width; i += lanes)
            pack_channels(task, {task, i, task.width - i < lanes ? task.width - i : lanes});
        return;
    }
    for (std::int64_t i = 0; i < task.width / packing.group; ++i)
        pack_neighbours(task.source + i * packing.group, packing,
                        task.out + i * packing.group_bytes());
}

void decode_packed(const StoredRows& rows, std::int64_t first, std::int64_t count, float* out) {
    const Packing packing = packing_of(rows.format);
    const auto* in = static_cast<const unsigned char*>(rows.first);
    const std::int64_t last = first + count;
    if (!rows.per_channel) {
        for (std::int64_t slot = first; slot < last; ++slot, out += padded(rows.width))
            packing.bits == 2 ? decode_neighbours<2>(rows, packing, in + slot * rows.bytes, out)
                              : decode_neighbours<4>(rows, packing, in + slot * rows.bytes, out);
        return;
    }
    while (first < last) {
        const std::int64_t token = first % packing.group, left = packing.group - token;
        const std::int64_t run = last - first < left ? last - first : left;
        decode_channels(rows, packing,
                        in + first / packing.group * rows.width * packing.group_bytes(), token, run,
                        out);
        out += run * padded(rows.width);
        first += run;
    }
}

} // namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT
