// SPDX-License-Identifier: Apache-2.0
// A GGUF header's metadata, asked by the part of a key after the architecture's name.
#pragma once

#include "core/gguf.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvcaliper {

class GgufMetadata {
  public:
    /// Throws Error when the file does not say what it is, or is no language model.
    GgufMetadata(const GgufHeader& header, std::string file);

    const std::string& architecture() const { return architecture_; }
    /// The value of ARCHITECTURE.suffix, or nullptr.
    const JsonValue* find(std::string_view suffix) const;
    /// True when a key of the architecture starts with ARCHITECTURE.prefix.
    bool any(std::string_view prefix) const;

    /// An integer from 0 to `most`, absent when the key is. An array of equal ones is one.
    std::optional<std::int64_t> integer(std::string_view suffix,
                                        std::int64_t most = 100'000'000) const;
    /// The same from 1 on, and an Error when there is none.
    std::int64_t required(std::string_view suffix, std::int64_t most = 100'000'000) const;
    /// One value for each of the first `layers` layers: one for all of them, or an array. Empty
    /// when the key is absent. true and false are 1 and 0.
    std::vector<std::int64_t> per_layer(std::string_view suffix, std::int64_t layers) const;

    /// Throws "FILE: metadata key ARCHITECTURE.suffix: expected …, found …".
    [[noreturn]] void fail(std::string_view suffix, std::string_view expected,
                           std::string_view found) const;

  private:
    std::string key(std::string_view suffix) const {
        return architecture_ + "." + std::string(suffix);
    }

    std::string file_;
    const JsonValue& values_;
    std::string architecture_;
};

/// Text from a file, fit for one line: control characters become spaces.
std::string one_line(std::string_view text);

} // namespace kvcaliper
