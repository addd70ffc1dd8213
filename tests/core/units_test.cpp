// SPDX-License-Identifier: Apache-2.0
#include "core/units.h"

#include "core/error.h"

#include <gtest/gtest.h>
#include <limits>

namespace kvcaliper {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

TEST(Units, SumsAndProductsNeverWrap) {
    EXPECT_EQ(checked_add(most - 1, 1), most);
    EXPECT_THROW(checked_add(most, 1), Error);
    EXPECT_THROW(checked_multiply(std::int64_t{1} << 32, std::int64_t{1} << 31), Error);
    EXPECT_THROW(Bytes(most) + Bytes(1), Error);
    EXPECT_THROW(Tokens(most) * 2, Error);
}

TEST(Units, RatiosAreExactAndInLowestTerms) {
    EXPECT_EQ(Ratio(6, 4).to_string(), "3/2");
    EXPECT_EQ(Ratio(6, -4).to_string(), "-3/2");
    EXPECT_EQ(Ratio(1, 4) + Ratio(1, 128), Ratio(33, 128));
    EXPECT_EQ(Ratio(1, 3) - Ratio(1, 3), Ratio(0));
    EXPECT_EQ(Ratio(2, 3) / Ratio(4, 3), Ratio(1, 2));
    EXPECT_LT(Ratio(1, 3), Ratio(34, 100));
    EXPECT_EQ(Ratio(10, 5).to_integer(), 2);
    EXPECT_THROW(Ratio(1, 2).to_integer(), Error);
    EXPECT_EQ(Ratio(7, 2).floor(), 3);
    EXPECT_EQ(Ratio(7, 2).ceiling(), 4);
    EXPECT_EQ(Ratio(-7, 2).floor(), -4);
    EXPECT_EQ(Ratio(-7, 2).ceiling(), -3);
    EXPECT_EQ(Ratio(-4).floor(), -4);
    EXPECT_EQ(Ratio(-4).ceiling(), -4);
    EXPECT_THROW(Ratio(1, 0), Error);
    EXPECT_THROW(Ratio(1) / Ratio(0), Error);
    EXPECT_THROW(Ratio(most) * Ratio(2), Error);
    EXPECT_EQ(Ratio(most) * Ratio(1, most), Ratio(1)); // a 128-bit intermediate
}

TEST(Units, WrittenNumbersKeepTheirLastDigit) {
    EXPECT_EQ(parse_written_number("300").value, Ratio(300));
    EXPECT_EQ(parse_written_number("300").step, Ratio(1));
    EXPECT_EQ(parse_written_number("68.6").value, Ratio(343, 5));
    EXPECT_EQ(parse_written_number("68.6").step, Ratio(1, 10));
    EXPECT_EQ(parse_written_number("5.40").step, Ratio(1, 100));
    EXPECT_EQ(parse_written_number("1,228,800").value, Ratio(1228800));
    for (const char* wrong : {"", " ", "x", "1.2.3", "-3", "1e6", "12 KiB", ","}) {
        EXPECT_THROW(parse_written_number(wrong), Error) << wrong;
    }
}

TEST(Units, TokensReadPowersOfTwo) {
    EXPECT_EQ(parse_tokens("8192"), Tokens(8192));
    EXPECT_EQ(parse_tokens("128K"), Tokens(131072));
    EXPECT_EQ(parse_tokens("128k"), Tokens(131072));
    EXPECT_EQ(parse_tokens("1M"), Tokens(1048576));
    EXPECT_EQ(parse_tokens("0.5K"), Tokens(512));
    EXPECT_EQ(parse_tokens("128000"), Tokens(128000));
    for (const char* wrong : {"0", "-5", "", "K", "1.5", "12KiB", "12X", "8 192x", "9000000T"}) {
        EXPECT_THROW(parse_tokens(wrong), Error) << wrong;
    }
}

TEST(Units, BytesReadBothFamiliesOfUnits) {
    EXPECT_EQ(parse_bytes("80GiB"), Bytes(85899345920));
    EXPECT_EQ(parse_bytes("80 GB"), Bytes(80000000000));
    EXPECT_EQ(parse_bytes("1024"), Bytes(1024));
    EXPECT_EQ(parse_bytes("1.5 KiB"), Bytes(1536));
    EXPECT_EQ(bytes_of_unit("KB"), 1000);
    EXPECT_EQ(bytes_of_unit("kB"), 1000);
    EXPECT_EQ(bytes_of_unit("MiB"), 1048576);
    EXPECT_THROW(parse_bytes("0.3 B"), Error);
    EXPECT_THROW(parse_bytes("80 furlongs"), Error);
    EXPECT_THROW(bytes_of_unit("Kb2"), Error);
}

TEST(Units, BytesAreWrittenWithThreeOrFourDigits) {
    EXPECT_EQ(format_bytes(Bytes(0)), "0 B");
    EXPECT_EQ(format_bytes(Bytes(1023)), "1023 B");
    EXPECT_EQ(format_bytes(Bytes(1024)), "1 KiB");
    EXPECT_EQ(format_bytes(Bytes(307200)), "300 KiB");
    EXPECT_EQ(format_bytes(Bytes(70272)), "68.6 KiB");       // 68.625
    EXPECT_EQ(format_bytes(Bytes(11173625856)), "10.4 GiB"); // 10.4062
    EXPECT_EQ(format_bytes(Bytes(2516582400)), "2.34 GiB");  // 2.34375
    EXPECT_EQ(format_bytes(Bytes((1 << 20) - 1)), "1 MiB");  // never "1024 KiB"
    EXPECT_EQ(format_bytes(Ratio(11072, 2)), "5.41 KiB");    // 5.40625
    EXPECT_EQ(format_bytes(Ratio(1, 2)), "0.5 B");
    EXPECT_EQ(format_bytes(Bytes(most)), "8 EiB");
    EXPECT_EQ(format_bytes_exact(Bytes(307200)), "300 KiB (307,200 B)");
    EXPECT_EQ(format_bytes_exact(Bytes(12)), "12 B");
}

TEST(Units, CountsAreWrittenForPeople) {
    EXPECT_EQ(format_integer(0), "0");
    EXPECT_EQ(format_integer(999), "999");
    EXPECT_EQ(format_integer(1000), "1,000");
    EXPECT_EQ(format_integer(-1234567), "-1,234,567");
    EXPECT_EQ(format_tokens(Tokens(131072)), "128K");
    EXPECT_EQ(format_tokens(Tokens(1048576)), "1M");
    EXPECT_EQ(format_tokens(Tokens(1000)), "1,000");
    EXPECT_EQ(format_decimal(Ratio(1367, 320), 2), "4.27");
    EXPECT_EQ(format_decimal(Ratio(1, 8), 2), "0.13");
}

} // namespace
} // namespace kvcaliper
