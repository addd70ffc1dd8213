// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference_formats.h"

#include <algorithm>
#include <cmath>

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

void affine_4bit(double* x) {
    const auto [low, high] = std::minmax_element(x, x + block);
    const double least = *low, d = as_float(as_float(*high - least) / 15);
    const double scale = as_f16(d), offset = as_f16(least), by = inverse(d);
    for (std::int64_t i = 0; i < block; ++i) {
        const double quant = std::floor(as_float(as_float(as_float(x[i] - least) * by) + 0.5));
        x[i] = std::min(quant, 15.0) * scale + offset;
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
            affine_4bit(row + i);
        return;
    case Format::fp8_e4m3_128:
        for (std::int64_t i = 0; i < width; i += 128)
            scaled_8bit_floats(row + i);
        return;
    }
}

} // namespace kvcaliper::kernels
