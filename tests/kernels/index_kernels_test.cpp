// SPDX-License-Identifier: Apache-2.0
// Index scores, the choice of the greatest, gathered rows and pooled entries of every backend,
// against what views.h says, written out in double precision. Memory starts as NaN.
#include "core/error.h"
#include "kernels/backend_cpu.h"
#include "kernels/half.h"
#include "kernels/reference_formats.h"
#include "tests/kernels/verify_case.h"

#include <cmath>
#include <cstring>
#include <random>

namespace kvcaliper::kernels {
namespace {

using testing::ElementsAre;

/// Memory of the backend that gives itself back.
template <typename T> class Device {
  public:
    Device(Backend& backend, std::int64_t count)
        : backend_(backend), count_(count),
          memory_(static_cast<T*>(backend.allocate(std::max<std::int64_t>(bytes(), 4)))) {
        backend.fill(memory_, 0xff, bytes());
    }
    Device(Backend& backend, const std::vector<T>& values) : Device(backend, std::ssize(values)) {
        backend.write(memory_, values.data(), bytes());
    }
    ~Device() { backend_.release(memory_, std::max<std::int64_t>(bytes(), 4)); }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    T* get() const { return memory_; }
    std::vector<T> values() const {
        std::vector<T> out(static_cast<std::size_t>(count_));
        backend_.synchronize();
        backend_.read(out.data(), memory_, bytes());
        backend_.synchronize();
        return out;
    }

  private:
    std::int64_t bytes() const { return count_ * static_cast<std::int64_t>(sizeof(T)); }
    Backend& backend_;
    std::int64_t count_;
    T* memory_;
};

struct Halves {
    Halves(std::int64_t count, Element element, std::uint64_t seed) {
        std::mt19937_64 random(seed);
        std::normal_distribution<float> normal;
        for (std::int64_t i = 0; i < count; ++i) {
            const float value = normal(random);
            stored.push_back(element == Element::f16 ? float_to_f16(value) : float_to_bf16(value));
            values.push_back(static_cast<double>(element == Element::f16
                                                     ? f16_to_float(stored.back())
                                                     : bf16_to_float(stored.back())));
        }
    }
    std::vector<std::uint16_t> stored;
    std::vector<double> values;
};

std::vector<float> normal_numbers(std::int64_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values)
        value = normal(random);
    return values;
}

/// Number `index` of the builds of the CPU backend's loops, as far as this processor has so many.
template <std::size_t index> std::unique_ptr<Backend> make_cpu_build() {
    const auto builds = usable_vector_kernels();
    return make_cpu_backend(*builds[std::min(index, builds.size() - 1)]);
}

/// The other backends, narrower builds of the CPU's, and a GPU where there is one.
std::vector<BackendCase> all_backends() {
    std::vector<BackendCase> all(std::begin(backends), std::end(backends));
    all.push_back({"cpu_baseline", make_cpu_build<0>});
    all.push_back({"cpu_second_build", make_cpu_build<1>});
    all.push_back({"cuda", []() -> std::unique_ptr<Backend> {
                       try {
                           return make_cuda_backend();
                       } catch (const Error&) {
                           return nullptr;
                       }
                   }});
    return all;
}

class IndexKernels : public testing::TestWithParam<BackendCase> {
  protected:
    void SetUp() override {
        if (!backend_)
            GTEST_SKIP() << "no GPU";
    }

    std::unique_ptr<Backend> backend_ = GetParam().make();

    struct ScoreCase {
        std::int64_t sequences, heads, width, valid;
        Element element = Element::bf16;
        Format format = Format::bf16;
    };

    /// The largest error of a score over the largest score.
    double score_error(const ScoreCase& c);

    std::vector<std::int32_t> selected(const std::vector<float>& scores, std::int64_t count,
                                       std::int64_t sequences = 1) {
        const Device<float> device(*backend_, scores);
        const Device<std::int32_t> table(*backend_, sequences * count);
        const std::int64_t valid = std::ssize(scores) / sequences;
        backend_->select({device.get(), table.get(), sequences, valid, valid, count});
        return table.values();
    }

