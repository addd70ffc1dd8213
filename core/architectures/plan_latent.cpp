// SPDX-License-Identifier: Apache-2.0
// Latent attention: MLA, MLA with an indexer, and DeepSeek-V4's compressed entries.
#include "core/architectures/plan_parts.h"
#include "core/error.h"
#include "core/model_config.h"

#include <algorithm>

namespace kvcaliper {

namespace {

/// Which layers have an indexer of their own: indexer_types, a pattern of F and S, or a frequency
/// (transformers' glm_moe_dsa). Layers without one reuse the last top-k and keep no index key.
bool has_indexer(Reading& reading, const std::vector<std::string>& types, std::int64_t layer) {
    const ModelConfig& config = reading.config;
    if (!types.empty()) {
        const std::string& type = types[static_cast<std::size_t>(layer)];
        if (type != "full" && type != "shared") {
            config.fail("indexer_types/" + std::to_string(layer), "full or shared",
                        "\"" + type + "\"");
        }
        return type == "full";
    }
    if (const JsonValue* pattern = config.find("index_topk_pattern");
        pattern && pattern->if_string()) {
        const std::string& word = *pattern->if_string();
        if (std::ssize(word) <= layer) {
            config.fail("index_topk_pattern", "a letter for each layer", describe(*pattern));
        }
        return word[static_cast<std::size_t>(layer)] == 'F';
    }
    const std::int64_t frequency = config.optional("index_topk_freq", 1, 100'000).value_or(1);
    const std::int64_t offset = config.optional("index_skip_topk_offset", 0, 100'000).value_or(2);
    return std::max<std::int64_t>(layer - offset + 1, 0) % frequency == 0;
}

bool indexes(const Reading& reading) {
    return reading.row.beside == Beside::index_key;
}

/// How index keys are used, which takes no memory: heads of the query and rows that are attended.
template <typename Dims> void set_indexer(const ModelConfig& config, Dims& dims) {
    dims.index_heads = config.optional("index_n_heads", 1, 65536).value_or(0);
    dims.index_top = config.optional("index_topk", 1, 1'000'000'000).value_or(0);
}

} // namespace

LatentDims latent_dims(Reading& reading) {
    const ModelConfig& config = reading.config;
    LatentDims dims;
    dims.heads = config.required("num_attention_heads", 1'000'000);
    dims.rank = config.required("kv_lora_rank", 1'000'000);
    dims.rope_width = config.required("qk_rope_head_dim", 1'000'000);
    dims.nope_width = config.required("qk_nope_head_dim", 1'000'000);
    const auto value_width = config.optional("v_head_dim", 1, 1'000'000);
    dims.value_width = value_width
                           ? *value_width
                           : std::max<std::int64_t>(1, config.required("hidden_size") / dims.heads);
    if (config.has("num_key_value_heads")) {
        reading.notes.push_back(
            "num_key_value_heads is ignored: kv_lora_rank makes this one latent "
            "per token for all heads");
    }
    return dims;
}

std::vector<LayerPlan> plan_mla(Reading& reading) {
    // DeepSeek-VL2 small and Hunyuan carry the keys of MLA and switch it off.
    if (reading.config.has("use_mla") && !reading.config.flag("use_mla", true)) {
        reading.notes.push_back("use_mla is false: plain attention");
        return plan_attention(reading);
    }
    const LatentDims dims = latent_dims(reading);
    const std::int64_t width =
        indexes(reading) ? reading.config.required("index_head_dim", 65536) : 0;
    const auto types =
        indexes(reading) ? layer_words(reading, "indexer_types") : std::vector<std::string>{};
    LatentDims indexed = dims;
    indexed.index_width = width;
    set_indexer(reading.config, indexed);
    std::vector<LayerPlan> plan;
    for (std::int64_t i = 0; i < reading.layers; ++i) {
        const bool own = indexes(reading) && has_indexer(reading, types, i);
        plan.push_back({{{LayerKind::mla, own ? indexed : dims}},
                        std::nullopt,
                        "kv_lora_rank " + std::to_string(dims.rank) +
                            (!indexes(reading) ? ""
                             : own             ? ", index key"
                                               : ", shared index")});
    }
    return plan;
}

std::vector<LayerPlan> plan_mla_twice(Reading& reading) {
    reading.layers *= 2;
    reading.notes.push_back(
        "two attention sub-layers per block: " + std::to_string(reading.layers) + " caches");
    return plan_mla(reading);
}

// ---- DeepSeek-V4 --------------------------------------------------------------------------------

namespace {

constexpr std::int64_t csa_group = 4;   // compressed_sparse_attention
constexpr std::int64_t hca_group = 128; // heavily_compressed_attention

std::int64_t group_of_word(Reading& reading, const std::string& word, std::int64_t layer) {
    if (word == "compressed_sparse_attention") {
        return csa_group;
    }
    if (word == "heavily_compressed_attention") {
        return hca_group;
    }
    if (word == "sliding_attention") {
        return 0;
    }
    reading.config.fail("layer_types/" + std::to_string(layer),
                        "compressed_sparse_attention, heavily_compressed_attention or "
                        "sliding_attention",
                        "\"" + word + "\"");
}

/// Tokens per compressed entry of each layer: layer_types, else compress_ratios, else two heavily
/// compressed layers and then both kinds by turns.
std::vector<std::int64_t> groups_of(Reading& reading) {
    std::vector<std::int64_t> groups;
    const auto words = layer_words(reading, "layer_types");
    const auto ratios = reading.config.integers("compress_ratios");
    if (words.empty() && !ratios.empty() && std::ssize(ratios) < reading.layers) {
        reading.config.fail("compress_ratios", std::to_string(reading.layers) + " numbers",
                            std::to_string(ratios.size()));
    }
    for (std::int64_t i = 0; i < reading.layers; ++i) {
        const auto index = static_cast<std::size_t>(i);
        groups.push_back(!words.empty()    ? group_of_word(reading, words[index], i)
                         : !ratios.empty() ? ratios[index]
                         : i < 2           ? hca_group
                         : i % 2 == 0      ? hca_group
                                           : csa_group);
        if (groups.back() < 0) {
            reading.config.fail("compress_ratios/" + std::to_string(i), "0 or more",
                                std::to_string(groups.back()));
        }
    }
    return groups;
}

std::string group_text(std::int64_t group) {
    return group == 0 ? "window only" : "one entry per " + std::to_string(group) + " tokens";
}

/// Heads, width and window; groups and index keys differ by layer.
CompressedDims compressed_dims(Reading& reading) {
    CompressedDims dims;
    dims.heads = reading.config.required("num_attention_heads", 1'000'000);
    dims.width = reading.config.required("head_dim", 65536);
    dims.window = reading.config.required("sliding_window");
    return dims;
}

} // namespace

std::vector<LayerPlan> plan_compressed(Reading& reading) {
    const CompressedDims dims = compressed_dims(reading);
    const std::int64_t index_width = reading.config.required("index_head_dim", 65536);
    CompressedDims indexed = dims;
    indexed.index_width = index_width;
    set_indexer(reading.config, indexed);
    std::vector<LayerPlan> plan;
    for (const std::int64_t group : groups_of(reading)) {
        CompressedDims of_layer = group == csa_group ? indexed : dims;
        of_layer.group = group;
        plan.push_back(
            {{{LayerKind::compressed_attention, of_layer}}, std::nullopt, group_text(group)});
    }
    reading.notes.push_back("buffers of unfinished groups and of the compressor are not counted as "
                            "required: at most (4 - 1)·2,560 + 3,072 elements per sparse layer and "
                            "(128 - 1)·1,024 per heavily compressed one");
    return plan;
}

std::vector<LayerPlan> plan_compressed_shared(Reading& reading) {
    CompressedDims dims = compressed_dims(reading);
    const std::int64_t index_width = reading.config.required("index_head_dim", 65536);
    const auto sources = reading.config.integers("kv_source_layer_ids");
    if (sources.empty()) {
        reading.config.fail("kv_source_layer_ids", "a list of layers", "none");
    }
    const auto groups = groups_of(reading);
    std::vector<LayerPlan> plan;
    for (std::int64_t i = 0; i < reading.layers; ++i) {
        const bool owns = std::find(sources.begin(), sources.end(), i) != sources.end();
        dims.group = owns ? groups[static_cast<std::size_t>(i)] : 0;
        dims.index_width = owns ? index_width : 0;
        plan.push_back({{{LayerKind::compressed_attention, dims}},
                        std::nullopt,
                        owns ? "kv_source_layer_ids, " + group_text(dims.group)
                             : "window only; compressed entries are read from another layer"});
    }
    return plan;
}

} // namespace kvcaliper
