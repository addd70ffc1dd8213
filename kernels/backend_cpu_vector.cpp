// SPDX-License-Identifier: Apache-2.0
// The table of one build, and its small loops.
#include "kernels/backend_cpu_simd.h"

namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT {
namespace {

void exponentials(const float* x, float* y, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += lanes) {
        float in[lanes] = {}, out[lanes];
        const std::int64_t n = count - i < lanes ? count - i : lanes;
        for (std::int64_t j = 0; j < n; ++j)
            in[j] = x[i + j];
        store(out, exponential(load(in)));
        for (std::int64_t j = 0; j < n; ++j)
            y[i + j] = out[j];
    }
}

std::uint64_t checksum(const void* memory, std::int64_t bytes) {
    constexpr std::int64_t step = 8 * static_cast<std::int64_t>(sizeof(Longs));
    const unsigned char* at = static_cast<const unsigned char*>(memory);
    Longs sums[8] = {};
    for (std::int64_t i = 0; i + step <= bytes; i += step)
        for (int j = 0; j < 8; ++j) {
            Longs value;
            __builtin_memcpy(&value, at + i + j * static_cast<std::int64_t>(sizeof value),
                             sizeof value);
            sums[j] ^= value;
        }
    for (int j = 1; j < 8; ++j)
        sums[0] ^= sums[j];
    return sums[0][0] ^ sums[0][1];
}

/// The numbers of generator.h, as vectors. The reference uses the plain definition there, so a slip
/// here would show as a wrong output.
template <bool bf16>
void bell_halves(std::uint32_t low, std::uint32_t high, std::int64_t first, std::int64_t count,
                 std::uint16_t* out) {
    Words element{};
    for (int i = 0; i < lanes; ++i)
        element[i] = static_cast<std::uint32_t>(first + i);
    for (std::int64_t i = 0; i < count; i += lanes, element += lanes) {
        Words x = element * 0x9e3779b9u + low;
        x = (x ^ x >> 16) * 0x7feb352du;
        x = (x ^ x >> 15 ^ high) * 0x846ca68bu;
        x ^= x >> 16;
        const Words pairs = (x & 0x00ff00ffu) + (x >> 8 & 0x00ff00ffu);
        const Ints bell = (Ints)((pairs & 0xffffu) + (pairs >> 16)) - 510;
        const Words bits = (Words)(__builtin_convertvector(bell, Floats) * 0x1p-7f);
        const Words magnitude = bits & 0x7fffffffu;
        const Words f16 =
            (bits >> 16 & 0x8000u) | ((magnitude - 0x38000000u) >> 13 & (Words)(magnitude != 0));
        const Words rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
        const Halves halves = __builtin_convertvector(bf16 ? rounded : f16, Halves);
        const std::int64_t left = count - i;
        if (left >= lanes)
            __builtin_memcpy(out + i, &halves, sizeof halves);
        else
            for (std::int64_t j = 0; j < left; ++j)
                out[i + j] = halves[j];
    }
}

void normal_halves(std::uint32_t low, std::uint32_t high, std::int64_t first, std::int64_t count,
                   bool bf16, std::uint16_t* out) {
    bf16 ? bell_halves<true>(low, high, first, count, out)
         : bell_halves<false>(low, high, first, count, out);
}

} // namespace

extern const VectorKernels vector_kernels{KVCALIPER_CPU_VARIANT_NAME,
                                          attend,
                                          mamba1,
                                          conv,
                                          mamba2,
                                          delta,
                                          rglru,
                                          rwkv4,
                                          rwkv,
                                          xlstm,
                                          index,
                                          pool,
                                          encode,
                                          pack,
                                          decode,
                                          exponentials,
                                          checksum,
                                          normal_halves};

} // namespace kvcaliper::kernels::KVCALIPER_CPU_VARIANT
