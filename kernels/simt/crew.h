// SPDX-License-Identifier: Apache-2.0
// The threads of an emulated block, what they wait for, and why they cannot go on.
#pragma once

#include "kernels/simt/fiber.h"
#include "kernels/simt/shared_arena.h"

#include <array>
#include <memory>
#include <vector>

namespace kvcaliper::simt {

enum class Waits { no, in_warp, at_barrier, returned };

/// One CUDA thread.
struct Thread {
    explicit Thread(unsigned number) : index(number), fiber(number) {}

    std::uint32_t bit() const { return 1u << (index % 32); }
    unsigned warp() const { return index / 32; }

    unsigned index;
    Fiber fiber;
    Waits waits = Waits::no;
    const char* operation = "";
    Place place;
};

/// ThreadSanitizer knows what orders accesses by addresses; these have no other content.
struct Tag {
    std::uint64_t unused = 0;
};

/// A warp operation that some lanes of its mask have reached.
struct Meeting {
    const char* name;
    const Tag* orders; ///< null where it puts nothing in order
    Place place;
    std::uint32_t mask;
    std::uint32_t arrived;
    void* argument[32];
};

/// Whether the lane was the last to come, and what puts it in order with the others.
struct Arrival {
    bool last;
    const Tag* tag;
};

struct Warp {
    std::uint32_t present = 0; ///< lanes that exist
    std::uint32_t ready = 0;   ///< lanes that can run
    std::vector<Meeting> meetings;
    /// In turn: a lane may reach the next meeting before another has left this one.
    std::array<Tag, 8> tags;
    std::size_t turn = 0;
    std::size_t barriers = 0; ///< of the warp, passed in this block
};

/// The threads of a block and their shared memory. Blocks that run one after the other have crews
/// of their own while ThreadSanitizer looks on: what one thread does is always in order, and what a
/// barrier has put in order stays so.
struct Crew {
    std::vector<std::unique_ptr<Thread>> threads; ///< kept across blocks and launches
    std::vector<Warp> warps;
    SharedArena shared;
    std::array<Tag, 2> barriers; ///< in turn, as the tags of a warp
    std::array<Tag, 2> ends;     ///< in turn: those of a block order nothing within it
    std::size_t blocks = 0;      ///< that this crew has begun
};

/// The error of a block of `live` threads none of which can run, though not all have returned.
[[noreturn]] void explain_deadlock(const Crew& crew, std::size_t live);

} // namespace kvcaliper::simt
