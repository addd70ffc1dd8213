// SPDX-License-Identifier: Apache-2.0
// Attention over shuffled pages against the same rows in one piece, which other tests hold against
// a double-precision reference. Everything that is not a row of the sequence is NaN.
#include "core/error.h"
#include "kernels/half.h"
#include "tests/kernels/verify_case.h"

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

namespace kvcaliper::kernels {
namespace {

using Bytes8 = std::vector<unsigned char>;

/// Memory of the backend that gives itself back.
class Device {
  public:
    Device(Backend& backend, const Bytes8& content)
        : backend_(backend), bytes_(std::ssize(content) + 4), memory_(backend.allocate(bytes_)) {
        backend.write(memory_, content.data(), std::ssize(content));
    }
    ~Device() { backend_.release(memory_, bytes_); }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    void* get() const { return memory_; }
    std::vector<float> floats() const {
        std::vector<float> values(static_cast<std::size_t>(bytes_ / 4 - 1));
        backend_.read(values.data(), memory_, bytes_ - 4);
        backend_.synchronize();
        return values;
    }

  private:
    Backend& backend_;
    std::int64_t bytes_;
    void* memory_;
};

struct Case {
    std::int64_t sequences, heads, kv_heads, width, valid;
    std::int64_t page = 16;
    Element element = Element::f16;
    Format key = Format::f16, value = Format::f16;
    std::int64_t spare_pages = 3; ///< of the table and of the pool
};

Bytes8 halves(std::int64_t count, Element element, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    Bytes8 bytes(static_cast<std::size_t>(2 * count));
    for (std::int64_t i = 0; i < count; ++i) {
        const float value = normal(random);
        const std::uint16_t half =
            element == Element::f16 ? float_to_f16(value) : float_to_bf16(value);
        std::memcpy(bytes.data() + 2 * i, &half, 2);
    }
    return bytes;
}

class PagedAttention : public testing::TestWithParam<BackendCase> {
  protected:
    /// The worst relative error of a head between pages and one piece.
    double error_of(const Case& c) {
        shuffle_pages(c);
        const std::vector<float> one = run(c, false), pages = run(c, true);
        double worst = 0;
        for (std::int64_t row = 0; row < c.sequences * c.heads; ++row) {
            double off = 0, size = 0;
            for (std::int64_t i = row * c.width; i < (row + 1) * c.width; ++i) {
                const double wanted = one[static_cast<std::size_t>(i)];
                off += std::pow(pages[static_cast<std::size_t>(i)] - wanted, 2);
                size += wanted * wanted;
            }
            worst = std::isfinite(off) ? std::max(worst, std::sqrt(off / size)) : INFINITY;
        }
        return worst;
    }

    /// The error over its gate. The rows that pages are compared with may run on tensor cores.
    double excess_of(const Case& c) {
        AttentionView step{};
        step.sequences = c.sequences;
        step.heads = c.heads;
        step.kv_heads = c.kv_heads;
        step.key_width = step.value_width = c.width;
        step.slots = step.valid = c.valid;
        step.element = c.element;
        step.key_format = c.key;
        step.value_format = c.value;
        const double bound = backend_->attention_bound(step);
        return error_of(c) / (bound > 1e-4 ? bound : 2e-6);
    }

    std::unique_ptr<Backend> backend_ = GetParam().make();

  private:
    std::int64_t pages_of(const Case& c) const { return (c.valid + c.page - 1) / c.page; }

    /// Every sequence's pages, in any order among those of all; the table's spare entries name
    /// none.
    void shuffle_pages(const Case& c) {
        const std::int64_t used = c.sequences * pages_of(c);
        std::vector<std::int32_t> all(static_cast<std::size_t>(used + c.spare_pages));
        std::iota(all.begin(), all.end(), 0);
        std::shuffle(all.begin(), all.end(), std::mt19937(7));
        table_.clear();
        for (std::int64_t s = 0; s < c.sequences; ++s) {
            for (std::int64_t p = 0; p < pages_of(c); ++p)
                table_.push_back(all[static_cast<std::size_t>(s * pages_of(c) + p)]);
            table_.insert(table_.end(), static_cast<std::size_t>(c.spare_pages), 0x7fffffff);
        }
    }

    /// Rows [sequences][kv_heads][valid][width] as the backend stores them.
    Bytes8 stored_rows(const Case& c, Format format, std::uint64_t seed) {
        const Device source(*backend_,
                            halves(c.sequences * c.valid * c.kv_heads * c.width, c.element, seed));
        const std::int64_t bytes =
            c.sequences * c.kv_heads * c.valid * stored_row_bytes(format, c.width);
        Bytes8 rows(static_cast<std::size_t>(bytes));
        const Device plane(*backend_, rows);
        backend_->append({source.get(), plane.get(), c.sequences, c.kv_heads, c.width, c.valid, 0,
                          c.valid, c.element, format});
        backend_->synchronize();
        backend_->read(rows.data(), plane.get(), bytes);
        return rows;
    }

