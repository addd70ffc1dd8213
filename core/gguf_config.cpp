// SPDX-License-Identifier: Apache-2.0
// The meaning of keys: llama.cpp, src/llama-arch.cpp (names), src/llama-model.cpp and src/models/
// (what is read, and what an absent key means), conversion/ (what was written for which model).
#include "core/gguf_config.h"

#include "core/error.h"
#include "core/gguf_kinds.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace kvcaliper {

namespace {

constexpr std::int64_t most_layers = 100'000;
constexpr std::int64_t most_tokens = std::int64_t{1} << 40;
constexpr std::int64_t llama4_chunk = 8192; // fixed in llama.cpp, whatever the file says

/// Keys that a plain transformer has no use for: an architecture not known here that has one of
/// them keeps something in its cache that is not known either.
constexpr std::array unplain_prefixes = {"ssm.",
                                         "wkv.",
                                         "kda.",
                                         "shortconv.",
                                         "full_attention_interval",
                                         "attention.kv_lora_rank",
                                         "attention.indexer.",
                                         "attention.compress_ratios",
                                         "attention.recurrent_layers",
                                         "attention.key_length_swa",
                                         "attention.value_length_swa",
                                         "attention.shared_kv_layers",
                                         "attention.sliding_window_size"};

void require_plain(const GgufMetadata& metadata) {
    for (const char* prefix : unplain_prefixes) {
        if (metadata.any(prefix)) {
            metadata.fail(prefix, "a known architecture with such a key",
                          "\"" + metadata.architecture() + "\"");
        }
    }
}

// ---- layers and sizes ---------------------------------------------------------------------------

/// Blocks for multi-token prediction are counted in block_count, after the others: llama.cpp has
/// n_layer() = n_layer_all - n_layer_nextn, and its converters add them to num_hidden_layers.
void add_layers(GgufTranslation& to) {
    const std::int64_t blocks = to.metadata.required("block_count", most_layers);
    const std::int64_t extra = to.metadata.integer("nextn_predict_layers", most_layers).value_or(0);
    if (extra >= blocks) {
        to.metadata.fail("nextn_predict_layers",
                         "fewer than block_count (" + std::to_string(blocks) + ")",
                         std::to_string(extra));
    }
    to.layers = blocks - extra;
    to.config.set("num_hidden_layers", to.layers);
    if (extra > 0) {
        to.config.set("num_nextn_predict_layers", extra);
        to.notes.push_back("block_count " + std::to_string(blocks) + " includes " +
                           std::to_string(extra) +
                           " for multi-token prediction (nextn_predict_layers): not counted");
    }
}

void add_sizes(GgufTranslation& to) {
    const auto context = to.metadata.integer("context_length", most_tokens);
    to.config.set("max_position_embeddings",
                  context && *context > 0 ? JsonValue(*context) : JsonValue());
    to.hidden = to.metadata.required("embedding_length");
    to.config.set("hidden_size", to.hidden);
}

// ---- attention ----------------------------------------------------------------------------------

JsonValue list_of(const std::vector<std::int64_t>& values) {
    return JsonValue::Array(values.begin(), values.end());
}

/// llama.cpp's n_embd_head_k and _v: both from embedding_length when the file has no width.
std::int64_t width_of_head(GgufTranslation& to, std::string_view key) {
    if (const auto width = to.metadata.integer(key, 65536); width && *width > 0) {
        return *width;
    }
    if (to.hidden < to.heads) {
        to.metadata.fail("embedding_length",
                         "at least attention.head_count (" + std::to_string(to.heads) + ")",
                         std::to_string(to.hidden));
    }
    const std::int64_t width = to.hidden / to.heads;
    to.notes.push_back(std::string(key) + " absent: embedding_length / attention.head_count = " +
                       std::to_string(width));
    return width;
}

void add_heads(GgufTranslation& to) {
    const auto heads = to.metadata.per_layer("attention.head_count", to.layers);
    to.heads = heads.empty() ? 0 : *std::max_element(heads.begin(), heads.end());
    if (to.heads == 0) {
        to.metadata.fail("attention.head_count", "an integer from 1 on",
                         heads.empty() ? "nothing" : "0");
    }
    to.config.set("num_attention_heads", to.heads);
    to.kv_heads = to.metadata.per_layer("attention.head_count_kv", to.layers);
    if (to.kv_heads.empty()) {
        to.kv_heads = heads;
        to.notes.push_back("attention.head_count_kv absent: as many as query heads");
    }
}

/// One number where every layer has the same, else the list, in which 0 is a layer without.
void add_plain_attention(GgufTranslation& to) {
    const bool same = std::all_of(to.kv_heads.begin(), to.kv_heads.end(),
                                  [&](std::int64_t kv) { return kv == to.kv_heads.front(); });
    const bool one = same && to.kv_heads.front() > 0;
    to.config.set("num_key_value_heads",
                  one ? JsonValue(to.kv_heads.front()) : list_of(to.kv_heads));
    const std::int64_t key = width_of_head(to, "attention.key_length");
    const std::int64_t value = width_of_head(to, "attention.value_length");
    to.config.set("head_dim", key);
    if (value != key) {
        to.config.set("v_head_dim", value);
        to.notes.push_back("values are " + std::to_string(value) + " wide, keys " +
                           std::to_string(key));
    }
}

void add_attention(GgufTranslation& to, GgufAttention kind) {
    if (kind == GgufAttention::none) {
        return;
    }
    add_heads(to);
    if (kind == GgufAttention::plain) {
        add_plain_attention(to);
    }
}

// ---- windows ------------------------------------------------------------------------------------

/// llama_hparams::set_swa_pattern: a period of 0 leaves no layer full.
std::vector<bool> by_period(std::int64_t layers, std::int64_t period, bool dense_first) {
    std::vector<bool> sliding;
    for (std::int64_t i = 0; i < layers; ++i) {
        sliding.push_back(period == 0 || (dense_first ? i % period != 0 : i % period < period - 1));
    }
    return sliding;
}

/// The layers with a window: a list in the file, else a period, the file's or llama.cpp's own.
std::vector<bool> sliding_layers(const GgufTranslation& to, const GgufArchitecture& row) {
    const std::string_view key = "attention.sliding_window_pattern";
    const JsonValue* pattern = to.metadata.find(key);
    if (pattern != nullptr && pattern->is_array()) {
        const auto values = to.metadata.per_layer(key, to.layers);
        return {values.begin(), values.end()};
    }
    if (row.windows == GgufWindows::as_stated) {
        return {};
    }
    const std::int64_t period = to.metadata.integer(key, most_layers).value_or(row.period);
    return by_period(to.layers, period, row.windows == GgufWindows::dense_first);
}

void add_layer_types(GgufTranslation& to, const char* window) {
    JsonValue::Array words;
    for (const bool sliding : to.sliding) {
        words.emplace_back(sliding ? window : "full_attention");
    }
    to.config.set("layer_types", std::move(words));
}

/// Llama 4: no key means chunks, and a window of 0 means none (Scout and Maverick have no key).
void add_chunks(GgufTranslation& to, const GgufArchitecture& row) {
    const bool off = to.metadata.integer("attention.sliding_window", most_tokens) == 0;
    to.config.set("attention_chunk_size", off ? JsonValue() : JsonValue(llama4_chunk));
    to.sliding = off ? std::vector<bool>(static_cast<std::size_t>(to.layers), false)
                     : sliding_layers(to, row);
    add_layer_types(to, "chunked_attention");
}

void add_windows(GgufTranslation& to, const GgufArchitecture& row) {
    if (row.windows == GgufWindows::chunked) {
        add_chunks(to, row);
        return;
    }
    const std::string_view key = "attention.sliding_window";
    const std::int64_t window = to.metadata.integer(key, most_tokens).value_or(row.window);
    // null, where transformers would put a class default under an absent key
    to.config.set("sliding_window", window > 0 ? JsonValue(window) : JsonValue());
    if (window == 0) {
        return;
    }
    to.sliding = sliding_layers(to, row);
    if (!to.sliding.empty()) {
        add_layer_types(to, "sliding_attention");
    } else if (row.model_type.empty()) {
        to.metadata.fail(key, "a known architecture, or a list of the layers that have a window",
                         "\"" + to.metadata.architecture() + "\" without one");
    }
}

// ---- the file -----------------------------------------------------------------------------------

std::string text_of(const JsonValue& values, std::string_view key) {
    const JsonValue* value = values.find(key);
    return value && value->if_string() ? one_line(*value->if_string()) : "";
}

void add_names(GgufTranslation& to, const GgufHeader& header, const std::string& model_type,
               const std::string& path) {
    to.config.set("model_type", model_type);
    if (const std::string name = text_of(header.metadata, "general.name"); !name.empty()) {
        to.config.set("_name", name);
    }
    to.config.set("_source", path);
    to.notes.push_back("GGUF version " + std::to_string(header.version) +
                       (header.big_endian ? ", big endian" : "") + ": general.architecture " +
                       to.metadata.architecture() + ", read as model_type " + model_type);
    const JsonValue* parts = header.metadata.find("split.count");
    if (parts && parts->if_integer() && *parts->if_integer() > 1) {
        to.notes.push_back("part of a file split into " + std::to_string(*parts->if_integer()) +
                           ": its metadata is all in the first part");
    }
}

} // namespace

ConfigFile gguf_config(const GgufHeader& header, const std::string& path) {
    const GgufMetadata metadata(header, path);
    const GgufArchitecture* known = find_gguf_architecture(metadata.architecture());
    if (known == nullptr) {
        require_plain(metadata);
    }
    const GgufArchitecture row = known ? *known : GgufArchitecture{metadata.architecture(), ""};
    GgufTranslation to{metadata, 0, 0, 0, {}, {}, {}, header.warnings};
    add_names(to, header, std::string(known ? row.model_type : row.name), path);
    add_layers(to);
    add_sizes(to);
    add_attention(to, row.attention);
    if (row.attention != GgufAttention::none) {
        add_windows(to, row);
    }
    if (row.more != nullptr) {
        row.more(to);
    }
    return {path, std::filesystem::path(path).stem().string(), std::move(to.config),
            std::move(to.notes)};
}

} // namespace kvcaliper
