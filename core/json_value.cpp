// SPDX-License-Identifier: Apache-2.0
#include "core/json_value.h"

#include "core/error.h"

#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>

namespace kvcaliper {

Error input_error(std::string_view file, std::string_view pointer, std::string_view expected,
                  std::string_view found) {
    std::string text(file);
    text += ": ";
    if (!pointer.empty()) {
        text += std::string(pointer) + ": ";
    }
    return Error(text + "expected " + std::string(expected) + ", found " + std::string(found));
}

const JsonValue* JsonValue::find(std::string_view key) const {
    if (const Object* object = if_object()) {
        for (const auto& [name, value] : *object) {
            if (name == key) {
                return &value;
            }
        }
    }
    return nullptr;
}

void JsonValue::set(std::string key, JsonValue value) {
    if (is_null()) {
        storage_ = Object{};
    }
    auto& object = std::get<Object>(storage_);
    for (auto& [name, old] : object) {
        if (name == key) {
            old = std::move(value);
            return;
        }
    }
    object.emplace_back(std::move(key), std::move(value));
}

const JsonValue& JsonValue::at(std::string_view key) const {
    if (const JsonValue* value = find(key)) {
        return *value;
    }
    throw Error("/" + std::string(key) + ": expected a value, found nothing");
}

std::int64_t JsonValue::integer_at(std::string_view key) const {
    const JsonValue& value = at(key);
    if (const std::int64_t* integer = value.if_integer()) {
        return *integer;
    }
    throw Error("/" + std::string(key) + ": expected an integer, found " + describe(value));
}

const std::string& JsonValue::string_at(std::string_view key) const {
    const JsonValue& value = at(key);
    if (const std::string* text = value.if_string()) {
        return *text;
    }
    throw Error("/" + std::string(key) + ": expected a string, found " + describe(value));
}

const JsonValue::Array& JsonValue::array_at(std::string_view key) const {
    const JsonValue& value = at(key);
    if (const Array* array = value.if_array()) {
        return *array;
    }
    throw Error("/" + std::string(key) + ": expected an array, found " + describe(value));
}

namespace {

/// Builds a JsonValue from parse events; stops at the depth limit.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
  public:
    Builder(std::string_view source, std::string_view text) : source_(source), text_(text) {}

    bool null() override { return put(nullptr); }
    bool boolean(bool value) override { return put(value); }
    bool number_integer(number_integer_t value) override { return put(std::int64_t{value}); }
    bool number_unsigned(number_unsigned_t value) override {
        if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
            return put(static_cast<double>(value));
        }
        return put(static_cast<std::int64_t>(value));
    }
    bool number_float(number_float_t value, const string_t&) override { return put(value); }
    bool string(string_t& value) override { return put(std::move(value)); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(JsonValue::Object{}); }
    bool start_array(std::size_t) override { return open(JsonValue::Array{}); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override {
        open_.back().key = std::move(name);
        return true;
    }
    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::detail::exception& error) override {
        error_ = position_text(position) + reason(error.what());
        return false;
    }

    JsonDocument finish() {
        if (!error_.empty()) {
            throw Error(std::string(source_) + ": expected JSON, found " + error_);
        }
        return {std::move(root_), std::move(warnings_)};
    }

  private:
    struct Open {
        JsonValue value;
        std::string key;
        std::unordered_map<std::string, std::size_t> members; ///< name to place, for duplicates
    };

    bool open(JsonValue container) {
        if (static_cast<int>(open_.size()) >= max_json_depth) {
            error_ = "more than " + std::to_string(max_json_depth) + " levels of nesting";
            return false;
        }
        open_.push_back({std::move(container), {}, {}});
        return true;
    }

    bool close() {
        JsonValue value = std::move(open_.back().value);
        open_.pop_back();
        return put(std::move(value));
    }

    bool put(JsonValue value) {
        if (open_.empty()) {
            root_ = std::move(value);
            return true;
        }
        Open& parent = open_.back();
        if (auto* array = parent.value.if_array()) {
            array->push_back(std::move(value));
        } else {
            put_member(parent, std::move(value));
        }
        return true;
    }

    /// The last of two members of one name wins, as in Python.
    void put_member(Open& parent, JsonValue value) {
        auto& object = *parent.value.if_object();
        const auto [at, is_new] = parent.members.try_emplace(parent.key, object.size());
        if (is_new) {
            object.emplace_back(std::move(parent.key), std::move(value));
            return;
        }
        warnings_.push_back("key \"" + parent.key + "\" appears twice: the last one wins");
        object[at->second].second = std::move(value);
    }

    std::string position_text(std::size_t position) const {
        std::size_t line = 1;
        std::size_t column = 1;
        for (std::size_t i = 0; i + 1 < position && i < text_.size(); ++i) {
            const bool ends_line = text_[i] == '\n';
            column = ends_line ? 1 : column + 1;
            line += ends_line ? 1u : 0u;
        }
        return "at line " + std::to_string(line) + ", column " + std::to_string(column) + ": ";
    }

