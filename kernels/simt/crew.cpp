// SPDX-License-Identifier: Apache-2.0
#include "kernels/simt/crew.h"

#include <algorithm>

namespace kvcaliper::simt {

namespace {

std::string state_of(const Thread& thread) {
    if (thread.waits == Waits::returned) {
        return "has returned";
    }
    return std::string("waits in ") + thread.operation + " at " + to_text(thread.place);
}

[[noreturn]] void explain_missing_lane(const Crew& crew, const Meeting& meeting, unsigned warp) {
    const std::uint32_t missing = meeting.mask & ~meeting.arrived;
    const auto lane = static_cast<unsigned>(__builtin_ctz(missing));
    throw LaunchError(meeting.place, std::string(meeting.name) + ": lane " + std::to_string(lane) +
                                         " of warp " + std::to_string(warp) +
                                         " is in the mask but " +
                                         state_of(*crew.threads[warp * 32 + lane]));
}

} // namespace

void explain_deadlock(const Crew& crew, std::size_t live) {
    const auto& warps = crew.warps;
    for (unsigned warp = 0; warp < warps.size(); ++warp) {
        if (!warps[warp].meetings.empty()) {
            explain_missing_lane(crew, warps[warp].meetings.front(), warp);
        }
    }
    const auto at_barrier = [](const auto& thread) { return thread->waits == Waits::at_barrier; };
    const auto begin = crew.threads.begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(live);
    const Thread& waiting = **std::find_if(begin, end, at_barrier);
    const auto other = std::find_if(begin, end, [&](const auto& thread) {
        return !at_barrier(thread) || !(thread->place == waiting.place);
    });
    throw LaunchError(waiting.place, "divergent barrier: thread " + std::to_string(waiting.index) +
                                         " waits here, thread " + std::to_string((*other)->index) +
                                         " " + state_of(**other));
}

} // namespace kvcaliper::simt
