// SPDX-License-Identifier: Apache-2.0
#include "kernels/simt/write_log.h"

namespace kvcaliper::simt {

namespace {

bool in_order(const Moment& first, const Moment& second) {
    if (first.block != second.block) {
        return false;
    }
    return first.thread == second.thread || first.barriers != second.barriers ||
           (first.thread / 32 == second.thread / 32 && first.warp_barriers != second.warp_barriers);
}

} // namespace

void WriteLog::clear() {
    writes_ = {}; // clear() would visit every bucket that the largest launch has made
    touched_.fill(false);
}

std::optional<Write> WriteLog::unordered(const void* element, const Moment& moment) const {
    const auto found = writes_.find(element);
    if (found == writes_.end() || in_order(found->second.moment, moment)) {
        return std::nullopt;
    }
    return found->second;
}

void WriteLog::add(const void* element, const Write& write) {
    touched_[slot(element)] = true;
    writes_.insert_or_assign(element, write);
}

} // namespace kvcaliper::simt