    /// The parser's own words without its prefix, as one printable line.
    static std::string reason(std::string text) {
        if (const auto at = text.find(": syntax error"); at != std::string::npos) {
            text = text.substr(at + 2);
        } else if (const auto bracket = text.find("] "); bracket != std::string::npos) {
            text = text.substr(bracket + 2);
        }
        for (char& c : text) {
            c = (c >= ' ' && c < 127) ? c : '?';
        }
        return text.size() > 160 ? text.substr(0, 160) + "..." : text;
    }

    std::string_view source_;
    std::string_view text_;
    std::vector<Open> open_;
    JsonValue root_;
    std::vector<std::string> warnings_;
    std::string error_;
};

nlohmann::ordered_json to_nlohmann(const JsonValue& value) {
    if (const auto* object = value.if_object()) {
        auto json = nlohmann::ordered_json::object();
        for (const auto& [key, member] : *object) {
            json[key] = to_nlohmann(member);
        }
        return json;
    }
    if (const auto* array = value.if_array()) {
        auto json = nlohmann::ordered_json::array();
        for (const JsonValue& element : *array) {
            json.push_back(to_nlohmann(element));
        }
        return json;
    }
    if (const auto* integer = value.if_integer()) {
        return *integer;
    }
    if (const auto* real = value.if_double()) {
        return *real;
    }
    if (const auto* text = value.if_string()) {
        return *text;
    }
    if (const auto* flag = value.if_bool()) {
        return *flag;
    }
    return nullptr;
}

std::string read_stream(std::FILE* stream, const std::string& name) {
    std::string text;
    char block[1 << 16];
    while (const std::size_t count = std::fread(block, 1, sizeof block, stream)) {
        text.append(block, count);
        if (text.size() > max_json_bytes) {
            throw Error(name + ": expected at most 64 MiB of JSON, found more");
        }
    }
    return text;
}

} // namespace

namespace {

/// The word at `at` that Python writes for a number JSON does not have, or an empty one.
std::string_view bare_number_at(std::string_view text, std::size_t at) {
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
        if (text.compare(at, word.size(), word) == 0) {
            return word;
        }
    }
    return {};
}

/// Bare NaN and Infinity, as Python writes them, in quotes: harmless where no number is read, and
/// no number where one is.
std::string quote_bare_numbers(std::string_view text) {
    std::string result;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::string_view word = in_string ? std::string_view{} : bare_number_at(text, i);
        if (!word.empty()) {
            result += "\"" + std::string(word) + "\"";
            i += word.size() - 1;
            continue;
        }
        if (in_string && text[i] == '\\' && i + 1 < text.size()) {
            result += text[i++];
        } else if (text[i] == '"') {
            in_string = !in_string;
        }
        result += text[i];
    }
    return result;
}

bool may_have_bare_numbers(std::string_view text) {
    return text.find("NaN") != std::string_view::npos ||
           text.find("Infinity") != std::string_view::npos;
}

} // namespace

JsonDocument parse_json(std::string_view text, std::string_view source) {
    if (text.size() > max_json_bytes) {
        throw Error(std::string(source) + ": expected at most 64 MiB of JSON, found " +
                    std::to_string(text.size()) + " bytes");
    }
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        throw Error(std::string(source) + ": expected JSON, found an empty file");
    }
    if (text.find('\0') != std::string_view::npos) {
        throw Error(std::string(source) + ": expected JSON, found a binary file");
    }
    std::string quoted;
    if (may_have_bare_numbers(text)) {
        quoted = quote_bare_numbers(text);
        text = quoted;
    }
    Builder builder(source, text);
    nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
    return builder.finish();
}

JsonDocument read_json_file(const std::string& path) {
    if (path == "-") {
        return parse_json(read_stream(stdin, "standard input"), "standard input");
    }
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        throw Error(path + ": expected a file, found a directory");
    }
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(path.c_str(), "rb"),
                                                                 &std::fclose);
    if (!stream) {
        const bool exists = std::filesystem::exists(path, error);
        throw Error(path + ": expected a readable file, found " +
                    (exists ? "one that can not be opened" : "no such file"));
    }
    if (const auto size = std::filesystem::file_size(path, error);
        !error && size > max_json_bytes) {
        throw Error(path + ": expected at most 64 MiB of JSON, found " + std::to_string(size) +
                    " bytes");
    }
    return parse_json(read_stream(stream.get(), path), path);
}

std::string describe(const JsonValue& value) {
    if (const auto* text = value.if_string()) {
        const std::string shown = text->size() > 40 ? text->substr(0, 40) + "..." : *text;
        return "string " +
               nlohmann::json(shown).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    }
    if (const auto* array = value.if_array()) {
        return "an array of " + std::to_string(array->size());
    }
    if (value.is_object()) {
        return "an object";
    }
    return to_nlohmann(value).dump();
}

std::string dump_json(const JsonValue& value, int indent) {
    return to_nlohmann(value).dump(indent, ' ', false,
                                   nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace kvcaliper
