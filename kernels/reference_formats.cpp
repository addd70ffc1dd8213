// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference_formats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

namespace kvcaliper::kernels {
namespace {

constexpr std::int64_t block = 32;

/// To a float and back. A quotient or product of two floats that is rounded to double first gives
/// the same float.
double as_float(double value) {
    return static_cast<double>(static_cast<float>(value));
}

/// Rounds to so many significant bits, but never finer than 2^lowest; ties to even.
double rounded(double value, int bits, int lowest) {
    if (value == 0)
        return 0;
    const int unit = std::max(std::ilogb(value) - (bits - 1), lowest);
    return std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
}

double as_f16(double value) {
    return rounded(value, 11, -24);
}

double as_fp8_e4m3(double value) {
    return std::clamp(rounded(value, 4, -9), -448.0, 448.0);
}

double inverse(double d) {
    return d == 0 ? 0 : as_float(1 / d);
}

/// Of the numbers of the greatest size the first.
double greatest(const double* x) {
    return *std::max_element(x, x + block,
                             [](double a, double b) { return std::abs(a) < std::abs(b); });
}

void symmetric_8bit(double* x) {
    const double d = as_float(std::abs(greatest(x)) / 127), scale = as_f16(d);
    const double by = inverse(d);
    for (std::int64_t i = 0; i < block; ++i)
        x[i] = std::round(as_float(x[i] * by)) * scale; // halves away from zero
}

/// Quants 0 … 2 · half - 1 around `half`; the greatest number becomes quant 0.
void signed_quants(double* x, double half) {
    const double d = as_float(greatest(x) / -half), scale = as_f16(d);
    const double by = inverse(d);
    for (std::int64_t i = 0; i < block; ++i) {
        const double quant = std::floor(as_float(as_float(x[i] * by) + (half + 0.5)));
        x[i] = (std::min(quant, 2 * half - 1) - half) * scale;
    }
}

/// Quants 0 … most above the least number.
void affine_quants(double* x, double most) {
    const auto [low, high] = std::minmax_element(x, x + block);
    const double least = *low, d = as_float(as_float(*high - least) / most);
    const double scale = as_f16(d), offset = as_f16(least), by = inverse(d);
    for (std::int64_t i = 0; i < block; ++i) {
        const double quant = std::floor(as_float(as_float(as_float(x[i] - least) * by) + 0.5));
        x[i] = std::min(quant, most) * scale + offset;
    }
}

/// Sixteen levels, denser around zero (ggml: kvalues_iq4nl).
double nearest_level(double x) {
    constexpr std::array levels{-127, -104, -83, -65, -49, -35, -22, -10,
                                1,    13,   25,  38,  53,  69,  89,  113};
    double best = levels[0];
    for (const int level : levels)
        if (std::abs(x - level) <= std::abs(x - best)) // between two the upper one
            best = level;
    return best;
}

/// The sum of the two halves of the numbers added pairwise, again and again, each sum a float.
double paired_sum(std::span<const double> numbers) {
    if (numbers.size() == 1)
        return numbers[0];
    std::vector<double> sums(numbers.size() / 2);
    for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] = as_float(numbers[i] + numbers[i + sums.size()]);
    return paired_sum(sums);
}

/// Levels around which the block's scale is fitted, number by number weighed with its square.
void fitted_levels(double* x) {
    const double most = greatest(x);
    if (std::abs(most) < static_cast<double>(1e-15f))
        return std::fill(x, x + block, 0.0);
    const double by = inverse(as_float(most / -127));
    std::vector<double> levels, products, squares;
    for (std::int64_t i = 0; i < block; ++i) {
        levels.push_back(nearest_level(as_float(x[i] * by)));
        const double weighed = as_float(as_float(x[i] * x[i]) * levels.back());
        products.push_back(as_float(weighed * x[i]));
        squares.push_back(as_float(weighed * levels.back()));
    }
    const double scale = as_f16(as_float(paired_sum(products) / paired_sum(squares)));
    std::transform(levels.begin(), levels.end(), x, [&](double level) { return level * scale; });
}

double size_of(const double* x, std::int64_t count) {
    double size = 0;
    for (std::int64_t i = 0; i < count; ++i)
        size = std::max(size, std::abs(x[i]));
    return size;
}

/// 4-bit floats of one bit behind the point, subnormal below 1; their scale is an 8-bit float.
void scaled_4bit_floats(double* x) {
    constexpr std::int64_t numbers = 16;
    const double scale = as_fp8_e4m3(as_float(size_of(x, numbers) / 6)), by = inverse(scale);
    for (std::int64_t i = 0; i < numbers; ++i)
        x[i] = std::clamp(rounded(as_float(x[i] * by), 2, -1), -6.0, 6.0) * scale;
}

/// 8-bit floats under a power of two; what is more than 448 of it is cut.
void microscaled_8bit_floats(double* x) {
    const double size = size_of(x, block);
    const int exponent = size == 0 ? -127 : std::max(std::ilogb(size) - 8, -127);
    for (std::int64_t i = 0; i < block; ++i)
        x[i] = std::ldexp(as_fp8_e4m3(as_float(std::ldexp(x[i], -exponent))), exponent);
}

/// A row of 8-bit floats or integers with one scale.
void scaled_row(double* x, std::int64_t width, bool floats) {
    const double most = floats ? 448 : 127;
    const double scale = std::max(as_float(size_of(x, width) / most), static_cast<double>(1e-6f));
    const double by = inverse(scale);
    for (std::int64_t i = 0; i < width; ++i) {
        const double number = as_float(x[i] * by);
        const double integer = std::trunc(as_float(number + (number < 0 ? -0.5 : 0.5)));
        x[i] = (floats ? as_fp8_e4m3(number) : std::clamp(integer, -128.0, 127.0)) * scale;
    }
}

/// A block of 128 with a scale that is not rounded beyond a float.
void scaled_8bit_floats(double* x) {
    constexpr std::int64_t numbers = 128;
    double size = 0;
    for (std::int64_t i = 0; i < numbers; ++i)
        size = std::max(size, std::abs(x[i]));
    const double scale = as_float(size / 448), by = inverse(scale);
    for (std::int64_t i = 0; i < numbers; ++i)
        x[i] = as_fp8_e4m3(as_float(x[i] * by)) * scale;
}

} // namespace

