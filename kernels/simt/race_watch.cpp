// SPDX-License-Identifier: Apache-2.0
#include "kernels/simt/race_watch.h"

#if defined(KVCALIPER_TSAN)

#include <cstdio>

#include <sanitizer/tsan_interface.h>

// Of the sanitizer's runtime, in no header of it.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier)
void __tsan_read_range_pc(void* address, unsigned long bytes, void* caller);
void __tsan_write_range_pc(void* address, unsigned long bytes, void* caller);
// NOLINTEND(bugprone-reserved-identifier)
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace kvcaliper::simt::watch {

void* new_thread(unsigned number) {
    void* thread = __tsan_create_fiber(0);
    char name[32];
    std::snprintf(name, sizeof name, "CUDA thread %u", number);
    __tsan_set_fiber_name(thread, name);
    return thread;
}

void drop_thread(void* thread) noexcept {
    void* const here = __tsan_get_current_fiber();
    switch_to(thread);
    __tsan_switch_to_fiber(here, 0); // this one puts them in order
    __tsan_destroy_fiber(thread);
}

void* current_thread() {
    return __tsan_get_current_fiber();
}

void switch_to(void* thread) {
    __tsan_switch_to_fiber(thread, __tsan_switch_to_fiber_no_sync);
}

void release(const void* tag) {
    __tsan_release(const_cast<void*>(tag));
}

void acquire(const void* tag) {
    __tsan_acquire(const_cast<void*>(tag));
}

void reads(const void* address, std::size_t bytes, void* caller) {
    __tsan_read_range_pc(const_cast<void*>(address), bytes, caller);
}

void writes(void* address, std::size_t bytes, void* caller) {
    __tsan_write_range_pc(address, bytes, caller);
}

Pause::Pause() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

Pause::~Pause() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

} // namespace kvcaliper::simt::watch

#endif
