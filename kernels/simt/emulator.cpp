// SPDX-License-Identifier: Apache-2.0
#include "kernels/simt/emulator.h"

#include "kernels/simt/crew.h"
#include "kernels/simt/race_watch.h"
#include "kernels/simt/turns.h"
#include "kernels/simt/warp_matrix_emulated.h"
#include "kernels/simt/write_log.h"

#include <array>
#include <cstring>
#include <exception>
#include <utility>

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

/// With three, two neighbours in the grid or two that are two apart are never in order.
constexpr std::size_t kCrews = watch::active ? 3 : 1;

class Emulator {
  public:
    void run(std::int64_t grid, int block, std::int64_t shared, void (*body)(void*), void* context);
    void meet(const char* name, std::uint32_t mask, void* argument, Combine combine,
              const Place& place, bool orders);
    void barrier(const Place& place);
    void require_order(const char* doing, const void* element, const Place& place) const;
    void note_write(const void* element, const Place& place);
    SharedArena& shared() { return crew_->shared; }
    Config config;

  private:
    static void thread_main(void* self);
    void run_blocks(std::int64_t grid, std::int64_t shared);
    void prepare_threads();
    void run_block();
    void start_block();
    void run_warp(Warp& warp, unsigned number);
    void resume(Thread& thread);
    bool release_barrier();
    Meeting& meeting(const char* name, std::uint32_t mask, const Place& place, bool orders);
    Arrival arrive(const char* name, std::uint32_t mask, void* argument, Combine combine,
                   const Place& place, bool orders);
    void wait(Waits waits, const char* operation, const Place& place);
    Moment now() const;

    std::array<Crew, kCrews> crews_;
    Crew* crew_ = crews_.data(); ///< of the running block
    std::vector<unsigned> warp_turns_, lane_turns_;
    std::size_t live_ = 0;     ///< threads of this launch's blocks
    std::size_t barriers_ = 0; ///< that the running block has passed
    Tag launched_, finished_;
    WriteLog writes_;
    Turns turns_{Order::forward, 1};
    void (*body_)(void*) = nullptr;
    void* context_ = nullptr;
    Thread* current_ = nullptr;
    std::exception_ptr failure_;
};

Emulator& emulator() {
    thread_local Emulator instance;
    return instance;
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
    live_ = static_cast<std::size_t>(block);
    gridDim = {static_cast<unsigned>(grid), 1, 1};
    blockDim = {static_cast<unsigned>(block), 1, 1};
    writes_.clear();
    watch::release(&launched_);
    try {
        run_blocks(grid, shared);
    } catch (...) {
        for (const auto& thread : crew_->threads) {
            thread->fiber.drop();
        }
        watch::acquire(&finished_); // the error was made in a thread of the kernel
        throw;
    }
    watch::acquire(&finished_);
}

void Emulator::run_blocks(std::int64_t grid, std::int64_t shared) {
    const watch::Pause pause;
    turns_ = Turns(config.order, config.seed);
    std::vector<std::uint32_t> turns;
    turns_.deal(turns, static_cast<std::size_t>(grid));
    for (std::size_t turn = 0; turn < turns.size(); ++turn) {
        crew_ = &crews_[turn % kCrews];
        prepare_threads();
        blockIdx = {turns[turn], 0, 0};
        crew_->shared.reset(shared, config.shared_limit);
        run_block();
    }
}

void Emulator::prepare_threads() {
    auto& threads = crew_->threads;
    while (threads.size() < live_) {
        threads.push_back(std::make_unique<Thread>(static_cast<unsigned>(threads.size())));
    }
    crew_->warps.resize((live_ + 31) / 32);
}

void Emulator::start_block() {
    auto& warps = crew_->warps;
    for (Warp& warp : warps) {
        warp.present = 0;
        warp.barriers = 0;
        warp.meetings.clear();
    }
    for (std::size_t i = 0; i < live_; ++i) {
        Thread& thread = *crew_->threads[i];
        thread.waits = Waits::no;
        thread.fiber.prepare(&Emulator::thread_main, this);
        warps[thread.warp()].present |= thread.bit();
    }
    for (Warp& warp : warps) {
        warp.ready = warp.present;
    }
    ++crew_->blocks;
    barriers_ = 0;
    turns_.deal(warp_turns_, warps.size());
    turns_.deal(lane_turns_, 32);
    forget_async_copies(live_);
}

void Emulator::run_block() {
    start_block();
    do {
        for (const unsigned number : warp_turns_) {
            run_warp(crew_->warps[number], number);
        }
    } while (release_barrier());
}