    /// The same rows in pages [pages][kv_heads][page][width]; NaN everywhere else.
    Bytes8 in_pages(const Case& c, const Bytes8& rows, Format format) const {
        const std::int64_t row = stored_row_bytes(format, c.width);
        const std::int64_t pages = c.sequences * pages_of(c) + c.spare_pages;
        Bytes8 out(static_cast<std::size_t>(pages * c.kv_heads * c.page * row), 0xff);
        const std::int64_t table_pages = pages_of(c) + c.spare_pages;
        for (std::int64_t s = 0; s < c.sequences; ++s)
            for (std::int64_t h = 0; h < c.kv_heads; ++h)
                for (std::int64_t t = 0; t < c.valid; ++t) {
                    const std::int64_t page =
                        table_[static_cast<std::size_t>(s * table_pages + t / c.page)];
                    std::copy_n(rows.begin() + ((s * c.kv_heads + h) * c.valid + t) * row, row,
                                out.begin() +
                                    ((page * c.kv_heads + h) * c.page + t % c.page) * row);
                }
        return out;
    }

    std::vector<float> run(const Case& c, bool paged) {
        const Bytes8 keys = stored_rows(c, c.key, 2), values = stored_rows(c, c.value, 3);
        const Device q(*backend_, halves(c.sequences * c.heads * c.width, c.element, 1));
        const Device k(*backend_, paged ? in_pages(c, keys, c.key) : keys);
        const Device v(*backend_, paged ? in_pages(c, values, c.value) : values);
        const Device out(
            *backend_, Bytes8(static_cast<std::size_t>(c.sequences * c.heads * c.width * 4), 0xff));
        Bytes8 numbers(table_.size() * 4);
        std::memcpy(numbers.data(), table_.data(), numbers.size());
        const Device table(*backend_, numbers);
        const std::int64_t table_pages = pages_of(c) + c.spare_pages;
        const AttentionView step{q.get(),     k.get(),
                                 v.get(),     static_cast<float*>(out.get()),
                                 c.sequences, c.heads,
                                 c.kv_heads,  c.width,
                                 c.width,     paged ? table_pages * c.page : c.valid,
                                 c.valid,     0.125f,
                                 c.element,   c.key,
                                 c.value};
        const PagedAttentionView view{step, static_cast<const std::int32_t*>(table.get()),
                                      table_pages, c.page};
        const Device workspace(
            *backend_, Bytes8(static_cast<std::size_t>(paged ? backend_->workspace_bytes(view)
                                                             : backend_->workspace_bytes(step)),
                              0xff));
        paged ? backend_->attend(view, workspace.get()) : backend_->attend(step, workspace.get());
        backend_->synchronize();
        return out.floats();
    }

    std::vector<std::int32_t> table_;
};

TEST_P(PagedAttention, AgreesAtEveryLengthAroundAPage) {
    for (const std::int64_t valid : {1, 15, 16, 17, 31, 32, 33, 100, 128, 129, 300})
        EXPECT_LE(excess_of({1, 4, 4, 64, valid}), 1) << valid;
}

TEST_P(PagedAttention, AgreesForGroupsWidthsAndSequences) {
    for (const std::int64_t group : {1, 2, 3, 5, 8})
        EXPECT_LE(excess_of({3, 2 * group, 2, 64, 70}), 1) << group;
    for (const std::int64_t width : {32, 80, 128, 256, 512})
        for (const std::int64_t heads : {1, 4})
            EXPECT_LE(excess_of({2, heads, 1, width, 45}), 1) << width;
}

TEST_P(PagedAttention, AgreesForPagesOfOtherSizes) {
    for (const std::int64_t page : {4, 8, 12, 64, 256})
        EXPECT_LE(excess_of({2, 4, 2, 64, 130, page}), 1) << page;
}

TEST_P(PagedAttention, AgreesForFormats) {
    EXPECT_LE(excess_of({2, 4, 2, 64, 70, 16, Element::bf16, Format::bf16, Format::bf16}), 1);
    EXPECT_LE(excess_of({2, 4, 2, 64, 70, 16, Element::f16, Format::q8_0, Format::q4_0}), 1);
    EXPECT_LE(excess_of({2, 4, 4, 64, 70, 16, Element::f16, Format::fp8_e4m3, Format::f16}), 1);
}

TEST_P(PagedAttention, ATableThatIsTooShortIsRefused) {
    AttentionView step{};
    step.sequences = step.heads = step.kv_heads = 1;
    step.key_width = step.value_width = 64;
    step.slots = 64;
    step.valid = 33;
    step.element = Element::f16;
    step.key_format = step.value_format = Format::f16;
    EXPECT_THROW(backend_->attend(PagedAttentionView{step, nullptr, 2, 16}, nullptr), Error);
}

INSTANTIATE_TEST_SUITE_P(Backends, PagedAttention, testing::ValuesIn(backends),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

} // namespace
} // namespace kvcaliper::kernels
