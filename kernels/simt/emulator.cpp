// SPDX-License-Identifier: Apache-2.0
#include "kernels/simt/emulator.h"

#include "kernels/simt/fiber.h"
#include "kernels/simt/shared_arena.h"
#include "kernels/simt/warp_matrix_emulated.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace kvcaliper::simt {

constinit thread_local Dim3 threadIdx, blockIdx, blockDim, gridDim;

bool operator==(const Place& left, const Place& right) {
    return left.line == right.line &&
           (left.file == right.file || std::strcmp(left.file, right.file) == 0);
}

std::string to_text(const Place& place) {
    return std::string(place.file) + ":" + std::to_string(place.line);
}

namespace {

constexpr int kMaxThreads = 1024;

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

/// A warp operation that some lanes of its mask have reached.
struct Meeting {
    const char* name;
    Place place;
    std::uint32_t mask;
    std::uint32_t arrived;
    void* argument[32];
};

struct Warp {
    std::uint32_t present = 0; ///< lanes that exist
    std::uint32_t ready = 0;   ///< lanes that can run
    std::vector<Meeting> meetings;
};

/// splitmix64: enough to shuffle turns, and the same on every machine.
class Shuffler {
  public:
    explicit Shuffler(std::uint64_t seed) : state_(seed) {}

    std::uint64_t below(std::uint64_t limit) {
        state_ += 0x9e3779b97f4a7c15u;
        std::uint64_t mixed = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
        return (mixed ^ (mixed >> 31)) % limit;
    }

  private:
    std::uint64_t state_;
};

class Emulator {
  public:
    void run(std::int64_t grid, int block, std::int64_t shared, void (*body)(void*), void* context);
    void meet(const char* name, std::uint32_t mask, void* argument, Combine combine,
              const Place& place);
    void barrier(const Place& place);
    SharedArena& shared() { return shared_; }
    Config config;

  private:
    static void thread_main(void* self);
    void prepare_threads(int block);
    void run_block();
    void start_block();
    void run_warp(Warp& warp, unsigned number);
    void resume(Thread& thread);
    bool release_barrier();
    Meeting& meeting(const char* name, std::uint32_t mask, const Place& place);
    void wait(Waits waits, const char* operation, const Place& place);
    [[noreturn]] void explain_deadlock() const;
    [[noreturn]] void explain_missing_lane(const Meeting& meeting, unsigned warp) const;
    std::string state_of(const Thread& thread) const;
    template <class Number> void order(std::vector<Number>& turns, std::size_t count);

