// SPDX-License-Identifier: Apache-2.0
// Dimensions of recurrent states, by the keys each family spells them with.
#include "core/architectures/plan_parts.h"
#include "core/error.h"
#include "core/model_config.h"

namespace kvcaliper {

namespace {

constexpr std::int64_t most = 1'000'000;

std::int64_t expanded(Reading& reading, std::string_view key) {
    const std::int64_t hidden = reading.config.required("hidden_size");
    const std::int64_t inner = checked_multiply(reading.config.required(key, 1000), hidden);
    reading.notes.push_back("inner width: " + std::string(key) +
                            " × hidden_size = " + std::to_string(inner));
    return inner;
}

Mamba1Dims mamba1(Reading& reading) {
    const auto stated = reading.config.optional("intermediate_size");
    if (stated && reading.config.has("expand")) {
        reading.notes.push_back("expand is not used: intermediate_size is given");
    }
    return {stated ? *stated : expanded(reading, "expand"),
            reading.config.required("state_size", most),
            reading.config.required("conv_kernel", most)};
}

Mamba1Dims mamba1_prefix(Reading& reading) {
    return {expanded(reading, "mamba_expand"), reading.config.required("mamba_d_state", most),
            reading.config.required("mamba_d_conv", most)};
}

Mamba2Dims mamba2(Reading& reading) {
    const ModelConfig& config = reading.config;
    Mamba2Dims dims;
    dims.inner = expanded(reading, "expand");
    dims.head_width = config.required("head_dim", most);
    // fla's files have no num_heads: the class default may not fit, the width decides.
    if (config.has("num_heads")) {
        dims.heads = config.required("num_heads", most);
    } else {
        dims.heads = dims.inner / dims.head_width;
        reading.notes.push_back("num_heads absent: inner width / head_dim = " +
                                std::to_string(dims.heads));
    }
    dims.groups = config.required("n_groups", most);
    dims.state_size = config.required("state_size", most);
    dims.conv_kernel = config.required("conv_kernel", most);
    if (dims.inner != checked_multiply(dims.heads, dims.head_width)) {
        config.fail("num_heads",
                    "num_heads × head_dim = expand × hidden_size = " + std::to_string(dims.inner),
                    std::to_string(dims.heads) + " × " + std::to_string(dims.head_width));
    }
    return dims;
}

/// "auto" and absent mean inner / heads.
std::int64_t width_or_quotient(const ModelConfig& config, std::string_view key, std::int64_t inner,
                               std::int64_t heads) {
    const JsonValue* value = config.find(key);
    const bool automatic = value == nullptr || value->is_null() ||
                           (value->if_string() && *value->if_string() == "auto");
    const std::int64_t width = automatic ? inner / heads : config.required(key, most);
    if (width < 1) {
        config.fail(key, "at least 1", std::to_string(width));
    }
    return width;
}

/// Bamba, Granite 4 and Falcon-H1. mamba_d_ssm, else the heads' width, else expand × hidden_size:
/// the class default of 1,024 fails the class's own check when it is no multiple of the heads.
Mamba2Dims mamba2_prefix(Reading& reading) {
    const ModelConfig& config = reading.config;
    Mamba2Dims dims;
    dims.heads = config.required("mamba_n_heads", most);
    if (const auto stated = config.optional("mamba_d_ssm")) {
        dims.inner = *stated;
    } else if (const JsonValue* width = config.find("mamba_d_head"); width && width->if_integer()) {
        dims.inner = dims.heads * config.required("mamba_d_head", most);
    } else {
        dims.inner = expanded(reading, "mamba_expand");
    }
    dims.head_width = width_or_quotient(config, "mamba_d_head", dims.inner, dims.heads);
    dims.groups = config.required("mamba_n_groups", most);
    dims.state_size = config.required("mamba_d_state", most);
    dims.conv_kernel = config.required("mamba_d_conv", most);
    return dims;
}

Mamba2Dims mamba2_zamba(Reading& reading) {
    const ModelConfig& config = reading.config;
    Mamba2Dims dims;
    dims.inner = expanded(reading, "mamba_expand");
    dims.heads = config.has("mamba_headdim") ? dims.inner / config.required("mamba_headdim", most)
                                             : config.required("n_mamba_heads", most);
    if (dims.heads < 1) {
        config.fail("mamba_headdim", "at most the inner width", std::to_string(dims.inner));
    }
    dims.head_width = dims.inner / dims.heads;
    dims.groups = config.required("mamba_ngroups", most);
    dims.state_size = config.required("mamba_d_state", most);
    dims.conv_kernel = config.required("mamba_d_conv", most);
    return dims;
}

Mamba2Dims mamba2_nemotron(Reading& reading) {
    const ModelConfig& config = reading.config;
    Mamba2Dims dims;
    dims.heads = config.required("mamba_num_heads", most);
    dims.head_width = config.required("mamba_head_dim", most);
    dims.inner = checked_multiply(dims.heads, dims.head_width);
    dims.groups = config.required("n_groups", most);
    dims.state_size = config.required("ssm_state_size", most);
    dims.conv_kernel = config.required("conv_kernel", most);
    return dims;
}

/// PLaMo 2 convolves x alone: no B and C.
Mamba2Dims mamba2_plamo(Reading& reading) {
    const ModelConfig& config = reading.config;
    Mamba2Dims dims;
    dims.heads = config.required("mamba_num_heads", most);
    dims.head_width = config.required("hidden_size_per_head", most);
    dims.inner = checked_multiply(dims.heads, dims.head_width);
    dims.state_size = config.required("mamba_d_state", most);
    dims.conv_kernel = config.required("mamba_d_conv", most);
    return dims;
}

/// OLMo hybrid leaves some null: as many heads as attention has, widths from hidden_size / heads.
DeltaDims gated_delta(Reading& reading) {
    const ModelConfig& config = reading.config;
    DeltaDims dims;
    const auto heads = config.optional("num_attention_heads");
    dims.key_heads = config.optional("linear_num_key_heads").value_or(heads.value_or(0));
    dims.value_heads = config.optional("linear_num_value_heads").value_or(heads.value_or(0));
    const auto key_width = config.optional("linear_key_head_dim");
    dims.key_width = key_width ? *key_width
                               : config.required("hidden_size") * 3 /
                                     (4 * config.required("num_attention_heads"));
    dims.value_width = config.optional("linear_value_head_dim").value_or(2 * dims.key_width);
    dims.conv_kernel = config.required("linear_conv_kernel_dim", most);
    if (dims.key_heads < 1 || dims.value_heads < 1 || dims.key_width < 1) {
        config.fail("linear_num_key_heads", "heads of at least 1", "none");
    }
    return dims;
}

/// fla: value width = head_dim × expand_v. Ratios are halves at the finest.
std::int64_t scaled_width(const ModelConfig& config, std::string_view key, std::int64_t width,
                          double otherwise) {
    const double factor = config.number(key).value_or(otherwise);
    const auto scaled = static_cast<std::int64_t>(static_cast<double>(width) * factor);
    if (!(factor > 0) || factor > 1000 || scaled < 1) {
        config.fail(key, "a factor above 0", std::to_string(factor));
    }
    return scaled;
}

DeltaDims gated_delta_fla(Reading& reading) {
    const ModelConfig& config = reading.config;
    DeltaDims dims;
    dims.key_heads = dims.value_heads = config.required("num_heads", most);
    dims.key_width = config.required("head_dim", most);
    dims.value_width = scaled_width(config, "expand_v", dims.key_width, 2);
    dims.conv_kernel =
        config.flag("use_short_conv", true) ? config.optional("conv_size").value_or(4) : 1;
    return dims;
}

DeltaDims gla_fla(Reading& reading) {
    const ModelConfig& config = reading.config;
    DeltaDims dims;
    dims.key_heads = dims.value_heads = config.required("num_heads", most);
    const std::int64_t hidden = config.required("hidden_size");
    dims.key_width = scaled_width(config, "expand_k", hidden, 0.5) / dims.key_heads;
    dims.value_width = scaled_width(config, "expand_v", hidden, 1) / dims.value_heads;
    dims.conv_kernel =
        config.flag("use_short_conv", false) ? config.optional("conv_size").value_or(4) : 1;
    if (dims.key_width < 1 || dims.value_width < 1) {
        config.fail("num_heads", "at most the width", std::to_string(dims.key_heads));
    }
    return dims;
}

/// linear_attn_config, else the class defaults of its unpacked names.
std::int64_t kda_value(Reading& reading, std::string_view inner_key, std::string_view key) {
    if (const auto inner = reading.config.inner("linear_attn_config")) {
        if (const auto value = inner->optional(inner_key)) {
            return *value;
        }
    }
    return reading.config.required(key, most);
}

DeltaDims kda(Reading& reading) {
    DeltaDims dims;
    dims.key_heads = dims.value_heads = kda_value(reading, "num_heads", "linear_num_heads");
    dims.key_width = dims.value_width = kda_value(reading, "head_dim", "linear_head_dim");
    dims.conv_kernel = kda_value(reading, "short_conv_kernel_size", "linear_conv_kernel_dim");
    return dims;
}

DeltaDims lightning(Reading& reading) {
    const AttentionDims attention = attention_dims(reading);
    return {attention.heads, attention.heads, attention.key_width, attention.key_width, 1};
}

/// Ling 2.5, 2.6 and 3.0 share one model_type. Only 3.0 has KDA layers and states the width of
/// their convolution (transformers' class is 3.0's); the two before have lightning attention.
LayerPart bailing(Reading& reading) {
    DeltaDims dims = lightning(reading);
    if (!reading.config.has("short_conv_kernel_size")) {
        return {LayerKind::lightning, dims};
    }
    dims.conv_kernel = reading.config.required("short_conv_kernel_size", most);
    return {LayerKind::kda, dims};
}

std::int64_t rwkv_version(std::string_view model_type) {
    return model_type == "rwkv5" ? 5 : model_type == "rwkv6" ? 6 : 7;
}

RwkvDims rwkv(Reading& reading) {
    const ModelConfig& config = reading.config;
    RwkvDims dims;
    dims.hidden = config.required("hidden_size");
    if (reading.row.state == State::rwkv4) {
        dims.attention_hidden = config.optional("attention_hidden_size").value_or(dims.hidden);
    } else {
        dims.head_width = config.required("head_dim", 65536);
        dims.version = rwkv_version(reading.row.model_type);
    }
    return dims;
}

std::int64_t round_up_to_64(std::int64_t value) {
    return (value + 63) / 64 * 64;
}

/// Widths are rounded up to a multiple of 64 before they are divided by the heads (transformers).
XlstmDims xlstm(Reading& reading) {
    const ModelConfig& config = reading.config;
    XlstmDims dims;
    dims.heads = config.required("num_heads", most);
    const std::int64_t hidden = config.required("hidden_size");
    dims.key_width =
        round_up_to_64(scaled_width(config, "qk_dim_factor", hidden, 0.5)) / dims.heads;
    dims.value_width = round_up_to_64(scaled_width(config, "v_dim_factor", hidden, 1)) / dims.heads;
    if (dims.key_width < 1 || dims.value_width < 1) {
        config.fail("num_heads", "at most the width", std::to_string(dims.heads));
    }
    return dims;
}

RglruDims rglru(Reading& reading) {
    const auto width = reading.config.optional("lru_width");
    return {width ? *width : reading.config.required("hidden_size"),
            reading.config.required("conv1d_width", most)};
}

ConvDims short_conv(Reading& reading) {
    return {reading.config.required("hidden_size"),
            reading.config.required("conv_L_cache", most) - 1, 0};
}

} // namespace

LayerPart state_part(Reading& reading) {
    switch (reading.row.state) {
    case State::mamba1:
        return {LayerKind::mamba1, mamba1(reading)};
    case State::mamba1_prefix:
        return {LayerKind::mamba1, mamba1_prefix(reading)};
    case State::mamba2:
        return {LayerKind::mamba2, mamba2(reading)};
    case State::mamba2_prefix:
        return {LayerKind::mamba2, mamba2_prefix(reading)};
    case State::mamba2_zamba:
        return {LayerKind::mamba2, mamba2_zamba(reading)};
    case State::mamba2_nemotron:
        return {LayerKind::mamba2, mamba2_nemotron(reading)};
    case State::mamba2_plamo:
        return {LayerKind::mamba2, mamba2_plamo(reading)};
    case State::gated_delta:
        return {LayerKind::gated_delta, gated_delta(reading)};
    case State::gated_delta_fla:
        return {LayerKind::gated_delta, gated_delta_fla(reading)};
    case State::kda:
        return {LayerKind::kda, kda(reading)};
    case State::lightning:
        return {LayerKind::lightning, lightning(reading)};
    case State::bailing:
        return bailing(reading);
    case State::gla_fla:
        return {LayerKind::gla, gla_fla(reading)};
    case State::rglru:
        return {LayerKind::rglru, rglru(reading)};
    case State::short_conv:
        return {LayerKind::short_conv, short_conv(reading)};
    case State::rwkv4:
        return {LayerKind::rwkv4, rwkv(reading)};
    case State::rwkv:
        return {LayerKind::rwkv, rwkv(reading)};
    case State::xlstm:
        return {LayerKind::xlstm, xlstm(reading)};
    case State::none:
        break;
    }
    throw Error("no such state");
}

std::vector<LayerPlan> plan_recurrent(Reading& reading) {
    const LayerPlan layer{
        {state_part(reading)}, std::nullopt, "model_type: a state on every layer"};
    return {static_cast<std::size_t>(reading.layers), layer};
}

} // namespace kvcaliper