double rounded_to(Element element, double value) {
    switch (element) {
    case Element::f16:
        return as_f16(value);
    case Element::bf16:
        return rounded(value, 8, -133);
    case Element::f32:
        break;
    }
    return as_float(value);
}

void store_and_restore(Format format, std::int64_t width, double* row) {
    switch (format) {
    case Format::f16:
    case Format::bf16:
    case Format::f32:
        return; // the values are such numbers already
    case Format::fp8_e4m3:
        std::transform(row, row + width, row, as_fp8_e4m3);
        return;
    case Format::q8_0:
        for (std::int64_t i = 0; i < width; i += block)
            symmetric_8bit(row + i);
        return;
    case Format::q4_0:
        for (std::int64_t i = 0; i < width; i += block)
            signed_quants(row + i, 8);
        return;
    case Format::q5_0:
        for (std::int64_t i = 0; i < width; i += block)
            signed_quants(row + i, 16);
        return;
    case Format::q4_1:
        for (std::int64_t i = 0; i < width; i += block)
            affine_quants(row + i, 15);
        return;
    case Format::fp8_e4m3_128:
        for (std::int64_t i = 0; i < width; i += 128)
            scaled_8bit_floats(row + i);
        return;
    case Format::q5_1:
        for (std::int64_t i = 0; i < width; i += block)
            affine_quants(row + i, 31);
        return;
    case Format::iq4_nl:
        for (std::int64_t i = 0; i < width; i += block)
            fitted_levels(row + i);
        return;
    case Format::nvfp4:
        for (std::int64_t i = 0; i < width; i += 16)
            scaled_4bit_floats(row + i);
        return;
    case Format::mxfp8:
        for (std::int64_t i = 0; i < width; i += block)
            microscaled_8bit_floats(row + i);
        return;
    case Format::fp8_per_token_head:
    case Format::int8_per_token_head:
        return scaled_row(row, width, format == Format::fp8_per_token_head);
    case Format::kivi_2bit:
    case Format::kivi_4bit:
    case Format::kivi_2bit_r32:
    case Format::kivi_4bit_r32:
    case Format::kivi_2bit_g64:
    case Format::kivi_4bit_g64:
    case Format::kivi_2bit_g128:
    case Format::kivi_4bit_g128:
        for (std::int64_t i = 0; i < width; i += packing_of(format).group)
            pack_and_restore(format, row + i, 1);
        return;
    }
}

/// Codes above the least number; the scale, an f16 number, is what they are made with, too.
void pack_and_restore(Format format, double* group, std::int64_t step) {
    const Packing packing = packing_of(format);
    const double most = std::exp2(packing.bits) - 1;
    double low = group[0], high = group[0];
    for (std::int64_t i = 1; i < packing.group; ++i) {
        low = std::min(low, group[i * step]);
        high = std::max(high, group[i * step]);
    }
    const double scale = as_f16(as_float(as_float(high - low) / most));
    for (std::int64_t i = 0; i < packing.group; ++i) {
        double& x = group[i * step];
        const double place = scale == 0 ? 0 : as_float(as_float(x - low) / scale);
        x = std::min(std::nearbyint(place), most) * scale + low; // halves to even
    }
}

} // namespace kvcaliper::kernels
