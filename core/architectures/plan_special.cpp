// SPDX-License-Identifier: Apache-2.0
// Layers that state their dimensions one by one, encoder–decoder models, and recursion.
#include "core/architectures/plan_parts.h"
#include "core/error.h"
#include "core/model_config.h"

namespace kvcaliper {

/// OpenELM: num_kv_heads and num_query_heads are lists.
std::vector<LayerPlan> plan_lists(Reading& reading) {
    const auto kv_heads = reading.config.integers("num_kv_heads");
    const auto heads = reading.config.integers("num_query_heads");
    if (std::ssize(kv_heads) < reading.layers) {
        reading.config.fail("num_kv_heads", std::to_string(reading.layers) + " numbers",
                            std::to_string(kv_heads.size()));
    }
    AttentionDims dims;
    dims.key_width = dims.value_width = reading.config.required("head_dim", 65536);
    std::vector<LayerPlan> plan;
    for (std::size_t i = 0; i < static_cast<std::size_t>(reading.layers); ++i) {
        const std::string at = "num_kv_heads/" + std::to_string(i);
        if (kv_heads[i] < 1 || kv_heads[i] > 1'000'000) {
            reading.config.fail(at, "at least 1", std::to_string(kv_heads[i]));
        }
        dims.kv_heads = kv_heads[i];
        dims.heads = i < heads.size() && heads[i] > 0 ? heads[i] : dims.kv_heads;
        plan.push_back({{{LayerKind::full_attention, dims}}, std::nullopt, at});
    }
    return plan;
}

namespace {

/// One entry of block_configs: no attention, or heads / n_heads_in_group KV heads.
LayerPlan plan_block(const ModelConfig& block, AttentionDims dims, const std::string& at) {
    const auto attention = block.inner("attention");
    if (!attention || attention->flag("no_op", false) ||
        attention->flag("replace_with_linear", false)) {
        return {{}, std::nullopt, at + ": no attention"};
    }
    const std::int64_t group = attention->required("n_heads_in_group", 1'000'000);
    if (dims.heads % group != 0) {
        attention->fail("n_heads_in_group",
                        "a divisor of num_attention_heads (" + std::to_string(dims.heads) + ")",
                        std::to_string(group));
    }
    dims.kv_heads = dims.heads / group;
    dims.window = attention->optional("window_length");
    return {{attention_part(dims)}, std::nullopt, at + "/attention"};
}

} // namespace

/// Nemotron-NAS: a layer's attention may be removed, replaced or regrouped.
std::vector<LayerPlan> plan_blocks(Reading& reading) {
    AttentionDims dims;
    dims.heads = reading.config.required("num_attention_heads", 1'000'000);
    const auto width = reading.config.optional("head_dim", 1, 65536);
    dims.key_width = dims.value_width =
        width ? *width
              : std::max<std::int64_t>(1, reading.config.required("hidden_size") / dims.heads);
    std::vector<LayerPlan> plan;
    for (std::int64_t i = 0; i < reading.layers; ++i) {
        const std::string at = "block_configs/" + std::to_string(i);
        const auto block = reading.config.element("block_configs", static_cast<std::size_t>(i));
        if (!block) {
            reading.config.fail("block_configs", std::to_string(reading.layers) + " blocks",
                                std::to_string(i));
        }
        plan.push_back(plan_block(*block, dims, at));
    }
    return plan;
}

/// Self-attention that grows with the output, cross-attention over the encoder's rows.
std::vector<LayerPlan> plan_decoder(Reading& reading) {
    const ModelConfig& config = reading.config;
    AttentionDims self;
    const auto heads = config.optional("decoder_attention_heads");
    self.heads = self.kv_heads = heads ? *heads : config.required("num_attention_heads", 1'000'000);
    const auto width = config.optional("d_kv");
    self.key_width = self.value_width =
        width ? *width : std::max<std::int64_t>(1, config.required("hidden_size") / self.heads);
    AttentionDims cross = self;
    cross.encoder_tokens = config.optional("max_source_positions").value_or(0);
    if (reading.row.model_type != "whisper") {
        cross.encoder_tokens = 0; // only Whisper always encodes its full window
    }
    const LayerPlan layer{{{LayerKind::full_attention, self}, {LayerKind::cross_attention, cross}},
                          std::nullopt,
                          "model_type: decoder with cross-attention"};
    return {static_cast<std::size_t>(reading.layers), layer};
}

/// Mllama: the listed layers attend to vision tokens alone.
std::vector<LayerPlan> plan_cross_list(Reading& reading) {
    auto listed = reading.config.integers("cross_attention_layers");
    if (!reading.config.has("cross_attention_layers")) {
        listed = {3, 8, 13, 18, 23, 28, 33, 38};
        reading.notes.push_back("cross_attention_layers absent: class default 3, 8, … 38");
    }
    const AttentionDims dims = attention_dims(reading);
    std::vector<LayerPlan> plan(static_cast<std::size_t>(reading.layers),
                                {{attention_part(dims)}, std::nullopt, "self-attention"});
    for (const std::int64_t index : listed) {
        if (index >= 0 && index < reading.layers) {
            plan[static_cast<std::size_t>(index)] = {
                {{LayerKind::cross_attention, dims}}, std::nullopt, "cross_attention_layers"};
        }
    }
    return plan;
}

/// HRM: each recursion keeps a cache of its own.
std::vector<LayerPlan> plan_recursion(Reading& reading) {
    const std::int64_t cycles = checked_multiply(reading.config.required("H_cycles", 1000),
                                                 reading.config.required("L_cycles", 1000) + 1);
    reading.layers = checked_multiply(reading.layers, cycles);
    if (reading.layers > 100'000) {
        reading.config.fail("H_cycles", "at most 100000 caches in all",
                            std::to_string(reading.layers));
    }
    reading.notes.push_back("H_cycles × (L_cycles + 1) = " + std::to_string(cycles) +
                            " caches per layer");
    return plan_attention(reading);
}

} // namespace kvcaliper
