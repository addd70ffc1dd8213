// SPDX-License-Identifier: Apache-2.0
// Attention that needs more than head counts and widths. The keys set here are those of the
// config.json that llama.cpp's conversion/ reads for the same architecture.
#include "core/gguf_rules.h"

namespace kvcaliper::gguf_rules {

namespace {

constexpr const char* kv_key = "attention.head_count_kv";

/// KV heads of the layers with (or without) a window, which must agree; 0 when there are none.
std::int64_t kv_heads_of(const GgufTranslation& to, bool sliding) {
    std::int64_t heads = 0;
    for (std::size_t i = 0; i < to.sliding.size(); ++i) {
        if (to.sliding[i] != sliding) {
            continue;
        }
        if (heads != 0 && to.kv_heads[i] != heads) {
            to.metadata.fail(kv_key, "one number for all layers of a kind",
                             std::to_string(heads) + " and " + std::to_string(to.kv_heads[i]));
        }
        heads = to.kv_heads[i];
    }
    return heads;
}

void require_window_list(const GgufTranslation& to) {
    if (to.sliding.empty()) {
        const std::string_view key = "attention.sliding_window_pattern";
        const JsonValue* value = to.metadata.find(key);
        to.metadata.fail(key, "a window, and a list of the layers that have it",
                         value ? describe(*value) : "nothing");
    }
}

/// The value of a key on the first layer with (or without) a window, 0 when there is none.
std::int64_t value_of(const GgufTranslation& to, std::string_view key, bool sliding) {
    const auto values = to.metadata.per_layer(key, to.layers);
    for (std::size_t i = 0; i < values.size() && i < to.sliding.size(); ++i) {
        if (to.sliding[i] == sliding) {
            return values[i];
        }
    }
    return 0;
}

} // namespace

/// One KV head is multi_query; fewer than query heads is the new decoder architecture.
void falcon(GgufTranslation& to) {
    const std::int64_t kv = to.kv_heads.front();
    const bool grouped = kv != 1 && kv != to.heads;
    to.config.set("new_decoder_architecture", grouped);
    to.config.set("multi_query", kv == 1);
    to.config.set("num_kv_heads", kv);
}

void gpt_bigcode(GgufTranslation& to) {
    to.config.set("multi_query", to.kv_heads.front() == 1);
}

void mpt(GgufTranslation& to) {
    JsonValue attention;
    attention.set("kv_n_heads", to.kv_heads.front());
    to.config.set("attn_config", std::move(attention));
    to.config.set("d_model", to.hidden);
    to.config.set("n_heads", to.heads);
}

void kv_channels(GgufTranslation& to) {
    to.config.set("kv_channels", to.config.at("head_dim"));
}

void chatglm(GgufTranslation& to) {
    kv_channels(to);
    to.config.set("multi_query_attention", to.kv_heads.front() != to.heads);
    to.config.set("multi_query_group_num", to.kv_heads.front());
}

void openelm(GgufTranslation& to) {
    const auto heads = to.metadata.per_layer("attention.head_count", to.layers);
    to.config.set("num_query_heads", JsonValue::Array(heads.begin(), heads.end()));
    to.config.set("num_kv_heads", JsonValue::Array(to.kv_heads.begin(), to.kv_heads.end()));
    to.config.set("num_transformer_layers", to.layers);
}

/// No KV heads is a layer without attention, or with a linear one: nothing to keep in either.
void deci(GgufTranslation& to) {
    const auto heads = to.metadata.per_layer("attention.head_count", to.layers);
    JsonValue::Array blocks;
    for (std::size_t i = 0; i < to.kv_heads.size(); ++i) {
        const std::int64_t kv = to.kv_heads[i];
        if (kv != 0 && heads[i] % kv != 0) {
            to.metadata.fail(kv_key,
                             "a divisor of attention.head_count, " + std::to_string(heads[i]) +
                                 " in layer " + std::to_string(i),
                             std::to_string(kv));
        }
        JsonValue attention;
        attention.set("no_op", kv == 0);
        attention.set("n_heads_in_group", kv == 0 ? JsonValue() : JsonValue(heads[i] / kv));
        JsonValue block;
        block.set("attention", std::move(attention));
        blocks.push_back(std::move(block));
    }
    to.config.set("block_configs", std::move(blocks));
    to.config.set("num_key_value_heads", JsonValue());
}

/// OLMo 3 is converted as OLMo 2 with a window.
void olmo2(GgufTranslation& to) {
    if (!to.sliding.empty()) {
        to.config.set("model_type", "olmo3");
    }
}

/// Without the key llama.cpp shares from layer 20 on, whatever the size.
void gemma3n(GgufTranslation& to) {
    const auto stated = to.metadata.integer("attention.shared_kv_layers", to.layers);
    const std::int64_t shared = stated.value_or(to.layers > 20 ? to.layers - 20 : 0);
    to.config.set("num_kv_shared_layers", shared);
    if (!stated) {
        to.notes.push_back("attention.shared_kv_layers absent: llama.cpp's layers from the 20th "
                           "on share, " +
                           std::to_string(shared));
    }
}

/// Here key_length is that of full layers; config.json has head_dim for those with a window.
void gemma4(GgufTranslation& to) {
    require_window_list(to);
    const std::int64_t local = kv_heads_of(to, true);
    const std::int64_t global = kv_heads_of(to, false);
    to.config.set("global_head_dim", to.config.at("head_dim"));
    to.config.set("head_dim", to.metadata.required("attention.key_length_swa", 65536));
    to.config.set("num_key_value_heads", local != 0 ? local : global);
    // config.json's num_global_key_value_heads counts only together with attention_k_eq_v.
    to.config.set("attention_k_eq_v", global != 0 && global != local);
    to.config.set("num_global_key_value_heads", global != 0 ? JsonValue(global) : JsonValue());
    to.config.set("num_kv_shared_layers",
                  to.metadata.integer("attention.shared_kv_layers", to.layers).value_or(0));
}

void mimo2(GgufTranslation& to) {
    require_window_list(to);
    JsonValue::Array pattern;
    for (const bool sliding : to.sliding) {
        pattern.emplace_back(sliding ? 1 : 0);
    }
    const std::int64_t local = kv_heads_of(to, true);
    const std::int64_t global = kv_heads_of(to, false);
    const JsonValue key = to.config.at("head_dim");
    const JsonValue* value = to.config.find("v_head_dim");
    const JsonValue v_head = value ? *value : key;
    to.config.set("hybrid_layer_pattern", std::move(pattern));
    to.config.set("num_key_value_heads", global != 0 ? global : local);
    to.config.set("swa_num_key_value_heads", local != 0 ? local : global);
    to.config.set("v_head_dim", v_head);
    to.config.set("swa_head_dim", key);
    to.config.set("swa_v_head_dim", v_head);
}

void step35(GgufTranslation& to) {
    require_window_list(to);
    const std::string_view heads = "attention.head_count";
    to.config.set("num_attention_heads", value_of(to, heads, false));
    to.config.set("num_attention_groups", kv_heads_of(to, false));
    to.config.set("num_key_value_heads", kv_heads_of(to, false));
    JsonValue other;
    other.set("attention_type", "sliding_attention");
    other.set("num_attention_heads", value_of(to, heads, true));
    other.set("num_attention_groups", kv_heads_of(to, true));
    other.set("head_dim", to.config.at("head_dim"));
    to.config.set("attention_other_setting", std::move(other));
}

/// block_count is the encoder's; the decoder has as many unless it says otherwise.
void t5(GgufTranslation& to) {
    const auto decoder = to.metadata.integer("decoder_block_count", 100'000);
    to.config.set("is_encoder_decoder", true);
    to.config.set("num_layers", to.layers);
    to.config.set("num_decoder_layers", decoder.value_or(to.layers));
    to.config.set("num_heads", to.heads);
    to.config.set("d_kv", to.config.at("head_dim"));
    to.config.set("d_model", to.hidden);
}

/// Files with key_length_mla were converted to one latent "head" of kv_lora_rank + rope, so that
/// key_length is that sum; in older files key_length is a head's own width.
void latent(GgufTranslation& to) {
    const bool split = to.metadata.find("attention.key_length_mla") != nullptr;
    const std::string key = split ? "attention.key_length_mla" : "attention.key_length";
    const std::int64_t width = to.metadata.required(key, 1'000'000);
    const std::int64_t rope = to.metadata.required("rope.dimension_count", 1'000'000);
    if (width <= rope) {
        to.metadata.fail(key, "more than rope.dimension_count (" + std::to_string(rope) + ")",
                         std::to_string(width));
    }
    to.config.set("kv_lora_rank", to.metadata.required("attention.kv_lora_rank", 1'000'000));
    to.config.set("qk_rope_head_dim", rope);
    to.config.set("qk_nope_head_dim", width - rope);
    const auto value =
        to.metadata.integer(split ? "attention.value_length_mla" : "attention.value_length");
    to.config.set("v_head_dim", value.value_or(to.hidden / to.heads));
    if (!split) {
        to.notes.push_back("attention.key_length_mla absent: for such a file llama.cpp keeps keys "
                           "and values of every head, not the latent that is counted here");
    }
}

/// DeepSeek's sparse attention: an index key beside the latent, on "shared" layers none. Files have
/// words for it, or true where a layer has its own.
void latent_indexed(GgufTranslation& to) {
    latent(to);
    to.config.set("index_head_dim", to.metadata.required("attention.indexer.key_length"));
    const std::string_view key = "attention.indexer.types";
    const JsonValue* types = to.metadata.find(key);
    const auto* list = types ? types->if_array() : nullptr;
    if (list == nullptr) {
        return;
    }
    if (!list->empty() && list->front().if_string()) {
        to.config.set("indexer_types", *types);
        return;
    }
    JsonValue::Array words;
    for (const std::int64_t own : to.metadata.per_layer(key, to.layers)) {
        words.emplace_back(own != 0 ? "full" : "shared");
    }
    to.config.set("indexer_types", std::move(words));
}

} // namespace kvcaliper::gguf_rules
