// SPDX-License-Identifier: Apache-2.0
// One CUDA thread of the emulator: a stack of its own and a switch that costs a few nanoseconds.
#pragma once

#include <cstddef>
#include <memory>

namespace kvcaliper::simt {

class Fiber {
  public:
    using Entry = void (*)(void*);

    /// `number` names it in reports of ThreadSanitizer and shifts the top of the stack: equal
    /// offsets in all stacks would put the hot lines of all fibers into the same sets of the cache.
    explicit Fiber(unsigned number);
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// The next resume() calls entry(argument) on an empty stack, whatever was there before. entry
    /// must end with leave(), and no exception may pass it.
    void prepare(Entry entry, void* argument);

    /// Forgets what it was at, if it has not left: its frames are not unwound.
    void drop();

    /// From the scheduler: runs the fiber until it suspends or leaves.
    void resume();

    /// From the fiber: back to the scheduler until the next resume().
    void suspend();

    /// From the fiber, as its last act.
    [[noreturn]] void leave();

  private:
    struct Switch;
    static void start();
    void enter();

    std::unique_ptr<Switch> switch_;
    Entry entry_ = nullptr;
    void* argument_ = nullptr;
    bool left_ = true;
};

} // namespace kvcaliper::simt
