// SPDX-License-Identifier: Apache-2.0
// The projections around what a layer keeps: attention, latent attention and states.
#include "core/architectures/weight_parts.h"
#include "core/error.h"

namespace kvcaliper {

namespace {

constexpr std::int64_t most = 1'000'000;

// ---- attention ----------------------------------------------------------------------------------

void add_qk_norm(const WeightReading& reading, const AttentionDims& dims) {
    const bool asked =
        reading.row.qk_norm != QkNorm::none ||
        (reading.row.model_type == "glm4_moe" && reading.config.flag("use_qk_norm", false));
    if (!asked) {
        return;
    }
    const bool full = reading.row.qk_norm == QkNorm::full;
    reading.norm("query norm", full ? dims.heads * dims.key_width : dims.key_width);
    reading.norm("key norm", full ? dims.kv_heads * dims.key_width : dims.key_width);
}

void add_attention_extra(const WeightReading& reading, const LayerPart& part,
                         const AttentionDims& dims) {
    switch (reading.row.extra) {
    case AttentionExtra::none:
    case AttentionExtra::gated_query:
        break;
    case AttentionExtra::sliding_sinks:
        if (part.kind != LayerKind::sliding_attention) {
            break;
        }
        [[fallthrough]];
    case AttentionExtra::sinks:
        reading.to.plain("attention sinks", dims.heads);
        break;
    case AttentionExtra::head_gate:
        reading.linear("attention gate", "self_attn.g_proj", dims.heads, reading.hidden);
        break;
    case AttentionExtra::gate:
        reading.linear("attention gate", "self_attn.gate_proj", dims.heads * dims.key_width,
                       reading.hidden);
        break;
    }
}

/// Gemma 4: the full layers of some sizes use their keys as values.
bool key_is_value(const WeightReading& reading, const LayerPart& part) {
    return part.kind == LayerKind::full_attention && reading.config.flag("attention_k_eq_v", false);
}

/// Query heads may differ from layer to layer where the cache does not (Laguna).
std::int64_t query_heads(const WeightReading& reading, const AttentionDims& dims) {
    const auto list = reading.config.integers("num_attention_heads_per_layer");
    if (reading.layer >= std::ssize(list)) {
        return dims.heads;
    }
    const std::int64_t heads = list[static_cast<std::size_t>(reading.layer)];
    if (heads < 1 || heads > most) {
        reading.config.fail("num_attention_heads_per_layer",
                            "integers from 1 to " + std::to_string(most), std::to_string(heads));
    }
    return heads;
}

void add_attention(const WeightReading& reading, const LayerPart& part, AttentionDims dims) {
    dims.heads = query_heads(reading, dims);
    const bool bias = reading.has_bias(reading.row.qkv);
    const std::int64_t gated = reading.row.extra == AttentionExtra::gated_query ? 2 : 1;
    const std::int64_t hidden = reading.hidden;
    reading.linear("attention query", "self_attn.q_proj", gated * dims.heads * dims.key_width,
                   hidden, bias);
    reading.linear("attention key", "self_attn.k_proj", dims.kv_heads * dims.key_width, hidden,
                   bias);
    if (!key_is_value(reading, part)) {
        reading.linear("attention value", "self_attn.v_proj", dims.kv_heads * dims.value_width,
                       hidden, bias);
    }
    reading.linear("attention output", "self_attn.o_proj", hidden, dims.heads * dims.value_width,
                   reading.has_bias(reading.row.out));
    add_qk_norm(reading, dims);
    add_attention_extra(reading, part, dims);
}

// ---- latent attention ---------------------------------------------------------------------------

/// The query of latent attention, through a rank of its own where there is one; the rank, else
/// the hidden size.
std::int64_t add_latent_query(const WeightReading& reading, const LatentDims& dims) {
    const std::int64_t width = dims.heads * (dims.nope_width + dims.rope_width);
    const JsonValue* rank = reading.config.find("q_lora_rank");
    if (!rank || rank->is_null()) {
        reading.linear("attention query", "self_attn.q_proj", width, reading.hidden);
        return reading.hidden;
    }
    const std::int64_t narrow = reading.config.required("q_lora_rank");
    reading.linear("query down", "self_attn.q_a_proj", narrow, reading.hidden);
    reading.norm("query norm", narrow);
    reading.linear("query up", "self_attn.q_b_proj", width, narrow);
    return narrow;
}

void add_indexer(const WeightReading& reading, const LatentDims& dims, std::int64_t query) {
    const std::int64_t heads = reading.config.required("index_n_heads", most);
    reading.linear("indexer query", "self_attn.indexer.wq_b", heads * dims.index_width, query);
    reading.linear("indexer key", "self_attn.indexer.wk", dims.index_width, reading.hidden);
    reading.to.plain("indexer key norm", dims.index_width, 2);
    reading.to.plain("indexer weights", heads, reading.hidden);
}

void add_latent(const WeightReading& reading, const LatentDims& dims) {
    const std::int64_t query = add_latent_query(reading, dims);
    reading.linear("latent down", "self_attn.kv_a_proj_with_mqa", dims.rank + dims.rope_width,
                   reading.hidden);
    reading.norm("latent norm", dims.rank);
    reading.linear("latent up", "self_attn.kv_b_proj",
                   dims.heads * (dims.nope_width + dims.value_width), dims.rank);
    reading.linear("attention output", "self_attn.o_proj", reading.hidden,
                   dims.heads * dims.value_width);
    if (dims.index_width > 0) {
        add_indexer(reading, dims, query);
    }
}

// ---- states -------------------------------------------------------------------------------------

/// The first of two spellings of a switch.
bool either_flag(const ModelConfig& config, const char* one, const char* other, bool absent) {
    return config.flag(config.has(one) ? one : other, absent);
}

/// "auto" and absent mean hidden_size / 16, rounded up.
std::int64_t step_rank(const WeightReading& reading) {
    for (const char* key : {"time_step_rank", "mamba_dt_rank"}) {
        const JsonValue* value = reading.config.find(key);
        if (value && !value->is_null() && !value->if_string()) {
            return reading.config.required(key);
        }
    }
    return (reading.hidden + 15) / 16;
}

void add_convolution(const WeightReading& reading, std::int64_t channels, std::int64_t kernel,
                     bool bias) {
    reading.to.plain("convolution", channels, kernel);
    if (bias) {
        reading.to.plain("convolution bias", channels);
    }
}

void add_mamba1(const WeightReading& reading, const Mamba1Dims& dims) {
    const bool bias = either_flag(reading.config, "use_bias", "mamba_proj_bias", false);
    const std::int64_t rank = step_rank(reading);
    reading.linear("state input", "mixer.in_proj", 2 * dims.inner, reading.hidden, bias);
    add_convolution(reading, dims.inner, dims.conv_kernel,
                    either_flag(reading.config, "use_conv_bias", "mamba_conv_bias", true));
    reading.linear("state parameters", "mixer.x_proj", rank + 2 * dims.state_size, dims.inner);
    reading.linear("state step", "mixer.dt_proj", dims.inner, rank, true);
    reading.to.plain("state A", dims.inner, dims.state_size);
    reading.to.plain("state D", dims.inner);
    reading.linear("state output", "mixer.out_proj", reading.hidden, dims.inner, bias);
    if (reading.row.model_type == "jamba") { // norms of the step, B and C
        reading.to.plain("state norm", rank + 2 * dims.state_size);
    }
}

void add_mamba2(const WeightReading& reading, const Mamba2Dims& dims) {
    const bool bias = either_flag(reading.config, "use_bias", "mamba_proj_bias", false);
    const std::int64_t convolved = dims.inner + 2 * dims.groups * dims.state_size;
    reading.linear("state input", "mixer.in_proj", dims.inner + convolved + dims.heads,
                   reading.hidden, bias);
    add_convolution(reading, convolved, dims.conv_kernel,
                    either_flag(reading.config, "use_conv_bias", "mamba_conv_bias", true));
    reading.to.plain("state A, D and step bias", dims.heads, 3);
    reading.to.plain("state norm", dims.inner);
    reading.linear("state output", "mixer.out_proj", reading.hidden, dims.inner, bias);
}

/// Qwen3-Next: query, key, value and gate, two values per head, and one norm for all heads.
void add_gated_delta(const WeightReading& reading, const DeltaDims& dims) {
    const std::int64_t keys = dims.key_heads * dims.key_width;
    const std::int64_t values = dims.value_heads * dims.value_width;
    reading.linear("delta query, key and value", "linear_attn.in_proj_qkv", 2 * keys + values,
                   reading.hidden);
    reading.linear("delta gate", "linear_attn.in_proj_z", values, reading.hidden);
    reading.to.plain("delta decay and strength", 2 * dims.value_heads, reading.hidden);
    add_convolution(reading, 2 * keys + values, dims.conv_kernel, false);
    reading.to.plain("delta A and step bias", dims.value_heads, 2);
    reading.to.plain("delta norm", dims.value_width);
    reading.linear("delta output", "linear_attn.out_proj", reading.hidden, values);
}

/// Kimi delta attention: decay and gate go through a rank of one head's width.
void add_kda(const WeightReading& reading, const DeltaDims& dims) {
    const std::int64_t width = dims.value_heads * dims.value_width;
    for (const char* name : {"q_proj", "k_proj", "v_proj"}) {
        reading.linear("delta query, key and value", std::string("self_attn.") + name, width,
                       reading.hidden);
    }
    add_convolution(reading, 3 * width, dims.conv_kernel, false);
    for (const char* name : {"f", "g"}) {
        const std::string prefix = std::string("self_attn.") + name;
        reading.linear("delta decay and gate down", prefix + "_a_proj", dims.value_width,
                       reading.hidden);
        reading.linear("delta decay and gate up", prefix + "_b_proj", width, dims.value_width);
    }
    reading.to.plain("delta strength", dims.value_heads, reading.hidden);
    reading.to.plain("delta step bias", width);
    reading.to.plain("delta A", dims.value_heads);
    reading.to.plain("delta norm", dims.value_width);
    reading.linear("delta output", "self_attn.o_proj", reading.hidden, width);
}

/// True where a state's formula is that of the families in the table.
bool is_known_state(const WeightReading& reading, LayerKind kind, const LayerDims& dims) {
    const auto* mamba2 = std::get_if<Mamba2Dims>(&dims);
    return (mamba2 && mamba2->groups > 0) || kind == LayerKind::mamba1 ||
           kind == LayerKind::gated_delta ||
           (kind == LayerKind::kda && reading.row.model_type == "kimi_linear");
}

} // namespace

void add_layer_part(const WeightReading& reading, const LayerPart& part) {
    const bool attends = part.kind == LayerKind::full_attention ||
                         part.kind == LayerKind::sliding_attention ||
                         part.kind == LayerKind::chunked_attention;
    const auto* latent = std::get_if<LatentDims>(&part.dims);
    if (attends) {
        add_attention(reading, part, std::get<AttentionDims>(part.dims));
    } else if (latent) {
        add_latent(reading, *latent);
    } else if (!is_known_state(reading, part.kind, part.dims)) {
        throw Error("no parameter formula for " + std::string(to_string(part.kind)));
    } else if (const auto* mamba1 = std::get_if<Mamba1Dims>(&part.dims)) {
        add_mamba1(reading, *mamba1);
    } else if (const auto* mamba2 = std::get_if<Mamba2Dims>(&part.dims)) {
        add_mamba2(reading, *mamba2);
    } else if (part.kind == LayerKind::kda) {
        add_kda(reading, std::get<DeltaDims>(part.dims));
    } else {
        add_gated_delta(reading, std::get<DeltaDims>(part.dims));
    }
}

} // namespace kvcaliper