/// Runs the lanes of a warp until each one has returned or waits for something outside the warp.
void Emulator::run_warp(Warp& warp, unsigned number) {
    while (warp.ready != 0) {
        for (const unsigned lane : lane_turns_) {
            if ((warp.ready >> lane & 1u) != 0) {
                resume(*crew_->threads[number * 32 + lane]);
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
    const Crew& crew = *owner.crew_;
    watch::acquire(&owner.launched_);
    watch::acquire(&crew.ends[(crew.blocks + 1) % 2]); // of the crew's last block
    try {
        owner.body_(owner.context_);
    } catch (...) {
        owner.failure_ = std::current_exception();
    }
    watch::release(&crew.ends[crew.blocks % 2]);
    watch::release(&owner.finished_);
    Thread& thread = *owner.current_;
    thread.waits = Waits::returned;
    owner.crew_->warps[thread.warp()].ready &= ~thread.bit();
    thread.fiber.leave();
}

void Emulator::wait(Waits waits, const char* operation, const Place& place) {
    Thread& thread = *current_;
    thread.waits = waits;
    thread.operation = operation;
    thread.place = place;
    crew_->warps[thread.warp()].ready &= ~thread.bit();
    thread.fiber.suspend();
}

void Emulator::barrier(const Place& place) {
    const Tag& tag = crew_->barriers[barriers_ % 2];
    watch::release(&tag);
    wait(Waits::at_barrier, "__syncthreads", place);
    watch::acquire(&tag);
}

Moment Emulator::now() const {
    return {blockIdx.x, current_->index, barriers_, crew_->warps[current_->warp()].barriers};
}

void Emulator::require_order(const char* doing, const void* element, const Place& place) const {
    if (!writes_.may_have(element)) {
        return;
    }
    if (const auto write = writes_.unordered(element, now())) {
        const auto name = [](const Moment& moment) {
            return "thread " + std::to_string(moment.thread) + " of block " +
                   std::to_string(moment.block);
        };
        throw LaunchError(place, "race: " + name(now()) + " " + doing + " what " +
                                     name(write->moment) + " has written at " +
                                     to_text(write->place));
    }
}

void Emulator::note_write(const void* element, const Place& place) {
    writes_.add(element, {now(), place});
}

/// Called when no thread can run. True when all of them wait at one barrier and may go on.
bool Emulator::release_barrier() {
    const auto& threads = crew_->threads;
    const Place first = threads.front()->place;
    std::size_t waiting = 0;
    std::size_t returned = 0;
    for (std::size_t i = 0; i < live_; ++i) {
        const Thread& thread = *threads[i];
        returned += thread.waits == Waits::returned ? 1u : 0u;
        waiting += thread.waits == Waits::at_barrier && thread.place == first ? 1u : 0u;
    }
    if (returned == live_) {
        return false;
    }
    if (waiting != live_) {
        explain_deadlock(*crew_, live_);
    }
    for (std::size_t i = 0; i < live_; ++i) {
        threads[i]->waits = Waits::no;
    }
    for (Warp& warp : crew_->warps) {
        warp.ready = warp.present;
    }
    ++barriers_;
    ++stats().barriers;
    return true;
}

/// The open meeting this lane belongs to, or a new one. Masks of open meetings never overlap.
Meeting& Emulator::meeting(const char* name, std::uint32_t mask, const Place& place, bool orders) {
    Warp& warp = crew_->warps[current_->warp()];
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
    const Tag* const tag = orders ? &warp.tags[warp.turn++ % warp.tags.size()] : nullptr;
    warp.meetings.push_back({name, tag, place, mask, 0, {}});
    return warp.meetings.back();
}

void Emulator::meet(const char* name, std::uint32_t mask, void* argument, Combine combine,
                    const Place& place, bool orders) {
    Warp& warp = crew_->warps[current_->warp()];
    if (mask == 0xffffffffu) {
        mask = warp.present; // as on a device, where the last warp may be short
    }
    if ((mask & current_->bit()) == 0 || (mask & ~warp.present) != 0) {
        throw LaunchError(place, std::string(name) + ": the mask of thread " +
                                     std::to_string(current_->index) +
                                     " lacks its own lane or names one that does not exist");
    }
    const Arrival arrival = arrive(name, mask, argument, combine, place, orders);
    if (!arrival.last) {
        wait(Waits::in_warp, name, place);
    }
    if (orders) {
        watch::acquire(arrival.tag);
    }
}

/// Leaves the argument at the meeting; the last lane to come combines what all have brought.
Arrival Emulator::arrive(const char* name, std::uint32_t mask, void* argument, Combine combine,
                         const Place& place, bool orders) {
    const watch::Pause pause;
    Warp& warp = crew_->warps[current_->warp()];
    Meeting& here = meeting(name, mask, place, orders);
    const Arrival arrival{(here.arrived | current_->bit()) == mask, here.orders};
    here.argument[current_->index % 32] = argument;
    here.arrived |= current_->bit();
    if (orders) {
        watch::release(here.orders);
    }
    if (arrival.last) {
        const Meeting complete = here;
        warp.meetings.erase(warp.meetings.begin() + (&here - warp.meetings.data()));
        combine(complete.argument, place);
        warp.ready |= mask;
        warp.barriers += orders ? 1u : 0u;
        ++stats().warp_operations;
    }
    return arrival;
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
    emulator().meet(name, mask, argument, combine, place, false);
}

void warp_barrier(std::uint32_t mask, const Place& place) {
    emulator().meet(
        "__syncwarp", mask, nullptr, [](void* const(&)[32], const Place&) {}, place, true);
}

void block_barrier(const Place& place) {
    emulator().barrier(place);
}

void global_read(const void* element, std::size_t bytes, const Place& place) {
    stats().bytes_read += static_cast<std::int64_t>(bytes);
    if (!watch::active) {
        emulator().require_order("reads", element, place);
    }
}

void global_written(const void* element, std::size_t bytes, const Place& place) {
    stats().bytes_written += static_cast<std::int64_t>(bytes);
    if (!watch::active) {
        emulator().require_order("writes", element, place);
        emulator().note_write(element, place);
    }
}

void* shared_variable(std::size_t bytes, const Place& place) {
    const watch::Pause pause;
    return emulator().shared().variable(bytes, place);
}

void* dynamic_shared() {
    return emulator().shared().dynamic();
}

} // namespace kvcaliper::simt
