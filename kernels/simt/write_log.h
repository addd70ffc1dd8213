// SPDX-License-Identifier: Apache-2.0
// Who wrote which element of global memory in the running launch: so that a block that writes or
// reads what another has written is reported in every build, with both lines. Reads are not kept: a
// thread that overwrites what another has read shows when the order is turned round, because then
// the read comes second. ThreadSanitizer's build leaves the search to it.
//
// Kernels reach shared memory through plain pointers, so nothing can be kept of it here; the orders
// and ThreadSanitizer show its races.
#pragma once

#include "kernels/simt/emulator.h"

#include <array>
#include <optional>
#include <unordered_map>

namespace kvcaliper::simt {

/// A thread between two barriers of its block and two of its warp.
struct Moment {
    unsigned block = 0, thread = 0;
    std::size_t barriers = 0, warp_barriers = 0;
};

struct Write {
    Moment moment;
    Place place;
};

class WriteLog {
  public:
    /// A new launch.
    void clear();

    /// False for most elements that nobody has written, and cheap.
    bool may_have(const void* element) const { return touched_[slot(element)]; }

    /// The last write to this element, where nothing orders it before the access at `moment`.
    std::optional<Write> unordered(const void* element, const Moment& moment) const;

    void add(const void* element, const Write& write);

  private:
    std::size_t slot(const void* element) const {
        return reinterpret_cast<std::uintptr_t>(element) / 4096 % touched_.size();
    }

    std::unordered_map<const void*, Write> writes_;
    std::array<bool, 1024> touched_{}; ///< pages, by the last bits of their number: most reads are
                                       ///< of pages that nobody writes
};

} // namespace kvcaliper::simt
