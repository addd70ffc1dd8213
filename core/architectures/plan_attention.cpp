// SPDX-License-Identifier: Apache-2.0
// Attention on every layer: full and sliding ones together, who shares with whom, and what stands
// beside.
#include "core/architectures/plan_parts.h"
#include "core/error.h"
#include "core/model_config.h"

#include <algorithm>

namespace kvcaliper {

namespace {

// ---------------------------------------------------------------

/// Layer i reads the cache of the last owner of its own kind before `first`.
void share_last(std::vector<LayerPlan>& plan, std::int64_t count, const std::string& key) {
    const std::int64_t first = std::ssize(plan) - count;
    for (std::int64_t i = first; i < std::ssize(plan); ++i) {
        LayerPlan& layer = plan[static_cast<std::size_t>(i)];
        for (std::int64_t owner = first - 1; owner >= 0 && !layer.shared_with; --owner) {
            if (plan[static_cast<std::size_t>(owner)].parts.front().kind ==
                layer.parts.front().kind) {
                layer.shared_with = static_cast<int>(owner);
            }
        }
        if (layer.shared_with) {
            layer.parts.clear();
            layer.decided_by = key + " " + std::to_string(count);
        }
    }
}

void share_last_layers(Reading& reading, std::vector<LayerPlan>& plan, std::string_view key) {
    const std::int64_t count = reading.config.optional(key, 0, 100'000).value_or(0);
    if (count >= reading.layers) {
        reading.config.fail(key,
                            "fewer than num_hidden_layers (" + std::to_string(reading.layers) + ")",
                            std::to_string(count));
    }
    share_last(plan, count, std::string(key));
    for (std::int64_t i = reading.layers - count; i < reading.layers; ++i) {
        const LayerPlan& layer = plan[static_cast<std::size_t>(i)];
        if (!layer.shared_with) { // transformers 5.24 configuration_gemma4.py raises, too
            reading.config.fail(key,
                                "a " + kind_text(layer) + " layer among the first " +
                                    std::to_string(reading.layers - count) + ", for layer " +
                                    std::to_string(i) + " to read",
                                std::to_string(count));
        }
    }
}

void share_across(Reading& reading, std::vector<LayerPlan>& plan) {
    if (!reading.config.flag("use_cla", false)) {
        return;
    }
    const std::int64_t factor = reading.config.required("cla_share_factor", 100'000);
    for (std::int64_t i = 0; i < std::ssize(plan); ++i) {
        if (i % factor != 0) {
            LayerPlan& layer = plan[static_cast<std::size_t>(i)];
            layer.parts.clear();
            layer.shared_with = static_cast<int>(i - i % factor);
            layer.decided_by = "use_cla, cla_share_factor " + std::to_string(factor);
        }
    }
}

void share(Reading& reading, std::vector<LayerPlan>& plan) {
    switch (reading.row.sharing) {
    case Sharing::none:
        return;
    case Sharing::last_layers:
        return share_last_layers(reading, plan, "num_kv_shared_layers");
    case Sharing::reuse:
        return share_last_layers(reading, plan, "num_kv_reuse_layers");
    case Sharing::cross_layer:
        return share_across(reading, plan);
    }
}

void add_conv(LayerPlan& layer, std::int64_t channels, std::int64_t columns, bool in_state_format) {
    if (columns > 0) {
        layer.parts.push_back(
            {LayerKind::kv_conv, ConvDims{channels, columns, in_state_format ? 1 : 0}});
    }
}

/// Zaya: both convolutions over q and k, and half of the last V row.
void add_zaya_conv(Reading& reading, LayerPlan& layer, const AttentionDims& dims) {
    const std::int64_t columns = reading.config.optional("cca_time0").value_or(2) - 1 +
                                 reading.config.optional("cca_time1").value_or(2) - 1;
    add_conv(layer, (dims.heads + dims.kv_heads) * dims.key_width, columns, false);
    add_conv(layer, dims.kv_heads * dims.value_width / 2, 1, false);
}

/// Inkling: convolutions over k, v, the attention output and the MLP output, in fp32.
void add_inkling_conv(Reading& reading, LayerPlan& layer, const AttentionDims& dims) {
    const std::int64_t columns = reading.config.optional("conv_kernel_size").value_or(4) - 1;
    const std::int64_t hidden = reading.config.required("hidden_size");
    add_conv(layer, dims.kv_heads * (dims.key_width + dims.value_width) + 2 * hidden, columns,
             true);
}

std::vector<bool> indexed_layers(Reading& reading) {
    std::vector<bool> indexed(static_cast<std::size_t>(reading.layers), false);
    const auto words = reading.config.words("layer_types");
    const auto inner = reading.config.inner("sparse_attention_config");
    const auto flags =
        inner ? inner->integers("sparse_attention_freq") : std::vector<std::int64_t>{};
    for (std::size_t i = 0; i < indexed.size(); ++i) {
        indexed[i] =
            i < words.size() ? words[i] == "minimax_m3_sparse" : i < flags.size() && flags[i] != 0;
    }
    return indexed;
}

std::int64_t index_width(Reading& reading) {
    if (const auto inner = reading.config.inner("sparse_attention_config")) {
        if (const auto width = inner->optional("sparse_index_dim")) {
            return *width;
        }
    }
    return reading.config.required("index_head_dim", 65536);
}

/// The query's heads and the tokens of the chosen blocks (MiniMax-M3) take no memory.
void set_indexer(Reading& reading, AttentionDims& dims) {
    const auto inner = reading.config.inner("sparse_attention_config");
    const auto number = [&](const char* inside, const char* outside) -> std::int64_t {
        const auto nested = inner ? inner->optional(inside) : std::nullopt;
        return nested ? *nested : reading.config.optional(outside).value_or(0);
    };
    dims.index_width = index_width(reading);
    dims.index_heads = number("sparse_num_index_heads", "index_n_heads");
    dims.index_top = checked_multiply(number("sparse_topk_blocks", "index_topk_blocks"),
                                      number("sparse_block_size", "index_block_size"));
}

void add_index_keys(Reading& reading, std::vector<LayerPlan>& plan) {
    const std::vector<bool> indexed = indexed_layers(reading);
    for (std::size_t i = 0; i < plan.size(); ++i) {
        if (indexed[i]) {
            set_indexer(reading, std::get<AttentionDims>(plan[i].parts.front().dims));
            plan[i].decided_by += ", sparse attention with an index key";
        }
    }
}

void add_beside(Reading& reading, std::vector<LayerPlan>& plan) {
    if (reading.row.beside == Beside::index_key) {
        return add_index_keys(reading, plan);
    }
    for (LayerPlan& layer : plan) {
        if (layer.parts.empty()) {
            continue;
        }
        const AttentionDims dims = std::get<AttentionDims>(layer.parts.front().dims);
        switch (reading.row.beside) {
        case Beside::none:
        case Beside::index_key:
            break;
        case Beside::baichuan_conv:
            add_conv(layer, dims.kv_heads * (dims.key_width + dims.value_width),
                     reading.config.optional("conv_window").value_or(2) - 1, false);
            break;
        case Beside::zaya_conv:
            add_zaya_conv(reading, layer, dims);
            break;
        case Beside::inkling_conv:
            add_inkling_conv(reading, layer, dims);
            break;
        case Beside::cross: {
            AttentionDims cross = dims;
            cross.window.reset();
            cross.kv_heads =
                reading.config.optional("cross_num_key_value_heads").value_or(dims.kv_heads);
            cross.key_width = cross.value_width =
                reading.config.optional("cross_head_dim").value_or(dims.key_width);
            layer.parts.push_back({LayerKind::cross_attention, cross});
            break;
        }
        }
    }
}

/// A list of KV heads says for each layer how many there are; none means no cache.
void apply_listed_heads(Reading& reading, std::vector<LayerPlan>& plan) {
    const auto listed = listed_kv_heads(reading);
    for (std::size_t i = 0; i < plan.size() && i < listed.size(); ++i) {
        plan[i].decided_by += ", num_key_value_heads/" + std::to_string(i);
        if (listed[i] == 0) {
            plan[i].parts.clear();
        } else if (!plan[i].parts.empty()) {
            std::get<AttentionDims>(plan[i].parts.front().dims).kv_heads = listed[i];
        }
    }
}

/// per_layer_config {"3": {"head_dim": 512}}: overrides by layer index.
void apply_overrides(Reading& reading, std::vector<LayerPlan>& plan) {
    const auto table = reading.config.inner("per_layer_config");
    if (!table) {
        return;
    }
    for (std::size_t i = 0; i < plan.size(); ++i) {
        const auto inner = table->inner(std::to_string(i));
        if (!inner || plan[i].parts.empty()) {
            continue;
        }
        auto& dims = std::get<AttentionDims>(plan[i].parts.front().dims);
        dims.kv_heads = inner->optional("num_key_value_heads").value_or(dims.kv_heads);
        if (const auto width = inner->optional("head_dim", 1, 65536)) {
            dims.key_width = dims.value_width = *width;
        }
        plan[i].decided_by += ", per_layer_config/" + std::to_string(i);
    }
}

} // namespace

LayerPart attention_part(const AttentionDims& dims) {
    return {dims.window ? LayerKind::sliding_attention : LayerKind::full_attention, dims};
}

std::vector<LayerPlan> plan_attention(Reading& reading) {
    const AttentionDims dims = attention_dims(reading);
    const auto window = window_of(reading);
    if (reading.row.layout == Layout::full && reading.config.has("sliding_window") &&
        reading.config.words("layer_types").empty()) {
        reading.notes.push_back("sliding_window is not a key of this model_type: ignored");
    }
    const AttentionDims full = split_dims(reading, dims, false);
    AttentionDims windowed = split_dims(reading, dims, true);
    windowed.window = window;
    std::vector<LayerChoice> choices = choose_layers(reading, window.has_value());
    if (reading.row.split == Split::global_heads && !choices.empty()) {
        choices.back() = {LayerKind::full_attention, "the last layer is always full"};
    }
    std::vector<LayerPlan> plan;
    for (const LayerChoice& choice : choices) {
        const bool is_full = choice.kind == LayerKind::full_attention;
        plan.push_back(
            {{{choice.kind, is_full ? full : windowed}},
             std::nullopt,
             choice.decided_by.empty() ? "model_type: full attention" : choice.decided_by});
    }
    apply_listed_heads(reading, plan);
    apply_overrides(reading, plan);
    share(reading, plan);
    add_beside(reading, plan);
    return plan;
}

} // namespace kvcaliper
