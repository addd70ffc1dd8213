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
    std::uint64_t payload_bytes = 0;
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
    images.payload_bytes += end <= bytes.size() ? payload : 0;
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

/// The mangled names of all kernels, as far as the end of their template arguments: each has a host
/// function "__device_stub__…" or, where that was inlined, statics of it.
std::set<std::string> kernel_names(const std::string& bytes) {
    std::set<std::string> names;
    const std::string mark = "__device_stub__";
    for (std::size_t at = bytes.find(mark); at != std::string::npos;
         at = bytes.find(mark, at + 1)) {
        const std::string name = bytes.substr(at, bytes.find('\0', at) - at);
        const std::size_t arguments = name.find("EEv");
        names.insert(name.substr(0, arguments != std::string::npos ? arguments : name.find('E')));
    }
    return names;
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

/// The budgets of the design: a kernel costs 0.6 to 0.9 s of a processor for each target, and all
/// of them are in the program that users get.
TEST(FatBinary, StaysWithinItsBudgets) {
    const std::size_t kernels = kernel_names(archive()).size();
    EXPECT_GE(kernels, 40u) << "they are not counted";
    EXPECT_LE(kernels, 80u);
    std::uint64_t images = 0;
    for (const Target& target : configured_targets()) {
        images += (target.binary ? 1u : 0u) + (target.ptx ? 1u : 0u);
    }
    const std::uint64_t bytes = read_images(archive()).payload_bytes;
    EXPECT_GE(bytes, images << 16) << "they are not counted";
    EXPECT_LE(bytes, images * 3 << 19); // 1.5 MiB each
}

TEST(FatBinary, FindsNothingInAFileWithoutDeviceCode) {
    EXPECT_TRUE(read_images("no device code here").binaries.empty());
    EXPECT_TRUE(read_images(std::string("\x50\xed\x55\xba", 4)).binaries.empty()); // cut off
}

} // namespace
