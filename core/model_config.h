// SPDX-License-Identifier: Apache-2.0
// Step 1 of reading a model: find config.json, and give one flat, typed view of it in which every
// value knows where it came from.
#pragma once

#include "core/architectures/table.h"
#include "core/error.h"
#include "core/json_value.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvcaliper {

/// A config.json as found: text, where it came from, and the name to show.
struct ConfigFile {
    std::string path; ///< as named by the user, or the file found in a folder
    std::string name; ///< the file's stem, or its folder's name for a plain config.json
    JsonValue value;
    std::vector<std::string> warnings;
    JsonValue
        hf_quant_config{}; ///< the file of that name beside config.json; null where there is none
};

/// Reads PATH: a config.json, a folder that holds one (a Hugging Face snapshot, or a hub cache
/// folder with snapshots/), a GGUF file by its magic bytes, or "-" (standard input). Throws Error.
ConfigFile read_config_file(const std::string& path);

/// An object of a config with its keys read by their meaning: aliases map to one spelling (n_layer
/// → num_hidden_layers), class defaults stand under absent keys. Absent, null and 0 stay apart.
class ModelConfig {
  public:
    /// `pointer` is where the object sits in the file: "" or "/text_config". Absent keys mean the
    /// class defaults of `model_type`; an empty one has none.
    ModelConfig(std::string file, const JsonValue& object, std::string pointer,
                std::string_view model_type);

    /// The member for a canonical key or one of its aliases, or nullptr. Knows no defaults.
    const JsonValue* find(std::string_view key) const;
    bool has(std::string_view key) const; ///< present and not null

    /// An integer from `least` to `most`, from the file or the class default. Errors carry the JSON
    /// pointer; null counts as absent and takes no default.
    std::optional<std::int64_t> optional(std::string_view key, std::int64_t least = 1,
                                         std::int64_t most = 100'000'000) const;
    /// The same, and an Error when there is none.
    std::int64_t required(std::string_view key, std::int64_t most = 100'000'000) const;
    /// The value in the file alone: a missing key is an Error whatever the class says.
    std::int64_t stated(std::string_view key, std::int64_t most) const;
    /// true, false, or `absent` when the key is absent or null.
    bool flag(std::string_view key, bool absent) const;
    /// Any number, as one writes a factor; nothing when absent or null.
    std::optional<double> number(std::string_view key) const;
    /// A list of words or of integers, empty when absent or null.
    std::vector<std::string> words(std::string_view key) const;
    std::vector<std::int64_t> integers(std::string_view key) const;
    /// An object in this one, or one in a list in it; without class defaults. Nothing when absent.
    std::optional<ModelConfig> inner(std::string_view key) const;
    std::optional<ModelConfig> element(std::string_view key, std::size_t index) const;

    [[noreturn]] void fail(std::string_view key, std::string_view expected,
                           std::string_view found) const;

    /// True for a config inside another, whose absent keys mean class defaults.
    bool is_nested() const { return !pointer_.empty(); }
    /// "head_dim absent: class default 128", for every default that was read.
    const std::vector<std::string>& default_notes() const { return default_notes_; }

  private:
    std::int64_t integer(std::string_view key, const JsonValue& value, std::int64_t least,
                         std::int64_t most) const;
    std::optional<std::int64_t> default_for(std::string_view key) const;

    std::string file_;
    const JsonValue* object_;
    std::string pointer_;
    std::string_view model_type_;
    mutable std::vector<std::string> default_notes_; ///< reading a default is what records it
};

} // namespace kvcaliper
