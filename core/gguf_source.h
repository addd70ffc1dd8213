// SPDX-License-Identifier: Apache-2.0
// Where the bytes of a GGUF header come from: a file, or memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace kvcaliper {

inline constexpr char gguf_magic[4] = {'G', 'G', 'U', 'F'};

class ByteSource {
  public:
    ByteSource() = default;
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;
    virtual ~ByteSource() = default;
    virtual std::uint64_t size() const = 0;
    /// Reads up to out.size() bytes from `offset`; says how many there were.
    virtual std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) = 0;
};

/// Throws Error when PATH is no regular file that can be opened.
std::unique_ptr<ByteSource> file_source(const std::string& path);
/// Reads from bytes that outlive it.
std::unique_ptr<ByteSource> memory_source(std::span<const std::byte> bytes);

} // namespace kvcaliper
