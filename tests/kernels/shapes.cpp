// SPDX-License-Identifier: Apache-2.0
#include "shapes.h"

namespace kvcaliper::kernels::test {

namespace {

// Those that models have, and some that divide nothing.
constexpr std::int64_t groups[] = {1, 2, 3, 5, 6, 7, 8, 12, 20};
constexpr std::int64_t widths[] = {64, 80, 96, 112, 128, 192, 256, 512};
// Around the chunks of a warp (4), of a block (16), a warp's lanes, a split's tokens (128).
constexpr std::int64_t lengths[] = {1,  2,  3,  4,  5,   15,  16,  17,  31,  32,
                                    33, 63, 64, 65, 127, 128, 129, 255, 257, 700};
constexpr std::int64_t odd_lengths[] = {1, 17, 31, 33, 63, 65, 127, 129, 151};
constexpr std::int64_t split_numbers[] = {0, 1, 2, 3, 7};

/// The next of a list, over and over.
template <std::size_t count> class Turns {
  public:
    explicit Turns(const std::int64_t (&numbers)[count]) : numbers_(numbers) {}
    std::int64_t next() { return numbers_[turn_++ % count]; }

  private:
    const std::int64_t (&numbers_)[count];
    std::size_t turn_ = 0;
};

void add_groups_and_widths(std::vector<AttentionShape>& shapes) {
    Turns length(odd_lengths);
    Turns splits(split_numbers);
    for (const std::int64_t group : groups) {
        for (const std::int64_t width : widths) {
            const Format format = shapes.size() % 2 == 0 ? Format::f16 : Format::bf16;
            const auto sequences = static_cast<std::int64_t>(1 + shapes.size() % 3 / 2);
            const std::int64_t tokens = length.next();
            shapes.push_back({sequences, 2, group, width, width, tokens + 3, tokens, format, format,
                              splits.next()});
        }
    }
}

void add_lengths(std::vector<AttentionShape>& shapes) {
    for (const std::int64_t tokens : lengths) {
        for (const std::int64_t group : {1, 4}) {
            // 64 splits of a short cache: most are empty.
            const std::int64_t splits = tokens % 2 == 0 ? 64 : 0;
            shapes.push_back(
                {1, 1, group, 64, 64, tokens, tokens, Format::f16, Format::f16, splits});
        }
    }
}

void add_unequal_widths(std::vector<AttentionShape>& shapes) {
    constexpr std::int64_t pairs[][2] = {{192, 128}, {128, 192}, {40, 72}, {256, 64}, {512, 96}};
    for (const auto& [key, value] : pairs) {
        for (const std::int64_t group : {1, 3, 8}) {
            shapes.push_back({1, 2, group, key, value, 37, 37, Format::bf16, Format::bf16});
        }
    }
}

void add_rings(std::vector<AttentionShape>& shapes) {
    constexpr std::int64_t rings[][2] = {{24, 25}, {24, 47}, {24, 48}, {24, 71},
                                         {7, 50},  {1, 5},   {33, 40}, {129, 130}};
    constexpr Format formats[][2] = {{Format::f16, Format::f16},
                                     {Format::q8_0, Format::q4_0},
                                     {Format::fp8_e4m3, Format::fp8_e4m3}};
    for (const auto& [slots, tokens] : rings) {
        for (const auto& [key, value] : formats) {
            shapes.push_back({2, 1, 3, 64, 96, slots, tokens, key, value});
        }
    }
}

void add_pairs_of_formats(std::vector<AttentionShape>& shapes) {
    Turns group(groups);
    constexpr std::int64_t multiples_of_32[] = {64, 96, 128, 192, 256};
    Turns width(multiples_of_32);
    Turns length(odd_lengths);
    const auto width_for = [&](Format format) {
        std::int64_t next = width.next();
        while (!divides(format, next)) {
            next = width.next();
        }
        return next;
    };
    for (const Format key : cache_formats) {
        for (const Format value : cache_formats) {
            const std::int64_t key_width = width_for(key);
            const std::int64_t tokens = length.next();
            shapes.push_back(
                {1, 1, group.next(), key_width, width_for(value), tokens + 1, tokens, key, value});
        }
    }
}

void add_peaks(std::vector<AttentionShape>& shapes) {
    for (const std::int64_t width : {64, 128, 256}) {
        for (const std::int64_t group : {1, 2, 7}) {
            shapes.push_back(
                {1, 2, group, width, width, 300, 300, Format::f16, Format::f16, 3, 16.0});
        }
    }
}

std::string numbers(std::initializer_list<std::int64_t> list) {
    std::string text;
    for (const std::int64_t number : list) {
        text += " " + std::to_string(number);
    }
    return text;
}

} // namespace

std::vector<AttentionShape> attention_shapes() {
    std::vector<AttentionShape> shapes;
    add_groups_and_widths(shapes);
    add_lengths(shapes);
    add_unequal_widths(shapes);
    add_rings(shapes);
    add_pairs_of_formats(shapes);
    add_peaks(shapes);
    return shapes;
}

std::vector<LatentShape> latent_shapes() {
    constexpr std::int64_t widths_of[][2] = {{512, 64}, {256, 32}, {448, 64}, {100, 10}, {64, 0}};
    std::vector<LatentShape> shapes;
    Turns length(odd_lengths);
    for (const std::int64_t heads : {1, 3, 4, 5, 16, 20}) {
        for (const auto& [rank, rope] : widths_of) {
            const Format format = shapes.size() % 2 == 0 ? Format::bf16 : Format::f16;
            const std::int64_t tokens = length.next();
            shapes.push_back(
                {1, heads, rank, rope, tokens + 2, tokens, format, shapes.size() % 3 == 0 ? 5 : 0});
        }
    }
    for (const Format format : cache_formats) {
        shapes.push_back({2, 6, 512, 64, 40, 33, format});
        shapes.push_back({1, 3, 256, 32, 24, 59, format}); // wrapped
    }
    return shapes;
}

std::vector<AppendView> append_shapes() {
    std::vector<AppendView> shapes;
    const auto add = [&](std::int64_t sequences, std::int64_t rows, std::int64_t width,
                         std::int64_t slots, std::int64_t first, std::int64_t count,
                         Element element) {
        shapes.push_back({nullptr, nullptr, sequences, rows, width, slots, first, count, element});
    };
    for (std::int64_t first = 0; first < 9; ++first) { // a wrap at every offset
        add(2, 2, 33, 8, first, 1, Element::f16);
        add(1, 3, 80, 8, first, 5, Element::bf16);
    }
    add(1, 2, 64, 50, 0, 50, Element::f16);
    add(2, 2, 33, 8, 0, 100, Element::f16); // longer than the ring
    add(1, 3, 64, 7, 1000, 15, Element::bf16);
    add(1, 1, 7, 5, 2, 2, Element::f32);
    return shapes;
}

std::vector<Mamba1View> mamba1_shapes() {
    std::vector<Mamba1View> shapes;
    for (const std::int64_t state_size : {1, 5, 16, 64, 128, 256}) {
        shapes.push_back(mamba_view(1, 40, state_size, 4, 3));
    }
    for (const std::int64_t conv_kernel : {1, 2, 3, 4, 8}) {
        shapes.push_back(mamba_view(2, 133, 16, conv_kernel, 5, Element::bf16));
    }
    shapes.push_back(mamba_view(1, 130, 16, 4, 64));
    return shapes;
}

std::vector<ConvView> conv_shapes() {
    std::vector<ConvView> shapes;
    for (const std::int64_t conv_kernel : {1, 2, 3, 4, 8}) {
        shapes.push_back(conv_view(2, 130, conv_kernel, 7));
        shapes.push_back(conv_view(1, 33, conv_kernel, 1, false, Element::bf16));
        shapes.push_back(conv_view(2, 70, conv_kernel, 3, false, Element::f32));
    }
    for (const std::int64_t channels : {1, 15, 16, 64, 300}) {
        shapes.push_back(conv_view(1, channels, 3, 4, true, Element::bf16));
    }
    return shapes;
}

std::vector<Mamba2View> mamba2_shapes() {
    std::vector<Mamba2View> shapes;
    for (const std::int64_t width : {7, 24, 64}) {
        for (const std::int64_t state_size : {1, 16, 33, 64, 128, 256}) {
            shapes.push_back(mamba2_view(1, 2, width, 1, state_size, 3));
        }
    }
    for (const std::int64_t group_count : {2, 3, 6}) {
        shapes.push_back(mamba2_view(2, 6, 16, group_count, 16, 4));
    }
    shapes.push_back(mamba2_view(1, 2, 24, 1, 64, 64));
    return shapes;
}

std::vector<DeltaShape> delta_shapes() {
    constexpr std::int64_t sizes[][2] = {{16, 24}, {64, 64},  {65, 33}, {128, 128},
                                         {129, 8}, {257, 33}, {384, 40}};
    std::vector<DeltaShape> shapes;
    for (const auto& [key_width, value_width] : sizes) {
        for (const bool delta_rule : {true, false}) {
            for (const bool column_gate : {false, true}) {
                DeltaView view = delta_view(1, 1, 2, key_width, value_width, 3);
                view.gate_width = column_gate ? key_width : 1;
                view.normalise = delta_rule;
                view.log_gate = delta_rule || column_gate;
                shapes.push_back({view, delta_rule});
            }
        }
    }
    shapes.push_back({delta_view(2, 3, 3, 64, 64, 64), true});
    return shapes;
}

std::vector<RglruView> rglru_shapes() {
    std::vector<RglruView> shapes;
    for (const std::int64_t width : {3, 15, 33, 128, 300}) {
        shapes.push_back(rglru_view(2, width, 3));
    }
    shapes.push_back(rglru_view(1, 130, 64));
    return shapes;
}

std::vector<Rwkv4View> rwkv4_shapes() {
    std::vector<Rwkv4View> shapes;
    for (const std::int64_t width : {3, 15, 33, 128, 300}) {
        shapes.push_back(rwkv4_view(2, width, 3));
    }
    shapes.push_back(rwkv4_view(1, 130, 64));
    return shapes;
}

std::vector<RwkvShape> rwkv_shapes() {
    std::vector<RwkvShape> shapes;
    for (const bool bonus : {true, false}) {
        for (const std::int64_t width : {3, 24, 33, 64, 65, 128}) {
            shapes.push_back({rwkv_view(1, 2, width, 3), bonus});
        }
        shapes.push_back({rwkv_view(2, 3, 64, 64), bonus});
    }
    return shapes;
}

std::vector<XlstmView> xlstm_shapes() {
    constexpr std::int64_t sizes[][2] = {{16, 24},  {64, 128}, {65, 31},  {128, 32},
                                         {129, 33}, {256, 63}, {200, 64}, {255, 40}};
    std::vector<XlstmView> shapes;
    for (const auto& [key_width, value_width] : sizes) {
        shapes.push_back(xlstm_view(1, 2, key_width, value_width, 3));
    }
    shapes.push_back(xlstm_view(2, 3, 64, 64, 64));
    return shapes;
}

std::string text_of(const AttentionShape& shape) {
    return "attention" +
           numbers({shape.sequences, shape.kv_heads, shape.group, shape.key_width,
                    shape.value_width, shape.slots, shape.tokens}) +
           " " + name_of(shape.key) + " " + name_of(shape.value) +
           numbers({shape.splits, static_cast<std::int64_t>(shape.peak)});
}

std::string text_of(const LatentShape& shape) {
    return "latent" +
           numbers({shape.sequences, shape.heads, shape.rank, shape.rope_width, shape.slots,
                    shape.tokens}) +
           " " + name_of(shape.format) + numbers({shape.splits});
}

std::string text_of(const AppendView& shape) {
    return "append" +
           numbers(
               {shape.sequences, shape.rows, shape.width, shape.slots, shape.first, shape.count}) +
           " " + name_of(shape.format);
}

std::string text_of(const Mamba1View& shape) {
    return "mamba1" +
           numbers(
               {shape.sequences, shape.inner, shape.state_size, shape.conv_kernel, shape.count}) +
           " " + name_of(format_of(shape.element));
}

std::string text_of(const ConvView& shape) {
    return "convolution" +
           numbers({shape.sequences, shape.channels, shape.conv_kernel, shape.count, shape.silu}) +
           " " + name_of(format_of(shape.element));
}

std::string text_of(const Mamba2View& shape) {
    return "mamba2" + numbers({shape.sequences, shape.heads, shape.head_width, shape.groups,
                               shape.state_size, shape.count});
}

std::string text_of(const DeltaShape& shape) {
    const DeltaView& view = shape.view;
    return "delta" + numbers({view.sequences, view.key_heads, view.value_heads, view.key_width,
                              view.value_width, view.count, view.gate_width, view.log_gate,
                              view.normalise, shape.delta_rule});
}

std::string text_of(const RglruView& shape) {
    return "rglru" + numbers({shape.sequences, shape.width, shape.count});
}

std::string text_of(const Rwkv4View& shape) {
    return "rwkv4" + numbers({shape.sequences, shape.width, shape.count});
}

std::string text_of(const RwkvShape& shape) {
    const RwkvView& view = shape.view;
    return "rwkv" + numbers({view.sequences, view.heads, view.width, view.count, shape.bonus});
}

std::string text_of(const XlstmView& shape) {
    return "xlstm" +
           numbers({shape.sequences, shape.heads, shape.key_width, shape.value_width, shape.count});
}

} // namespace kvcaliper::kernels::test
