// SPDX-License-Identifier: Apache-2.0
// Step 1 of reading a model: find config.json, and give one flat, typed view of it in which every
// value knows where it came from.
#pragma once

#include "core/error.h"
#include "core/json_value.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvcaliper {

/// A config.json as found: text, where it came from, and the name to show.
struct ConfigFile {
    std::string path; ///< as named by the user, or the file found in a folder
    std::string name; ///< stem of a bundled file, else the folder's or file's name
    JsonValue value;
    std::vector<std::string> warnings;
};

/// Reads PATH: a config.json, a folder that holds one, or "-" (standard input). Throws Error.
ConfigFile read_config_file(const std::string& path);

/// A class default: what a key means when the config does not have it.
struct ClassDefault {
    std::string_view key;
    JsonValue::Storage value;
};

/// The text config of a model with class defaults merged under absent keys and aliases mapped to one
/// spelling (n_layer → num_hidden_layers). Absent, null and 0 stay apart.
class ModelConfig {
  public:
    ModelConfig(std::string file, JsonValue object, std::string pointer);

    const std::string& file() const { return file_; }

    /// The member for a canonical key or one of its aliases, or nullptr.
    const JsonValue* find(std::string_view key) const;
    bool has(std::string_view key) const; ///< present and not null

    /// An integer from 1 to `most`, or an Error with the JSON pointer.
    std::int64_t required(std::string_view key, std::int64_t most = 100'000'000) const;
    /// The same, or nothing when the key is absent or null.
    std::optional<std::int64_t> optional(std::string_view key, std::int64_t least = 1,
                                         std::int64_t most = 100'000'000) const;
    /// true, false, or `absent` when the key is absent or null.
    bool flag(std::string_view key, bool absent) const;
    /// A list of words, empty when absent or null.
    std::vector<std::string> words(std::string_view key) const;
    /// The spelling found in the file: "n_layer" for num_hidden_layers.
    std::string spelling(std::string_view key) const;

    [[noreturn]] void fail(std::string_view key, std::string_view expected,
                           std::string_view found) const;

  private:
    std::string file_;
    JsonValue object_;
    std::string pointer_; ///< "/text_config" for a nested config
};

} // namespace kvcaliper
