// SPDX-License-Identifier: Apache-2.0
#include "core/model_config.h"

#include "core/gguf_config.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

namespace kvcaliper {

namespace fs = std::filesystem;

namespace {

/// The name of a folder of the hub's cache: models--meta-llama--Llama-3.1-8B is Llama-3.1-8B.
std::string repository_name(const fs::path& snapshot) {
    const std::string name = snapshot.parent_path().parent_path().filename().string();
    const auto at = name.rfind("--");
    return name.rfind("models--", 0) == 0 && at != std::string::npos ? name.substr(at + 2) : "";
}

/// "config.json" in a folder is named after the folder; other files after their stem.
std::string name_for(const fs::path& file) {
    if (file.filename() == "config.json") {
        const fs::path folder = fs::absolute(file).parent_path();
        if (const std::string name = repository_name(folder); !name.empty()) {
            return name;
        }
        return folder.filename().empty() ? "config" : folder.filename().string();
    }
    return file.stem().string();
}

/// The snapshot of a hub cache folder (models--*/): the one refs/main names, else the only one.
fs::path snapshot_in(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> snapshots;
    for (const auto& entry : fs::directory_iterator(folder / "snapshots", error)) {
        if (fs::exists(entry.path() / "config.json", error)) {
            snapshots.push_back(entry.path());
        }
    }
    if (std::ifstream main(folder / "refs" / "main"); main) {
        std::string commit;
        main >> commit;
        const auto named =
            std::find_if(snapshots.begin(), snapshots.end(),
                         [&](const fs::path& one) { return one.filename() == commit; });
        if (named != snapshots.end()) {
            return *named;
        }
    }
    if (snapshots.size() > 1) {
        throw Error(folder.string() + ": expected one snapshot or refs/main, found " +
                    std::to_string(snapshots.size()) + " snapshots");
    }
    return snapshots.empty() ? fs::path() : snapshots.front();
}

std::string file_in(const std::string& folder) {
    std::error_code error;
    if (const fs::path file = fs::path(folder) / "config.json"; fs::exists(file, error)) {
        return file.string();
    }
    if (const fs::path snapshot = snapshot_in(folder); !snapshot.empty()) {
        return (snapshot / "config.json").string();
    }
    throw Error(folder + ": expected a folder with a config.json, found none in it");
}

/// ModelOpt's side file, where there is one.
JsonValue side_file(const std::string& config) {
    const fs::path side = fs::path(config).parent_path() / "hf_quant_config.json";
    std::error_code error;
    return fs::path(config).filename() == "config.json" && fs::exists(side, error)
               ? read_json_file(side.string()).value
               : JsonValue();
}

} // namespace

ConfigFile read_config_file(const std::string& path) {
    std::error_code error;
    const std::string file = path != "-" && fs::is_directory(path, error) ? file_in(path) : path;
    if (file != "-" && is_gguf_file(file)) {
        return gguf_config(read_gguf_header(file), file);
    }
    JsonDocument document = read_json_file(file);
    if (!document.value.is_object()) {
        throw input_error(file, "", "a JSON object with a model's config",
                          describe(document.value));
    }
    return {path == "-" ? "standard input" : file, path == "-" ? "stdin" : name_for(file),
            std::move(document.value), std::move(document.warnings),
            path == "-" ? JsonValue() : side_file(file)};
}

ModelConfig::ModelConfig(std::string file, const JsonValue& object, std::string pointer,
                         std::string_view model_type)
    : file_(std::move(file)), object_(&object), pointer_(std::move(pointer)),
      model_type_(model_type) {}

const JsonValue* ModelConfig::find(std::string_view key) const {
    const JsonValue* found = object_->find(key);
    for (const std::string_view alias : key_aliases(key)) {
        if (found != nullptr && !found->is_null()) {
            break;
        }
        // A null under the canonical name leaves the word to another spelling (T5's decoder
        // layers).
        if (const JsonValue* value = object_->find(alias); value && (!found || !value->is_null())) {
            found = value;
        }
    }
    return found;
}

bool ModelConfig::has(std::string_view key) const {
    const JsonValue* value = find(key);
    return value != nullptr && !value->is_null();
}

void ModelConfig::fail(std::string_view key, std::string_view expected,
                       std::string_view found) const {
    std::string_view spelling = key;
    for (const std::string_view alias : key_aliases(key)) {
        if (object_->find(key) == nullptr && object_->find(alias) != nullptr) {
            spelling = alias;
            break;
        }
    }
    throw input_error(file_, pointer_ + "/" + std::string(spelling), expected, found);
}

std::int64_t ModelConfig::integer(std::string_view key, const JsonValue& value, std::int64_t least,
                                  std::int64_t most) const {
    const auto expected =
        "an integer from " + std::to_string(least) + " to " + std::to_string(most);
    std::optional<std::int64_t> number;
    if (const auto* whole = value.if_integer()) {
        number = *whole;
    } else if (const auto* real = value.if_double();
               real && std::abs(*real) < 9.0e15 && std::floor(*real) == *real) {
        number = static_cast<std::int64_t>(*real); // 8.0 and 1e6, as some exporters write them
    }
    if (!number || *number < least || *number > most) {
        fail(key, expected, describe(value));
    }
    return *number;
}

std::optional<std::int64_t> ModelConfig::default_for(std::string_view key) const {
    const auto value = class_default(model_type_, key);
    if (value) {
        const std::string note =
            std::string(key) + " absent: class default " + std::to_string(*value);
        if (std::find(default_notes_.begin(), default_notes_.end(), note) == default_notes_.end()) {
            default_notes_.push_back(note);
        }
    }
    return value;
}

std::optional<std::int64_t> ModelConfig::optional(std::string_view key, std::int64_t least,
                                                  std::int64_t most) const {
    const JsonValue* value = find(key);
    if (value == nullptr) {
        return default_for(key);
    }
    if (value->is_null()) {
        return std::nullopt;
    }
    return integer(key, *value, least, most);
}

std::int64_t ModelConfig::required(std::string_view key, std::int64_t most) const {
    if (const auto value = optional(key, 1, most)) {
        return *value;
    }
    fail(key, "an integer from 1 to " + std::to_string(most), has(key) ? "null" : "nothing");
}

std::int64_t ModelConfig::stated(std::string_view key, std::int64_t most) const {
    const JsonValue* value = find(key);
    if (value == nullptr || value->is_null()) {
        fail(key, "an integer from 1 to " + std::to_string(most), value ? "null" : "nothing");
    }
    return integer(key, *value, 1, most);
}

bool ModelConfig::flag(std::string_view key, bool absent) const {
    const JsonValue* value = find(key);
    if (value == nullptr || value->is_null()) {
        return absent;
    }
    if (const bool* flag = value->if_bool()) {
        return *flag;
    }
    fail(key, "true or false", describe(*value));
}

std::optional<double> ModelConfig::number(std::string_view key) const {
    const JsonValue* value = find(key);
    if (value == nullptr || value->is_null()) {
        return std::nullopt;
    }
    if (const auto* whole = value->if_integer()) {
        return static_cast<double>(*whole);
    }
    if (const auto* real = value->if_double()) {
        return *real;
    }
    fail(key, "a number", describe(*value));
}

namespace {

/// The elements of a list, each read by `read`; empty when absent or null.
template <typename Element, typename Read>
std::vector<Element> list_of(const ModelConfig& config, std::string_view key, Read read,
                             const char* expected) {
    std::vector<Element> result;
    const JsonValue* value = config.find(key);
    if (value == nullptr || value->is_null()) {
        return result;
    }
    const auto* array = value->if_array();
    if (array == nullptr) {
        config.fail(key, std::string("a list of ") + expected + "s", describe(*value));
    }
    for (const JsonValue& element : *array) {
        const auto* one = read(element);
        if (one == nullptr) {
            config.fail(std::string(key) + "/" + std::to_string(result.size()),
                        std::string("a") + (*expected == 'i' ? "n " : " ") + expected,
                        describe(element));
        }
        result.push_back(*one);
    }
    return result;
}

} // namespace

std::vector<std::string> ModelConfig::words(std::string_view key) const {
    return list_of<std::string>(
        *this, key, [](const JsonValue& element) { return element.if_string(); }, "word");
}

std::vector<std::int64_t> ModelConfig::integers(std::string_view key) const {
    return list_of<std::int64_t>(
        *this, key, [](const JsonValue& element) { return element.if_integer(); }, "integer");
}

std::optional<ModelConfig> ModelConfig::inner(std::string_view key) const {
    const JsonValue* value = find(key);
    if (value == nullptr || value->is_null()) {
        return std::nullopt;
    }
    if (!value->is_object()) {
        fail(key, "an object", describe(*value));
    }
    return ModelConfig(file_, *value, pointer_ + "/" + std::string(key), "");
}

std::optional<ModelConfig> ModelConfig::element(std::string_view key, std::size_t index) const {
    const JsonValue* value = find(key);
    const auto* array = value ? value->if_array() : nullptr;
    if (array == nullptr || index >= array->size() || !(*array)[index].is_object()) {
        return std::nullopt;
    }
    return ModelConfig(file_, (*array)[index],
                       pointer_ + "/" + std::string(key) + "/" + std::to_string(index), "");
}

} // namespace kvcaliper
