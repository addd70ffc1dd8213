// SPDX-License-Identifier: Apache-2.0
// One attention step with sink logits, against softmax written out in double precision:
// out_h = Σ_t e^(s_t) v_t / (Σ_t e^(s_t) + e^(sink_h)).
#include "kernels/backend.h"
#include "kernels/half.h"
#include "tests/kernels/verify_case.h"

#include <cmath>
#include <cstring>

namespace kvcaliper::kernels {
namespace {

struct Case {
    std::int64_t sequences, heads, kv_heads, width, valid;
};

/// Halves around 0 and their values.
struct Halves {
    Halves(std::int64_t count, std::uint64_t seed) {
        for (std::int64_t i = 0; i < count; ++i) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            stored.push_back(float_to_f16(static_cast<float>(seed >> 40) / 8388608.0f - 1.0f));
            values.push_back(static_cast<double>(f16_to_float(stored.back())));
        }
    }
    std::vector<std::uint16_t> stored;
    std::vector<double> values;
};

/// Memory of the backend that gives itself back.
class Device {
  public:
    Device(Backend& backend, std::int64_t bytes, const void* content = nullptr)
        : backend_(backend), bytes_(bytes), memory_(backend.allocate(bytes)) {
        backend.fill(memory_, 0xff, bytes);
        if (content != nullptr)
            backend.write(memory_, content, bytes);
    }
    ~Device() { backend_.release(memory_, bytes_); }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    void* get() const { return memory_; }

  private:
    Backend& backend_;
    std::int64_t bytes_;
    void* memory_;
};

class AttentionSinks : public testing::TestWithParam<BackendCase> {
  protected:
    /// The worst element against the double computation.
    double error_of(const Case& c, const std::vector<float>& sinks) {
        const Halves q(c.sequences * c.heads * c.width, 1);
        const Halves k(c.sequences * c.kv_heads * c.valid * c.width, 2);
        const Halves v(c.sequences * c.kv_heads * c.valid * c.width, 3);
        const std::vector<float> found = run(c, q, k, v, sinks);
        double worst = 0;
        for (std::int64_t row = 0; row < c.sequences * c.heads; ++row)
            for (std::int64_t i = 0; i < c.width; ++i)
                worst = std::max(worst,
                                 std::abs(static_cast<double>(
                                              found[static_cast<std::size_t>(row * c.width + i)]) -
                                          expected(c, q, k, v, sinks, row, i)));
        return worst;
    }

    /// Wide groups may run on tensor cores, whose weights are rounded.
    double gate(const Case& c) const {
        AttentionView view{};
        view.sequences = c.sequences;
        view.heads = c.heads;
        view.kv_heads = c.kv_heads;
        view.key_width = view.value_width = c.width;
        view.slots = view.valid = c.valid;
        view.element = Element::f16;
        view.key_format = view.value_format = Format::f16;
        const double bound = backend_->attention_bound(view);
        return bound > 1e-4 ? bound : 2e-6;
    }

  private:
    std::vector<float> run(const Case& c, const Halves& q, const Halves& k, const Halves& v,
                           const std::vector<float>& sinks) {
        const auto bytes = [](const auto& data) {
            return static_cast<std::int64_t>(data.size() * sizeof(data[0]));
        };
        Device dq(*backend_, bytes(q.stored), q.stored.data());
        Device dk(*backend_, bytes(k.stored), k.stored.data());
        Device dv(*backend_, bytes(v.stored), v.stored.data());
        Device ds(*backend_, std::max<std::int64_t>(4, bytes(sinks)));
        backend_->write(ds.get(), sinks.data(), bytes(sinks));
        std::vector<float> out(static_cast<std::size_t>(c.sequences * c.heads * c.width));
        Device dout(*backend_, bytes(out));
        AttentionView view{dq.get(),     dk.get(),    dv.get(),   static_cast<float*>(dout.get()),
                           c.sequences,  c.heads,     c.kv_heads, c.width,
                           c.width,      c.valid,     c.valid,    0.5f,
                           Element::f16, Format::f16, Format::f16};
        view.sinks = sinks.empty() ? nullptr : static_cast<float*>(ds.get());
        Device workspace(*backend_, std::max<std::int64_t>(4, backend_->workspace_bytes(view)));
        backend_->attend(view, workspace.get());
        backend_->synchronize();
        backend_->read(out.data(), dout.get(), bytes(out));
        backend_->synchronize();
        return out;
    }

    static double expected(const Case& c, const Halves& q, const Halves& k, const Halves& v,
                           const std::vector<float>& sinks, std::int64_t row, std::int64_t column) {
        const std::int64_t head = row % c.heads, group = c.heads / c.kv_heads;
        const std::int64_t plane = row / c.heads * c.kv_heads + head / group;
        double sum = sinks.empty() ? 0 : std::exp(sinks[static_cast<std::size_t>(head)]), out = 0;
        for (std::int64_t t = 0; t < c.valid; ++t) {
            double score = 0;
            for (std::int64_t i = 0; i < c.width; ++i)
                score += q.values[static_cast<std::size_t>(row * c.width + i)] *
                         k.values[static_cast<std::size_t>((plane * c.valid + t) * c.width + i)];
            const double weight = std::exp(0.5 * score);
            sum += weight;
            out += weight *
                   v.values[static_cast<std::size_t>((plane * c.valid + t) * c.width + column)];
        }
        return out / sum;
    }

    std::unique_ptr<Backend> backend_ = GetParam().make();
};

TEST_P(AttentionSinks, JoinTheSoftmaxOfTheirOwnHead) {
    for (const Case& c : {Case{1, 4, 4, 64, 1}, Case{2, 6, 2, 64, 77}, Case{1, 8, 1, 80, 300},
                          Case{3, 5, 5, 32, 129}, Case{1, 64, 8, 64, 128}}) {
        std::vector<float> sinks;
        for (std::int64_t h = 0; h < c.heads; ++h)
            sinks.push_back(static_cast<float>(h % 5) * 2.5f - 3.0f);
        EXPECT_LE(error_of(c, sinks), gate(c)) << c.heads << " heads, " << c.valid << " tokens";
        EXPECT_LE(error_of(c, {}), gate(c));
    }
}

TEST_P(AttentionSinks, ASinkFarAboveOrBelowEveryScore) {
    const Case c{1, 4, 2, 64, 50};
    EXPECT_LE(error_of(c, {80.0f, -80.0f, 0.0f, 30.0f}), 2e-6);
}

INSTANTIATE_TEST_SUITE_P(Backends, AttentionSinks, testing::ValuesIn(backends),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

} // namespace
} // namespace kvcaliper::kernels
