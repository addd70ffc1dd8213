// SPDX-License-Identifier: Apache-2.0
// Every backend against the double reference over the shapes of shapes.h.
#include "format_rows.h"
#include "shapes.h"
#if defined(KVCALIPER_HAVE_EMULATED)
#include "kernels/backend_emulated.h"
#endif

#include <gtest/gtest.h>

#include <set>

namespace kvcaliper::kernels::test {
namespace {

// Relative L2 error of the worst head. The prototypes' worst were 3.1e-7 for f32 sums on normal
// data, 3.9e-6 with queries 16 times as large, 1.4e-7 for states over 64 steps; the CPU backend's
// exponential is good to 2e-7 and its sums are in another order.
constexpr double kGate = 2e-6;
constexpr double kPeakyGate = 2e-5;
constexpr double kCpuGate = 1e-5;
constexpr double kStateGate = 2e-6;

/// Where the tensor cores round weights to 16 bits, the backend's own bound.
template <class View>
double attention_gate(const Backend& backend, const View& view, double peak = 1.0) {
    if (const double bound = backend.attention_bound(view); bound > kPeakyGate) {
        return bound;
    }
    return peak > 1.0 ? kPeakyGate : backend.info().backend == "cpu" ? kCpuGate : kGate;
}

/// The backend itself, or the emulator with so many splits.
class Splitting {
  public:
    Splitting(Backend& backend, std::int64_t splits) : chosen_(&backend) {
#if defined(KVCALIPER_HAVE_EMULATED)
        if (splits > 0 && backend.info().backend == "emulated") {
            EmulatedOptions options;
            options.splits = splits;
            if (backend.info().name.ends_with("sm_80")) {
                options.facts.compute_capability = 80;
            }
            own_ = make_emulated_backend(options);
            chosen_ = own_.get();
        }
#endif
    }
    Backend& backend() const {
        return *chosen_;
    }

