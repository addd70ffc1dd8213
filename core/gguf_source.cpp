// SPDX-License-Identifier: Apache-2.0
#include "core/gguf_source.h"

#include "core/error.h"
#include "core/gguf.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace kvcaliper {

namespace fs = std::filesystem;

namespace {

class MemorySource final : public ByteSource {
  public:
    explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}
    std::uint64_t size() const override { return bytes_.size(); }
    std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) override {
        if (offset >= bytes_.size()) {
            return 0;
        }
        const auto rest = bytes_.subspan(static_cast<std::size_t>(offset));
        const std::size_t count = std::min(rest.size(), out.size());
        std::copy_n(rest.begin(), count, out.begin());
        return count;
    }

  private:
    std::span<const std::byte> bytes_;
};

using Stream = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

Stream open_stream(const std::string& path) {
    return {std::fopen(path.c_str(), "rb"), &std::fclose};
}

bool seek(std::FILE* stream, std::uint64_t offset) {
#ifdef _WIN32
    return _fseeki64(stream, static_cast<__int64>(offset), SEEK_SET) == 0;
#else
    return fseeko(stream, static_cast<off_t>(offset), SEEK_SET) == 0;
#endif
}

class FileSource final : public ByteSource {
  public:
    explicit FileSource(const std::string& path) : stream_(open_stream(path)) {
        std::error_code error;
        if (!fs::is_regular_file(path, error)) {
            throw Error(path + ": expected a regular file, found " +
                        (fs::is_directory(path, error) ? "a directory"
                         : fs::exists(path, error)     ? "something else"
                                                       : "no such file"));
        }
        size_ = fs::file_size(path, error);
        if (!stream_ || error) {
            throw Error(path + ": expected a readable file, found one that can not be opened");
        }
        // Reading goes through a window of our own, so the stream needs no buffer.
        std::setvbuf(stream_.get(), nullptr, _IONBF, 0);
    }
    std::uint64_t size() const override { return size_; }
    std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) override {
        return seek(stream_.get(), offset) ? std::fread(out.data(), 1, out.size(), stream_.get())
                                           : 0;
    }

  private:
    Stream stream_;
    std::uint64_t size_ = 0;
};

} // namespace

std::unique_ptr<ByteSource> file_source(const std::string& path) {
    return std::make_unique<FileSource>(path);
}

std::unique_ptr<ByteSource> memory_source(std::span<const std::byte> bytes) {
    return std::make_unique<MemorySource>(bytes);
}

bool is_gguf_file(const std::string& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) { // reading a pipe would take bytes from it
        return false;
    }
    const Stream stream = open_stream(path);
    char start[sizeof gguf_magic] = {};
    return stream && std::fread(start, 1, sizeof start, stream.get()) == sizeof start &&
           std::equal(start, start + sizeof start, gguf_magic);
}

} // namespace kvcaliper
