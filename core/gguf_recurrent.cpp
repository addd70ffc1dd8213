// SPDX-License-Identifier: Apache-2.0
// Models with a state. llama.cpp tells recurrent layers by a KV head count of 0, and has one set of
// ssm.* keys for Mamba and for gated delta networks (src/models/, conversion/).
#include "core/gguf_rules.h"

#include <algorithm>

namespace kvcaliper::gguf_rules {

namespace {

/// `of` / `by` where it must divide.
std::int64_t quotient(const GgufTranslation& to, std::string_view key, std::int64_t of,
                      std::string_view by_key, std::int64_t by) {
    if (of % by != 0) {
        to.metadata.fail(key,
                         "a multiple of " + std::string(by_key) + " (" + std::to_string(by) + ")",
                         std::to_string(of));
    }
    return of / by;
}

struct Ssm {
    std::int64_t conv_kernel, inner, state, heads;
};

/// time_step_rank is the number of heads, except for Mamba-1, which has none.
Ssm ssm_of(const GgufTranslation& to) {
    return {to.metadata.required("ssm.conv_kernel", 1'000'000),
            to.metadata.required("ssm.inner_size"),
            to.metadata.required("ssm.state_size", 1'000'000),
            to.metadata.required("ssm.time_step_rank", 1'000'000)};
}

std::int64_t head_width(const GgufTranslation& to, const Ssm& ssm) {
    return quotient(to, "ssm.inner_size", ssm.inner, "ssm.time_step_rank", ssm.heads);
}

std::int64_t expansion(const GgufTranslation& to, const Ssm& ssm) {
    return quotient(to, "ssm.inner_size", ssm.inner, "embedding_length", to.hidden);
}

void set_groups(GgufTranslation& to, const char* key) {
    to.config.set(key, to.metadata.required("ssm.group_count", 1'000'000));
}

/// One KV head count for the layers that attend. Where they differ the list stays, and says so.
void set_kv_heads(GgufTranslation& to) {
    const std::int64_t most = *std::max_element(to.kv_heads.begin(), to.kv_heads.end());
    if (std::all_of(to.kv_heads.begin(), to.kv_heads.end(),
                    [&](std::int64_t kv) { return kv == 0 || kv == most; })) {
        to.config.set("num_key_value_heads", most > 0 ? JsonValue(most) : JsonValue());
    }
}

/// The layer list of a model whose layers either attend or do not.
void set_layer_types(GgufTranslation& to, const char* attention, const char* other) {
    JsonValue::Array words;
    for (const std::int64_t kv : to.kv_heads) {
        words.emplace_back(kv > 0 ? attention : other);
    }
    to.config.set("layer_types", std::move(words));
    set_kv_heads(to);
}

} // namespace

void mamba1(GgufTranslation& to) {
    const Ssm ssm = ssm_of(to);
    to.config.set("conv_kernel", ssm.conv_kernel);
    to.config.set("intermediate_size", ssm.inner);
    to.config.set("state_size", ssm.state);
}

void mamba2(GgufTranslation& to) {
    const Ssm ssm = ssm_of(to);
    to.config.set("conv_kernel", ssm.conv_kernel);
    to.config.set("expand", expansion(to, ssm));
    to.config.set("state_size", ssm.state);
    to.config.set("num_heads", ssm.heads);
    to.config.set("head_dim", head_width(to, ssm));
    set_groups(to, "n_groups");
}

/// Two shifted vectors a layer unless the file says so (llama_hparams::token_shift_count).
void rwkv(GgufTranslation& to) {
    const std::int64_t width = to.metadata.required("wkv.head_size", 65536);
    to.config.set("head_size", width);
    to.config.set("head_dim", width);
    to.config.set("token_shift_count", to.metadata.integer("token_shift_count", 2).value_or(2));
}

void jamba(GgufTranslation& to) {
    const Ssm ssm = ssm_of(to);
    to.config.set("mamba_d_conv", ssm.conv_kernel);
    to.config.set("mamba_d_state", ssm.state);
    to.config.set("mamba_expand", expansion(to, ssm));
    set_layer_types(to, "attention", "mamba");
}

void granite_hybrid(GgufTranslation& to) {
    const Ssm ssm = ssm_of(to);
    to.config.set("mamba_d_conv", ssm.conv_kernel);
    to.config.set("mamba_d_state", ssm.state);
    to.config.set("mamba_expand", expansion(to, ssm));
    to.config.set("mamba_n_heads", ssm.heads);
    to.config.set("mamba_d_head", head_width(to, ssm));
    set_groups(to, "mamba_n_groups");
    set_layer_types(to, "attention", "mamba");
}

void plamo2(GgufTranslation& to) {
    const Ssm ssm = ssm_of(to);
    to.config.set("mamba_d_conv", ssm.conv_kernel);
    to.config.set("mamba_d_state", ssm.state);
    to.config.set("mamba_num_heads", ssm.heads);
    to.config.set("hidden_size_per_head", head_width(to, ssm));
    set_layer_types(to, "attention", "mamba");
}

namespace {

/// A layer without KV heads has a state unless it has a feed-forward part (llama.cpp's own test).
/// '*' attends, 'M' has a state, '-' and 'E' have neither.
std::string nemotron_pattern(const GgufTranslation& to) {
    const auto forward = to.metadata.per_layer("feed_forward_length", to.layers);
    const char feeds = to.metadata.integer("expert_count").value_or(0) > 0 ? 'E' : '-';
    std::string pattern;
    for (std::size_t i = 0; i < to.kv_heads.size(); ++i) {
        const bool fed = !forward.empty() && forward[i] > 0;
        pattern += to.kv_heads[i] > 0 ? '*' : fed ? feeds : 'M';
    }
    return pattern;
}

} // namespace

void nemotron_h(GgufTranslation& to) {
    const Ssm ssm = ssm_of(to);
    to.config.set("conv_kernel", ssm.conv_kernel);
    to.config.set("ssm_state_size", ssm.state);
    to.config.set("mamba_num_heads", ssm.heads);
    to.config.set("mamba_head_dim", head_width(to, ssm));
    set_groups(to, "n_groups");
    set_kv_heads(to);
    to.config.set("hybrid_override_pattern", nemotron_pattern(to));
}

/// Every layer has both.
void falcon_h1(GgufTranslation& to) {
    const Ssm ssm = ssm_of(to);
    to.config.set("mamba_d_conv", ssm.conv_kernel);
    to.config.set("mamba_d_ssm", ssm.inner);
    to.config.set("mamba_d_state", ssm.state);
    to.config.set("mamba_n_heads", ssm.heads);
    to.config.set("mamba_d_head", head_width(to, ssm));
    set_groups(to, "mamba_n_groups");
}

void lfm2(GgufTranslation& to) {
    to.config.set("conv_L_cache", to.metadata.required("shortconv.l_cache", 1'000'000));
    set_layer_types(to, "full_attention", "conv");
}

namespace {

/// Layer i attends when (i + 1) mod full_attention_interval = 0, which llama.cpp takes as 4, unless
/// the file lists the recurrent layers.
void set_delta_layers(GgufTranslation& to) {
    const auto listed = to.metadata.per_layer("attention.recurrent_layers", to.layers);
    const auto interval = to.metadata.integer("full_attention_interval", 100'000).value_or(4);
    if (interval == 0) {
        to.metadata.fail("full_attention_interval", "an integer from 1 on", "0");
    }
    JsonValue::Array words;
    for (std::int64_t i = 0; i < to.layers; ++i) {
        const bool state =
            listed.empty() ? (i + 1) % interval != 0 : listed[static_cast<std::size_t>(i)] != 0;
        words.emplace_back(state ? "linear_attention" : "full_attention");
    }
    to.config.set("full_attention_interval", interval);
    to.config.set("layer_types", std::move(words));
}

} // namespace

/// llama.cpp takes state_size as the width of keys and values, group_count as the number of key
/// heads and time_step_rank as that of value heads.
void gated_delta(GgufTranslation& to) {
    const Ssm ssm = ssm_of(to);
    to.config.set("linear_conv_kernel_dim", ssm.conv_kernel);
    to.config.set("linear_key_head_dim", ssm.state);
    to.config.set("linear_value_head_dim", head_width(to, ssm));
    set_groups(to, "linear_num_key_heads");
    to.config.set("linear_num_value_heads", ssm.heads);
    set_delta_layers(to);
}

/// config.json counts these layers from 1.
void kimi_linear(GgufTranslation& to) {
    latent(to);
    JsonValue::Array attend;
    JsonValue::Array state;
    JsonValue::Array words;
    for (std::size_t i = 0; i < to.kv_heads.size(); ++i) {
        const bool full = to.kv_heads[i] > 0;
        (full ? attend : state).emplace_back(static_cast<std::int64_t>(i) + 1);
        words.emplace_back(full ? "full_attention" : "linear_attention");
    }
    JsonValue linear;
    linear.set("full_attn_layers", std::move(attend));
    linear.set("kda_layers", std::move(state));
    linear.set("num_heads", to.heads);
    linear.set("head_dim", to.metadata.required("kda.head_dim", 65536));
    linear.set("short_conv_kernel_size", to.metadata.required("ssm.conv_kernel", 1'000'000));
    to.config.set("linear_attn_config", std::move(linear));
    to.config.set("layer_types", std::move(words));
}

} // namespace kvcaliper::gguf_rules
