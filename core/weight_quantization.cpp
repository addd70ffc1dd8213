// SPDX-License-Identifier: Apache-2.0
// Layouts: DeepSeek-V3's weight_scale_inv (fp32 per 128×128), GPTQ's and AWQ's packed qweight,
// qzeros and 16-bit scales (GPTQ also g_idx), compressed-tensors' packed and scaled layers,
// ModelOpt's NVFP4 (fp8 scale per 16, two fp32 per matrix), gpt-oss' MXFP4 (8-bit exponent per 32),
// bitsandbytes' absmax per 64 (nested: a byte per 64, fp32 per 256 of those) and SCB per row.
#include "core/weight_quantization.h"

#include <algorithm>

namespace kvcaliper {

namespace {

/// What is known of a quantisation whose modules all could be told; and where some could not.
constexpr std::int64_t usual_uncertainty = 10;
constexpr std::int64_t pattern_uncertainty = 50;

const JsonValue* member(const JsonValue* value, std::string_view key) {
    const JsonValue* found = value ? value->find(key) : nullptr;
    return found && !found->is_null() ? found : nullptr;
}

std::string word_of(const JsonValue* value, std::string_view key) {
    const JsonValue* found = member(value, key);
    return found && found->if_string() ? *found->if_string() : "";
}

std::int64_t number_of(const JsonValue* value, std::string_view key, std::int64_t absent) {
    const JsonValue* found = member(value, key);
    const auto* number = found ? found->if_integer() : nullptr;
    return number && *number >= 1 && *number <= 1 << 20 ? *number : absent;
}

bool flag_of(const JsonValue* value, std::string_view key, bool absent) {
    const JsonValue* found = member(value, key);
    return found && found->if_bool() ? *found->if_bool() : absent;
}

// ---- formats ------------------------------------------------------------------------------------

std::string number_text(std::int64_t number) {
    return std::to_string(number);
}

WeightFormat fp8_blocks(std::int64_t rows, std::int64_t columns, std::int64_t scale_bytes) {
    return {"fp8 in blocks of " + number_text(rows) + "×" + number_text(columns), 8, rows, columns,
            scale_bytes};
}

/// A weight scale and an input scale of 4 bytes for the whole matrix.
WeightFormat fp8_tensor() {
    return {.name = "fp8", .bits = 8, .tensor_bytes = 8};
}

WeightFormat eight_bits_per_row(std::string name, std::int64_t scale_bytes) {
    return {.name = std::move(name), .bits = 8, .block_rows = 1, .scale_bytes = scale_bytes};
}

WeightFormat nvfp4() {
    return {"nvfp4", 4, 1, 16, 1, 0, 0, 8};
}

WeightFormat mxfp4() {
    return {"mxfp4", 4, 1, 32, 1};
}

/// Packed integers with a 16-bit scale per group, and a zero point of as many bits or none.
WeightFormat integer_groups(std::int64_t bits, std::int64_t group, bool zeros) {
    return {"int" + number_text(bits) + " in groups of " + number_text(group),
            bits,
            1,
            group,
            2,
            zeros ? bits : 0};
}

// ---- methods ------------------------------------------------------------------------------------

/// What a method's reader works with.
struct Scheme {
    std::string file;
    const JsonValue* value;
    WeightQuantization& to;

