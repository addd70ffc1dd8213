// SPDX-License-Identifier: Apache-2.0
// The shared memory of one emulated block.
#pragma once

#include "kernels/simt/emulator.h"

#include <cstddef>
#include <vector>

namespace kvcaliper::simt {

/// All bytes start as 0xff, which is NaN in every float type, so that a value read before it is
/// written shows. Arrays lie apart, with red zones between them under AddressSanitizer.
class SharedArena {
  public:
    ~SharedArena();

    /// A fresh block with `dynamic` bytes of dynamic shared memory.
    void reset(std::int64_t dynamic, std::int64_t limit);

    void* dynamic() const { return dynamic_; }

    /// The array declared at `place`; all threads of the block get the same one.
    void* variable(std::size_t bytes, const Place& place);

  private:
    struct Variable {
        Place place;
        void* address;
    };

    void* take(std::size_t bytes, const Place& place);

    std::vector<std::max_align_t> memory_;
    std::vector<Variable> variables_;
    std::size_t next_ = 0;  ///< offset of the first byte not given out
    std::size_t given_ = 0; ///< sum of the sizes asked for
    std::size_t limit_ = 0;
    void* dynamic_ = nullptr;
};

} // namespace kvcaliper::simt
