// SPDX-License-Identifier: Apache-2.0
// Tells ThreadSanitizer which emulated thread runs and what puts their accesses in order: so that
// it reports lost barriers and blocks that meet in memory, though all of them run on one system
// thread. Nothing happens in other builds.
//
// The emulator's own sources are built without the sanitizer: what they note down is nobody's race.
#pragma once

#include <cstddef>

namespace kvcaliper::simt::watch {

#if defined(KVCALIPER_TSAN)

inline constexpr bool active = true;

/// A thread that the sanitizer keeps apart from all others; reports call it by its number.
void* new_thread(unsigned number);

/// Whatever it did happened before what follows.
void drop_thread(void* thread) noexcept;
void* current_thread();

/// The accesses from here on are those of `thread`. Orders nothing.
void switch_to(void* thread);

/// What happened before a release happens before whatever follows an acquire of the same tag.
void release(const void* tag);
void acquire(const void* tag);

/// Accesses that a source of the emulator makes for the running thread, called from `caller` in the
/// kernel (__builtin_return_address(0)).
void reads(const void* address, std::size_t bytes, void* caller);
void writes(void* address, std::size_t bytes, void* caller);

/// While one lives, the running thread's accesses count for nothing: the emulator exchanges values
/// between threads, fills and frees.
class Pause {
  public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
};

#else

inline constexpr bool active = false;
inline void* new_thread(unsigned) {
    return nullptr;
}
inline void drop_thread(void*) noexcept {}
inline void* current_thread() {
    return nullptr;
}
inline void switch_to(void*) {}
inline void release(const void*) {}
inline void acquire(const void*) {}
inline void reads(const void*, std::size_t, void*) {}
inline void writes(void*, std::size_t, void*) {}
class Pause {
  public:
    Pause() {} // NOLINT(modernize-use-equals-default): else an unused variable
};

#endif

} // namespace kvcaliper::simt::watch
