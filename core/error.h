// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace kvcaliper {

/// What went wrong, in the terms a program needs to choose its exit code.
enum class ErrorKind {
    input,           ///< a file, a key or a setting is not what it must be (exit 2)
    impossible_here, ///< the question is fine, but a device or a part is missing (exit 3)
};

/// The one exception of this library. what() is a single line, "PLACE: expected …, found …",
/// without the program's name and without a final newline.
class Error : public std::runtime_error {
  public:
    explicit Error(const std::string& message, ErrorKind kind = ErrorKind::input)
        : std::runtime_error(message), kind_(kind) {}
    ErrorKind kind() const { return kind_; }

  private:
    ErrorKind kind_;
};

/// "FILE: /json/pointer: expected …, found …".
Error input_error(std::string_view file, std::string_view pointer, std::string_view expected,
                  std::string_view found);

} // namespace kvcaliper
