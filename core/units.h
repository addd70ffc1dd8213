// SPDX-License-Identifier: Apache-2.0
// Bytes, tokens and exact ratios, and the only functions that turn them into text and back.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace kvcaliper {

/// a + b and a * b in 64 bits; throws Error when the result does not fit (never wraps).
std::int64_t checked_add(std::int64_t a, std::int64_t b);
std::int64_t checked_multiply(std::int64_t a, std::int64_t b);

/// A count of one thing. Counts of different things do not add up: Tokens + Bytes does not compile.
template <typename Tag> class Count {
  public:
    constexpr Count() = default;
    constexpr explicit Count(std::int64_t count) : count_(count) {}
    constexpr std::int64_t count() const { return count_; }
    friend Count operator+(Count a, Count b) { return Count(checked_add(a.count_, b.count_)); }
    friend Count operator-(Count a, Count b) { return Count(checked_add(a.count_, -b.count_)); }
    friend Count operator*(Count a, std::int64_t n) { return Count(checked_multiply(a.count_, n)); }
    friend Count operator*(std::int64_t n, Count a) { return a * n; }
    Count& operator+=(Count other) { return *this = *this + other; }
    friend constexpr auto operator<=>(Count, Count) = default;

  private:
    std::int64_t count_ = 0;
};

using Bytes = Count<struct BytesTag>;
using Tokens = Count<struct TokensTag>;

/// An exact rational number in lowest terms with a positive denominator. 64-bit parts, 128-bit
/// intermediates; throws Error when a result does not fit.
class Ratio {
  public:
    constexpr Ratio() = default;
    constexpr Ratio(std::int64_t whole) : numerator_(whole) {} // NOLINT: integers are ratios
    Ratio(std::int64_t numerator, std::int64_t denominator);

    std::int64_t numerator() const { return numerator_; }
    std::int64_t denominator() const { return denominator_; }
    bool is_integer() const { return denominator_ == 1; }
    /// The value as an integer; throws Error when it is not one.
    std::int64_t to_integer() const;
    /// The integer next to it, below and above.
    std::int64_t floor() const;
    std::int64_t ceiling() const;
    /// For drawing only: never feeds a printed byte count.
    double to_double() const;
    /// "81920" or "2725/2".
    std::string to_string() const;

    friend Ratio operator+(const Ratio& a, const Ratio& b);
    friend Ratio operator-(const Ratio& a, const Ratio& b);
    friend Ratio operator*(const Ratio& a, const Ratio& b);
    friend Ratio operator/(const Ratio& a, const Ratio& b);
    friend bool operator==(const Ratio&, const Ratio&) = default;
    friend std::strong_ordering operator<=>(const Ratio& a, const Ratio& b);

  private:
    std::int64_t numerator_ = 0;
    std::int64_t denominator_ = 1;
};

/// A decimal as somebody wrote it: "68.6" is value 343/5, step 1/10 (the weight of its last digit).
struct WrittenNumber {
    Ratio value;
    Ratio step;
};

/// Reads "300", "68.6", "1,228,800"; throws Error for anything else.
WrittenNumber parse_written_number(std::string_view text);

/// Bytes of one "KiB", "MB", "B", … (case of the prefix is free, "KB" is 1000). Throws for others.
std::int64_t bytes_of_unit(std::string_view unit);

/// "8192", "128K" (131,072), "1M" (1,048,576). At least 1. Throws Error otherwise.
Tokens parse_tokens(std::string_view text);

/// "80GiB", "80 GB", "1073741824": a size that is a whole number of bytes. Throws Error otherwise.
Bytes parse_bytes(std::string_view text);

/// "1,234,567".
std::string format_integer(std::int64_t value);
/// IEC with three or four significant digits: "68.6 KiB", "300 KiB", "10.4 GiB", "0 B". Rounds half
/// up.
std::string format_bytes(Bytes bytes);
/// The same for a rational number of bytes (a slope): "5.41 KiB".
std::string format_bytes(const Ratio& bytes);
/// "1.03 GiB (1,107,296,256 B)".
std::string format_bytes_exact(Bytes bytes);
/// Powers of two as "8K", "128K", "1M"; everything else in digits: "1,000".
std::string format_tokens(Tokens tokens);
/// A plain decimal with so many digits after the point, rounded half up: format_decimal(7/2, 1) =
/// "3.5".
std::string format_decimal(const Ratio& value, int digits);

} // namespace kvcaliper