  private:
    std::unique_ptr<Backend> own_;
    Backend* chosen_;
};

Element source_of(Format format) {
    return format == Format::bf16 ? Element::bf16 : Element::f16;
}

Bytes bytes_of(const Values& values, Element element) {
    Bytes bytes;
    for (const std::byte byte : stored(values, element)) {
        bytes.push_back(static_cast<unsigned char>(byte));
    }
    return bytes;
}

std::vector<std::byte> as_content(const Bytes& bytes) {
    const auto* const first = reinterpret_cast<const std::byte*>(bytes.data());
    return {first, first + bytes.size()};
}

/// Planes that so many tokens went through: most of them at once, the last two one by one. Slots
/// that none has reached stay NaN.
Bytes filled(Backend& backend, std::int64_t sequences, std::int64_t rows, std::int64_t width,
             std::int64_t slots, std::int64_t tokens, Format format, std::uint64_t seed) {
    const Element element = source_of(format);
    Bytes plane(size_of(sequences * rows * slots * stored_row_bytes(format, width)), 0xff);
    std::int64_t first = 0;
    while (first < tokens) {
        const std::int64_t count = first == 0 && tokens > 2 ? tokens - 2 : 1;
        const Values source = normal_values(sequences * count * rows * width, ++seed, element);
        append_on(backend,
                  {nullptr, nullptr, sequences, rows, width, slots, first, count, element, format},
                  bytes_of(source, element), plane);
        first += count;
    }
    return plane;
}

class ShapeSweep : public testing::TestWithParam<std::shared_ptr<Backend>> {
  protected:
    Backend& backend() const { return *GetParam(); }
};

AttentionView view_of(const AttentionShape& shape) {
    AttentionView view =
        attention_view(shape.kv_heads * shape.group, shape.kv_heads, shape.key_width,
                       std::min(shape.tokens, shape.slots), source_of(shape.key));
    view.sequences = shape.sequences;
    view.value_width = shape.value_width;
    view.slots = shape.slots;
    view.key_format = shape.key;
    view.value_format = shape.value;
    return view;
}

double error_of(Backend& backend, const AttentionShape& shape, std::uint64_t seed) {
    AttentionView view = view_of(shape);
    const auto plane = [&](std::int64_t width, Format format) {
        return filled(backend, shape.sequences, shape.kv_heads, width, shape.slots, shape.tokens,
                      format, seed += 10);
    };
    const Bytes keys = plane(shape.key_width, shape.key);
    const Bytes values = plane(shape.value_width, shape.value);
    const AttentionData data{normal_values(shape.sequences * view.heads * view.key_width, seed,
                                           view.element, shape.peak),
                             numbers_in(keys, shape.key, shape.key_width),
                             numbers_in(values, shape.value, shape.value_width)};
    const Memory q(backend, data.q, view.element);
    const Memory k(backend, as_content(keys)), v(backend, as_content(values));
    const Memory out(backend, view.sequences * view.heads * view.value_width * 4);
    const Memory workspace(backend, backend.workspace_bytes(view));
    view.q = q.get();
    view.k = k.get();
    view.v = v.get();
    view.out = out.floats();
    backend.attend(view, workspace.get());
    return worst_error(out.values(Element::f32), reference(view, data), view.value_width);
}

TEST_P(ShapeSweep, Attention) {
    std::uint64_t seed = 1000;
    for (const AttentionShape& shape : attention_shapes()) {
        const Splitting splitting(backend(), shape.splits);
        EXPECT_LE(error_of(splitting.backend(), shape, seed += 100),
                  attention_gate(splitting.backend(), view_of(shape), shape.peak))
            << text_of(shape);
    }
}

LatentView view_of(const LatentShape& shape) {
    LatentView view = latent_view(shape.heads, shape.rank, shape.rope_width,
                                  std::min(shape.tokens, shape.slots), source_of(shape.format));
    view.sequences = shape.sequences;
    view.slots = shape.slots;
    view.format = shape.format;
    return view;
}

double error_of(Backend& backend, const LatentShape& shape, std::uint64_t seed) {
    LatentView view = view_of(shape);
    const auto plane = [&](std::int64_t width, Format format) {
        return filled(backend, shape.sequences, 1, width, shape.slots, shape.tokens, format,
                      seed += 10);
    };
    const Format rope_as = rope_format(shape.format);
    const Bytes latents = plane(shape.rank, shape.format);
    const Bytes ropes = shape.rope_width > 0 ? plane(shape.rope_width, rope_as) : Bytes{};
    const std::int64_t rows = shape.sequences * shape.heads;
    const LatentData data{normal_values(rows * shape.rank, seed, view.element),
                          normal_values(rows * shape.rope_width, seed + 1, view.element),
                          numbers_in(latents, shape.format, shape.rank),
                          numbers_in(ropes, rope_as, shape.rope_width)};
    const Memory q_latent(backend, data.q_latent, view.element);
    const Memory q_rope(backend, data.q_rope, view.element);
    const Memory latent(backend, as_content(latents)), rope(backend, as_content(ropes));
    const Memory out(backend, rows * shape.rank * 4);
    const Memory workspace(backend, backend.workspace_bytes(view));
    view.q_latent = q_latent.get();
    view.q_rope = q_rope.get();
    view.latent = latent.get();
    view.rope = rope.get();
    view.out = out.floats();
    backend.attend(view, workspace.get());
    return worst_error(out.values(Element::f32), reference(view, data), view.rank);
}

TEST_P(ShapeSweep, LatentAttention) {
    std::uint64_t seed = 2000;
    for (const LatentShape& shape : latent_shapes()) {
        const Splitting splitting(backend(), shape.splits);
        EXPECT_LE(error_of(splitting.backend(), shape, seed += 100),
                  attention_gate(splitting.backend(), view_of(shape)))
            << text_of(shape);
    }
}

TEST_P(ShapeSweep, AppendsOfUnchangedRows) {
    std::uint64_t seed = 3000;
    for (const AppendView& shape : append_shapes()) {
        const std::int64_t row = shape.sequences * shape.rows * shape.width;
        const Values source = normal_values(row * shape.count, ++seed, shape.element);
        Values expected = normal_values(row * shape.slots, ++seed, shape.element);
        Values found = expected;
        reference_append(shape, source, expected);
        run_append(backend(), shape, source, found);
        EXPECT_EQ(found, expected) << text_of(shape);
    }
}

TEST_P(ShapeSweep, Mamba1) {
    std::uint64_t seed = 4000;
    for (const Mamba1View& shape : mamba1_shapes()) {
        SCOPED_TRACE(text_of(shape));
        MambaData found = mamba_data(shape, seed += 20);
        MambaData expected = found;
        const Values out = run_step(backend(), shape, found);
        EXPECT_LE(worst_error(out, reference(shape, expected), shape.inner), kStateGate);
        EXPECT_LE(worst_error(found.state, expected.state, shape.inner * shape.state_size),
                  kStateGate);
        EXPECT_EQ(found.history, expected.history);
    }
}

TEST_P(ShapeSweep, Convolution) {
    std::uint64_t seed = 5000;
    for (const ConvView& shape : conv_shapes()) {
        SCOPED_TRACE(text_of(shape));
        ConvData found = conv_data(shape, seed += 20);
        ConvData expected = found;
        const Values out = run_step(backend(), shape, found);
        EXPECT_LE(worst_error(out, reference(shape, expected), shape.channels), kStateGate);
        EXPECT_EQ(found.history, expected.history);
    }
}

/// Output and state of one step over the gate of its kind.
template <class View, class Data>
void expect_step_agrees(Backend& backend, const View& view, Data found, std::int64_t head,
                        std::int64_t state) {
    Data expected = found;
    const Values out = run_step(backend, view, found);
    EXPECT_LE(worst_error(out, reference(view, expected), head), kStateGate);
    EXPECT_LE(worst_error(found.state, expected.state, state), kStateGate);
}

TEST_P(ShapeSweep, Mamba2) {
    std::uint64_t seed = 6000;
    for (const Mamba2View& shape : mamba2_shapes()) {
        SCOPED_TRACE(text_of(shape));
        expect_step_agrees(backend(), shape, mamba2_data(shape, seed += 20), shape.head_width,
                           shape.head_width * shape.state_size);
    }
}

TEST_P(ShapeSweep, MatrixState) {
    std::uint64_t seed = 7000;
    for (const DeltaShape& shape : delta_shapes()) {
        SCOPED_TRACE(text_of(shape));
        const DeltaView& view = shape.view;
        expect_step_agrees(backend(), view, delta_data(view, seed += 20, shape.delta_rule),
                           view.value_width, view.key_width * view.value_width);
    }
}

TEST_P(ShapeSweep, ChannelStates) {
    std::uint64_t seed = 8000;
    for (const RglruView& shape : rglru_shapes()) {
        SCOPED_TRACE(text_of(shape));
        expect_step_agrees(backend(), shape, rglru_data(shape, seed += 20), shape.width,
                           shape.width);
    }
    for (const Rwkv4View& shape : rwkv4_shapes()) {
        SCOPED_TRACE(text_of(shape));
        expect_step_agrees(backend(), shape, rwkv4_data(shape, seed += 20), shape.width,
                           shape.width);
    }
}

TEST_P(ShapeSweep, Rwkv) {
    std::uint64_t seed = 9000;
    for (const RwkvShape& shape : rwkv_shapes()) {
        SCOPED_TRACE(text_of(shape));
        const RwkvView& view = shape.view;
        expect_step_agrees(backend(), view, rwkv_data(view, seed += 1000, shape.bonus), view.width,
                           view.width * view.width);
    }
}

TEST_P(ShapeSweep, Xlstm) {
    std::uint64_t seed = 30000;
    for (const XlstmView& shape : xlstm_shapes()) {
        SCOPED_TRACE(text_of(shape));
        expect_step_agrees(backend(), shape, xlstm_data(shape, seed += 1000), shape.value_width + 1,
                           xlstm_state(shape.key_width, shape.value_width));
    }
}

INSTANTIATE_TEST_SUITE_P(Backends, ShapeSweep, testing::ValuesIn(all_backends()),
                         [](const auto& param_info) {
                             std::string name = name_of_backend(*param_info.param);
                             for (char& c : name) {
                                 c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                             }
                             return name + std::to_string(param_info.index);
                         });

template <class Shape>
void count(const std::vector<Shape>& shapes, std::size_t least, std::set<std::string>& names) {
    const std::size_t before = names.size();
    for (const Shape& shape : shapes) {
        names.insert(text_of(shape));
    }
    EXPECT_GE(names.size() - before, least) << *names.rbegin();
    EXPECT_EQ(names.size() - before, shapes.size()) << "one of them comes twice";
}

TEST(Shapes, AreAtLeast300AndNoneComesTwice) {
    std::set<std::string> names;
    count(attention_shapes(), 200, names);
    count(latent_shapes(), 40, names);
    count(append_shapes(), 20, names);
    count(mamba1_shapes(), 12, names);
    count(conv_shapes(), 15, names);
    count(mamba2_shapes(), 20, names);
    count(delta_shapes(), 25, names);
    count(rglru_shapes(), 5, names);
    count(rwkv4_shapes(), 5, names);
    count(rwkv_shapes(), 10, names);
    count(xlstm_shapes(), 8, names);
    EXPECT_GE(names.size(), 300u);
    RecordProperty("shapes", static_cast<int>(names.size()));
}

} // namespace
} // namespace kvcaliper::kernels::test
