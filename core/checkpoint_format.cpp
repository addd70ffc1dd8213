// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint_format.h"

#include <array>

namespace kvcaliper {

namespace {

/// A scheme as found: its place in the file, and itself.
struct Scheme {
    std::string place;
    const JsonValue* value = nullptr;
};

const JsonValue* member(const JsonValue* value, std::string_view key) {
    const JsonValue* found = value ? value->find(key) : nullptr;
    return found && !found->is_null() ? found : nullptr;
}

Scheme find_scheme(const ConfigFile& config) {
    const JsonValue* text = member(&config.value, "text_config");
    for (const JsonValue* holder : std::array<const JsonValue*, 2>{&config.value, text}) {
        const JsonValue* quantization = member(holder, "quantization_config");
        for (const char* key : {"kv_cache_scheme", "kv_cache_quant_algo"}) {
            if (const JsonValue* scheme = member(quantization, key)) {
                return {"quantization_config/" + std::string(key), scheme};
            }
        }
    }
    const JsonValue* side = member(&config.hf_quant_config, "quantization");
    return {"hf_quant_config.json: quantization/kv_cache_quant_algo",
            member(side, "kv_cache_quant_algo")};
}

/// "FP8", or {"num_bits": 8, "type": "float"}.
std::optional<std::string> format_of(const JsonValue& scheme) {
    if (const auto* word = scheme.if_string()) {
        return *word == "FP8"     ? std::optional<std::string>("fp8_e4m3")
               : *word == "NVFP4" ? std::optional<std::string>("nvfp4")
               : *word == "INT8"  ? std::optional<std::string>("int8")
                                  : std::nullopt;
    }
    const JsonValue* bits = scheme.find("num_bits");
    const JsonValue* type = scheme.find("type");
    if (!bits || !bits->if_integer() || !type || !type->if_string() || *bits->if_integer() != 8) {
        return std::nullopt;
    }
    return *type->if_string() == "float" ? std::optional<std::string>("fp8_e4m3")
           : *type->if_string() == "int" ? std::optional<std::string>("int8")
                                         : std::nullopt;
}

} // namespace

std::optional<std::string> checkpoint_kv_format(const ConfigFile& config,
                                                std::vector<std::string>& notes) {
    const Scheme scheme = find_scheme(config);
    if (scheme.value == nullptr) {
        return std::nullopt;
    }
    const auto format = format_of(*scheme.value);
    notes.push_back(scheme.place +
                    (format ? " asks for K and V in " + *format + ": used with --kv checkpoint"
                            : " is not understood (" + describe(*scheme.value) + "): ignored"));
    return format;
}

} // namespace kvcaliper
