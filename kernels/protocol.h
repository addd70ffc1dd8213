// SPDX-License-Identifier: Apache-2.0
// The pipe side of kvcaliper-verify: one request object in, one JSON object per line out.
#pragma once

#include "core/json_value.h"

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace kvcaliper::kernels {

/// Length of the first complete JSON object in `text`, or nothing while its last brace is missing.
std::optional<std::size_t> complete_object(std::string_view text);

/// Reads one JSON object from a file descriptor: until its last brace, or to the end of the input.
/// So a sender may close its end or keep it open. Nothing when `cancel` was set meanwhile. Throws
/// Error when the input is larger than core reads.
std::optional<std::string> read_request(int descriptor, const std::atomic<bool>& cancel);

/// Writes lines; after a failed write it sets `cancel`, because nobody listens any more.
class LineWriter {
  public:
    LineWriter(int descriptor, std::atomic<bool>& cancel)
        : descriptor_(descriptor), cancel_(cancel) {}
    void write(const JsonValue& line);

  private:
    int descriptor_;
    std::atomic<bool>& cancel_;
};

/// While alive, sets `cancel` when the other end of a descriptor is closed.
class HangupWatch {
  public:
    HangupWatch(int descriptor, std::atomic<bool>& cancel);
    ~HangupWatch();
    HangupWatch(const HangupWatch&) = delete;
    HangupWatch& operator=(const HangupWatch&) = delete;

  private:
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

/// Writes a file as a whole or not at all: into a temporary file beside it, then renamed. Throws
/// Error.
void write_file(const std::string& path, std::string_view text);

} // namespace kvcaliper::kernels
