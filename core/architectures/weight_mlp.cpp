// SPDX-License-Identifier: Apache-2.0
// MLPs and experts.
#include "core/architectures/weight_parts.h"
#include "core/error.h"

#include <algorithm>

namespace kvcaliper {

namespace {

constexpr std::int64_t most = 1'000'000;

std::int64_t number(const ModelConfig& config, std::string_view key, std::int64_t absent) {
    return config.has(key) ? config.optional(key, 0, most).value_or(absent) : absent;
}

/// A count that a file must state; null is none.
std::int64_t stated_or_null(const ModelConfig& config, std::string_view key) {
    if (config.find(key) == nullptr) {
        config.fail(key, "an integer from 0 on, or null", "nothing");
    }
    return number(config, key, 0);
}

bool listed(const std::vector<std::int64_t>& list, std::int64_t value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

/// first_k_dense_replace, and moe_layer_freq where it is a number.
bool after_first(const ModelConfig& config, std::int64_t layer) {
    const std::int64_t step = std::max<std::int64_t>(1, number(config, "moe_layer_freq", 1));
    return layer >= number(config, "first_k_dense_replace", 0) && layer % step == 0;
}

bool in_range(const ModelConfig& config, std::int64_t layer) {
    const std::int64_t last = number(config, "moe_layer_end_index", -1);
    const std::int64_t step = std::max<std::int64_t>(1, number(config, "moe_layer_interval", 1));
    return layer >= number(config, "moe_layer_start_index", 1) && (last < 0 || layer <= last) &&
           (layer + 1) % step == 0;
}

/// A period, which can not be 0.
std::int64_t period(const ModelConfig& config, std::string_view key, std::int64_t absent) {
    return std::max<std::int64_t>(1, number(config, key, absent));
}

bool is_sparse(const WeightReading& reading) {
    const ModelConfig& config = reading.config;
    const std::int64_t i = reading.layer;
    switch (reading.row.experts->layers) {
    case SparseLayers::all:
        return true;
    case SparseLayers::after_first:
        return after_first(config, i);
    case SparseLayers::step:
        return (i + 1) % period(config, "decoder_sparse_step", 1) == 0 &&
               !listed(config.integers("mlp_only_layers"), i);
    case SparseLayers::interleave:
        return config.has("moe_layers")
                   ? listed(config.integers("moe_layers"), i)
                   : (i + 1) % period(config, "interleave_moe_layer_step", 1) == 0;
    case SparseLayers::period:
        return i % period(config, "expert_layer_period", 2) ==
               number(config, "expert_layer_offset", 1);
    case SparseLayers::after_dense:
        return i >= number(config, "num_dense_layers", 1);
    case SparseLayers::range:
        return in_range(config, i);
    case SparseLayers::freq_list: {
        const auto list = config.integers("moe_layer_freq");
        return i < std::ssize(list) && list[static_cast<std::size_t>(i)] != 0;
    }
    }
    return false;
}

/// An MLP of `inner` width: gate, up and down, or up and down.
void add_dense(const WeightReading& reading, std::string_view label, const std::string& prefix,
               std::int64_t inner, bool plain) {
    const bool bias = reading.has_bias(reading.row.mlp);
    const std::string name(label);
    if (!plain) {
        reading.linear(name + " gate", prefix + ".gate_proj", inner, reading.hidden, bias);
    }
    reading.linear(name + " up", prefix + ".up_proj", inner, reading.hidden, bias);
    reading.linear(name + " down", prefix + ".down_proj", reading.hidden, inner, bias);
}

std::int64_t inner_width(const WeightReading& reading) {
    const WeightRow& row = reading.row;
    if (row.inner_absent > 0 && !reading.config.has(row.inner_key)) {
        return checked_multiply(row.inner_absent, reading.hidden);
    }
    return reading.config.required(row.inner_key) / row.inner_divisor;
}

/// The width experts read and write; where it is not hidden_size, two more matrices go there and
/// back.
std::int64_t add_expert_width(const WeightReading& reading) {
    const std::string_view key = reading.row.experts->latent_key;
    if (key.empty() || !reading.config.has(key)) {
        return reading.hidden;
    }
    const std::int64_t width = reading.config.required(key);
    reading.linear("experts in", "mixer.fc1_latent_proj", width, reading.hidden);
    reading.linear("experts out", "mixer.fc2_latent_proj", reading.hidden, width);
    return width;
}

void add_routed(const WeightReading& reading, std::int64_t count, std::int64_t width) {
    const Experts& experts = *reading.row.experts;
    const std::int64_t hidden = add_expert_width(reading);
    const std::int64_t chosen = reading.config.required(experts.chosen_key, count);
    const std::string prefix = reading.module("mlp.experts.0.");
    const auto matrix = [&](std::string_view label, std::string_view name, std::int64_t rows,
                            std::int64_t columns) {
        reading.to.experts(label, prefix + std::string(name), rows, columns, count, chosen);
        if (experts.biases) {
            reading.to.experts("expert bias", "", rows, 1, count, chosen);
        }
    };
    if (!experts.plain) {
        matrix("expert gate", "gate_proj", width, hidden);
    }
    matrix("expert up", "up_proj", width, hidden);
    matrix("expert down", "down_proj", hidden, width);
}

void add_shared(const WeightReading& reading, std::int64_t width) {
    const Experts& experts = *reading.row.experts;
    std::int64_t shared = 0;
    switch (experts.shared) {
    case SharedExperts::none:
        break;
    case SharedExperts::count:
        shared = checked_multiply(stated_or_null(reading.config, experts.shared_key), width);
        break;
    case SharedExperts::width:
        shared = stated_or_null(reading.config, experts.shared_key);
        break;
    case SharedExperts::as_dense:
        shared = width;
        break;
    }
    if (shared > 0) {
        add_dense(reading, "shared expert", "mlp.shared_experts", shared, experts.plain);
        if (experts.shared_gate) {
            reading.to.plain("shared expert weight", 1, reading.hidden);
        }
    }
}

/// Gemma 4: the scales of its router and three more norms.
void add_beside_dense(const WeightReading& reading, std::int64_t count) {
    add_dense(reading, "MLP", "mlp", inner_width(reading), false);
    reading.norm("norm", reading.hidden, 3);
    reading.to.plain("router scale", reading.hidden);
    reading.to.plain("expert scale", count);
}

void add_experts(const WeightReading& reading, std::int64_t count) {
    const Experts& experts = *reading.row.experts;
    const std::int64_t width = reading.config.required(experts.width_key);
    reading.to.plain("router", count, reading.hidden);
    if (experts.correction || experts.biases) {
        reading.to.plain("router bias", count);
    }
    add_routed(reading, count, width);
    add_shared(reading, width);
    if (experts.beside_dense) {
        add_beside_dense(reading, count);
    }
}

} // namespace

void add_mlp(const WeightReading& reading) {
    const Experts* experts = reading.row.experts;
    const std::int64_t count = experts ? number(reading.config, experts->count_key, 0) : 0;
    if (count > 1 && is_sparse(reading)) {
        add_experts(reading, count);
    } else if (experts && experts->shared_alone && reading.config.has(experts->shared_key)) {
        add_shared(reading, 0);
    } else {
        add_dense(reading, "MLP", "mlp", inner_width(reading), reading.row.plain_mlp);
    }
}

} // namespace kvcaliper
