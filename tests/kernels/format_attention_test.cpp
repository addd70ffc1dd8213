// SPDX-License-Identifier: Apache-2.0
// Attention over planes in every pair of formats, on every backend, against plain double code that
// reads the stored bytes by the definition of their formats.
#include "format_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace kvcaliper::kernels::test {
namespace {

constexpr double gate = 3e-6;

/// Where the tensor cores round weights to 16 bits, the backend's own bound.
template <class View> double gate_of(const Backend& backend, const View& view) {
    const double bound = backend.attention_bound(view);
    return bound > 1e-4 ? bound : gate;
}

/// Normally distributed 16-bit numbers, as bytes.
Bytes random_halves(std::int64_t count, std::uint32_t seed, Element element) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0.0f, 1.0f);
    Bytes bytes(size_of(count * 2));
    for (std::int64_t i = 0; i < count; ++i) {
        float value = std::round(normal(random) * 64) / 64; // eight bits or so: both kinds hold it
        value = std::clamp(value, -1.984375f, 1.984375f);
        std::uint32_t bits;
        std::memcpy(&bits, &value, 4);
        std::uint32_t half = bits >> 16;
        if (element == Element::f16)
            half = value == 0 ? 0
                              : (bits >> 16 & 0x8000u) | ((bits & 0x7fffffffu) - 0x38000000u) >> 13;
        bytes[size_of(2 * i)] = static_cast<unsigned char>(half);
        bytes[size_of(2 * i + 1)] = static_cast<unsigned char>(half >> 8);
    }
    return bytes;
}

