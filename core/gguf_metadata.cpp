// SPDX-License-Identifier: Apache-2.0
#include "core/gguf_metadata.h"

#include "core/error.h"

#include <algorithm>
#include <array>

namespace kvcaliper {

namespace {

/// For these llama.cpp makes no memory at all (llama_model::create_memory), and `clip` is no model
/// of its own.
constexpr std::array cacheless = {
    "clip",         "bert",        "nomic-bert", "neo-bert",  "nomic-bert-moe",  "jina-bert-v2",
    "jina-bert-v3", "modern-bert", "eurobert",   "t5encoder", "llama-embed",     "gemma-embedding",
    "dream",        "llada",       "llada-moe",  "rnd1",      "wavtokenizer-dec"};

[[noreturn]] void fail_key(const std::string& file, std::string_view key, std::string_view expected,
                           std::string_view found) {
    throw input_error(file, "metadata key " + one_line(key), expected, found);
}

std::int64_t integer_of(const JsonValue& header, std::string_view key, std::int64_t absent) {
    const JsonValue* value = header.find(key);
    return value && value->if_integer() ? *value->if_integer() : absent;
}

/// A later part of a split file has tensors and the split.* keys alone (gguf-split).
void require_first_part(const JsonValue& values, const std::string& file) {
    const std::int64_t part = integer_of(values, "split.no", 0);
    if (part > 0 && !values.find("general.architecture")) {
        fail_key(file, "split.no", "the first part of a split file, which has the metadata",
                 "part " + std::to_string(part + 1) + " of " +
                     std::to_string(integer_of(values, "split.count", 0)));
    }
}

std::optional<std::int64_t> as_integer(const JsonValue& value) {
    if (const auto* whole = value.if_integer()) {
        return *whole;
    }
    if (const auto* flag = value.if_bool()) {
        return *flag ? 1 : 0;
    }
    return std::nullopt;
}

} // namespace

std::string one_line(std::string_view text) {
    std::string result(text.substr(0, 200));
    std::replace_if(
        result.begin(), result.end(),
        [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
    return result;
}

GgufMetadata::GgufMetadata(const GgufHeader& header, std::string file)
    : file_(std::move(file)), values_(header.metadata) {
    require_first_part(values_, file_);
    const JsonValue* name = values_.find("general.architecture");
    if (name == nullptr || !name->if_string() || name->if_string()->empty()) {
        fail_key(file_, "general.architecture", "the name of an architecture",
                 name ? describe(*name) : "nothing");
    }
    architecture_ = one_line(*name->if_string());
    const JsonValue* type = values_.find("general.type");
    if (type && type->if_string() && *type->if_string() != "model") {
        fail_key(file_, "general.type", "\"model\"", describe(*type));
    }
    if (std::find(cacheless.begin(), cacheless.end(), architecture_) != cacheless.end()) {
        fail_key(file_, "general.architecture", "a model that keeps a cache as it writes",
                 "\"" + architecture_ + "\", which does not");
    }
}

const JsonValue* GgufMetadata::find(std::string_view suffix) const {
    return values_.find(key(suffix));
}

bool GgufMetadata::any(std::string_view prefix) const {
    const auto* object = values_.if_object();
    const std::string start = key(prefix);
    return object && std::any_of(object->begin(), object->end(), [&](const auto& member) {
               return member.first.starts_with(start);
           });
}

std::optional<std::int64_t> GgufMetadata::integer(std::string_view suffix,
                                                  std::int64_t most) const {
    const JsonValue* value = find(suffix);
    if (value == nullptr) {
        return std::nullopt;
    }
    const std::string expected = "an integer from 0 to " + std::to_string(most);
    std::optional<std::int64_t> number = as_integer(*value);
    if (const auto* array = value->if_array(); array && !array->empty()) {
        number = as_integer(array->front());
        for (const JsonValue& element : *array) {
            if (as_integer(element) != number) {
                fail(suffix, expected + ", the same for every layer",
                     "an array with " + describe(array->front()) + " and " + describe(element));
            }
        }
    }
    if (!number || *number < 0 || *number > most) {
        fail(suffix, expected, describe(*value));
    }
    return number;
}

std::int64_t GgufMetadata::required(std::string_view suffix, std::int64_t most) const {
    const auto value = integer(suffix, most);
    if (!value || *value == 0) {
        fail(suffix, "an integer from 1 to " + std::to_string(most), value ? "0" : "nothing");
    }
    return *value;
}

std::vector<std::int64_t> GgufMetadata::per_layer(std::string_view suffix,
                                                  std::int64_t layers) const {
    const auto count = static_cast<std::size_t>(layers);
    const JsonValue* value = find(suffix);
    const auto* array = value ? value->if_array() : nullptr;
    if (array == nullptr) {
        const auto same = integer(suffix);
        return same ? std::vector<std::int64_t>(count, *same) : std::vector<std::int64_t>{};
    }
    if (array->size() < count) {
        fail(suffix, "a value for each of " + std::to_string(layers) + " layers",
             std::to_string(array->size()));
    }
    std::vector<std::int64_t> result;
    for (std::size_t i = 0; i < count; ++i) {
        const auto number = as_integer((*array)[i]);
        if (!number || *number < 0 || *number > 100'000'000) {
            fail(std::string(suffix) + " of layer " + std::to_string(i),
                 "an integer from 0 to 100000000", describe((*array)[i]));
        }
        result.push_back(*number);
    }
    return result;
}

void GgufMetadata::fail(std::string_view suffix, std::string_view expected,
                        std::string_view found) const {
    fail_key(file_, key(suffix), expected, found);
}

} // namespace kvcaliper
