// SPDX-License-Identifier: Apache-2.0
// The format: safetensors' README. Eight bytes of length, little endian, then JSON with the dtype,
// shape and data_offsets of each tensor, then the data.
#include "core/safetensors.h"

#include "core/error.h"
#include "core/gguf_source.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

namespace kvcaliper {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t length_bytes = 8;

std::uint64_t header_length(ByteSource& source, const std::string& path) {
    std::array<std::byte, length_bytes> raw{};
    if (source.read_at(0, raw) != raw.size()) {
        throw Error(path + ": expected a safetensors file, found " + std::to_string(source.size()) +
                    " bytes");
    }
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < raw.size(); ++i) {
        length |= std::to_integer<std::uint64_t>(raw[i]) << (8 * i);
    }
    const std::uint64_t most =
        std::min<std::uint64_t>(max_json_bytes, source.size() - length_bytes);
    if (length > most) {
        throw Error(path + ": safetensors header: expected at most " + std::to_string(most) +
                    " bytes, found a length of " + std::to_string(length));
    }
    return length;
}

JsonValue read_header(ByteSource& source, const std::string& path, std::uint64_t length) {
    std::string text(static_cast<std::size_t>(length), '\0');
    if (source.read_at(length_bytes, std::as_writable_bytes(std::span(text))) != text.size()) {
        throw Error(path + ": safetensors header: expected " + std::to_string(length) +
                    " bytes, found fewer: the file can not be read");
    }
    JsonValue header = parse_json(text, path).value;
    if (!header.is_object()) {
        throw input_error(path, "", "an object of tensors", describe(header));
    }
    return header;
}

/// The bytes between a tensor's two offsets.
std::int64_t tensor_bytes(const std::string& path, const std::string& name, const JsonValue& tensor,
                          std::uint64_t data) {
    const JsonValue* offsets = tensor.find("data_offsets");
    const auto* pair = offsets ? offsets->if_array() : nullptr;
    const bool whole =
        pair && pair->size() == 2 && (*pair)[0].if_integer() && (*pair)[1].if_integer();
    const std::int64_t from = whole ? *(*pair)[0].if_integer() : 0;
    const std::int64_t to = whole ? *(*pair)[1].if_integer() : -1;
    if (from < 0 || to < from || static_cast<std::uint64_t>(to) > data) {
        throw input_error(path, "/" + name + "/data_offsets",
                          "two offsets within the " + std::to_string(data) + " bytes of data",
                          whole     ? std::to_string(from) + " and " + std::to_string(to)
                          : offsets ? describe(*offsets)
                                    : "nothing");
    }
    return to - from;
}

// ---- a folder -----------------------------------------------------------------------------------

Weights weights_from(WeightsSource source, Term term) {
    Weights weights;
    weights.source = source;
    weights.total = {"weights", {std::move(term)}};
    weights.notes.push_back("everything in the files is counted, layers that only draft and what "
                            "reads images or sound too");
    return weights;
}

std::optional<std::int64_t> positive(const JsonValue* value) {
    const auto* number = value ? value->if_integer() : nullptr;
    return number && *number > 0 ? std::optional(*number) : std::nullopt;
}

/// The files an index names, each once.
std::set<std::string> shards_of(const JsonValue& index) {
    std::set<std::string> files;
    const JsonValue* map = index.find("weight_map");
    for (const auto& [tensor, file] :
         map && map->if_object() ? *map->if_object() : JsonValue::Object{}) {
        // A name, no path: an index says nothing about other folders.
        if (file.if_string() && file.if_string()->find('/') == std::string::npos) {
            files.insert(*file.if_string());
        }
    }
    return files;
}

Weights weights_in(const fs::path& folder, const std::set<std::string>& files) {
    Weights weights = weights_from(WeightsSource::safetensors_headers, {});
    weights.total.terms.clear();
    for (const std::string& file : files) {
        const Bytes bytes = safetensors_bytes((folder / file).string());
        weights.total.terms.push_back({file, {{"bytes of tensors", bytes.count()}}});
    }
    return weights;
}

Weights index_weights(const fs::path& index_file) {
    const JsonValue index = read_json_file(index_file.string()).value;
    const JsonValue* metadata = index.find("metadata");
    const auto total = positive(metadata ? metadata->find("total_size") : nullptr);
    if (total) {
        Weights weights = weights_from(WeightsSource::safetensors_index,
                                       {index_file.filename().string(), {{"total_size", *total}}});
        weights.parameters = positive(metadata->find("total_parameters"));
        return weights;
    }
    const std::set<std::string> files = shards_of(index);
    if (files.empty()) {
        throw input_error(index_file.string(), "/metadata/total_size", "a number of bytes",
                          "nothing, and no weight_map");
    }
    return weights_in(index_file.parent_path(), files);
}

/// "model-00001-of-00003.safetensors" stands for the three of them.
std::set<std::string> all_parts(const std::string& name) {
    const auto of = name.rfind("-of-");
    const auto end = name.rfind(".safetensors");
    if (of == std::string::npos || end == std::string::npos || of < 6 || end != of + 9) {
        return {name};
    }
    const std::string digits = name.substr(of + 4, 5);
    if (digits.find_first_not_of("0123456789") != std::string::npos) {
        return {name};
    }
    std::set<std::string> files;
    for (int i = 1; i <= std::stoi(digits); ++i) {
        const std::string number = std::to_string(i);
        files.insert(name.substr(0, of - 5) + std::string(5 - number.size(), '0') + number +
                     name.substr(of));
    }
    return files;
}

std::set<std::string> files_in(const fs::path& folder) {
    std::set<std::string> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        // Mistral's folders hold everything a second time under this name.
        if (entry.path().extension() == ".safetensors" && name.find("consolidated") != 0) {
            files.insert(name);
        }
    }
    return files;
}

} // namespace

Bytes safetensors_bytes(const std::string& path) {
    const auto source = file_source(path);
    const std::uint64_t length = header_length(*source, path);
    const std::uint64_t data = source->size() - length_bytes - length;
    const JsonValue header = read_header(*source, path, length);
    std::int64_t sum = 0;
    for (const auto& [name, tensor] : *header.if_object()) {
        if (name != "__metadata__") {
            sum = checked_add(sum, tensor_bytes(path, name, tensor, data));
        }
    }
    return Bytes(sum);
}

std::optional<Weights> safetensors_weights(const std::string& config_file,
                                           std::vector<std::string>& notes) {
    const fs::path file(config_file);
    if (file.filename() != "config.json") {
        return std::nullopt;
    }
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    std::error_code error;
    if (const fs::path index = folder / "model.safetensors.index.json"; fs::exists(index, error)) {
        return index_weights(index);
    }
    const std::set<std::string> files = files_in(folder);
    if (files.empty()) {
        return std::nullopt;
    }
    if (files.contains("model.safetensors")) {
        return weights_in(folder, {"model.safetensors"});
    }
    const std::set<std::string> parts = all_parts(*files.begin());
    if (files.size() > 1 &&
        !std::includes(parts.begin(), parts.end(), files.begin(), files.end())) {
        notes.push_back("several *.safetensors beside the config and no index: not read");
        return std::nullopt;
    }
    return weights_in(folder, parts);
}

} // namespace kvcaliper
