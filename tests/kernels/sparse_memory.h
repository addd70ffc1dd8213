// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simt_reference.h"

#include <cstring>

#include <sys/mman.h>

namespace kvcaliper::kernels::test {

/// Zeros that cost memory only where they are written.
class SparseMemory {
  public:
    explicit SparseMemory(std::int64_t bytes) : size_(static_cast<std::size_t>(bytes)) {
        memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    ~SparseMemory() {
        if (reserved()) {
            munmap(memory_, size_);
        }
    }
    SparseMemory(const SparseMemory&) = delete;
    SparseMemory& operator=(const SparseMemory&) = delete;

    bool reserved() const { return memory_ != MAP_FAILED; }
    void* get() const { return memory_; }

    /// Puts values at an offset counted in elements.
    void put(std::int64_t offset, const Values& values, std::size_t first, std::size_t count,
             Element element = Element::f16) {
        const Values part(values.begin() + static_cast<std::ptrdiff_t>(first),
                          values.begin() + static_cast<std::ptrdiff_t>(first + count));
        const std::vector<std::byte> bytes = stored(part, element);
        std::memcpy(static_cast<std::byte*>(memory_) + offset * element_bytes(element),
                    bytes.data(), bytes.size());
    }

    void put_bytes(std::int64_t offset, const std::vector<std::byte>& bytes) {
        std::memcpy(static_cast<std::byte*>(memory_) + offset, bytes.data(), bytes.size());
    }
    std::vector<std::byte> bytes_at(std::int64_t offset, std::int64_t count) const {
        const std::byte* from = static_cast<const std::byte*>(memory_) + offset;
        return {from, from + count};
    }

    double at(std::int64_t offset) const {
        simt::F16 value{};
        std::memcpy(&value, static_cast<const std::byte*>(memory_) + offset * 2, sizeof value);
        return static_cast<double>(simt::widen(value));
    }

  private:
    std::size_t size_;
    void* memory_;
};

} // namespace kvcaliper::kernels::test
