// SPDX-License-Identifier: Apache-2.0
// Reads the device code out of the built archive and checks that every configured GPU target is
// there. A toolkit from wheels has no cuobjdump, hence the few fields of the container read here.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr std::uint32_t kMagic = 0xba55ed50;
constexpr std::size_t kHeaderBytes = 16; // magic, version, header size; then 64-bit payload size
constexpr std::uint16_t kPtx = 1;
constexpr std::uint16_t kBinary = 2;

struct Images {
    std::set<unsigned> binaries, ptx; ///< by SM number
};

template <class Number> Number number_at(const std::string& bytes, std::size_t offset) {
    Number number{};
    if (offset + sizeof number <= bytes.size()) {
        std::memcpy(&number, bytes.data() + offset, sizeof number);
    }
    return number;
}

/// The images of one container. Each starts with: kind (2 bytes), version (2), header size (4),
/// payload size (8), …, and at offset 28 the SM number (4).
void read_container(const std::string& bytes, std::size_t begin, Images& images) {
    const auto payload = number_at<std::uint64_t>(bytes, begin + 8);
    const std::size_t end = begin + kHeaderBytes + payload;
    std::size_t image = begin + kHeaderBytes;
    while (image + 32 <= end && end <= bytes.size()) {
        const auto kind = number_at<std::uint16_t>(bytes, image);
        const auto header = number_at<std::uint32_t>(bytes, image + 4);
        const auto size = number_at<std::uint64_t>(bytes, image + 8);
        const auto target = number_at<std::uint32_t>(bytes, image + 28);
        if (kind == kPtx) {
            images.ptx.insert(target);
        } else if (kind == kBinary) {
            images.binaries.insert(target);
        }
        if (header == 0) {
            return;
        }
        image += header + size;
    }
}

Images read_images(const std::string& bytes) {
    Images images;
    const char magic[] = {'\x50', '\xed', '\x55', '\xba'};
    const std::string mark(magic, sizeof magic);
    for (std::size_t at = bytes.find(mark); at != std::string::npos;
         at = bytes.find(mark, at + 1)) {
        read_container(bytes, at, images);
    }
    return images;
}

struct Target {
    unsigned number;
    bool binary, ptx;
};

/// "80-real,90-virtual,120" as CMake means it: without a suffix both kinds.
std::vector<Target> configured_targets() {
    std::vector<Target> targets;
    std::istringstream list(KVCALIPER_CUDA_TARGETS);
    for (std::string word; std::getline(list, word, ',');) {
        const bool real = word.find("-real") != std::string::npos;
        const bool virtual_only = word.find("-virtual") != std::string::npos;
        targets.push_back({static_cast<unsigned>(std::stoul(word)), !virtual_only, !real});
    }
    return targets;
}

std::string archive() {
    std::ifstream file(KVCALIPER_CUDA_ARCHIVE, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(FatBinary, HoldsEveryConfiguredTarget) {
    const Images images = read_images(archive());
    const std::vector<Target> targets = configured_targets();
    ASSERT_FALSE(targets.empty());
    for (const Target& target : targets) {
        EXPECT_EQ(images.binaries.count(target.number), target.binary ? 1u : 0u) << target.number;
        EXPECT_EQ(images.ptx.count(target.number), target.ptx ? 1u : 0u) << target.number;
    }
    EXPECT_EQ(images.binaries.size() + images.ptx.size(), [&] {
        std::size_t expected = 0;
        for (const Target& target : targets) {
            expected += (target.binary ? 1u : 0u) + (target.ptx ? 1u : 0u);
        }
        return expected;
    }());
}

TEST(FatBinary, FindsNothingInAFileWithoutDeviceCode) {
    EXPECT_TRUE(read_images("no device code here").binaries.empty());
    EXPECT_TRUE(read_images(std::string("\x50\xed\x55\xba", 4)).binaries.empty()); // cut off
}

} // namespace
