// SPDX-License-Identifier: Apache-2.0
#include "core/units.h"

#include "core/error.h"

#include <array>
#include <charconv>
#include <limits>
#include <numeric>
#include <optional>

namespace kvcaliper {

namespace {

__extension__ using Wide = __int128;

[[noreturn]] void overflow() {
    throw Error("the result does not fit 64 bits: expected less than 2^63");
}

std::int64_t narrow(Wide value) {
    if (value > std::numeric_limits<std::int64_t>::max() ||
        value < std::numeric_limits<std::int64_t>::min()) {
        overflow();
    }
    return static_cast<std::int64_t>(value);
}

Wide wide_gcd(Wide a, Wide b) {
    if (a < 0) {
        a = -a;
    }
    while (b != 0) {
        const Wide rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

Ratio reduce(Wide numerator, Wide denominator) {
    const Wide divisor = wide_gcd(numerator, denominator);
    return Ratio(narrow(numerator / divisor), narrow(denominator / divisor));
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && text.front() == ' ') {
        text.remove_prefix(1);
    }
    while (!text.empty() && text.back() == ' ') {
        text.remove_suffix(1);
    }
    return text;
}

/// Splits "80 GiB" into "80" and "GiB".
std::pair<std::string_view, std::string_view> split_unit(std::string_view text) {
    text = trim(text);
    std::size_t end = 0;
    while (end < text.size() && (is_digit(text[end]) || text[end] == '.' || text[end] == ',')) {
        ++end;
    }
    return {text.substr(0, end), trim(text.substr(end))};
}

/// value = magnitude × 2^k or 10^k, by the prefix letter; 0 when there is no such letter.
std::int64_t prefix_power(char letter, std::int64_t base) {
    constexpr std::string_view prefixes = "kmgtpe";
    const auto at = prefixes.find(lower(letter));
    if (at == std::string_view::npos) {
        return 0;
    }
    std::int64_t power = 1;
    for (std::size_t i = 0; i <= at; ++i) {
        power *= base;
    }
    return power;
}

/// The bytes of a unit, or nothing for a word that is no unit.
std::optional<std::int64_t> unit_bytes(std::string_view unit) {
    if (unit == "B" || unit == "b" || unit == "bytes" || unit == "byte") {
        return 1;
    }
    if (unit.size() == 2 && lower(unit[1]) == 'b') {
        const std::int64_t power = prefix_power(unit[0], 1000);
        return power == 0 ? std::nullopt : std::optional(power);
    }
    if (unit.size() == 3 && lower(unit[1]) == 'i' && lower(unit[2]) == 'b') {
        const std::int64_t power = prefix_power(unit[0], 1024);
        return power == 0 ? std::nullopt : std::optional(power);
    }
    return std::nullopt;
}

/// value / unit with `digits` after the point, as an integer of that many decimals, half up.
Wide scaled(const Ratio& value, std::int64_t unit, int digits) {
    Wide scale = 1;
    for (int i = 0; i < digits; ++i) {
        scale *= 10;
    }
    const Wide denominator = Wide{value.denominator()} * unit;
    return (Wide{value.numerator()} * scale * 2 + denominator) / (denominator * 2);
}

std::string wide_to_string(Wide value) {
    return std::to_string(narrow(value));
}

/// 12345 with 2 digits is "123.45"; trailing zeros after the point go when `strip`.
std::string place_point(Wide value, int digits, bool strip) {
    std::string text = wide_to_string(value);
    if (digits == 0) {
        return text;
    }
    const auto places = static_cast<std::size_t>(digits);
    if (text.size() <= places) {
        text.insert(0, places + 1 - text.size(), '0');
    }
    text.insert(text.size() - places, ".");
    if (strip) {
        while (text.back() == '0') {
            text.pop_back();
        }
        if (text.back() == '.') {
            text.pop_back();
        }
    }
    return text;
}

constexpr std::array<std::string_view, 7> iec_units = {"B",   "KiB", "MiB", "GiB",
                                                       "TiB", "PiB", "EiB"};

/// Digits after the point that leave three significant ones: 9.99, 99.9, 999.
int digits_for(const Ratio& value, std::int64_t unit) {
    if (scaled(value, unit, 2) < 1000) {
        return 2;
    }
    return scaled(value, unit, 1) < 1000 ? 1 : 0;
}

} // namespace

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
    return narrow(Wide{a} + b);
}

std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
    return narrow(Wide{a} * b);
}

Ratio::Ratio(std::int64_t numerator, std::int64_t denominator) {
    if (denominator == 0) {
        throw Error("a ratio with denominator 0");
    }
    const std::int64_t divisor = std::gcd(numerator, denominator) * (denominator < 0 ? -1 : 1);
    numerator_ = numerator / divisor;
    denominator_ = denominator / divisor;
}

std::int64_t Ratio::to_integer() const {
    if (!is_integer()) {
        throw Error("expected a whole number, found " + to_string());
    }
    return numerator_;
}

std::int64_t Ratio::floor() const {
    const std::int64_t towards_zero = numerator_ / denominator_;
    return towards_zero - (numerator_ < 0 && !is_integer() ? 1 : 0);
}

