// SPDX-License-Identifier: Apache-2.0
#include "format_rows.h"

#include "core/error.h"
#include "kernels/backend_cpu.h"
#if defined(KVCALIPER_HAVE_EMULATED)
#include "kernels/backend_emulated.h"
#endif

#include <cmath>
#include <cstring>
#include <limits>

namespace kvcaliper::kernels::test {
namespace {

double half_at(const unsigned char* at) {
    const int bits = at[0] | at[1] << 8, exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31  ? std::numeric_limits<double>::quiet_NaN()
                        : exponent == 0 ? std::ldexp(fraction, -24)
                                        : std::ldexp(1024 + fraction, exponent - 25);
    return (bits & 0x8000) != 0 ? -size : size;
}

double float_with(std::uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return static_cast<double>(value);
}

double fp8_at(const unsigned char* at) {
    const int exponent = *at >> 3 & 15, fraction = *at & 7;
    const double size = (*at & 127) == 127 ? std::numeric_limits<double>::quiet_NaN()
                        : exponent == 0    ? std::ldexp(fraction, -9)
                                           : std::ldexp(8 + fraction, exponent - 10);
    return (*at & 128) != 0 ? -size : size;
}

double float_at(const unsigned char* at) {
    std::uint32_t bits;
    std::memcpy(&bits, at, sizeof bits);
    return float_with(bits);
}

/// Number i of a row whose scales lie behind its numbers.
double number_in_row(const unsigned char* row, std::int64_t width, std::int64_t i, Format format) {
    constexpr double e2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    const int nibble = i % 2 == 0 ? row[i / 2] & 15 : row[i / 2] >> 4;
    switch (format) {
    case Format::nvfp4:
        return (nibble < 8 ? e2m1[nibble] : -e2m1[nibble - 8]) * fp8_at(row + width / 2 + i / 16);
    case Format::mxfp8:
        return std::ldexp(fp8_at(row + i), row[width + i / 32] - 127);
    case Format::fp8_per_token_head:
        return fp8_at(row + i) * float_at(row + width);
    default:
        return static_cast<std::int8_t>(row[i]) * float_at(row + width);
    }
}

/// Number i of the block that starts there.
double number_at(const unsigned char* block, int i, Format format) {
    const auto nibble = [&](const unsigned char* bytes) {
        return i < 16 ? bytes[i] & 15 : bytes[i - 16] >> 4;
    };
    const double d = format == Format::fp8_e4m3 ? 1 : half_at(block);
    switch (format) {
    case Format::f16:
        return d;
    case Format::bf16:
        return float_with(static_cast<std::uint32_t>(block[0]) << 16 |
                          static_cast<std::uint32_t>(block[1]) << 24);
    case Format::f32: {
        std::uint32_t bits;
        std::memcpy(&bits, block, sizeof bits);
        return float_with(bits);
    }
    case Format::fp8_e4m3:
        return fp8_at(block);
    case Format::fp8_e4m3_128: {
        std::uint32_t bits;
        std::memcpy(&bits, block + 128, sizeof bits);
        return fp8_at(block + i) * float_with(bits);
    }
    case Format::q8_0:
        return d * (block[2 + i] < 128 ? block[2 + i] : block[2 + i] - 256);
    case Format::q4_0:
        return d * (nibble(block + 2) - 8);
    case Format::q5_0:
        return d * ((nibble(block + 6) | (block[2 + i / 8] >> i % 8 & 1) << 4) - 16);
    case Format::q4_1:
        return d * nibble(block + 4) + half_at(block + 2);
    case Format::q5_1:
        return d * (nibble(block + 8) | (block[4 + i / 8] >> i % 8 & 1) << 4) + half_at(block + 2);
    case Format::iq4_nl: {
        constexpr int levels[] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                  1,    13,   25,  38,  53,  69,  89,  113};
        return d * levels[nibble(block + 2)];
    }
    default: // number_in_row's
        return 0;
    }
}

} // namespace

std::size_t size_of(std::int64_t count) {
    return static_cast<std::size_t>(count);
}

std::vector<std::shared_ptr<Backend>> all_backends() {
    std::vector<std::shared_ptr<Backend>> backends;
    for (const VectorKernels* kernels : usable_vector_kernels())
        backends.push_back(make_cpu_backend(*kernels));
#if defined(KVCALIPER_HAVE_EMULATED)
    backends.push_back(make_emulated_backend());
    backends.push_back(make_emulated_tensor_backend());
#endif
    try {
        backends.push_back(make_cuda_backend());
    } catch (const Error&) { // no GPU: what it says is cuda_backend_test's business
    }
    return backends;
}

std::string name_of_backend(const Backend& backend) {
    const std::string name = backend.info().name;
    return backend.info().backend + name.substr(name.rfind(' '));
}

std::vector<double> numbers_in(const Bytes& rows, Format format, std::int64_t width) {
    const FormatBlock block = block_of(format);
    std::vector<double> numbers;
    if (scales_behind(format)) {
        for (std::size_t at = 0; at < rows.size(); at += size_of(stored_row_bytes(format, width)))
            for (std::int64_t i = 0; i < width; ++i)
                numbers.push_back(number_in_row(rows.data() + at, width, i, format));
        return numbers;
    }
    for (std::size_t at = 0; at < rows.size(); at += size_of(block.bytes))
        for (int i = 0; i < block.elements; ++i)
            numbers.push_back(number_at(rows.data() + at, i, format));
    return numbers;
}

void append_on(Backend& backend, AppendView view, const Bytes& source, Bytes& plane) {
    const auto from_bytes = static_cast<std::int64_t>(source.size());
    const auto to_bytes = static_cast<std::int64_t>(plane.size());
    void* from = backend.allocate(from_bytes);
    void* to = backend.allocate(to_bytes);
    backend.write(from, source.data(), from_bytes);
    backend.write(to, plane.data(), to_bytes);
    view.source = from;
    view.plane = to;
    backend.append(view);
    backend.synchronize();
    backend.read(plane.data(), to, to_bytes);
    backend.synchronize();
    backend.release(from, from_bytes);
    backend.release(to, to_bytes);
}

Bytes stored_row(Backend& backend, Format format, const std::vector<float>& row) {
    const auto width = static_cast<std::int64_t>(row.size());
    Bytes source(row.size() * 4);
    std::memcpy(source.data(), row.data(), source.size());
    Bytes plane(size_of(stored_row_bytes(format, width)), 0xff);
    append_on(backend, {nullptr, nullptr, 1, 1, width, 1, 0, 1, Element::f32, format}, source,
              plane);
    return plane;
}

} // namespace kvcaliper::kernels::test