/// Memory of a backend.
class Buffer {
  public:
    Buffer(Backend& backend, const Bytes& content)
        : backend_(backend), bytes_(static_cast<std::int64_t>(content.size())),
          memory_(backend.allocate(std::max<std::int64_t>(bytes_, 1))) {
        backend.write(memory_, content.data(), bytes_);
    }
    ~Buffer() { backend_.release(memory_, std::max<std::int64_t>(bytes_, 1)); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    void* get() const { return memory_; }
    Bytes bytes() const {
        Bytes content(size_of(bytes_));
        backend_.synchronize();
        backend_.read(content.data(), memory_, bytes_);
        backend_.synchronize();
        return content;
    }

  private:
    Backend& backend_;
    std::int64_t bytes_;
    void* memory_;
};

/// A plane that `tokens` tokens went through; slots never written stay NaN.
Bytes filled_plane(Backend& backend, std::int64_t planes, std::int64_t width, std::int64_t slots,
                   std::int64_t tokens, Format format, std::uint32_t seed) {
    const Element element = format == Format::bf16 ? Element::bf16 : Element::f16;
    Bytes plane(size_of(planes * slots * stored_row_bytes(format, width)), 0xff);
    append_on(backend, {nullptr, nullptr, 1, planes, width, slots, 0, tokens, element, format},
              random_halves(tokens * planes * width, seed, element), plane);
    return plane;
}

double worst_row(const std::vector<float>& got, const std::vector<double>& wanted,
                 std::int64_t width) {
    double worst = 0;
    for (std::size_t row = 0; row < wanted.size(); row += size_of(width)) {
        double off = 0, size = 0;
        for (std::size_t i = row; i < row + size_of(width); ++i) {
            off += std::pow(static_cast<double>(got[i]) - wanted[i], 2);
            size += wanted[i] * wanted[i];
        }
        const double error = std::sqrt(off / size);
        worst = std::isnan(error) ? 1e9 : std::max(worst, error);
    }
    return worst;
}

struct Case {
    std::int64_t group, key_width, value_width, slots, tokens;
    Format key, value;
};

/// out = Σ softmax(score)_t · value_t, where row t of a plane starts at (plane · slots + t) ·
/// width.
std::vector<double> attend_by_definition(const std::vector<double>& q, std::int64_t heads,
                                         std::int64_t group, const std::vector<double>& keys,
                                         std::int64_t key_width, const std::vector<double>& values,
                                         std::int64_t value_width, std::int64_t slots,
                                         std::int64_t valid, double scale) {
    std::vector<double> out(size_of(heads * value_width));
    for (std::int64_t h = 0; h < heads; ++h) {
        std::vector<double> weights(size_of(valid));
        for (std::int64_t t = 0; t < valid; ++t)
            for (std::int64_t i = 0; i < key_width; ++i)
                weights[size_of(t)] += scale * q[size_of(h * key_width + i)] *
                                       keys[size_of((h / group * slots + t) * key_width + i)];
        const double top = *std::max_element(weights.begin(), weights.end());
        double sum = 0;
        for (double& weight : weights)
            sum += weight = std::exp(weight - top);
        for (std::int64_t t = 0; t < valid; ++t)
            for (std::int64_t i = 0; i < value_width; ++i)
                out[size_of(h * value_width + i)] +=
                    weights[size_of(t)] / sum *
                    values[size_of((h / group * slots + t) * value_width + i)];
    }
    return out;
}

std::vector<float> floats_in(const Bytes& bytes) {
    std::vector<float> floats(bytes.size() / 4);
    std::memcpy(floats.data(), bytes.data(), bytes.size());
    return floats;
}

/// As a share of what is allowed.
double error_of(Backend& backend, const Case& c) {
    const std::int64_t kv_heads = 2, heads = kv_heads * c.group;
    const std::int64_t valid = std::min(c.tokens, c.slots);
    const Element element = c.key == Format::bf16 ? Element::bf16 : Element::f16;
    const Bytes queries = random_halves(heads * c.key_width, 1, element);
    const Bytes keys = filled_plane(backend, kv_heads, c.key_width, c.slots, c.tokens, c.key, 2);
    const Bytes values =
        filled_plane(backend, kv_heads, c.value_width, c.slots, c.tokens, c.value, 3);
    const Buffer q(backend, queries), k(backend, keys), v(backend, values);
    const Buffer out(backend, Bytes(size_of(heads * c.value_width * 4), 0xff));
    AttentionView view{q.get(),
                       k.get(),
                       v.get(),
                       static_cast<float*>(out.get()),
                       1,
                       heads,
                       kv_heads,
                       c.key_width,
                       c.value_width,
                       c.slots,
                       valid,
                       0.125f,
                       element,
                       c.key,
                       c.value};
    const Buffer workspace(backend, Bytes(size_of(backend.workspace_bytes(view)), 0xff));
    backend.attend(view, workspace.get());
    return worst_row(floats_in(out.bytes()),
                     attend_by_definition(numbers_in(queries, format_of(element), c.key_width),
                                          heads, c.group, numbers_in(keys, c.key, c.key_width),
                                          c.key_width, numbers_in(values, c.value, c.value_width),
                                          c.value_width, c.slots, valid, 0.125),
                     c.value_width) /
           gate_of(backend, view);
}

class FormatAttention : public testing::TestWithParam<std::shared_ptr<Backend>> {
  protected:
    void expect_right(const Case& c) {
        EXPECT_LE(error_of(*GetParam(), c), 1)
            << name_of(c.key) << " " << name_of(c.value) << " group " << c.group << " widths "
            << c.key_width << " " << c.value_width << " tokens " << c.tokens << " of " << c.slots;
    }
};

TEST_P(FormatAttention, EveryPairOfFormats) {
    for (const Format key : cache_formats)
        for (const Format value : cache_formats)
            expect_right({3, divides(key, 64) ? 64 : 128, divides(value, 96) ? 96 : 256, 40, 37,
                          key, value});
}

constexpr std::pair<Format, Format> some_pairs[] = {
    {Format::q8_0, Format::q8_0},   {Format::q8_0, Format::q4_0},
    {Format::q4_0, Format::q8_0},   {Format::fp8_e4m3, Format::fp8_e4m3},
    {Format::f16, Format::bf16},    {Format::q5_1, Format::iq4_nl},
    {Format::nvfp4, Format::nvfp4}, {Format::mxfp8, Format::int8_per_token_head}};

TEST_P(FormatAttention, EveryGroupAndWidth) {
    for (const auto& [key, value] : some_pairs)
        for (const std::int64_t group : {1, 3, 4, 8})
            for (const std::int64_t width : {64, 96, 128, 256})
                expect_right({group, width, width, 33, 33, key, value});
}

TEST_P(FormatAttention, EveryLength) {
    for (const auto& [key, value] : some_pairs)
        for (const std::int64_t length : {1, 31, 32, 33, 127, 1000})
            expect_right({4, 64, 64, length + 3, length, key, value});
}

TEST_P(FormatAttention, RingsThatWrapped) {
    for (const auto& [key, value] : some_pairs)
        for (const std::int64_t tokens : {24, 25, 47, 71})
            expect_right({2, 64, 128, 24, tokens, key, value});
}

TEST_P(FormatAttention, WidthsThatNoVectorDivides) {
    for (const Format format :
         {Format::fp8_e4m3, Format::f32, Format::fp8_per_token_head, Format::int8_per_token_head})
        for (const std::int64_t width : {1, 7, 33, 80})
            expect_right({4, width, width + 2, 20, 20, format, format});
}

TEST_P(FormatAttention, LatentRowsInEveryFormat) {
    Backend& backend = *GetParam();
    for (const Format format : cache_formats)
        for (const std::int64_t valid : {1, 33, 70}) {
            const std::int64_t heads = 6, rank = 512, rope = 64, slots = 70;
            const Element element = format == Format::bf16 ? Element::bf16 : Element::f16;
            const Bytes latents = filled_plane(backend, 1, rank, slots, valid, format, 3);
            const Bytes ropes =
                filled_plane(backend, 1, rope, slots, valid, rope_format(format), 4);
            const Bytes q_latents = random_halves(heads * rank, 1, element);
            const Bytes q_ropes = random_halves(heads * rope, 2, element);
            const Buffer ql(backend, q_latents), qr(backend, q_ropes), l(backend, latents),
                r(backend, ropes);
            const Buffer out(backend, Bytes(size_of(heads * rank * 4), 0xff));
            const LatentView view{
                ql.get(), qr.get(), l.get(), r.get(), static_cast<float*>(out.get()),
                1,        heads,    rank,    rope,    slots,
                valid,    0.0625f,  element, format};
            const Buffer workspace(backend, Bytes(size_of(backend.workspace_bytes(view)), 0xff));
            backend.attend(view, workspace.get());
            const auto join = [&](const std::vector<double>& a, const std::vector<double>& b) {
                std::vector<double> joined;
                for (std::size_t row = 0; row < b.size() / size_of(rope); ++row) {
                    const auto at = static_cast<std::ptrdiff_t>(row);
                    joined.insert(joined.end(), a.begin() + at * rank, a.begin() + (at + 1) * rank);
                    joined.insert(joined.end(), b.begin() + at * rope, b.begin() + (at + 1) * rope);
                }
                return joined;
            };
            const auto latent = numbers_in(latents, format, rank);
            const auto wanted = attend_by_definition(
                join(numbers_in(q_latents, format_of(element), rank),
                     numbers_in(q_ropes, format_of(element), rope)),
                heads, heads, join(latent, numbers_in(ropes, rope_format(format), rope)),
                rank + rope, latent, rank, slots, valid, 0.0625);
            EXPECT_LE(worst_row(floats_in(out.bytes()), wanted, rank), gate_of(backend, view))
                << name_of(format) << " " << valid;
        }
}

INSTANTIATE_TEST_SUITE_P(Backends, FormatAttention, testing::ValuesIn(all_backends()),
                         [](const auto& param_info) {
                             std::string name = name_of_backend(*param_info.param);
                             for (char& c : name)
                                 c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                             return name + std::to_string(param_info.index);
                         });

} // namespace
} // namespace kvcaliper::kernels::test
