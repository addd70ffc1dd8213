// SPDX-License-Identifier: Apache-2.0
// The shapes that every backend must compute right, as data: one list per family of kernels.
#pragma once

#include "recurrent_steps.h"

#include <string>
#include <vector>

namespace kvcaliper::kernels::test {

/// Attention on planes that `tokens` tokens went through; a plane with fewer slots has wrapped.
struct AttentionShape {
    std::int64_t sequences, kv_heads, group, key_width, value_width, slots, tokens;
    Format key, value;
    std::int64_t splits = 0; ///< 0: as planned; else so many, empty ones included
    double peak = 1.0;       ///< of the queries: large ones make one slot outweigh the others
};

struct LatentShape {
    std::int64_t sequences, heads, rank, rope_width, slots, tokens;
    Format format;
    std::int64_t splits = 0;
};

/// A step of linear attention by one of the rules: with betas or without, one gate or one per row.
struct DeltaShape {
    DeltaView view;
    bool delta_rule;
};

/// A step of RWKV 5 to 7, with a bonus or with a and b.
struct RwkvShape {
    RwkvView view;
    bool bonus;
};

std::vector<AttentionShape> attention_shapes();
std::vector<LatentShape> latent_shapes();
std::vector<AppendView> append_shapes();
std::vector<Mamba1View> mamba1_shapes();
std::vector<ConvView> conv_shapes();
std::vector<Mamba2View> mamba2_shapes();
std::vector<DeltaShape> delta_shapes();
std::vector<RglruView> rglru_shapes();
std::vector<Rwkv4View> rwkv4_shapes();
std::vector<RwkvShape> rwkv_shapes();
std::vector<XlstmView> xlstm_shapes();

// Every number of a shape, so that two of the same name are the same shape.
std::string text_of(const AttentionShape& shape);
std::string text_of(const LatentShape& shape);
std::string text_of(const AppendView& shape);
std::string text_of(const Mamba1View& shape);
std::string text_of(const ConvView& shape);
std::string text_of(const Mamba2View& shape);
std::string text_of(const DeltaShape& shape);
std::string text_of(const RglruView& shape);
std::string text_of(const Rwkv4View& shape);
std::string text_of(const RwkvShape& shape);
std::string text_of(const XlstmView& shape);

} // namespace kvcaliper::kernels::test
