// SPDX-License-Identifier: Apache-2.0
#include "kernels/simt/fiber.h"

#include "kernels/simt/race_watch.h"

#include <cstdint>
#include <cstdlib>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define KVCALIPER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KVCALIPER_ASAN 1
#endif
#endif

#if defined(KVCALIPER_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// KVCALIPER_UCONTEXT asks for the portable switch, a few hundred times slower, on x86-64 too.
#if defined(__x86_64__) && !defined(KVCALIPER_UCONTEXT)
#define KVCALIPER_OWN_SWITCH 1
#else
#include <ucontext.h>
#endif

#if defined(KVCALIPER_OWN_SWITCH)
// Saves what the calling convention asks a callee to keep, exchanges the stacks, and returns by an
// indirect jump: a `ret` here would be mispredicted each time, the return stack being another
// fiber's.
asm(R"(
    .text
    .p2align 4
    .globl kvcaliper_simt_switch
    .hidden kvcaliper_simt_switch
    .type kvcaliper_simt_switch, @function
kvcaliper_simt_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    popq %rcx
    jmpq *%rcx
    .size kvcaliper_simt_switch, . - kvcaliper_simt_switch
)");
extern "C" void kvcaliper_simt_switch(void** save, void* load) noexcept;
#endif

namespace kvcaliper::simt {

namespace {

// Sanitizers enlarge frames several times; untouched pages cost nothing.
constexpr std::size_t kStackBytes = std::size_t{256} * 1024;

std::size_t page_bytes() {
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

class Stack {
  public:
    Stack() : guard_(page_bytes()) {
        void* map = mmap(nullptr, kStackBytes + guard_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (map == MAP_FAILED) {
            throw std::bad_alloc();
        }
        map_ = static_cast<std::byte*>(map);
        mprotect(map_, guard_, PROT_NONE); // an overflow faults instead of reaching a neighbour
    }
    ~Stack() { munmap(map_, kStackBytes + guard_); }
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;

    std::byte* bottom() const { return map_ + guard_; }
    std::byte* top() const { return bottom() + kStackBytes; }

  private:
    std::size_t guard_;
    std::byte* map_ = nullptr;
};

// The fiber that resume() is about to enter for the first time.
thread_local Fiber* starting = nullptr;

} // namespace

/// Two saved contexts and what the sanitizers want to know about both stacks.
struct Fiber::Switch {
    explicit Switch(unsigned index)
        : number(index), offset(std::size_t{64} * (index % 64)), watched(watch::new_thread(index)) {
    }
    ~Switch() { watch::drop_thread(watched); }
    Switch(const Switch&) = delete;
    Switch& operator=(const Switch&) = delete;

    Stack stack;
    unsigned number;
    std::size_t offset;
    void* watched;
    void* watched_scheduler = nullptr;
#if defined(KVCALIPER_OWN_SWITCH)
    void* fiber = nullptr;
    void* scheduler = nullptr;
#else
    ucontext_t fiber{};
    ucontext_t scheduler{};
#endif
#if defined(KVCALIPER_ASAN)
    void* fiber_fake_stack = nullptr;
    void* scheduler_fake_stack = nullptr;
    const void* scheduler_bottom = nullptr;
    std::size_t scheduler_bytes = 0;
#endif

    void reset(void (*begin)());
    void to_fiber();
    void to_scheduler(bool last);
    void arrived_in_fiber();
    void arrived_in_scheduler();
    void forget_frames();
};

#if defined(KVCALIPER_OWN_SWITCH)

void Fiber::Switch::reset(void (*begin)()) {
    auto* words = reinterpret_cast<std::uintptr_t*>(stack.top() - offset);
    *--words = 0; // the missing return address: aligns the stack as a call would
    *--words = reinterpret_cast<std::uintptr_t>(begin);
    for (int saved = 0; saved < 6; ++saved) {
        *--words = 0;
    }
    fiber = words;
}

static void exchange(void*& save, void*& load) {
    kvcaliper_simt_switch(&save, load);
}

#else

void Fiber::Switch::reset(void (*begin)()) {
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = stack.bottom();
    fiber.uc_stack.ss_size = kStackBytes - offset;
    fiber.uc_link = nullptr;
    makecontext(&fiber, begin, 0);
}

static void exchange(ucontext_t& save, ucontext_t& load) {
    swapcontext(&save, &load);
}

#endif

#if defined(KVCALIPER_ASAN)

void Fiber::Switch::to_fiber() {
    __sanitizer_start_switch_fiber(&scheduler_fake_stack, stack.bottom(), kStackBytes);
    exchange(scheduler, fiber);
    arrived_in_scheduler();
}

void Fiber::Switch::to_scheduler(bool last) {
    __sanitizer_start_switch_fiber(last ? nullptr : &fiber_fake_stack, scheduler_bottom,
                                   scheduler_bytes);
    exchange(fiber, scheduler);
    arrived_in_fiber();
}

void Fiber::Switch::arrived_in_fiber() {
    __sanitizer_finish_switch_fiber(fiber_fake_stack, &scheduler_bottom, &scheduler_bytes);
}

void Fiber::Switch::arrived_in_scheduler() {
    __sanitizer_finish_switch_fiber(scheduler_fake_stack, nullptr, nullptr);
}

// A fiber dropped after an error leaves the red zones of its frames behind.
void Fiber::Switch::forget_frames() {
    __asan_unpoison_memory_region(stack.bottom(), kStackBytes);
    fiber_fake_stack = nullptr;
}

#else

void Fiber::Switch::to_fiber() {
    watched_scheduler = watch::current_thread();
    watch::switch_to(watched);
    exchange(scheduler, fiber);
}
void Fiber::Switch::to_scheduler(bool) {
    watch::switch_to(watched_scheduler);
    exchange(fiber, scheduler);
}
void Fiber::Switch::arrived_in_fiber() {}
void Fiber::Switch::arrived_in_scheduler() {}

// ThreadSanitizer would go on counting the calls the fiber is in.
void Fiber::Switch::forget_frames() {
    watch::drop_thread(watched);
    watched = watch::new_thread(number);
}

#endif

Fiber::Fiber(unsigned number) : switch_(std::make_unique<Switch>(number)) {}
Fiber::~Fiber() = default;

void Fiber::prepare(Entry entry, void* argument) {
    entry_ = entry;
    argument_ = argument;
    drop();
    left_ = false;
    switch_->reset(&Fiber::start);
}

void Fiber::drop() {
    if (!left_) {
        switch_->forget_frames();
    }
    left_ = true;
}

void Fiber::start() {
    starting->enter();
}

void Fiber::enter() {
    switch_->arrived_in_fiber();
    entry_(argument_);
    std::abort(); // entry must leave()
}

void Fiber::resume() {
    starting = this;
    switch_->to_fiber();
}

void Fiber::suspend() {
    switch_->to_scheduler(false);
}

void Fiber::leave() {
    left_ = true;
    switch_->to_scheduler(true);
    std::abort(); // a fiber that left is never resumed
}

} // namespace kvcaliper::simt
