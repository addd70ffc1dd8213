// SPDX-License-Identifier: Apache-2.0
// Counts every byte asked of a backend, by tag, and keeps a zone of known bytes on both sides of
// each buffer, so that a layout which is too small is seen instead of crashing.
#pragma once

#include "kernels/backend.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kvcaliper::kernels {

/// Zone in front of every payload; keeps the payload's alignment.
inline constexpr std::int64_t guard_bytes = 4096;
/// What a guard zone is filled with. No number the generator makes has this as its upper byte, so
/// the last byte a kernel wrote is always recognised.
inline constexpr unsigned char guard_byte = 0xe5;
/// What a payload is filled with before use: a NaN in f16, bf16 and f32.
inline constexpr unsigned char poison_byte = 0xff;

/// Size of the zone behind a payload of which kernels may touch `extent` bytes.
std::int64_t trailing_guard_bytes(std::int64_t payload, std::int64_t extent);
/// Payload and both zones.
std::int64_t guarded_bytes(std::int64_t payload, std::int64_t extent);

struct TagCount {
    std::int64_t live = 0;
    std::int64_t peak = 0;
    std::int64_t count = 0; ///< buffers so far
};

class GuardedBuffer;

class CountingAllocator {
  public:
    explicit CountingAllocator(Backend& backend) : backend_(backend) {}

    /// A poisoned payload of exactly `bytes` (0 is allowed) between guard zones; the one behind it
    /// is so long that `extent` bytes can be written from the start of the payload.
    GuardedBuffer allocate(const std::string& tag, std::int64_t bytes, std::int64_t extent = 0);

    Backend& backend() { return backend_; }
    const std::map<std::string, TagCount>& tags() const { return tags_; }
    TagCount tag(const std::string& name) const;
    const TagCount& guards() const { return guards_; }
    /// Payloads and guards now alive.
    std::int64_t live_bytes() const;

  private:
    friend class GuardedBuffer;
    Backend& backend_;
    std::map<std::string, TagCount> tags_;
    TagCount guards_;
    std::vector<unsigned char> copy_; ///< device memory on its way to a check
};

/// How far the guard zones of a buffer were overwritten.
struct GuardHits {
    std::int64_t before = 0; ///< from the first changed byte to the payload
    std::int64_t after = 0;  ///< from the payload to the last changed byte
};

/// Owns one buffer of a CountingAllocator, which must outlive it.
class GuardedBuffer {
  public:
    GuardedBuffer() = default;
    GuardedBuffer(GuardedBuffer&& other) noexcept { swap(other); }
    GuardedBuffer& operator=(GuardedBuffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~GuardedBuffer();

    void* data() const { return memory_ + guard_bytes; }
    template <typename T> T* as() const { return static_cast<T*>(data()); }
    std::int64_t bytes() const { return payload_; }

    GuardHits guard_hits() const;
    /// Bytes of the payload whose elements (of more than 4 bytes: blocks) are still poison.
    std::int64_t untouched_bytes(std::int64_t element_size) const;

  private:
    friend class CountingAllocator;
    void swap(GuardedBuffer& other) noexcept;

    CountingAllocator* owner_ = nullptr;
    std::string tag_;
    unsigned char* memory_ = nullptr;
    std::int64_t payload_ = 0;
    std::int64_t trailing_ = 0;
};

} // namespace kvcaliper::kernels
