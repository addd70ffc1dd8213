// SPDX-License-Identifier: Apache-2.0
// Blocks that vLLM admits a request with, and the groups of layers they are made for. Inside
// core/engines only.
#pragma once

#include "core/engines/vllm_layers.h"

namespace kvcaliper::vllm {

/// What is asked of one rank.
struct Request {
    std::int64_t tokens = 0;
    std::int64_t sequences = 1;
    std::int64_t block = 16;        ///< tokens
    std::int64_t in_flight = 0;     ///< max_num_batched_tokens
    std::int64_t state_blocks = 1;  ///< of one layer's state
    std::int64_t context_ranks = 1; ///< that divide the tokens
    bool hybrid_disabled = false;
    StageLayers stage; ///< the layers that the rank holds
};

/// Adds the terms of all specs to a reservation, and notes. Groups are made of all layers, whatever
/// the rank holds of them. Throws Error where vLLM refuses or no rule is known.
void add_blocks(Reservation& result, std::vector<LayerSpec> specs, const Request& request);

/// The same for a model of compressed attention (DeepSeek-V4).
void add_compressed(Reservation& result, const Model& model, const Request& request);

bool has(const std::vector<LayerSpec>& specs, LayerSpec::Kind kind);
bool is_held(std::int64_t layer, const Request& request);

struct Blocks {
    std::int64_t count = 0;
    std::string name; ///< "blocks = ceil(8,192 / 16)"
};
/// Of all tokens; token i is on context rank i mod ranks.
Blocks full_blocks(std::int64_t block, const Request& request);
/// Of a window and the tokens in flight. It may begin inside a block: one more.
Blocks window_blocks(std::int64_t window, std::int64_t block, const Request& request);

/// slots × blocks × page × sequences.
void add_term(Reservation& result, const Request& request, const std::string& label,
              std::vector<Factor> slots, const Blocks& blocks, const Factor& page);

} // namespace kvcaliper::vllm
