// SPDX-License-Identifier: Apache-2.0
// Rows into every format: blocks worked out by hand, the same bytes on every backend, and the
// reference's arithmetic against those bytes.
#include "kernels/formats.h"

#include "core/error.h"
#include "core/numeric_format.h"
#include "format_rows.h"
#include "kernels/generator.h"
#include "kernels/geometry.h"
#include "kernels/reference_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace kvcaliper::kernels::test {
namespace {

using testing::ElementsAreArray;

/// 32 numbers: the given ones, then zeros.
std::vector<float> block(std::vector<float> first) {
    first.resize(32);
    return first;
}

void expect_bytes(Format format, const std::vector<float>& row, const Bytes& wanted) {
    for (const auto& backend : all_backends()) {
        SCOPED_TRACE(name_of_backend(*backend));
        EXPECT_THAT(stored_row(*backend, format, row), ElementsAreArray(wanted));
    }
}

TEST(Formats, TheKernelsOwnTableAgreesWithCores) {
    for (const Format format : cache_formats) {
        const NumericFormat& known = numeric_format(name_of(format));
        EXPECT_EQ(block_of(format).elements, known.elements_per_block) << known.name;
        EXPECT_EQ(block_of(format).bytes, known.bytes_per_block) << known.name;
        EXPECT_EQ(block_of(format).row_bytes, known.row_side_bytes) << known.name;
        EXPECT_EQ(cache_format(known.name), format);
        EXPECT_EQ(stored_row_bytes(format, 128), row_bytes(known, 128).count());
    }
    EXPECT_FALSE(cache_format("mxfp4"));
    EXPECT_FALSE(divides(Format::q8_0, 80));
    EXPECT_TRUE(divides(Format::fp8_e4m3, 80));
    // vLLM's and FlashMLA's row: 512 e4m3, four fp32 scales, 64 bf16.
    EXPECT_EQ(stored_row_bytes(Format::fp8_e4m3_128, 512) +
                  stored_row_bytes(rope_format(Format::fp8_e4m3_128), 64),
              656);
    EXPECT_EQ(rope_format(Format::q8_0), Format::q8_0);
    EXPECT_EQ(numeric_format("fp8_e4m3_128").rope_format, name_of(Format::bf16));
}

TEST(Formats, ABlockOfQ8ZeroByHand) {
    // 127 / 127 = 1, which is 0x3c00 in f16; halves go away from zero.
    Bytes wanted{0x00, 0x3c, 127, 129, 1, 255, 0, 253, 0, 64};
    wanted.resize(34);
    expect_bytes(Format::q8_0, block({127, -127, 0.5f, -0.5f, 0.49f, -2.5f, 0, 63.5f}), wanted);
}

TEST(Formats, ABlockOfQ4ZeroByHand) {
    // The greatest number is -8, so d = 1; 8 has the same size and comes later: it is cut to 7.
    std::vector<float> row = block({-8, 7, 8, 0.5f, -0.5f});
    row[16] = 3;
    row[19] = -7.6f;
    Bytes wanted(18, 0x88);
    wanted[0] = 0x00;
    wanted[1] = 0x3c;
    wanted[2] = 0xb0; // 3 + 8 above, -8 + 8 below
    wanted[3] = 0x8f;
    wanted[4] = 0x8f;
    wanted[5] = 0x09; // -7.6 above, 0.5 goes up
    wanted[6] = 0x88; // -0.5 goes up too
    expect_bytes(Format::q4_0, row, wanted);
    row[0] = 8; // now the first of the greatest is positive, and d = -1
    wanted[1] = 0xbc;
    wanted = stored_row(*all_backends().front(), Format::q4_0, row);
    EXPECT_EQ(wanted[1], 0xbc);
    EXPECT_EQ(numbers_in(wanted, Format::q4_0, 32)[0], 8);
    EXPECT_EQ(numbers_in(wanted, Format::q4_0, 32)[1], 7);
    EXPECT_EQ(numbers_in(wanted, Format::q4_0, 32)[16], 3);
}

TEST(Formats, ABlockOfQ5ZeroByHand) {
    std::vector<float> row = block({-16, 15, 0});
    row[17] = -3;
    Bytes wanted(22, 0x00); // 16 has an empty lower half, and its fifth bit
    wanted[1] = 0x3c;
    wanted[2] = 0xfe; // all but the first
    wanted[3] = 0xff;
    wanted[4] = 0xfd; // but for number 17, which is 13
    wanted[5] = 0xff;
    wanted[7] = 0xdf;
    expect_bytes(Format::q5_0, row, wanted);
}

TEST(Formats, ABlockOfQ4OneByHand) {
    std::vector<float> row(32, 2.0f);
    row[1] = 17;
    row[16] = 2.5f; // half a step goes up
    row[17] = 16.4f;
    Bytes wanted(20, 0x00);
    wanted[1] = 0x3c; // (17 - 2) / 15
    wanted[3] = 0x40; // 2
    wanted[4] = 0x10;
    wanted[5] = 0xef;
    expect_bytes(Format::q4_1, row, wanted);
}

TEST(Formats, Fp8ByHand) {
    expect_bytes(
        Format::fp8_e4m3,
        {1, -1.0625f, 1.1875f, 448, 464, 500, 1e30f, -1e30f, 0x1p-6f, 0x1p-9f, 0x1p-10f, 0x1.8p-9f,
         0x1.fp-7f, 0, -0.0f},
        {0x38, 0xb8, 0x3a, 0x7e, 0x7e, 0x7e, 0x7e, 0xfe, 0x08, 0x01, 0x00, 0x02, 0x08, 0x00, 0x80});
}

TEST(Formats, ABlockOfScaledFp8ByHand) {
    // The greatest size is 896 = 2 · 448, so d = 2, which is 0x40000000 in f32, least byte first.
    std::vector<float> row(128);
    row[0] = 2;
    row[1] = -896;
    row[32] = 895;   // 447.5, nearest to 448
    row[127] = 3.5f; // 1.75
    Bytes wanted(132, 0x00);
    wanted[0] = 0x38;
    wanted[1] = 0xfe;
    wanted[32] = 0x7e;
    wanted[127] = 0x3e;
    wanted[131] = 0x40;
    expect_bytes(Format::fp8_e4m3_128, row, wanted);
}

TEST(Formats, ABlockOfZerosGivesZerosBack) {
    for (const Format format : cache_formats)
        for (const auto& backend : all_backends()) {
            if (!can_store(format, Element::f32))
                continue;
            const std::int64_t size = block_of(format).elements;
            std::vector<float> zeros(size_of(size));
            const Bytes bytes = stored_row(*backend, format, zeros);
            for (const double number : numbers_in(bytes, format, size))
                ASSERT_EQ(number, 0) << name_of(format);
        }
}

/// Rows of 16-bit numbers; every fourth with tiny numbers, where scales are subnormal.
Bytes random_rows(std::int64_t rows, std::int64_t width, Element element) {
    Bytes bytes(size_of(rows * width * 2));
    for (std::int64_t row = 0; row < rows; ++row) {
        std::vector<std::uint16_t> halves(size_of(width));
        normal_halves(static_cast<std::uint64_t>(row) << 32 | 77, 0, width, element, halves.data());
        for (std::uint16_t& half : halves)
            if (row % 4 == 3 && (half & 0x7fff) != 0)
                half = static_cast<std::uint16_t>(half -
                                                  (element == Element::f16 ? 8 << 10 : 16 << 7));
        std::memcpy(bytes.data() + row * width * 2, halves.data(), size_of(width * 2));
    }
    return bytes;
}

TEST(Formats, EveryBackendStoresTheBytesThatTheReferenceExpects) {
    const std::int64_t rows = 400;
    for (const Element element : {Element::f16, Element::bf16})
        for (const Format format : cache_formats) {
            if (!can_store(format, element))
                continue;
            const std::int64_t width = divides(format, 96) ? 96 : 256;
            const Bytes source = random_rows(rows, width, element);
            std::vector<double> wanted = numbers_in(source, format_of(element), width);
            for (std::int64_t row = 0; row < rows; ++row)
                store_and_restore(format, width, wanted.data() + row * width);
            Bytes first;
            for (const auto& backend : all_backends()) {
                SCOPED_TRACE(std::string(name_of(format)) + " " + name_of_backend(*backend));
                Bytes plane(size_of(rows * stored_row_bytes(format, width)), 0xff);
                append_on(*backend, {nullptr, nullptr, 1, 1, width, rows, 0, rows, element, format},
                          source, plane);
                if (first.empty())
                    first = plane;
                ASSERT_EQ(plane, first);
                ASSERT_EQ(numbers_in(plane, format, width), wanted);
            }
        }
}

TEST(Formats, ARingOfQuantisedRowsKeepsTheLastTokens) {
    const std::int64_t rows = 2, width = 64, slots = 5;
    for (const Format format : {Format::q8_0, Format::q4_0, Format::fp8_e4m3, Format::q5_1,
                                Format::nvfp4, Format::mxfp8, Format::int8_per_token_head})
        for (const auto& backend : all_backends()) {
            Bytes plane(size_of(rows * slots * stored_row_bytes(format, width)), 0xff);
            const Bytes source = random_rows(12 * rows, width, Element::f16);
            append_on(*backend,
                      {nullptr, nullptr, 1, rows, width, slots, 3, 12, Element::f16, format},
                      source, plane);
            std::vector<double> wanted = numbers_in(source, Format::f16, width);
            for (std::int64_t i = 0; i < 12 * rows; ++i)
                store_and_restore(format, width, wanted.data() + i * width);
            const std::vector<double> got = numbers_in(plane, format, width);
            for (std::int64_t token = 7; token < 12; ++token)
                for (std::int64_t i = 0; i < rows * width; ++i)
                    ASSERT_EQ(got[size_of(((i / width) * slots + (3 + token) % slots) * width +
                                          i % width)],
                              wanted[size_of(token * rows * width + i)])
                        << name_of(format) << " " << name_of_backend(*backend);
        }
}

TEST(Formats, RefusesRowsThatDoNotDivideAndSixteenBitsOfTheOtherKind) {
    for (const auto& backend : all_backends()) {
        AppendView view{nullptr, nullptr, 1, 1, 80, 4, 0, 1, Element::f16, Format::q8_0};
        EXPECT_THROW(backend->append(view), Error);
        view.format = Format::bf16;
        EXPECT_THROW(backend->append(view), Error);
        AttentionView step{nullptr, nullptr, nullptr, nullptr, 1, 2,           1,
                           80,      80,      4,       4,       1, Element::f16};
        step.value_format = Format::q4_0;
        EXPECT_THROW(backend->attend(step, nullptr), Error);
        step.value_format = Format::fp8_e4m3_128; // rows of 128 only
        step.key_format = Format::f16;
        EXPECT_THROW(backend->attend(step, nullptr), Error);
        LatentView latent{nullptr, nullptr, nullptr, nullptr, nullptr, 1,           2,
                          64,      24,      4,       4,       1,       Element::f16};
        latent.format = Format::q8_0;
        EXPECT_THROW(backend->attend(latent, nullptr), Error);
    }
}

} // namespace
} // namespace kvcaliper::kernels::test
