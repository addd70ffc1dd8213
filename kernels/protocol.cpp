// SPDX-License-Identifier: Apache-2.0
#include "kernels/protocol.h"

#include "core/error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <poll.h>
#include <unistd.h>

namespace kvcaliper::kernels {
namespace {

enum class Readiness { ready, nothing_yet, failed };

/// Waits a moment for input, so that cancellation is noticed.
Readiness wait_for_input(int descriptor) {
    pollfd poll_for{descriptor, POLLIN, 0};
    const int ready = poll(&poll_for, 1, 100);
    if (ready < 0)
        return errno == EINTR ? Readiness::nothing_yet : Readiness::failed;
    return ready == 0 ? Readiness::nothing_yet : Readiness::ready;
}

} // namespace

std::optional<std::size_t> complete_object(std::string_view text) {
    int depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\')
                ++i;
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if ((c == '}' || c == ']') && --depth <= 0) {
            return i + 1;
        }
    }
    return std::nullopt;
}

std::optional<std::string> read_request(int descriptor, const std::atomic<bool>& cancel) {
    std::string text;
    char piece[65536];
    std::size_t lines_seen = 0;
    while (!cancel) {
        const Readiness readiness = wait_for_input(descriptor);
        if (readiness == Readiness::nothing_yet)
            continue;
        const ssize_t size =
            readiness == Readiness::ready ? read(descriptor, piece, sizeof piece) : -1;
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            return text;
        text.append(piece, static_cast<std::size_t>(size));
        if (text.size() > max_json_bytes)
            throw Error("request: expected at most 64 MiB, found more");
        // A brace ends it; what is no object at all ends with its first line.
        if (std::memchr(piece, '}', static_cast<std::size_t>(size)) != nullptr)
            if (const auto end = complete_object(text))
                return text.substr(0, *end);
        lines_seen += std::memchr(piece, '\n', static_cast<std::size_t>(size)) != nullptr ? 1 : 0;
        if (const auto begin = text.find_first_not_of(" \t\r\n");
            lines_seen > 0 && begin != std::string::npos && text[begin] != '{')
            return text;
    }
    return std::nullopt;
}

void LineWriter::write(const JsonValue& line) {
    const std::string text = dump_json(line, -1) + "\n";
    for (std::size_t at = 0; at < text.size();) {
        const ssize_t size = ::write(descriptor_, text.data() + at, text.size() - at);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0) {
            cancel_ = true;
            return;
        }
        at += static_cast<std::size_t>(size);
    }
}

HangupWatch::HangupWatch(int descriptor, std::atomic<bool>& cancel)
    : thread_([this, descriptor, &cancel] {
          while (!stop_) {
              char ignored[256];
              const Readiness readiness = wait_for_input(descriptor);
              if (readiness == Readiness::nothing_yet)
                  continue;
              if (readiness == Readiness::failed ||
                  read(descriptor, ignored, sizeof ignored) <= 0) {
                  cancel = true;
                  return;
              }
          }
      }) {}

HangupWatch::~HangupWatch() {
    stop_ = true;
    thread_.join();
}

void write_file(const std::string& path, std::string_view text) {
    const std::string temporary = path + ".part" + std::to_string(getpid());
    std::ofstream out(temporary, std::ios::binary);
    out << text;
    out.close();
    if (!out) {
        std::remove(temporary.c_str());
        throw Error(path + ": can not be written");
    }
    if (std::rename(temporary.c_str(), path.c_str()) != 0) {
        std::remove(temporary.c_str());
        throw Error(path + ": can not be replaced");
    }
}

} // namespace kvcaliper::kernels
