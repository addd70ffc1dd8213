// SPDX-License-Identifier: Apache-2.0
// KIVI: groups worked out by hand, the same bytes on every backend, and attention over packed and
// recent rows against a double-precision reference. What is not a row is NaN.
#include "core/error.h"
#include "format_rows.h"
#include "kernels/formats.h"
#include "kernels/half.h"
#include "kernels/reference.h"
#include "kernels/reference_formats.h"
#include "simt_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace kvcaliper::kernels::test {
namespace {

using testing::ElementsAreArray;

std::vector<std::byte> as_bytes(const Bytes& bytes) {
    const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
    return {first, first + bytes.size()};
}

Bytes bytes_of(const Memory& memory) {
    const std::vector<std::byte> content = memory.bytes();
    const auto* first = reinterpret_cast<const unsigned char*>(content.data());
    return {first, first + content.size()};
}

Bytes halves_of(const std::vector<float>& numbers) {
    Bytes bytes(2 * numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::uint16_t half = float_to_f16(numbers[i]);
        std::memcpy(bytes.data() + 2 * i, &half, 2);
    }
    return bytes;
}

/// [tokens][width] of one head and sequence into a plane of just these tokens.
PackView view_of(std::int64_t tokens, std::int64_t width, Format format, bool per_channel) {
    return {nullptr, nullptr, 1, 1, width, tokens, 0, tokens, 0, width, width, format, per_channel};
}

Bytes packed(Backend& backend, PackView view, const Bytes& source) {
    const Packing packing = packing_of(view.format);
    const Memory from(backend, as_bytes(source));
    const Memory to(backend, view.sequences * view.rows * view.slots * view.width / packing.group *
                                 packing.group_bytes());
    view.source = from.get();
    view.plane = to.get();
    backend.pack(view);
    return bytes_of(to);
}

void expect_packed(const std::vector<float>& numbers, const PackView& view, const Bytes& wanted) {
    for (const auto& backend : all_backends())
        EXPECT_THAT(packed(*backend, view, halves_of(numbers)), ElementsAreArray(wanted))
            << name_of_backend(*backend);
}

// ---- groups by hand -----------------------------------------------------------------------------

TEST(ResidualFormats, SizesOfAGroup) {
    // Bits per number and 16 bits each for scale and least (catalogue, KIVI rows).
    EXPECT_EQ(packing_of(Format::kivi_2bit).group_bytes(), 12);
    EXPECT_EQ(packing_of(Format::kivi_4bit).group_bytes(), 20);
    EXPECT_EQ(packing_of(Format::kivi_2bit_g64).group_bytes(), 20);
    EXPECT_EQ(packing_of(Format::kivi_4bit_g64).group_bytes(), 36);
    EXPECT_EQ(packing_of(Format::kivi_2bit_g128).group_bytes(), 36);
    EXPECT_EQ(packing_of(Format::kivi_4bit_g128).group_bytes(), 68);
    EXPECT_EQ(stored_row_bytes(Format::kivi_2bit, 128), 48);
    EXPECT_EQ(stored_row_bytes(Format::kivi_4bit_g64, 128), 72);
}

TEST(ResidualFormats, WhatIsPackedAtHowManyTokens) {
    // KIVI: keys in whole stretches of the residual, values all but the residual.
    for (const auto& [tokens, keys, values] : {std::array<std::int64_t, 3>{1, 0, 0},
                                               {127, 0, 0},
                                               {128, 128, 0},
                                               {129, 128, 1},
                                               {255, 128, 127},
                                               {256, 256, 128},
                                               {8191, 8064, 8063},
                                               {8192, 8192, 8064}}) {
        EXPECT_EQ(packed_keys(Format::kivi_2bit, tokens), keys) << tokens;
        EXPECT_EQ(packed_values(Format::kivi_2bit, tokens), values) << tokens;
    }
    EXPECT_EQ(packed_keys(Format::kivi_4bit_r32, 100), 96);
    EXPECT_EQ(packed_values(Format::kivi_4bit_r32, 100), 68);
    EXPECT_EQ(packed_keys(Format::q4_0, 100), 0);
}

TEST(ResidualFormats, NeighboursInTwoBitsByHand) {
    // 0, 1, 2, 3 over and over: d = (3 - 0) / 3 = 1 (0x3c00), m = 0, a byte is 3210 in pairs of
    // bits: 0b11100100.
    std::vector<float> numbers(32);
    for (std::size_t i = 0; i < 32; ++i)
        numbers[i] = static_cast<float>(i % 4);
    expect_packed(numbers, view_of(1, 32, Format::kivi_2bit, false),
                  {0x00, 0x3c, 0x00, 0x00, 0xe4, 0xe4, 0xe4, 0xe4, 0xe4, 0xe4, 0xe4, 0xe4});
}

TEST(ResidualFormats, HalvesGoToTheEvenCode) {
    // d = 1, m = -1: -0.5, 0.5 and 1.5 lie at 0.5, 1.5 and 2.5, so their codes are 0, 2 and 2; then
    // 2 (code 3), -1 (code 0) and zeros (code 1). 0xbc00 is -1.
    std::vector<float> numbers(32);
    const float first[] = {-0.5f, 0.5f, 1.5f, 2.0f, -1.0f};
    std::copy(std::begin(first), std::end(first), numbers.begin());
    // Codes from the lowest bits on: 0 2 2 3 = 0b11101000, 0 1 1 1 = 0b01010100, then ones.
    expect_packed(numbers, view_of(1, 32, Format::kivi_2bit, false),
                  {0x00, 0x3c, 0x00, 0xbc, 0xe8, 0x54, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55});
}

TEST(ResidualFormats, EqualNumbersHaveNoScale) {
    // 2.5 is 0x4100.
    expect_packed(std::vector<float>(32, 2.5f), view_of(1, 32, Format::kivi_2bit_r32, false),
                  {0, 0, 0x00, 0x41, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST(ResidualFormats, NeighboursInFourBitsByHand) {
    // 0 … 15 twice: d = 1, codes 0 … 15, two to a byte, the first one in the lower half.
    std::vector<float> numbers(32);
    for (std::size_t i = 0; i < 32; ++i)
        numbers[i] = static_cast<float>(i % 16);
    expect_packed(numbers, view_of(1, 32, Format::kivi_4bit, false),
                  {0x00, 0x3c, 0x00, 0x00, 0x10, 0x32, 0x54, 0x76, 0x98, 0xba,
                   0xdc, 0xfe, 0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe});
}

TEST(ResidualFormats, ChannelsInTwoBitsByHand) {
    // Three channels over 32 tokens: t mod 4; 2 · (t mod 4) + 1; always -2. Scales 1, 2, 0; least
    // 0, 1, -2 (0x3c00, 0xc000); words of the first 16 tokens of all channels, then of the others.
    std::vector<float> numbers;
    for (int t = 0; t < 32; ++t)
        for (const float number :
             {static_cast<float>(t % 4), static_cast<float>(2 * (t % 4) + 1), -2.0f})
            numbers.push_back(number);
    Bytes wanted{0x00, 0x3c, 0x00, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x3c, 0x00, 0xc0};
    for (int half = 0; half < 2; ++half)
        for (const int byte : {0xe4, 0xe4, 0x00})
            wanted.insert(wanted.end(), 4, static_cast<unsigned char>(byte));
    expect_packed(numbers, view_of(32, 3, Format::kivi_2bit, true), wanted);
}

// ---- all backends -------------------------------------------------------------------------------

std::vector<float> random_numbers(std::int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> numbers(size_of(count));
    for (float& number : numbers)
        number = f16_to_float(float_to_f16(normal(random)));
    return numbers;
}

TEST(ResidualFormats, EveryBackendPacksTheSameBytes) {
    for (const Format format : residual_formats)
        for (const bool per_channel : {true, false}) {
            // Two sequences, three rows, a source that lies [sequences][tokens][rows][width].
            const std::int64_t width = per_channel ? 83 : 128, tokens = 256;
            PackView view{nullptr,    nullptr, 2,
                          3,          width,   tokens,
                          0,          tokens,  tokens * 3 * width,
                          3 * width,  width,   format,
                          per_channel};
            const Bytes source = halves_of(random_numbers(2 * tokens * 3 * width, 5));
            const auto backends = all_backends();
            const Bytes first = packed(*backends.front(), view, source);
            for (const auto& backend : backends)
                EXPECT_EQ(packed(*backend, view, source), first)
                    << name_of(format) << per_channel << name_of_backend(*backend);
        }
}

TEST(ResidualFormats, RowsOfARingArePackedInTheirPlace) {
    // Token 5 of eight from slot 1 of a ring [rows][slots][width], as decoding packs a value.
    const std::vector<float> numbers = random_numbers(2 * 4 * 32, 9);
    for (const auto& backend : all_backends()) {
        PackView ring{nullptr, nullptr, 1, 2, 32, 8, 5, 1, 0, 0, 4 * 32, Format::kivi_4bit_r32,
                      false};
        Bytes source = halves_of(numbers);
        source.erase(source.begin(), source.begin() + 2 * 32); // slot 1 comes first
        const Bytes plane = packed(*backend, ring, source);
        for (std::int64_t row = 0; row < 2; ++row) {
            const std::vector<float> one(numbers.begin() + (row * 4 + 1) * 32,
                                         numbers.begin() + (row * 4 + 2) * 32);
            const Bytes alone =
                packed(*backend, view_of(1, 32, Format::kivi_4bit_r32, false), halves_of(one));
            Bytes wanted(8 * 20, 0xff); // others are not touched
            std::copy(alone.begin(), alone.end(), wanted.begin() + 5 * 20);
            EXPECT_EQ(Bytes(plane.begin() + row * 8 * 20, plane.begin() + (row + 1) * 8 * 20),
                      wanted)
                << name_of_backend(*backend);
        }
    }
}

TEST(ResidualFormats, WhatCanNotBePackedIsRefused) {
    for (const auto& backend : all_backends()) {
        const auto refused = [&](PackView view) {
            const Bytes nothing(1 << 16);
            EXPECT_THROW(packed(*backend, view, nothing), Error) << name_of_backend(*backend);
        };
        refused(view_of(1, 80, Format::kivi_2bit, false)); // 32 does not divide 80
        refused(view_of(48, 64, Format::kivi_2bit, true)); // nor 48
        refused(view_of(64, 64, Format::kivi_4bit_g128, true));
        PackView beyond = view_of(32, 64, Format::kivi_2bit, true);
        beyond.count = 64;
        refused(beyond);
        const Memory memory(*backend, 64 * 24);
        EXPECT_THROW(backend->append({memory.get(), memory.get(), 1, 1, 64, 64, 0, 1, Element::f16,
                                      Format::kivi_2bit}),
                     Error);
    }
}

// ---- attention ----------------------------------------------------------------------------------

struct Case {
    Format key, value;
    std::int64_t valid;
    std::int64_t sequences = 1, heads = 4, kv_heads = 2, key_width = 64, value_width = 64;
    bool sinks = false;
};

void PrintTo(const Case& c, std::ostream* out) {
    *out << name_of(c.key) << "/" << name_of(c.value) << " at " << c.valid;
}

/// Rows [sequences][tokens][kv_heads][width] and the planes that hold them.
class SideUnderTest {
  public:
    SideUnderTest(Backend& backend, const Case& c, bool keys)
        : c_(c), keys_(keys), format_(keys ? c.key : c.value),
          width_(keys ? c.key_width : c.value_width),
          packed_(keys ? packed_keys(format_, c.valid) : packed_values(format_, c.valid)),
          numbers_(random_numbers(c.sequences * c.valid * c.kv_heads * width_, keys ? 2 : 3)),
          // More slots than are needed, which stay NaN.
          slots_(keeps_residual(format_) ? packed_ + packing_of(format_).group : c.valid),
          recent_slots_(keeps_residual(format_)
                            ? std::min(packing_of(format_).residual, c.valid - packed_ + 3)
                            : 0),
          plane_(backend, plane_bytes()), recent_(backend, heads() * recent_slots_ * width_ * 2) {
        const Memory source(backend, as_bytes(halves_of(numbers_)));
        const std::int64_t row = c.kv_heads * width_;
        if (!keeps_residual(format_)) {
            backend.append({source.get(), plane_.get(), c.sequences, c.kv_heads, width_, c.valid, 0,
                            c.valid, Element::f16, format_});
        } else if (packed_ > 0) {
            backend.pack({source.get(), plane_.get(), c.sequences, c.kv_heads, width_, slots_, 0,
                          packed_, c.valid * row, row, width_, format_, keys});
        }
        backend.synchronize();
        if (keeps_residual(format_))
            write_recent(backend);
    }

    void* plane() const { return plane_.get(); }
    void* recent() const { return recent_.get(); }
    std::int64_t slots() const { return slots_; }
    std::int64_t recent_slots() const { return recent_slots_; }

    /// What must be read of one token of one head.
    void row(std::int64_t sequence, std::int64_t token, std::int64_t head, double* out) const {
        if (token >= packed_)
            return keeps_residual(format_) ? raw(sequence, token, head, out)
                                           : restored(sequence, token, head, out);
        if (!keys_)
            return restored(sequence, token, head, out);
        const std::int64_t group = packing_of(format_).group, first = token / group * group;
        std::vector<double> rows(size_of(group * width_));
        for (std::int64_t t = 0; t < group; ++t)
            raw(sequence, first + t, head, rows.data() + t * width_);
        for (std::int64_t channel = 0; channel < width_; ++channel)
            pack_and_restore(format_, rows.data() + channel, width_);
        std::copy_n(rows.data() + (token - first) * width_, width_, out);
    }

  private:
    std::int64_t heads() const { return c_.sequences * c_.kv_heads; }
    std::int64_t plane_bytes() const {
        const Packing packing = packing_of(format_);
        return packing.group > 0
                   ? heads() * (slots_ * width_ / packing.group) * packing.group_bytes()
                   : heads() * slots_ * stored_row_bytes(format_, width_);
    }
    void raw(std::int64_t sequence, std::int64_t token, std::int64_t head, double* out) const {
        const float* row =
            numbers_.data() + ((sequence * c_.valid + token) * c_.kv_heads + head) * width_;
        std::copy_n(row, width_, out);
    }
    void restored(std::int64_t sequence, std::int64_t token, std::int64_t head, double* out) const {
        raw(sequence, token, head, out);
        store_and_restore(format_, width_, out);
    }
    /// Token t in slot t mod residual of [sequences][kv_heads][recent_slots][width].
    void write_recent(Backend& backend) const {
        Bytes bytes(size_of(heads() * recent_slots_ * width_ * 2), 0xff);
        for (std::int64_t plane = 0; plane < heads(); ++plane)
            for (std::int64_t t = packed_; t < c_.valid; ++t) {
                const std::int64_t from =
                    ((plane / c_.kv_heads * c_.valid + t) * c_.kv_heads + plane % c_.kv_heads) *
                    width_;
                const Bytes row =
                    halves_of({numbers_.begin() + from, numbers_.begin() + from + width_});
                std::copy(row.begin(), row.end(),
                          bytes.begin() +
                              (plane * recent_slots_ + t % packing_of(format_).residual) * width_ *
                                  2);
            }
        backend.write(recent_.get(), bytes.data(), std::ssize(bytes));
        backend.synchronize();
    }

    Case c_;
    bool keys_;
    Format format_;
    std::int64_t width_, packed_;
    std::vector<float> numbers_;
    std::int64_t slots_, recent_slots_;
    Memory plane_, recent_;
};

/// The worst error of a head over its bound.
double excess_of(Backend& backend, const Case& c) {
    const SideUnderTest keys(backend, c, true), values(backend, c, false);
    const std::vector<float> queries = random_numbers(c.sequences * c.heads * c.key_width, 1);
    const std::vector<float> logits = random_numbers(c.heads, 4);
    const Memory q(backend, as_bytes(halves_of(queries)));
    const Memory out(backend, c.sequences * c.heads * c.value_width * 4);
    Bytes sink_bytes(logits.size() * 4);
    std::memcpy(sink_bytes.data(), logits.data(), sink_bytes.size());
    const Memory sinks(backend, as_bytes(sink_bytes));
    const float scale = 1 / std::sqrt(static_cast<float>(c.key_width));
    ResidualAttentionView view{
        {q.get(), keys.plane(), values.plane(), static_cast<float*>(out.get()), c.sequences,
         c.heads, c.kv_heads, c.key_width, c.value_width, c.valid, c.valid, scale, Element::f16,
         c.key, c.value, c.sinks ? static_cast<const float*>(sinks.get()) : nullptr},
        keys.recent(),
        values.recent(),
        keys.slots(),
        keys.recent_slots(),
        values.slots(),
        values.recent_slots()};
    const Memory workspace(backend, backend.workspace_bytes(view));
    backend.attend(view, workspace.get());
    const Bytes bytes = bytes_of(out);
    std::vector<float> got(bytes.size() / 4);
    std::memcpy(got.data(), bytes.data(), bytes.size());

    double worst = 0;
    for (std::int64_t s = 0; s < c.sequences; ++s) {
        AttentionProblem problem;
        problem.heads = c.heads;
        problem.groups = c.kv_heads;
        problem.key_width = c.key_width;
        problem.value_width = c.value_width;
        problem.scale = static_cast<double>(scale);
        if (c.sinks)
            problem.sinks.assign(logits.begin(), logits.end());
        problem.rows = [&](std::int64_t token, std::int64_t head, double* key, double* value) {
            keys.row(s, token, head, key);
            values.row(s, token, head, value);
        };
        const auto first = queries.begin() + s * c.heads * c.key_width;
        const Question question{c.valid, {first, first + c.heads * c.key_width}};
        const std::vector<double> wanted = attend_reference(problem, {&question, 1}).front();
        const std::span<const float> mine(got.data() + s * c.heads * c.value_width, wanted.size());
        worst = std::max(worst, largest_relative_error(mine, wanted, c.value_width));
    }
    return worst / backend.attention_bound(view);
}

class ResidualAttention : public testing::Test {
  protected:
    static void expect_right(const Case& c) {
        for (const auto& backend : all_backends()) {
            const double excess = excess_of(*backend, c);
            EXPECT_LE(excess, 1) << testing::PrintToString(c) << " " << name_of_backend(*backend);
            EXPECT_TRUE(excess > 0 || c.valid == 1); // one token has all the weight
        }
    }
};

TEST_F(ResidualAttention, AroundEveryFlush) {
    for (const std::int64_t valid : {1, 2, 31, 32, 33, 34, 63, 64, 65, 66, 67, 100})
        expect_right({Format::kivi_2bit_r32, Format::kivi_2bit_r32, valid});
    for (const std::int64_t valid : {100, 127, 128, 129, 130, 131, 132, 255, 256, 257, 300})
        expect_right({Format::kivi_2bit, Format::kivi_4bit, valid});
}

TEST_F(ResidualAttention, InEveryFormat) {
    for (const Format format : residual_formats)
        expect_right({format, format, 290, 2, 4, 2, 128, 128});
}

TEST_F(ResidualAttention, BesideOtherFormats) {
    for (const Format other : cache_formats)
        if (other != Format::bf16 && divides(other, 128)) { // rows come in f16 here
            expect_right({Format::kivi_2bit, other, 201, 1, 2, 1, 128, 128});
            expect_right({other, Format::kivi_4bit, 201, 1, 2, 1, 128, 128});
        }
}

TEST_F(ResidualAttention, OfAllGroupsAndWidths) {
    for (const std::int64_t group : {1, 2, 3, 5, 8})
        expect_right({Format::kivi_2bit_r32, Format::kivi_4bit_r32, 75, 3, 2 * group, 2});
    for (const std::int64_t width : {32, 64, 96, 128, 256, 512})
        for (const std::int64_t heads : {1, 4})
            expect_right(
                {Format::kivi_4bit_r32, Format::kivi_2bit_r32, 77, 2, heads, 1, width, width});
    // Keys of any width, values of another one.
    for (const std::int64_t width : {20, 80, 83, 192})
        expect_right({Format::kivi_2bit_r32, Format::kivi_2bit_r32, 77, 2, 4, 2, width, 128});
}

TEST_F(ResidualAttention, WithSinks) {
    Case c{Format::kivi_2bit_r32, Format::kivi_2bit_r32, 90};
    c.sinks = true;
    expect_right(c);
}

TEST_F(ResidualAttention, OverManySplits) {
    expect_right({Format::kivi_2bit, Format::kivi_2bit, 4095, 1, 4, 1, 128, 128});
    expect_right({Format::kivi_4bit_r32, Format::kivi_2bit_r32, 1501, 1, 1, 1});
}

TEST_F(ResidualAttention, TooFewSlotsAreRefused) {
    for (const auto& backend : all_backends()) {
        ResidualAttentionView view{};
        view.step.sequences = 1;
        view.step.heads = view.step.kv_heads = 1;
        view.step.key_width = view.step.value_width = 64;
        view.step.slots = view.step.valid = 300;
        view.step.element = Element::f16;
        view.step.key_format = view.step.value_format = Format::kivi_2bit;
        view.key_slots = 256;
        view.recent_key_slots = 44;
        view.value_slots = 172;
        view.recent_value_slots = 128;
        for (std::int64_t ResidualAttentionView::*slots :
             {&ResidualAttentionView::key_slots, &ResidualAttentionView::recent_key_slots,
              &ResidualAttentionView::value_slots, &ResidualAttentionView::recent_value_slots}) {
            ResidualAttentionView short_of = view;
            short_of.*slots -= 1;
            EXPECT_THROW(backend->attend(short_of, nullptr), Error) << name_of_backend(*backend);
        }
        EXPECT_THROW(backend->attend(view.step, nullptr), Error); // without its recent rows
    }
}

} // namespace
} // namespace kvcaliper::kernels::test