    struct PoolCase {
        std::int64_t sequences, slots, width, group, parts, first, count;
        Element element = Element::bf16;
    };
    void expect_pooled(const PoolCase& c);
};

double IndexKernels::score_error(const ScoreCase& c) {
    const std::int64_t slots = c.valid + 3, row = stored_row_bytes(c.format, c.width);
    const Halves q(c.sequences * c.heads * c.width, c.element, 1);
    const Halves keys(c.sequences * c.valid * c.width, c.element, 2);
    const std::vector<float> weights = normal_numbers(c.sequences * c.heads, 3);
    const Device<std::uint16_t> dq(*backend_, q.stored), source(*backend_, keys.stored);
    const Device<unsigned char> plane(*backend_, c.sequences * slots * row);
    backend_->append({source.get(), plane.get(), c.sequences, 1, c.width, slots, 0, c.valid,
                      c.element, c.format});
    const Device<float> dw(*backend_, weights), scores(*backend_, c.sequences * slots);
    backend_->score({dq.get(), dw.get(), plane.get(), scores.get(), c.sequences, c.heads, c.width,
                     slots, c.valid, slots, c.element, c.format});
    const std::vector<float> found = scores.values();
    double worst = 0, largest = 0;
    for (std::int64_t s = 0; s < c.sequences; ++s)
        for (std::int64_t t = 0; t < c.valid; ++t) {
            std::vector<double> key(keys.values.begin() + (s * c.valid + t) * c.width,
                                    keys.values.begin() + (s * c.valid + t + 1) * c.width);
            store_and_restore(c.format, c.width, key.data());
            double score = 0;
            for (std::int64_t h = 0; h < c.heads; ++h) {
                double dot = 0;
                for (std::int64_t i = 0; i < c.width; ++i)
                    dot += q.values[static_cast<std::size_t>((s * c.heads + h) * c.width + i)] *
                           key[static_cast<std::size_t>(i)];
                const float weight = weights[static_cast<std::size_t>(s * c.heads + h)];
                score += dot > 0 ? static_cast<double>(weight) * dot : 0;
            }
            const double got = found[static_cast<std::size_t>(s * slots + t)];
            worst = std::isfinite(got) ? std::max(worst, std::abs(got - score)) : INFINITY;
            largest = std::max(largest, std::abs(score));
        }
    for (std::int64_t s = 0; s < c.sequences; ++s) // behind `valid` nothing is written
        EXPECT_TRUE(std::isnan(found[static_cast<std::size_t>(s * slots + c.valid)]));
    return worst / largest;
}

TEST_P(IndexKernels, ScoresAreTheWeightedSumOfPositiveProducts) {
    EXPECT_LE(score_error({1, 64, 128, 300}), 1e-6);
    EXPECT_LE(score_error({2, 32, 128, 129}), 1e-6);
    EXPECT_LE(score_error({1, 1, 128, 5}), 1e-6);
    EXPECT_LE(score_error({3, 5, 64, 17, Element::f16, Format::f16}), 1e-6);
    EXPECT_LE(score_error({1, 37, 33, 70, Element::f16, Format::f16}), 1e-6);
    EXPECT_LE(score_error({1, 4, 7, 1}), 1e-6);
}

TEST_P(IndexKernels, ScoresOfStoredKeys) {
    for (const Format format : {Format::f32, Format::fp8_e4m3, Format::fp8_e4m3_128, Format::q8_0,
                                Format::q4_0, Format::q5_0, Format::q4_1})
        EXPECT_LE(score_error({2, 8, 128, 45, Element::f16, format}), 1e-6) << name_of(format);
}

TEST_P(IndexKernels, AKeyThatIsNotANumberIsSeen) {
    const Halves q(4 * 64, Element::bf16, 1);
    const Device<std::uint16_t> dq(*backend_, q.stored), keys(*backend_, 64); // NaN
    const Device<float> weights(*backend_, std::vector<float>{1, 1, 1, 1}), score(*backend_, 1);
    backend_->fill(score.get(), 0, 4);
    backend_->score({dq.get(), weights.get(), keys.get(), score.get(), 1, 4, 64, 1, 1, 1,
                     Element::bf16, Format::bf16});
    EXPECT_TRUE(std::isnan(score.values().front()));
}

TEST_P(IndexKernels, TheGreatestAreChosenInAscendingOrder) {
    EXPECT_THAT(selected({3, -1, 7, 0, 5}, 3), ElementsAre(0, 2, 4));
    EXPECT_THAT(selected({3, -1, 7, 0, 5}, 1), ElementsAre(2));
    EXPECT_THAT(selected({3, -1, 7, 0, 5}, 5), ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(selected({-3, -1, -7, -2, -5}, 2), ElementsAre(1, 3));
    EXPECT_THAT(selected({1, 2, 3, 9, 8, 7}, 2, 2), ElementsAre(1, 2, 0, 1));
}

TEST_P(IndexKernels, OfEqualScoresTheLowestSlotsAreChosen) {
    EXPECT_THAT(selected({2, 5, 2, 5, 2, 2}, 4), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(selected({0, 0, 0, 0}, 2), ElementsAre(0, 1));
    EXPECT_THAT(selected({1, 4, 4, 4, 9}, 3), ElementsAre(1, 2, 4));
}

TEST_P(IndexKernels, ManyScoresAgainstASort) {
    for (const std::int64_t valid : {255, 256, 257, 1000, 3001})
        for (const std::int64_t count : {std::int64_t{1}, std::int64_t{64}, valid - 1, valid}) {
            std::vector<float> scores = normal_numbers(valid, 11);
            for (float& score : scores)
                score = std::round(score * 8) / 8; // many are equal
            std::vector<std::int32_t> order(static_cast<std::size_t>(valid));
            for (std::int64_t i = 0; i < valid; ++i)
                order[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i);
            std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
                return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
            });
            order.resize(static_cast<std::size_t>(count));
            std::sort(order.begin(), order.end());
            EXPECT_EQ(selected(scores, count), order) << count << " of " << valid;
        }
}

TEST_P(IndexKernels, RowsAreBroughtTogether) {
    // Two sequences of two planes of five rows; row bytes of 3 and of 8.
    for (const std::int64_t row : {3, 8}) {
        std::vector<unsigned char> bytes(static_cast<std::size_t>(2 * 2 * 5 * row));
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<unsigned char>(i / static_cast<std::size_t>(row)); // its number
        const Device<unsigned char> planes(*backend_, bytes), out(*backend_, 2 * 2 * 4 * row);
        const Device<std::int32_t> table(*backend_, std::vector<std::int32_t>{0, 3, 2, 4});
        backend_->gather({planes.get(), table.get(), out.get(), 2, 2, 5, row, 2, 4, 1});
        std::vector<int> found;
        const std::vector<unsigned char> got = out.values();
        for (std::size_t i = 0; i < got.size(); i += static_cast<std::size_t>(row)) {
            const auto* first = got.data() + i;
            EXPECT_TRUE(
                std::all_of(first, first + row, [&](unsigned char b) { return b == *first; }));
            found.push_back(*first);
        }
        EXPECT_THAT(
            found, ElementsAre(255, 0, 3, 255, 255, 5, 8, 255, 255, 12, 14, 255, 255, 17, 19, 255));
    }
}

TEST_P(IndexKernels, WithoutATableTheFirstRowsAreBroughtTogether) {
    const Device<unsigned char> plane(*backend_, std::vector<unsigned char>{1, 1, 2, 2, 3, 3});
    const Device<unsigned char> out(*backend_, 4);
    backend_->gather({plane.get(), nullptr, out.get(), 1, 1, 3, 2, 2, 2, 0});
    EXPECT_THAT(out.values(), ElementsAre(1, 1, 2, 2));
}

void IndexKernels::expect_pooled(const PoolCase& c) {
    const std::int64_t size = 2 * c.parts * c.width;
    const std::vector<float> rows = normal_numbers(c.sequences * c.slots * size, 5);
    const Device<float> device(*backend_, rows);
    const Device<std::uint16_t> out(*backend_, c.sequences * c.count * c.width);
    backend_->pool({device.get(), out.get(), c.sequences, c.slots, c.width, c.group, c.parts,
                    c.first, c.count, c.element});
    const std::vector<std::uint16_t> found = out.values();
    for (std::int64_t i = 0; i < std::ssize(found); ++i) {
        const std::int64_t column = i % c.width, entry = c.first + i / c.width % c.count;
        const std::int64_t sequence = i / c.width / c.count;
        double sum = 0, total = 0;
        for (std::int64_t t = entry * c.group - (c.parts - 1) * c.group; t < (entry + 1) * c.group;
             ++t) {
            if (t < 0)
                continue;
            const std::int64_t part = c.parts == 2 && t >= entry * c.group ? 1 : 0;
            const std::int64_t at =
                (sequence * c.slots + t % c.slots) * size + part * c.width + column;
            const double weight = std::exp(
                static_cast<double>(rows[static_cast<std::size_t>(at + c.parts * c.width)]));
            sum += weight * static_cast<double>(rows[static_cast<std::size_t>(at)]);
            total += weight;
        }
        const std::uint16_t half = found[static_cast<std::size_t>(i)];
        const double got = static_cast<double>(c.element == Element::f16 ? f16_to_float(half)
                                                                         : bf16_to_float(half));
        // Half a unit of the last place, and what f32 sums are off.
        const double unit = std::abs(sum / total) * (c.element == Element::f16 ? 0x1p-11 : 0x1p-8);
        ASSERT_NEAR(got, sum / total, unit + 1e-6) << "entry " << entry << " column " << column;
    }
}

TEST_P(IndexKernels, EntriesArePooledByTheSoftmaxOfTheirGates) {
    expect_pooled({1, 128, 512, 128, 1, 0, 1});           // heavily compressed
    expect_pooled({1, 128, 64, 128, 1, 3, 1});            // from a ring that went round
    expect_pooled({2, 8, 512, 4, 2, 1, 1});               // two parts, the group before
    expect_pooled({2, 4, 48, 4, 2, 0, 1});                // the first group has none
    expect_pooled({2, 20, 33, 4, 2, 0, 5, Element::f16}); // many at once
    expect_pooled({1, 24, 128, 4, 2, 7, 5, Element::f16});
    expect_pooled({3, 12, 5, 3, 1, 2, 4});
}

TEST_P(IndexKernels, WhatIsNotCoveredIsRefused) {
    const Device<float> scores(*backend_, std::vector<float>{1, 2, 3});
    const Device<std::int32_t> table(*backend_, 4);
    EXPECT_THROW(backend_->select({scores.get(), table.get(), 1, 3, 3, 4}), Error);
    EXPECT_THROW(backend_->gather({nullptr, nullptr, nullptr, 1, 1, 4, 2, 5, 5, 0}), Error);
    EXPECT_THROW(backend_->gather({nullptr, nullptr, nullptr, 1, 1, 8, 2, 5, 6, 2}), Error);
    EXPECT_THROW(backend_->score({nullptr, nullptr, nullptr, nullptr, 1, 4, 129, 8, 8, 8,
                                  Element::bf16, Format::bf16}),
                 Error);
    EXPECT_THROW(backend_->pool({nullptr, nullptr, 1, 8, 16, 4, 3, 0, 1, Element::bf16}), Error);
}

INSTANTIATE_TEST_SUITE_P(Backends, IndexKernels, testing::ValuesIn(all_backends()),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

} // namespace
} // namespace kvcaliper::kernels