std::int64_t Ratio::ceiling() const {
    return is_integer() ? numerator_ : floor() + 1;
}

double Ratio::to_double() const {
    return static_cast<double>(numerator_) / static_cast<double>(denominator_);
}

std::string Ratio::to_string() const {
    const std::string whole = std::to_string(numerator_);
    return is_integer() ? whole : whole + "/" + std::to_string(denominator_);
}

Ratio operator+(const Ratio& a, const Ratio& b) {
    return reduce(Wide{a.numerator_} * b.denominator_ + Wide{b.numerator_} * a.denominator_,
                  Wide{a.denominator_} * b.denominator_);
}

Ratio operator-(const Ratio& a, const Ratio& b) {
    return a + Ratio(checked_multiply(b.numerator_, -1), b.denominator_);
}

Ratio operator*(const Ratio& a, const Ratio& b) {
    return reduce(Wide{a.numerator_} * b.numerator_, Wide{a.denominator_} * b.denominator_);
}

Ratio operator/(const Ratio& a, const Ratio& b) {
    if (b.numerator_ == 0) {
        throw Error("a ratio to 0");
    }
    return a * Ratio(b.denominator_, b.numerator_);
}

std::strong_ordering operator<=>(const Ratio& a, const Ratio& b) {
    const Wide left = Wide{a.numerator_} * b.denominator_;
    const Wide right = Wide{b.numerator_} * a.denominator_;
    if (left == right) {
        return std::strong_ordering::equal;
    }
    return left < right ? std::strong_ordering::less : std::strong_ordering::greater;
}

WrittenNumber parse_written_number(std::string_view text) {
    const std::string found(text);
    std::int64_t digits = 0;
    std::int64_t scale = 1;
    bool point = false;
    bool any = false;
    for (const char c : trim(text)) {
        if (c == '.' && !point) {
            point = true;
        } else if (c == ',' && any && !point) {
            continue;
        } else if (is_digit(c)) {
            any = true;
            digits = checked_add(checked_multiply(digits, 10), c - '0');
            scale = point ? checked_multiply(scale, 10) : scale;
        } else {
            any = false;
            break;
        }
    }
    if (!any) {
        throw Error("expected a decimal number, found \"" + found + "\"");
    }
    return {Ratio(digits, scale), Ratio(1, scale)};
}

std::int64_t bytes_of_unit(std::string_view unit) {
    const auto bytes = unit_bytes(unit);
    if (!bytes) {
        throw Error("expected a unit of bytes (B, KB, KiB, MB, MiB, GB, GiB …), found \"" +
                    std::string(unit) + "\"");
    }
    return *bytes;
}

Tokens parse_tokens(std::string_view text) {
    const auto [number, suffix] = split_unit(text);
    const std::int64_t power = suffix.empty()       ? 1
                               : suffix.size() == 1 ? prefix_power(suffix[0], 1024)
                                                    : 0;
    const std::string expected = "expected a count of tokens such as 8192 or 128K, found \"";
    if (number.empty() || power == 0) {
        throw Error(expected + std::string(text) + "\"");
    }
    const Ratio value = parse_written_number(number).value * power;
    if (!value.is_integer() || value < Ratio(1)) {
        throw Error(expected + std::string(text) + "\"");
    }
    return Tokens(value.to_integer());
}

Bytes parse_bytes(std::string_view text) {
    const auto [number, suffix] = split_unit(text);
    const std::int64_t unit = suffix.empty() ? 1 : bytes_of_unit(suffix);
    const Ratio value = parse_written_number(number).value * unit;
    if (!value.is_integer()) {
        throw Error("expected a whole number of bytes, found \"" + std::string(text) + "\"");
    }
    return Bytes(value.to_integer());
}

std::string format_integer(std::int64_t value) {
    std::string text = std::to_string(value);
    const std::size_t first = value < 0 ? 1 : 0;
    for (std::size_t at = text.size(); at > first + 3; at -= 3) {
        text.insert(at - 3, ",");
    }
    return text;
}

std::string format_bytes(const Ratio& bytes) {
    std::int64_t unit = 1;
    std::size_t index = 0;
    while (index + 1 < iec_units.size() && scaled(bytes, unit, 0) >= 1024) {
        unit *= 1024;
        ++index;
    }
    const int digits = digits_for(bytes, unit);
    return place_point(scaled(bytes, unit, digits), digits, true) + " " +
           std::string(iec_units[index]);
}

std::string format_bytes(Bytes bytes) {
    return format_bytes(Ratio(bytes.count()));
}

std::string format_bytes_exact(Bytes bytes) {
    const std::string exact = format_integer(bytes.count()) + " B";
    return bytes.count() < 1024 ? exact : format_bytes(bytes) + " (" + exact + ")";
}

std::string format_tokens(Tokens tokens) {
    const std::int64_t count = tokens.count();
    if (count >= 1 << 20 && count % (1 << 20) == 0) {
        return format_integer(count >> 20) + "M";
    }
    if (count >= 1024 && count % 1024 == 0) {
        return format_integer(count >> 10) + "K";
    }
    return format_integer(count);
}

std::string format_decimal(const Ratio& value, int digits) {
    return place_point(scaled(value, 1, digits), digits, false);
}

} // namespace kvcaliper