    [[noreturn]] void fail(std::string_view key, std::string_view expected) const {
        const JsonValue* found = member(value, key);
        throw input_error(file, "/quantization_config/" + std::string(key), expected,
                          found ? describe(*found) : "nothing");
    }
    void add(WeightFormat format) const { to.rules.push_back({std::move(format), {}}); }
};

void read_fp8(const Scheme& scheme) {
    const JsonValue* size = member(scheme.value, "weight_block_size");
    const auto* sides = size ? size->if_array() : nullptr;
    if (!size) {
        scheme.add(fp8_tensor());
        return;
    }
    if (!sides || sides->size() != 2 || !(*sides)[0].if_integer() || !(*sides)[1].if_integer() ||
        *(*sides)[0].if_integer() < 1 || *(*sides)[1].if_integer() < 1) {
        scheme.fail("weight_block_size", "two integers from 1 on");
    }
    scheme.add(fp8_blocks(*(*sides)[0].if_integer(), *(*sides)[1].if_integer(), 4));
}

void read_integers(const Scheme& scheme) {
    const std::int64_t bits = number_of(scheme.value, "bits", 0);
    if (bits < 2 || bits > 8) {
        scheme.fail("bits", "an integer from 2 to 8");
    }
    WeightFormat format = integer_groups(bits, number_of(scheme.value, "group_size", 0), true);
    format.column_bytes = word_of(scheme.value, "quant_method") == "gptq" ? 4 : 0;
    scheme.add(std::move(format));
}

void read_bitsandbytes(const Scheme& scheme) {
    if (flag_of(scheme.value, "load_in_8bit", false)) {
        scheme.add(eight_bits_per_row("int8 per row", 4));
        return;
    }
    const bool nested = flag_of(scheme.value, "bnb_4bit_use_double_quant", false);
    const std::string type = word_of(scheme.value, "bnb_4bit_quant_type");
    // Blocks run over the whole matrix; nested scales of a 64th byte round to 4 per 256 blocks.
    WeightFormat format{type.empty() ? "fp4" : type, 4, 1, 64, nested ? 1 : 4};
    format.tensor_bytes = nested ? 1200 : 170; // code tables and the state's text
    scheme.add(std::move(format));
}

/// One group of compressed-tensors: bits, type, strategy and the size of a group or block.
WeightFormat group_format(const Scheme& scheme, const JsonValue* weights) {
    const std::int64_t bits = number_of(weights, "num_bits", 0);
    const std::int64_t group = number_of(weights, "group_size", 0);
    const std::string strategy = word_of(weights, "strategy");
    if (word_of(weights, "type") == "float" && bits == 4 && (group == 16 || group == 32)) {
        return group == 16 ? nvfp4() : mxfp4();
    }
    if (word_of(weights, "type") == "int" && bits >= 2 && bits < 8) {
        return integer_groups(bits, group, !flag_of(weights, "symmetric", true));
    }
    if (bits != 8) {
        scheme.fail("config_groups", "weights of 8 bits, 4-bit floats or integers of 2 to 7 bits");
    }
    if (strategy == "block") {
        return fp8_blocks(128, 128, 2);
    }
    return strategy == "channel" ? eight_bits_per_row("8 bits per row", 2) : fp8_tensor();
}

void read_targets(const Scheme& scheme, const JsonValue& group, FormatRule& rule) {
    const JsonValue* targets = member(&group, "targets");
    for (const JsonValue& target :
         targets && targets->if_array() ? *targets->if_array() : JsonValue::Array{}) {
        const std::string* word = target.if_string();
        if (word && *word != "Linear" && !rule.modules.add(*word)) {
            scheme.fail("config_groups", "targets that are understood");
        }
    }
}

void read_groups(const Scheme& scheme) {
    const JsonValue* groups = member(scheme.value, "config_groups");
    if (!groups || !groups->if_object() || groups->if_object()->empty()) {
        scheme.fail("config_groups", "groups of layers");
    }
    for (const auto& [name, group] : *groups->if_object()) {
        FormatRule rule{group_format(scheme, member(&group, "weights")), {}};
        read_targets(scheme, group, rule);
        scheme.to.rules.push_back(std::move(rule));
    }
}

WeightFormat modelopt_format(const Scheme& scheme, const std::string& word) {
    if (word == "FP8") {
        return fp8_tensor();
    }
    if (word == "NVFP4" || word == "W4A16_NVFP4" || word == "NVFP4_AWQ") {
        return nvfp4();
    }
    if (word == "W4A16_AWQ" || word == "W4A8_AWQ") {
        return integer_groups(4, number_of(scheme.value, "group_size", 128), false);
    }
    if (word == "FP8_PB_WO") {
        return fp8_blocks(128, 128, 4);
    }
    scheme.fail("quant_algo", "FP8, FP8_PB_WO, NVFP4, W4A16_NVFP4 or W4A16_AWQ");
}

/// ModelOpt: one algorithm for every linear layer, or one for each that is listed.
void read_modelopt(const Scheme& scheme) {
    const std::string algorithm = word_of(scheme.value, "quant_algo");
    if (algorithm != "MIXED_PRECISION") {
        scheme.add(modelopt_format(scheme, algorithm));
        return;
    }
    const JsonValue* layers = member(scheme.value, "quantized_layers");
    if (!layers || !layers->if_object()) {
        scheme.fail("quantized_layers", "the layers that are quantised");
    }
    for (const auto& [name, layer] : *layers->if_object()) {
        const WeightFormat format = modelopt_format(scheme, word_of(&layer, "quant_algo"));
        auto rule =
            std::find_if(scheme.to.rules.begin(), scheme.to.rules.end(),
                         [&](const FormatRule& one) { return one.format.name == format.name; });
        if (rule == scheme.to.rules.end()) {
            rule = scheme.to.rules.insert(rule, {format, {}});
        }
        rule->modules.add(name);
    }
}

void read_mxfp4(const Scheme& scheme) {
    scheme.add(mxfp4());
    scheme.to.experts_only = true;
}

struct Method {
    std::string_view name;
    void (*read)(const Scheme&);
    bool plain_output; ///< lm_head stays as it is, listed or not
};

constexpr Method methods[] = {
    {"fp8", read_fp8, true},
    {"fbgemm_fp8", [](const Scheme& scheme) { scheme.add(eight_bits_per_row("fp8 per row", 4)); },
     true},
    {"gptq", read_integers, true},
    {"awq", read_integers, true},
    {"auto-round", read_integers, true},
    {"bitsandbytes", read_bitsandbytes, true},
    {"mxfp4", read_mxfp4, true},
    {"compressed-tensors", read_groups, false},
};

void read_method(const Scheme& scheme) {
    const std::string name = word_of(scheme.value, "quant_method");
    if (member(scheme.value, "quant_algo")) { // ModelOpt's own words, under whatever method
        read_modelopt(scheme);
        return;
    }
    for (const Method& method : methods) {
        if (method.name == name) {
            method.read(scheme);
            if (method.plain_output) {
                scheme.to.ignored.add("lm_head");
            }
            return;
        }
    }
    if (!member(scheme.value, "config_groups")) {
        scheme.fail("quant_method", "a method whose bits are known");
    }
    read_groups(scheme);
}

void read_ignored(const Scheme& scheme) {
    for (const char* key :
         {"ignore", "exclude_modules", "modules_to_not_convert", "llm_int8_skip_modules"}) {
        const JsonValue* list = member(scheme.value, key);
        for (const JsonValue& name :
             list && list->if_array() ? *list->if_array() : JsonValue::Array{}) {
            if (name.if_string() && !scheme.to.ignored.add(*name.if_string())) {
                scheme.to.uncertainty_permille = pattern_uncertainty;
                scheme.to.notes.push_back(std::string(key) + ": " + *name.if_string() +
                                          " is not understood, so those layers are counted as "
                                          "quantised");
            }
        }
    }
}

// ---- the type of everything else ----------------------------------------------------------------

WeightFormat plain_format(const ConfigFile& file, const ModelConfig& text,
                          std::vector<std::string>& notes) {
    std::string word;
    for (const char* key : {"dtype", "torch_dtype"}) {
        for (const JsonValue* value : {text.find(key), file.value.find(key)}) {
            word = word.empty() && value && value->if_string() ? *value->if_string() : word;
        }
    }
    if (word == "float32") {
        return {.name = "f32", .bits = 32};
    }
    if (word == "bfloat16" || word == "float16") {
        return {.name = word == "float16" ? "f16" : "bf16"};
    }
    notes.push_back(word.empty() ? "no dtype in the file: 16 bits per parameter"
                                 : "dtype " + word + " is not known: 16 bits per parameter");
    return {};
}

/// The quantisation, in the file or beside it, with its place for errors.
const JsonValue* find_quantization(const ConfigFile& file, const ModelConfig& text) {
    const JsonValue* side = member(&file.hf_quant_config, "quantization");
    const JsonValue* inside = member(&file.value, "quantization_config");
    const JsonValue* nested = text.find("quantization_config");
    if (inside == nullptr) {
        inside = nested && !nested->is_null() ? nested : nullptr;
    }
    return inside ? inside : side;
}

} // namespace

const WeightFormat& WeightQuantization::format_of(std::string_view module) const {
    if (rules.empty() || ignored.contains(module) ||
        (experts_only && module.find(".experts.") == std::string_view::npos)) {
        return plain;
    }
    for (const FormatRule& rule : rules) {
        if (rule.modules.empty() || rule.modules.contains(module)) {
            return rule.format;
        }
    }
    return plain;
}

std::size_t WeightQuantization::effort() const {
    std::size_t globs = ignored.globs();
    for (const FormatRule& rule : rules) {
        globs += rule.modules.globs();
    }
    return globs;
}

WeightQuantization weight_quantization(const ConfigFile& file, const ModelConfig& text) {
    WeightQuantization result;
    result.plain = plain_format(file, text, result.notes);
    const JsonValue* value = find_quantization(file, text);
    if (value == nullptr || !value->is_object()) {
        return result;
    }
    const Scheme scheme{file.path, value, result};
    result.uncertainty_permille = usual_uncertainty;
    read_method(scheme);
    read_ignored(scheme);
    return result;
}

} // namespace kvcaliper
