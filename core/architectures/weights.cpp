// SPDX-License-Identifier: Apache-2.0
// From a config and its layer plan to the weight matrices of the whole model.
#include "core/architectures/architectures.h"
#include "core/architectures/weight_parts.h"
#include "core/error.h"

#include <algorithm>

namespace kvcaliper {

namespace {

/// A formula that was not held against this very type.
constexpr std::int64_t generic_uncertainty = 50;
/// Layers, and patterns × layers, that are worth a count; more is no checkpoint.
constexpr std::size_t most_layers = 4096;
constexpr std::size_t most_effort = 200'000;

/// Keys that speak of matrices no row lists.
constexpr const char* unknown_keys[] = {"latent_moe_use_norm", "attn_res_block_size"};
/// How many experts there are, in every spelling: a row that knows none of them is another model.
constexpr const char* expert_keys[] = {"num_experts", "num_local_experts", "n_routed_experts",
                                       "moe_num_experts", "num_routed_experts"};

constexpr WeightRow generic_row{.model_type = ""};

// ---- one layer ----------------------------------------------------------------------------------

/// The letter of a layer in Nemotron-H's pattern, which newer files spell out; 0 for other models.
char pattern_letter(const WeightReading& reading) {
    if (reading.row.model_type != "nemotron_h") {
        return 0;
    }
    const auto layer = static_cast<std::size_t>(reading.layer);
    const JsonValue* pattern = reading.config.find("hybrid_override_pattern");
    if (const auto* letters = pattern ? pattern->if_string() : nullptr;
        letters && layer < letters->size()) {
        return (*letters)[layer];
    }
    const auto words = reading.config.words("layers_block_type");
    if (layer >= words.size()) {
        throw Error("no parameter formula without hybrid_override_pattern");
    }
    return words[layer] == "moe" ? 'E' : words[layer] == "mlp" ? '-' : '*';
}

/// Falcon's later decoder has a norm for attention and one for the MLP, the parallel one of
/// before a single one.
std::int64_t norms_of(const WeightReading& reading) {
    const ModelConfig& config = reading.config;
    if (reading.row.model_type != "falcon") {
        return reading.row.norms;
    }
    const bool later = config.flag("new_decoder_architecture", false);
    const auto stated = config.optional("num_ln_in_parallel_attn", 1, 2);
    return later ? stated.value_or(2) : config.flag("parallel_attn", true) ? 1 : 2;
}

void add_layer(const WeightReading& reading, const LayerPlan& layer) {
    if (layer.shared_with) {
        throw Error("no parameter formula for layers that share a cache");
    }
    for (const LayerPart& part : layer.parts) {
        add_layer_part(reading, part);
    }
    reading.norm("norm", reading.hidden, norms_of(reading));
    const char letter = pattern_letter(reading);
    const bool mlp = letter == 0 || letter == '-' || letter == 'E';
    if (!mlp || !reading.row.mlp_in_layers) {
        return;
    }
    if (letter == '-') { // experts are in the layers of their own letter
        WeightRow dense = reading.row;
        dense.experts = nullptr;
        add_mlp({reading.config, dense, reading.to, reading.hidden, reading.layer});
    } else {
        add_mlp(reading);
    }
    if (reading.row.model_type == "gemma4_text") {
        reading.to.plain("layer scalar", 1);
    }
}

// ---- the model ----------------------------------------------------------------------------------

bool is_tied(const ConfigFile& file, const ModelConfig& config, const WeightRow& row) {
    const JsonValue* outer = file.value.find("tie_word_embeddings");
    if (!config.has("tie_word_embeddings") && outer && outer->if_bool()) {
        return *outer->if_bool();
    }
    return config.flag("tie_word_embeddings", row.tied);
}

void add_ends(const WeightReading& reading, bool tied) {
    const ModelConfig& config = reading.config;
    const std::int64_t words =
        config.required(config.has("padded_vocab_size") ? "padded_vocab_size" : "vocab_size");
    if (tied) {
        reading.to.plain("embedding and output", words, reading.hidden);
    } else {
        reading.to.table("embedding", words, reading.hidden);
        reading.to.linear("output", "lm_head", words, reading.hidden);
    }
    if (reading.row.output_bias) {
        reading.to.plain("output bias", words);
    }
    if (!reading.row.positions_key.empty()) {
        const std::int64_t positions = config.required(reading.row.positions_key);
        reading.to.table("positions", positions + reading.row.more_positions, reading.hidden);
    }
    reading.norm("norm", reading.hidden, reading.row.embedding_norm ? 2 : 1);
}

void require_formula(const ModelConfig& config, const WeightRow& row) {
    const JsonValue* more = row.without.empty() ? nullptr : config.find(row.without);
    const bool present = more && ((more->if_bool() && *more->if_bool()) ||
                                  (more->if_integer() && *more->if_integer() != 0));
    if (present) {
        throw Error("no parameter formula with " + std::string(row.without));
    }
    if (config.has("moe_latent_size") && !(row.experts && !row.experts->latent_key.empty())) {
        throw Error("no parameter formula with moe_latent_size");
    }
    for (const char* key : unknown_keys) {
        if (config.has(key)) {
            throw Error("no parameter formula with " + std::string(key));
        }
    }
    for (const char* key : expert_keys) {
        const bool expected = row.experts && row.experts->count_key == key;
        if (!expected && config.has(key) && config.optional(key, 0).value_or(0) > 1) {
            throw Error("no parameter formula for model_type " + std::string(row.model_type) +
                        " with " + key);
        }
    }
}

void read_tensors(const ConfigFile& file, const ModelConfig& config, const WeightRow& row,
                  const std::vector<LayerPlan>& layers, WeightPlan& plan) {
    require_formula(config, row);
    const WeightQuantization quantization = weight_quantization(file, config);
    if (layers.size() > most_layers || quantization.effort() * layers.size() > most_effort) {
        throw Error("no parameter formula for so many layers or lists of modules");
    }
    TensorList list(quantization);
    WeightReading reading{config, row, list, config.required("hidden_size")};
    add_ends(reading, is_tied(file, config, row));
    for (const LayerPlan& layer : layers) {
        add_layer(reading, layer);
        ++reading.layer;
    }
    plan.tensors = list.take();
    plan.notes = quantization.notes;
    plan.notes.insert(plan.notes.end(), config.default_notes().begin(),
                      config.default_notes().end());
    plan.uncertainty_permille = quantization.uncertainty_permille;
}

const WeightRow& row_for(const std::string& model_type, Confidence confidence) {
    const WeightRow* row = find_weight_row(model_type);
    if (row == nullptr && confidence == Confidence::rule) {
        throw Error("no parameter formula for model_type " + model_type);
    }
    return row ? *row : generic_row;
}

} // namespace

void TensorList::add(std::string_view label, std::int64_t rows, std::int64_t columns,
                     std::int64_t tensors, std::int64_t read, const WeightFormat& format) {
    const auto same = [&](const TensorGroup& group) {
        return group.rows == rows && group.columns == columns && group.label == label &&
               group.format.name == format.name;
    };
    auto group = std::find_if(groups_.begin(), groups_.end(), same);
    if (group == groups_.end()) {
        group = groups_.insert(group, {std::string(label), rows, columns, 0, 0, format});
    }
    group->tensors = checked_add(group->tensors, tensors);
    group->read = checked_add(group->read, read);
}

void TensorList::linear(std::string_view label, const std::string& module, std::int64_t rows,
                        std::int64_t columns, std::int64_t tensors) {
    add(label, rows, columns, tensors, tensors, quantization_.format_of(module));
}

void TensorList::experts(std::string_view label, const std::string& module, std::int64_t rows,
                         std::int64_t columns, std::int64_t tensors, std::int64_t read) {
    add(label, rows, columns, tensors, read,
        module.empty() ? quantization_.plain : quantization_.format_of(module));
}

void TensorList::plain(std::string_view label, std::int64_t rows, std::int64_t columns,
                       std::int64_t tensors) {
    add(label, rows, columns, tensors, tensors, quantization_.plain);
}

void TensorList::table(std::string_view label, std::int64_t rows, std::int64_t columns) {
    add(label, rows, columns, 1, 0, quantization_.plain);
}

void WeightReading::linear(std::string_view label, std::string_view name, std::int64_t rows,
                           std::int64_t columns, bool bias) const {
    to.is_quantised() ? to.linear(label, module(name), rows, columns)
                      : to.plain(label, rows, columns);
    if (bias) {
        to.plain(std::string(label) + " bias", rows);
    }
}

void WeightReading::norm(std::string_view label, std::int64_t width, std::int64_t count) const {
    if (row.norm != NormKind::bare) {
        to.plain(label, width, row.norm == NormKind::layer ? 2 : 1, count);
    }
}

WeightPlan read_weights(const ConfigFile& file, const JsonValue& text, const std::string& pointer,
                        const ModelPlan& plan) {
    WeightPlan result;
    result.file = file.path == "standard input" ? "" : file.path;
    try {
        const WeightRow& row = row_for(plan.model_type, plan.confidence);
        const Architecture* known = find_architecture(plan.model_type);
        const ModelConfig config(file.path, text, pointer, known ? known->model_type : "");
        read_tensors(file, config, row, plan.layers, result);
        if (!pointer.empty()) {
            result.notes.push_back("the language model alone: what reads images or sound is not "
                                   "counted");
        }
        if (plan.confidence == Confidence::generic) {
            result.uncertainty_permille = generic_uncertainty;
        }
    } catch (const Error& error) { // a cache needs no weights: what stopped them is told on request
        result.tensors.clear();
        result.missing = error.what();
    }
    return result;
}

} // namespace kvcaliper
