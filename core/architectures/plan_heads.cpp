// SPDX-License-Identifier: Apache-2.0
// Heads, KV heads and widths of attention layers, by the keys each family spells them with.
#include "core/architectures/plan_parts.h"
#include "core/error.h"
#include "core/model_config.h"

#include <algorithm>

namespace kvcaliper {

namespace {

constexpr std::int64_t most_heads = 1'000'000;

std::int64_t quotient_width(Reading& reading, std::int64_t heads, std::int64_t factor) {
    const std::int64_t hidden = reading.config.required("hidden_size");
    if (hidden * factor < heads) {
        reading.config.fail("hidden_size",
                            "at least num_attention_heads (" + std::to_string(heads) + ")",
                            std::to_string(hidden));
    }
    const std::int64_t width = hidden * factor / heads;
    const bool exact = hidden * factor % heads == 0;
    reading.notes.push_back("head width: " + std::string(factor == 1 ? "" : "2 · ") +
                            "hidden_size / num_attention_heads = " + std::to_string(width) +
                            (exact ? "" : " (rounded down: it does not divide)"));
    return width;
}

std::int64_t head_width(Reading& reading, std::int64_t heads) {
    switch (reading.row.head_width) {
    case HeadWidth::standard:
        if (const auto width = reading.config.optional("head_dim", 1, 65536)) {
            return *width;
        }
        return quotient_width(reading, heads, 1);
    case HeadWidth::quotient:
        return quotient_width(reading, heads, 1);
    case HeadWidth::twice:
        return quotient_width(reading, heads, 2);
    }
    throw Error("no such rule for head widths");
}

std::int64_t falcon_kv_heads(Reading& reading, std::int64_t heads) {
    const ModelConfig& config = reading.config;
    if (config.flag("new_decoder_architecture", false)) {
        const auto kv_heads = config.optional("num_key_value_heads");
        reading.notes.push_back(
            kv_heads ? "new_decoder_architecture: num_kv_heads = " + std::to_string(*kv_heads)
                     : "new_decoder_architecture without num_kv_heads: one per head");
        return kv_heads.value_or(heads);
    }
    const bool one = config.flag("multi_query", true);
    reading.notes.push_back(one ? std::string("multi_query: one KV head") +
                                      (config.has("multi_query") ? "" : " (class default)")
                                : std::string("multi_query is false: one KV head per query head"));
    return one ? 1 : heads;
}

std::int64_t standard_kv_heads(Reading& reading, std::int64_t heads) {
    if (const auto listed = listed_kv_heads(reading); !listed.empty()) {
        return std::max<std::int64_t>(1, *std::max_element(listed.begin(), listed.end()));
    }
    const auto kv_heads = reading.config.optional("num_key_value_heads");
    if (kv_heads) {
        return *kv_heads;
    }
    reading.notes.push_back(
        "num_key_value_heads " +
        std::string(reading.config.find("num_key_value_heads") ? "null" : "absent") +
        ": as many as query heads, " + std::to_string(heads));
    return heads;
}

std::int64_t flagged_kv_heads(Reading& reading, std::string_view flag, bool absent,
                              std::int64_t grouped, std::int64_t heads) {
    const bool shared = reading.config.flag(flag, absent);
    reading.notes.push_back(std::string(flag) +
                            (reading.config.has(flag) ? "" : " absent, class default") + ": " +
                            std::to_string(shared ? grouped : heads) + " KV heads");
    return shared ? grouped : heads;
}

std::int64_t nested_kv_heads(Reading& reading, std::int64_t absent) {
    if (const auto inner = reading.config.inner("attn_config")) {
        if (const auto kv_heads = inner->optional("kv_n_heads")) {
            return *kv_heads;
        }
    }
    reading.notes.push_back("attn_config.kv_n_heads absent: " + std::to_string(absent));
    return absent;
}

std::int64_t kv_heads_by_rule(Reading& reading, std::int64_t heads) {
    switch (reading.row.kv_heads) {
    case KvHeads::standard:
        return standard_kv_heads(reading, heads);
    case KvHeads::all:
        return heads;
    case KvHeads::falcon:
        return falcon_kv_heads(reading, heads);
    case KvHeads::multi_query:
        return flagged_kv_heads(reading, "multi_query", true, 1, heads);
    case KvHeads::query_groups:
        return flagged_kv_heads(reading, "multi_query_attention", false,
                                reading.config.optional("multi_query_group_num").value_or(1),
                                heads);
    case KvHeads::attn_config:
        return nested_kv_heads(reading, 1);
    case KvHeads::attn_config_all:
        return nested_kv_heads(reading, heads);
    }
    throw Error("no such rule for KV heads");
}

/// Full layers of Gemma 4: wider heads, and fewer of them when attention_k_eq_v.
AttentionDims global_dims(Reading& reading, AttentionDims dims) {
    dims.key_width = dims.value_width = reading.config.required("global_head_dim", 65536);
    if (reading.config.flag("attention_k_eq_v", false)) {
        dims.kv_heads =
            reading.config.optional("num_global_key_value_heads").value_or(dims.kv_heads);
    }
    return dims;
}

AttentionDims swa_dims(const ModelConfig& config, AttentionDims dims) {
    dims.heads = config.optional("swa_num_attention_heads").value_or(dims.heads);
    dims.kv_heads = config.optional("swa_num_key_value_heads").value_or(dims.kv_heads);
    dims.key_width = config.optional("swa_head_dim").value_or(dims.key_width);
    dims.value_width = config.optional("swa_v_head_dim")
                           .value_or(config.has("v_head_dim") ? dims.value_width : dims.key_width);
    return dims;
}

AttentionDims other_dims(const ModelConfig& config, AttentionDims dims) {
    if (const auto other = config.inner("attention_other_setting")) {
        dims.heads = other->optional("num_attention_heads").value_or(dims.heads);
        dims.kv_heads = other->optional("num_attention_groups").value_or(dims.kv_heads);
    }
    return dims;
}

} // namespace

AttentionDims attention_dims(Reading& reading) {
    AttentionDims dims;
    dims.heads = reading.config.required("num_attention_heads", most_heads);
    dims.kv_heads = kv_heads_by_rule(reading, dims.heads);
    if (dims.heads % dims.kv_heads != 0) {
        reading.config.fail("num_key_value_heads",
                            "a divisor of num_attention_heads (" + std::to_string(dims.heads) + ")",
                            std::to_string(dims.kv_heads));
    }
    dims.key_width = head_width(reading, dims.heads);
    // MiMo and GGUF files state a width of their own for V; beside kv_lora_rank the key is MLA's.
    const bool own_width = !reading.config.has("kv_lora_rank") && !reading.config.has("use_mla");
    const auto stated = own_width ? reading.config.optional("v_head_dim", 1, 65536) : std::nullopt;
    dims.value_width = stated.value_or(dims.key_width);
    return dims;
}

AttentionDims split_dims(Reading& reading, const AttentionDims& dims, bool sliding) {
    switch (reading.row.split) {
    case Split::none:
        return dims;
    case Split::global_heads:
        return sliding ? dims : global_dims(reading, dims);
    case Split::swa_keys:
        return sliding ? swa_dims(reading.config, dims) : dims;
    case Split::other_setting:
        return sliding ? other_dims(reading.config, dims) : dims;
    case Split::swa_heads: {
        AttentionDims other = dims;
        other.kv_heads =
            sliding ? reading.config.optional("num_swa_key_value_heads").value_or(dims.kv_heads)
                    : dims.kv_heads;
        return other;
    }
    }
    throw Error("no such split");
}

std::vector<std::int64_t> listed_kv_heads(const Reading& reading) {
    const JsonValue* value = reading.config.find("num_key_value_heads");
    if (value == nullptr || value->if_array() == nullptr) {
        return {};
    }
    auto listed = reading.config.integers("num_key_value_heads");
    if (std::ssize(listed) < reading.layers) {
        reading.config.fail("num_key_value_heads", std::to_string(reading.layers) + " numbers",
                            std::to_string(listed.size()));
    }
    for (const std::int64_t heads : listed) {
        if (heads < 0 || heads > most_heads) {
            reading.config.fail("num_key_value_heads", "0 or more in each layer",
                                std::to_string(heads));
        }
    }
    return listed;
}

} // namespace kvcaliper
