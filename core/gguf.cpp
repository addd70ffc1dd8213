// SPDX-License-Identifier: Apache-2.0
// The format: ggml's docs/gguf.md. Values of version 2 and 3 are laid out alike; version 3 only
// added big endian files, which old writers did not mark either, so both are told by the version.
#include "core/gguf.h"

#include "core/error.h"
#include "core/gguf_source.h"
#include "core/gguf_tensors.h"
#include "core/units.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_set>

namespace kvcaliper {

namespace {

constexpr std::size_t window_bytes = 64u << 10;

// ---- value types --------------------------------------------------------------------------------

enum Type : std::uint32_t {
    type_u8,
    type_i8,
    type_u16,
    type_i16,
    type_u32,
    type_i32,
    type_f32,
    type_bool,
    type_string,
    type_array,
    type_u64,
    type_i64,
    type_f64,
    type_count
};

/// Bytes of a value, or 0 for strings and arrays, whose size is in the file.
constexpr std::uint64_t width_of(std::uint32_t type) {
    constexpr std::uint64_t widths[type_count] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return widths[type];
}

/// The fewest bytes a value can take: a string is at least its length, an array also its type.
constexpr std::uint64_t least_bytes(std::uint32_t type) {
    return type == type_string ? 8 : type == type_array ? 12 : width_of(type);
}

std::string printable(std::string_view text) {
    std::string result(text.substr(0, 80));
    std::replace_if(
        result.begin(), result.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return text.size() > 80 ? result + "..." : result;
}

class HeaderReader {
  public:
    HeaderReader(ByteSource& source, std::string_view name) : source_(source), name_(name) {}

    GgufHeader read() {
        read_start();
        header_.tensor_count = number(8);
        const std::uint64_t keys = number(8);
        // A key is at least its length, a type and one byte.
        expect_at_most(keys, max_gguf_keys, 13, "keys");
        JsonValue::Object object;
        for (std::uint64_t i = 0; i < keys; ++i) {
            read_member(object);
        }
        header_.metadata = JsonValue(std::move(object));
        return std::move(header_);
    }

    /// What follows the metadata.
    std::vector<GgufTensor> read_tensors() {
        const std::uint64_t count = read().tensor_count;
        key_.reset();
        in_tensors_ = true;
        // A tensor is at least a length, a count, one dimension, a type and an offset.
        expect_at_most(count, max_gguf_tensors, 32, "tensors");
        std::vector<GgufTensor> tensors;
        for (std::uint64_t i = 0; i < count; ++i) {
            tensors.push_back(read_tensor());
        }
        return tensors;
    }

  private:
    // ---- bytes --------------------------------------------------------------------------------

    std::uint64_t remaining() const { return source_.size() - offset_; }

    [[noreturn]] void fail(std::string_view expected, const std::string& found) const {
        const std::string place =
            key_ ? (in_tensors_ ? "tensor " : "metadata key ") + printable(*key_) : "GGUF header";
        throw Error(std::string(name_) + ": " + place + ": expected " + std::string(expected) +
                    ", found " + found);
    }

    void expect_bytes(std::uint64_t count) const {
        if (count > remaining()) {
            fail(std::to_string(count) + (count == 1 ? " byte" : " bytes") + " at offset " +
                     std::to_string(offset_),
                 std::to_string(remaining()) + " before the end of the file");
        }
    }

    /// The next `count` bytes, at most a window of them.
    std::span<const std::byte> bytes(std::size_t count) {
        expect_bytes(count);
        if (offset_ < window_offset_ || offset_ + count > window_offset_ + window_filled_) {
            window_.resize(window_bytes);
            window_offset_ = offset_;
            window_filled_ = source_.read_at(offset_, window_);
            if (window_filled_ < count) {
                fail(std::to_string(count) + " bytes at offset " + std::to_string(offset_),
                     std::to_string(window_filled_) + ": the file can not be read");
            }
        }
        const auto from = static_cast<std::size_t>(offset_ - window_offset_);
        offset_ += count;
        return std::span<const std::byte>(window_).subspan(from, count);
    }

    void skip(std::uint64_t count) {
        expect_bytes(count);
        offset_ += count;
    }

    std::uint64_t number(std::size_t width) {
        std::uint64_t value = 0;
        const auto raw = bytes(width);
        for (std::size_t i = 0; i < width; ++i) {
            const std::size_t place = header_.big_endian ? width - 1 - i : i;
            value |= std::to_integer<std::uint64_t>(raw[i]) << (8 * place);
        }
        return value;
    }

    /// A count the file claims: never above the limit, nor above what the rest of it can hold.
    void expect_at_most(std::uint64_t count, std::uint64_t limit, std::uint64_t each,
                        std::string_view what) const {
        const std::uint64_t most = std::min(limit, remaining() / each);
        if (count > most) {
            fail("at most " + std::to_string(most) + " " + std::string(what) + " at offset " +
                     std::to_string(offset_),
                 std::to_string(count));
        }
    }

    std::string text(std::uint64_t limit) {
        const std::uint64_t length = number(8);
        expect_at_most(length, limit, 1, "bytes of text");
        std::string result;
        result.reserve(static_cast<std::size_t>(length));
        while (result.size() < length) {
            const std::size_t piece =
                std::min<std::size_t>(static_cast<std::size_t>(length) - result.size(), 4096);
            const auto raw = bytes(piece);
            result.append(reinterpret_cast<const char*>(raw.data()), raw.size());
        }
        return result;
    }

    // ---- the parts of a header ------------------------------------------------------------------

    void read_start() {
        if (const auto start = bytes(sizeof gguf_magic);
            std::memcmp(start.data(), gguf_magic, sizeof gguf_magic) != 0) {
            fail("the magic bytes GGUF at offset 0", "other bytes");
        }
        std::uint32_t version = static_cast<std::uint32_t>(number(4));
        // Versions are small: one whose low half is empty was written the other way round. This is
        // how ggml's gguf.cpp tells it, too.
        header_.big_endian = version != 0 && (version & 0xFFFFu) == 0;
        if (header_.big_endian) {
            offset_ -= 4;
            version = static_cast<std::uint32_t>(number(4));
        }
        if (version != 2 && version != 3) {
            fail("version 2 or 3", "version " + std::to_string(version) +
                                       (version == 1 ? ", which llama.cpp no longer reads" : ""));
        }
        header_.version = version;
    }

    void read_member(JsonValue::Object& object) {
        key_.reset();
        std::string key = text(max_gguf_key_bytes);
        key_ = key;
        spend(key.size());
        if (!seen_.insert(key).second) {
            fail("each key once", "it twice");
        }
        const std::uint32_t type = read_type();
        if (key.starts_with("tokenizer.")) { // megabytes that say nothing about a cache
            skip_value(type, 0);
            return;
        }
        JsonValue value = read_value(type, 0);
        object.emplace_back(std::move(key), std::move(value));
    }

    std::uint32_t read_type() {
        const auto type = static_cast<std::uint32_t>(number(4));
        if (type >= type_count) {
            fail("a value type from 0 to 12", std::to_string(type));
        }
        return type;
    }

    /// What is kept is counted: a file of many small values is no way around the other limits.
    void spend(std::size_t size) {
        kept_ += sizeof(JsonValue) + size;
        if (kept_ > max_gguf_kept_bytes) {
            fail("at most " + std::to_string(max_gguf_kept_bytes) +
                     " bytes of metadata outside tokenizer.*",
                 "more");
        }
    }

    JsonValue read_value(std::uint32_t type, int depth) {
        if (type == type_array) {
            return read_array(depth);
        }
        if (type == type_string) {
            std::string value = text(max_gguf_string_bytes);
            spend(value.size());
            return value;
        }
        spend(0);
        return read_scalar(type);
    }

    JsonValue read_scalar(std::uint32_t type) {
        const std::uint64_t bits = number(static_cast<std::size_t>(width_of(type)));
        switch (type) {
        case type_i8:
            return std::int64_t{static_cast<std::int8_t>(bits)};
        case type_i16:
            return std::int64_t{static_cast<std::int16_t>(bits)};
        case type_i32:
            return std::int64_t{static_cast<std::int32_t>(bits)};
        case type_i64:
            return static_cast<std::int64_t>(bits);
        case type_f32:
            return double{std::bit_cast<float>(static_cast<std::uint32_t>(bits))};
        case type_f64:
            return std::bit_cast<double>(bits);
        case type_bool:
            return read_bool(bits);
        default:
            return read_unsigned(bits);
        }
    }

    bool read_bool(std::uint64_t bits) const {
        if (bits > 1) {
            fail("true (1) or false (0)", std::to_string(bits));
        }
        return bits == 1;
    }

    std::int64_t read_unsigned(std::uint64_t bits) const {
        constexpr auto most = std::numeric_limits<std::int64_t>::max();
        if (bits > static_cast<std::uint64_t>(most)) {
            fail("an integer up to " + std::to_string(most), std::to_string(bits));
        }
        return static_cast<std::int64_t>(bits);
    }

    struct ArrayStart {
        std::uint32_t type;
        std::uint64_t count;
    };

    ArrayStart read_array_start(int depth) {
        if (depth >= max_gguf_array_depth) {
            fail("at most " + std::to_string(max_gguf_array_depth) + " arrays in one another",
                 "more");
        }
        const std::uint32_t type = read_type();
        const std::uint64_t count = number(8);
        expect_at_most(count, max_gguf_skipped_elements, least_bytes(type), "elements");
        return {type, count};
    }

    JsonValue read_array(int depth) {
        const ArrayStart start = read_array_start(depth);
        if (start.count > max_gguf_kept_elements) {
            skip_elements(start, depth);
            header_.warnings.push_back("metadata key " + printable(*key_) + ": its array of " +
                                       std::to_string(start.count) + " elements was not read");
            return nullptr;
        }
        spend(0);
        JsonValue::Array array;
        for (std::uint64_t i = 0; i < start.count; ++i) {
            array.push_back(read_value(start.type, depth + 1));
        }
        return array;
    }

    void skip_value(std::uint32_t type, int depth) {
        if (type == type_array) {
            skip_elements(read_array_start(depth), depth);
        } else {
            skip(type == type_string ? number(8) : width_of(type));
        }
    }

    void skip_elements(const ArrayStart& start, int depth) {
        if (const std::uint64_t width = width_of(start.type); width != 0) {
            skip(width * start.count); // no overflow: count is bounded above
            return;
        }
        for (std::uint64_t i = 0; i < start.count; ++i) {
            skip_value(start.type, depth + 1);
        }
    }

    // ---- tensors --------------------------------------------------------------------------------

    GgufTensor read_tensor() {
        GgufTensor tensor;
        tensor.name = text(max_gguf_key_bytes);
        key_ = tensor.name;
        const std::vector<std::int64_t> sides = read_sides();
        const auto number_of_type = static_cast<std::uint32_t>(number(4));
        tensor.type = find_ggml_type(number_of_type);
        if (tensor.type == nullptr) {
            fail("a known tensor type", std::to_string(number_of_type));
        }
        if (sides.front() % tensor.type->elements_per_block != 0) {
            fail("rows of whole blocks of " + std::to_string(tensor.type->elements_per_block) +
                     " (" + std::string(tensor.type->name) + ")",
                 "rows of " + std::to_string(sides.front()));
        }
        skip(8); // where its data is
        tensor.elements = 1;
        for (const std::int64_t side : sides) {
            tensor.elements = checked_multiply(tensor.elements, side);
        }
        return tensor;
    }

    /// The extents of a tensor, fastest first: one to four of them, as in ggml.
    std::vector<std::int64_t> read_sides() {
        const std::uint64_t dimensions = number(4);
        if (dimensions < 1 || dimensions > 4) {
            fail("1 to 4 dimensions", std::to_string(dimensions));
        }
        std::vector<std::int64_t> sides;
        for (std::uint64_t i = 0; i < dimensions; ++i) {
            sides.push_back(read_unsigned(number(8)));
        }
        return sides;
    }

    ByteSource& source_;
    std::string_view name_;
    GgufHeader header_;
    std::uint64_t offset_ = 0;
    std::vector<std::byte> window_;
    std::uint64_t window_offset_ = 0;
    std::size_t window_filled_ = 0;
    std::optional<std::string> key_; ///< the key or tensor that is being read, for errors
    bool in_tensors_ = false;
    std::unordered_set<std::string> seen_;
    std::size_t kept_ = 0;
};

} // namespace

GgufHeader read_gguf_header(const std::string& path) {
    return HeaderReader(*file_source(path), path).read();
}

GgufHeader read_gguf_header(std::span<const std::byte> bytes, std::string_view name) {
    return HeaderReader(*memory_source(bytes), name).read();
}

std::vector<GgufTensor> read_gguf_tensors(const std::string& path) {
    return HeaderReader(*file_source(path), path).read_tensors();
}

std::vector<GgufTensor> read_gguf_tensors(std::span<const std::byte> bytes, std::string_view name) {
    return HeaderReader(*memory_source(bytes), name).read_tensors();
}

} // namespace kvcaliper
