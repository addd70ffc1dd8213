// SPDX-License-Identifier: Apache-2.0
// A JSON value that keeps the order of keys. Reading is limited before it is parsed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kvcaliper {

class JsonValue {
  public:
    using Array = std::vector<JsonValue>;
    using Object = std::vector<std::pair<std::string, JsonValue>>;
    using Storage =
        std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object>;

    JsonValue() : storage_(nullptr) {}
    JsonValue(std::nullptr_t) : storage_(nullptr) {}                    // NOLINT
    JsonValue(bool value) : storage_(value) {}                          // NOLINT
    JsonValue(int value) : storage_(std::int64_t{value}) {}             // NOLINT
    JsonValue(std::int64_t value) : storage_(value) {}                  // NOLINT
    JsonValue(double value) : storage_(value) {}                        // NOLINT
    JsonValue(const char* value) : storage_(std::string(value)) {}      // NOLINT
    JsonValue(std::string value) : storage_(std::move(value)) {}        // NOLINT
    JsonValue(std::string_view value) : storage_(std::string(value)) {} // NOLINT
    JsonValue(Array value) : storage_(std::move(value)) {}              // NOLINT
    JsonValue(Object value) : storage_(std::move(value)) {}             // NOLINT

    bool is_null() const { return std::holds_alternative<std::nullptr_t>(storage_); }
    bool is_object() const { return std::holds_alternative<Object>(storage_); }
    bool is_array() const { return std::holds_alternative<Array>(storage_); }
    const bool* if_bool() const { return std::get_if<bool>(&storage_); }
    const std::int64_t* if_integer() const { return std::get_if<std::int64_t>(&storage_); }
    const double* if_double() const { return std::get_if<double>(&storage_); }
    const std::string* if_string() const { return std::get_if<std::string>(&storage_); }
    const Array* if_array() const { return std::get_if<Array>(&storage_); }
    const Object* if_object() const { return std::get_if<Object>(&storage_); }
    Array* if_array() { return std::get_if<Array>(&storage_); }
    Object* if_object() { return std::get_if<Object>(&storage_); }

    /// The member of that name, or nullptr (also when this is no object).
    const JsonValue* find(std::string_view key) const;
    /// Sets a member of an object, in place or at the end. A null value becomes an object.
    void set(std::string key, JsonValue value);

    // Required members, for files and messages of our own: throw Error naming the key.
    std::int64_t integer_at(std::string_view key) const;
    const std::string& string_at(std::string_view key) const;
    const Array& array_at(std::string_view key) const;
    const JsonValue& at(std::string_view key) const;

  private:
    Storage storage_;
};

/// What a parse has noticed besides the value: duplicate keys (the last wins, as in Python).
struct JsonDocument {
    JsonValue value;
    std::vector<std::string> warnings;
};

/// Largest input and deepest nesting that are parsed at all.
inline constexpr std::size_t max_json_bytes = 64u << 20;
inline constexpr int max_json_depth = 200;

/// Parses one JSON text; `source` is the name used in errors. Throws Error with line and column.
JsonDocument parse_json(std::string_view text, std::string_view source);
/// Reads and parses a file ("-" is standard input). Throws Error.
JsonDocument read_json_file(const std::string& path);
/// A short description for errors: "string \"32\"", "number -1", "array of 3", "null".
std::string describe(const JsonValue& value);
/// Text of a value; indent < 0 gives one line.
std::string dump_json(const JsonValue& value, int indent = 2);

} // namespace kvcaliper