    std::vector<std::unique_ptr<Thread>> threads_; ///< kept across blocks and launches
    std::vector<Warp> warps_;
    std::vector<unsigned> warp_turns_, lane_turns_;
    std::size_t live_ = 0; ///< threads of this launch's blocks
    SharedArena shared_;
    Shuffler shuffler_{1};
    void (*body_)(void*) = nullptr;
    void* context_ = nullptr;
    Thread* current_ = nullptr;
    std::exception_ptr failure_;
};

Emulator& emulator() {
    thread_local Emulator instance;
    return instance;
}

template <class Number> void Emulator::order(std::vector<Number>& turns, std::size_t count) {
    turns.resize(count);
    std::iota(turns.begin(), turns.end(), Number{0});
    if (config.order == Order::reverse) {
        std::reverse(turns.begin(), turns.end());
    } else if (config.order == Order::shuffled) {
        for (std::size_t left = count; left > 1; --left) {
            std::swap(turns[left - 1], turns[shuffler_.below(left)]);
        }
    }
}

void Emulator::run(std::int64_t grid, int block, std::int64_t shared, void (*body)(void*),
                   void* context) {
    const Place place{"launch", 0};
    if (current_ != nullptr) {
        throw LaunchError(place, "a kernel cannot launch another one");
    }
    if (grid < 1 || grid > 0x7fffffff || block < 1 || block > kMaxThreads) {
        throw LaunchError(place, "grid of " + std::to_string(grid) + " blocks of " +
                                     std::to_string(block) + " threads");
    }
    body_ = body;
    context_ = context;
    shuffler_ = Shuffler(config.seed);
    prepare_threads(block);
    gridDim = {static_cast<unsigned>(grid), 1, 1};
    blockDim = {static_cast<unsigned>(block), 1, 1};
    std::vector<std::uint32_t> turns;
    order(turns, static_cast<std::size_t>(grid));
    for (const std::uint32_t turn : turns) {
        blockIdx = {turn, 0, 0};
        shared_.reset(shared, config.shared_limit);
        run_block();
    }
}

void Emulator::prepare_threads(int block) {
    live_ = static_cast<std::size_t>(block);
    while (threads_.size() < live_) {
        threads_.push_back(std::make_unique<Thread>(static_cast<unsigned>(threads_.size())));
    }
    warps_.resize((live_ + 31) / 32);
}

void Emulator::start_block() {
    for (Warp& warp : warps_) {
        warp.present = 0;
        warp.meetings.clear();
    }
    for (std::size_t i = 0; i < live_; ++i) {
        Thread& thread = *threads_[i];
        thread.waits = Waits::no;
        thread.fiber.prepare(&Emulator::thread_main, this);
        warps_[thread.warp()].present |= thread.bit();
    }
    for (Warp& warp : warps_) {
        warp.ready = warp.present;
    }
    order(warp_turns_, warps_.size());
    order(lane_turns_, 32);
    forget_async_copies(live_);
}

void Emulator::run_block() {
    start_block();
    do {
        for (const unsigned number : warp_turns_) {
            run_warp(warps_[number], number);
        }
    } while (release_barrier());
}

/// Runs the lanes of a warp until each one has returned or waits for something outside the warp.
void Emulator::run_warp(Warp& warp, unsigned number) {
    while (warp.ready != 0) {
        for (const unsigned lane : lane_turns_) {
            if ((warp.ready >> lane & 1u) != 0) {
                resume(*threads_[number * 32 + lane]);
            }
        }
    }
}

void Emulator::resume(Thread& thread) {
    current_ = &thread;
    threadIdx = {thread.index, 0, 0};
    thread.fiber.resume();
    current_ = nullptr;
    if (failure_) {
        std::rethrow_exception(std::exchange(failure_, nullptr));
    }
}

void Emulator::thread_main(void* self) {
    auto& owner = *static_cast<Emulator*>(self);
    try {
        owner.body_(owner.context_);
    } catch (...) {
        owner.failure_ = std::current_exception();
    }
    Thread& thread = *owner.current_;
    thread.waits = Waits::returned;
    owner.warps_[thread.warp()].ready &= ~thread.bit();
    thread.fiber.leave();
}

void Emulator::wait(Waits waits, const char* operation, const Place& place) {
    Thread& thread = *current_;
    thread.waits = waits;
    thread.operation = operation;
    thread.place = place;
    warps_[thread.warp()].ready &= ~thread.bit();
    thread.fiber.suspend();
}

void Emulator::barrier(const Place& place) {
    wait(Waits::at_barrier, "__syncthreads", place);
}

/// Called when no thread can run. True when all of them wait at one barrier and may go on.
bool Emulator::release_barrier() {
    const Place first = threads_.front()->place;
    std::size_t waiting = 0;
    std::size_t returned = 0;
    for (std::size_t i = 0; i < live_; ++i) {
        const Thread& thread = *threads_[i];
        returned += thread.waits == Waits::returned ? 1u : 0u;
        waiting += thread.waits == Waits::at_barrier && thread.place == first ? 1u : 0u;
    }
    if (returned == live_) {
        return false;
    }
    if (waiting != live_) {
        explain_deadlock();
    }
    for (std::size_t i = 0; i < live_; ++i) {
        threads_[i]->waits = Waits::no;
    }
    for (Warp& warp : warps_) {
        warp.ready = warp.present;
    }
    ++stats().barriers;
    return true;
}

std::string Emulator::state_of(const Thread& thread) const {
    if (thread.waits == Waits::returned) {
        return "has returned";
    }
    return std::string("waits in ") + thread.operation + " at " + to_text(thread.place);
}

void Emulator::explain_missing_lane(const Meeting& meeting, unsigned warp) const {
    const std::uint32_t missing = meeting.mask & ~meeting.arrived;
    const auto lane = static_cast<unsigned>(__builtin_ctz(missing));
    throw LaunchError(meeting.place, std::string(meeting.name) + ": lane " + std::to_string(lane) +
                                         " of warp " + std::to_string(warp) +
                                         " is in the mask but " +
                                         state_of(*threads_[warp * 32 + lane]));
}

void Emulator::explain_deadlock() const {
    for (unsigned warp = 0; warp < warps_.size(); ++warp) {
        if (!warps_[warp].meetings.empty()) {
            explain_missing_lane(warps_[warp].meetings.front(), warp);
        }
    }
    const auto at_barrier = [](const auto& thread) { return thread->waits == Waits::at_barrier; };
    const auto end = threads_.begin() + static_cast<std::ptrdiff_t>(live_);
    const Thread& waiting = **std::find_if(threads_.begin(), end, at_barrier);
    const auto other = std::find_if(threads_.begin(), end, [&](const auto& thread) {
        return !at_barrier(thread) || !(thread->place == waiting.place);
    });
    throw LaunchError(waiting.place, "divergent barrier: thread " + std::to_string(waiting.index) +
                                         " waits here, thread " + std::to_string((*other)->index) +
                                         " " + state_of(**other));
}

/// The open meeting this lane belongs to, or a new one. Masks of open meetings never overlap.
Meeting& Emulator::meeting(const char* name, std::uint32_t mask, const Place& place) {
    Warp& warp = warps_[current_->warp()];
    for (Meeting& open : warp.meetings) {
        if ((open.mask & mask) == 0) {
            continue;
        }
        if (open.mask != mask || !(open.place == place) || std::strcmp(open.name, name) != 0) {
            throw LaunchError(place, std::string(name) + " of thread " +
                                         std::to_string(current_->index) + " meets " + open.name +
                                         " at " + to_text(open.place));
        }
        return open;
    }
    warp.meetings.push_back({name, place, mask, 0, {}});
    return warp.meetings.back();
}

void Emulator::meet(const char* name, std::uint32_t mask, void* argument, Combine combine,
                    const Place& place) {
    Warp& warp = warps_[current_->warp()];
    if (mask == 0xffffffffu) {
        mask = warp.present; // as on a device, where the last warp may be short
    }
    if ((mask & current_->bit()) == 0 || (mask & ~warp.present) != 0) {
        throw LaunchError(place, std::string(name) + ": the mask of thread " +
                                     std::to_string(current_->index) +
                                     " lacks its own lane or names one that does not exist");
    }
    Meeting& here = meeting(name, mask, place);
    here.argument[current_->index % 32] = argument;
    here.arrived |= current_->bit();
    if (here.arrived != mask) {
        wait(Waits::in_warp, name, place);
        return;
    }
    const Meeting complete = here;
    warp.meetings.erase(warp.meetings.begin() + (&here - warp.meetings.data()));
    combine(complete.argument, place);
    warp.ready |= mask;
    ++stats().warp_operations;
}

} // namespace

Config& config() {
    return emulator().config;
}

Stats& stats() {
    thread_local constinit Stats instance;
    return instance;
}

void run_grid(std::int64_t grid, int block, std::int64_t shared, void (*body)(void*),
              void* context) {
    emulator().run(grid, block, shared, body, context);
}

void warp_operation(const char* name, std::uint32_t mask, void* argument, Combine combine,
                    const Place& place) {
    emulator().meet(name, mask, argument, combine, place);
}

void block_barrier(const Place& place) {
    emulator().barrier(place);
}

void* shared_variable(std::size_t bytes, const Place& place) {
    return emulator().shared().variable(bytes, place);
}

void* dynamic_shared() {
    return emulator().shared().dynamic();
}

} // namespace kvcaliper::simt
