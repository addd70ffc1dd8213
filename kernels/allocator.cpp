// SPDX-License-Identifier: Apache-2.0
#include "kernels/allocator.h"

#include "core/units.h"
#include "kernels/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

namespace kvcaliper::kernels {
namespace {

constexpr std::int64_t read_piece = 4 << 20; ///< of device memory, looked at on the host
constexpr std::int64_t scan_piece = 256 << 10;

void add(TagCount& count, std::int64_t bytes) {
    count.live += bytes;
    count.peak = std::max(count.peak, count.live);
    count.count += bytes > 0 ? 1 : 0;
}

/// Calls look(offset, bytes, size) for the memory, piece by piece, on all threads. `copy` is kept
/// by the caller, because fresh pages would cost more than looking at them. Pieces are whole
/// multiples of `unit` bytes, all but the last.
template <typename Look>
void read_through(Backend& backend, std::vector<unsigned char>& copy, const unsigned char* memory,
                  std::int64_t bytes, std::int64_t unit, const Look& look) {
    const std::int64_t scan = scan_piece / unit * unit, most = read_piece / scan * scan;
    copy.resize(static_cast<std::size_t>(read_piece));
    for (std::int64_t at = 0; at < bytes; at += most) {
        const std::int64_t size = std::min(most, bytes - at);
        backend.read(copy.data(), memory + at, size);
        backend.synchronize();
        parallel_for((size + scan - 1) / scan, [&](std::int64_t i) {
            const std::int64_t from = i * scan;
            look(at + from, copy.data() + from, std::min(scan, size - from));
        });
    }
}

/// The first offset where the piece differs from the guard byte, or size.
std::int64_t first_change(const unsigned char* bytes, std::int64_t size) {
    const auto* end = bytes + size;
    return std::find_if(bytes, end, [](unsigned char b) { return b != guard_byte; }) - bytes;
}

/// One behind the last offset where it differs, or 0.
std::int64_t last_change(const unsigned char* bytes, std::int64_t size) {
    while (size > 0 && bytes[size - 1] == guard_byte)
        --size;
    return size;
}

/// Poison is rare: a block is counted only when a quick look, which compilers vectorise, finds
/// some.
template <typename Word> std::int64_t count_poison(const unsigned char* bytes, std::int64_t size) {
    constexpr std::int64_t block = 256;
    constexpr Word poison = static_cast<Word>(~Word{0});
    std::int64_t count = 0;
    const std::int64_t words = size / static_cast<std::int64_t>(sizeof(Word));
    for (std::int64_t first = 0; first < words; first += block) {
        const std::int64_t n = std::min(block, words - first);
        Word block_words[block];
        std::memcpy(block_words, bytes + first * static_cast<std::int64_t>(sizeof(Word)),
                    static_cast<std::size_t>(n) * sizeof(Word));
        Word any = 0;
        for (std::int64_t i = 0; i < n; ++i)
            any = static_cast<Word>(any | (block_words[i] == poison ? poison : Word{0}));
        if (any != 0)
            count += std::count(block_words, block_words + n, poison);
    }
    return count * static_cast<std::int64_t>(sizeof(Word));
}

/// Blocks of quants: single bytes may look like poison, a whole block with its scale never does.
std::int64_t count_poisoned_blocks(const unsigned char* bytes, std::int64_t size,
                                   std::int64_t block) {
    std::int64_t count = 0;
    for (std::int64_t at = 0; at < size; at += block) {
        const std::int64_t n = std::min(block, size - at);
        if (bytes[at] == poison_byte &&
            std::all_of(bytes + at, bytes + at + n,
                        [](unsigned char b) { return b == poison_byte; }))
            count += n;
    }
    return count;
}

std::int64_t count_poison(const unsigned char* bytes, std::int64_t size,
                          std::int64_t element_size) {
    if (element_size > 4)
        return count_poisoned_blocks(bytes, size, element_size);
    switch (element_size) {
    case 4:
        return count_poison<std::uint32_t>(bytes, size);
    case 2:
        return count_poison<std::uint16_t>(bytes, size);
    default:
        return count_poison<std::uint8_t>(bytes, size);
    }
}

} // namespace

std::int64_t trailing_guard_bytes(std::int64_t payload, std::int64_t extent) {
    return std::max(guard_bytes, checked_add(extent - payload, guard_bytes));
}

std::int64_t guarded_bytes(std::int64_t payload, std::int64_t extent) {
    return checked_add(checked_add(guard_bytes, payload), trailing_guard_bytes(payload, extent));
}

GuardedBuffer CountingAllocator::allocate(const std::string& tag, std::int64_t bytes,
                                          std::int64_t extent) {
    GuardedBuffer buffer;
    buffer.payload_ = bytes;
    buffer.trailing_ = trailing_guard_bytes(bytes, extent);
    buffer.memory_ = static_cast<unsigned char*>(backend_.allocate(guarded_bytes(bytes, extent)));
    buffer.owner_ = this; // from here on the buffer gives back what it counted
    buffer.tag_ = tag;
    add(tags_[tag], bytes);
    add(guards_, guard_bytes + buffer.trailing_);
    backend_.fill(buffer.memory_, guard_byte, guard_bytes);
    backend_.fill(buffer.memory_ + guard_bytes, poison_byte, bytes);
    backend_.fill(buffer.memory_ + guard_bytes + bytes, guard_byte, buffer.trailing_);
    return buffer;
}

TagCount CountingAllocator::tag(const std::string& name) const {
    const auto found = tags_.find(name);
    return found == tags_.end() ? TagCount{} : found->second;
}

std::int64_t CountingAllocator::live_bytes() const {
    std::int64_t bytes = guards_.live;
    for (const auto& [name, count] : tags_)
        bytes += count.live;
    return bytes;
}

GuardedBuffer::~GuardedBuffer() {
    if (owner_ == nullptr)
        return;
    owner_->tags_[tag_].live -= payload_;
    owner_->guards_.live -= guard_bytes + trailing_;
    owner_->backend_.release(memory_, guard_bytes + payload_ + trailing_);
}

void GuardedBuffer::swap(GuardedBuffer& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(tag_, other.tag_);
    std::swap(memory_, other.memory_);
    std::swap(payload_, other.payload_);
    std::swap(trailing_, other.trailing_);
}

GuardHits GuardedBuffer::guard_hits() const {
    std::atomic<std::int64_t> first{guard_bytes}, last{0};
    Backend& backend = owner_->backend_;
    read_through(backend, owner_->copy_, memory_, guard_bytes, 1,
                 [&](std::int64_t at, const auto* bytes, auto size) {
                     const std::int64_t change = first_change(bytes, size);
                     if (change < size)
                         first = std::min(first.load(),
                                          at + change); // a zone of 4 KiB is one piece: no race
                 });
    const unsigned char* behind = memory_ + guard_bytes + payload_;
    read_through(backend, owner_->copy_, behind, trailing_, 1,
                 [&](std::int64_t at, const auto* bytes, auto size) {
                     const std::int64_t change = last_change(bytes, size);
                     for (std::int64_t seen = last; change > 0 && seen < at + change;)
                         if (last.compare_exchange_weak(seen, at + change))
                             break;
                 });
    return {guard_bytes - first, last};
}

std::int64_t GuardedBuffer::untouched_bytes(std::int64_t element_size) const {
    std::atomic<std::int64_t> total{0};
    const auto count = [&](std::int64_t, const unsigned char* bytes, std::int64_t size) {
        total += count_poison(bytes, size, element_size);
    };
    read_through(owner_->backend_, owner_->copy_, memory_ + guard_bytes, payload_, element_size,
                 count);
    return total;
}

} // namespace kvcaliper::kernels
