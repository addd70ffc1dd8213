// SPDX-License-Identifier: Apache-2.0
#include "kernels/simt/shared_arena.h"

#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes)                                                  \
    (static_cast<void>(address), static_cast<void>(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes)                                                \
    (static_cast<void>(address), static_cast<void>(bytes))
#endif

namespace kvcaliper::simt {

namespace {

constexpr std::size_t kGap = 128;
constexpr std::size_t kMaxVariables = 32;

constexpr std::size_t round_up(std::size_t bytes) {
    return (bytes + kGap - 1) / kGap * kGap;
}

} // namespace

SharedArena::~SharedArena() {
    ASAN_UNPOISON_MEMORY_REGION(memory_.data(), memory_.size() * sizeof(std::max_align_t));
}

void SharedArena::reset(std::int64_t dynamic, std::int64_t limit) {
    limit_ = static_cast<std::size_t>(limit);
    const std::size_t capacity = round_up(limit_) + 2 * kGap * kMaxVariables;
    ASAN_UNPOISON_MEMORY_REGION(memory_.data(), memory_.size() * sizeof(std::max_align_t));
    memory_.resize(capacity / sizeof(std::max_align_t));
    ASAN_POISON_MEMORY_REGION(memory_.data(), capacity);
    variables_.clear();
    next_ = 0;
    given_ = 0;
    dynamic_ = take(static_cast<std::size_t>(dynamic), {"launch", 0});
}

void* SharedArena::variable(std::size_t bytes, const Place& place) {
    for (const Variable& known : variables_) {
        if (known.place == place) {
            return known.address;
        }
    }
    if (variables_.size() + 1 == kMaxVariables) {
        throw LaunchError(place, "more shared arrays than the emulator keeps apart");
    }
    variables_.push_back({place, take(bytes, place)});
    return variables_.back().address;
}

void* SharedArena::take(std::size_t bytes, const Place& place) {
    given_ += bytes;
    if (given_ > limit_) {
        throw LaunchError(place, "shared memory: " + std::to_string(given_) +
                                     " bytes asked for, the limit is " + std::to_string(limit_));
    }
    void* address = reinterpret_cast<std::byte*>(memory_.data()) + next_;
    ASAN_UNPOISON_MEMORY_REGION(address, bytes);
    std::memset(address, 0xff, bytes);
    next_ += round_up(bytes) + kGap;
    return address;
}

} // namespace kvcaliper::simt
