// SPDX-License-Identifier: Apache-2.0
// GGUF headers written byte by byte, so that a test can also write wrong ones.
#pragma once

#include "core/gguf.h"

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvcaliper {

/// The format's numbers for types of values.
enum class Gguf : std::uint32_t {
    u8,
    i8,
    u16,
    i16,
    u32,
    i32,
    f32,
    flag,
    text,
    array,
    u64,
    i64,
    f64
};

class GgufBytes {
  public:
    explicit GgufBytes(bool big_endian = false) : big_endian_(big_endian) {}

    GgufBytes& raw(std::string_view bytes) {
        bytes_ += bytes;
        return *this;
    }
    GgufBytes& number(std::uint64_t value, int width) {
        for (int i = 0; i < width; ++i) {
            const int place = big_endian_ ? width - 1 - i : i;
            bytes_ += static_cast<char>(value >> (8 * place) & 0xFF);
        }
        return *this;
    }
    GgufBytes& type(Gguf value) { return number(static_cast<std::uint32_t>(value), 4); }
    GgufBytes& text(std::string_view value) { return number(value.size(), 8).raw(value); }
    GgufBytes& key(std::string_view name, Gguf of) { return text(name).type(of); }
    GgufBytes& start(std::uint64_t keys, std::uint32_t version = 3) {
        return raw("GGUF").number(version, 4).number(7, 8).number(keys, 8);
    }
    const std::string& bytes() const { return bytes_; }

  private:
    bool big_endian_;
    std::string bytes_;
};

/// A header of members that may be said again: GgufFile("llama").set("block_count", 2).bytes().
class GgufFile {
  public:
    explicit GgufFile(std::string architecture) : architecture_(std::move(architecture)) {
        raw_text("general.architecture", architecture_);
    }
    GgufFile& set(const std::string& suffix, std::int64_t value) {
        members_.key(architecture_ + "." + suffix, Gguf::u32)
            .number(static_cast<std::uint64_t>(value), 4);
        return counted();
    }
    GgufFile& set(const std::string& suffix, const std::vector<std::int64_t>& values) {
        members_.key(architecture_ + "." + suffix, Gguf::array)
            .type(Gguf::i32)
            .number(values.size(), 8);
        for (const std::int64_t value : values) {
            members_.number(static_cast<std::uint64_t>(value), 4);
        }
        return counted();
    }
    GgufFile& set(const std::string& suffix, const std::vector<bool>& values) {
        members_.key(architecture_ + "." + suffix, Gguf::array)
            .type(Gguf::flag)
            .number(values.size(), 8);
        for (const bool value : values) {
            members_.number(value ? 1 : 0, 1);
        }
        return counted();
    }
    GgufFile& raw_text(const std::string& key, std::string_view value) {
        members_.key(key, Gguf::text).text(value);
        return counted();
    }
    GgufFile& raw_number(const std::string& key, std::uint64_t value) {
        members_.key(key, Gguf::u64).number(value, 8);
        return counted();
    }
    std::string bytes() const { return GgufBytes().start(keys_).raw(members_.bytes()).bytes(); }

  private:
    GgufFile& counted() {
        ++keys_;
        return *this;
    }
    std::string architecture_;
    GgufBytes members_;
    std::uint64_t keys_ = 0;
};

inline GgufHeader header_of(std::string_view bytes) {
    return read_gguf_header(std::as_bytes(std::span(bytes.data(), bytes.size())), "test.gguf");
}

} // namespace kvcaliper
