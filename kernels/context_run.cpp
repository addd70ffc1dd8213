// SPDX-License-Identifier: Apache-2.0
#include "kernels/context_run.h"

#include "kernels/reference.h"
#include "kernels/state_layout.h"

#include <algorithm>
#include <chrono>

namespace kvcaliper::kernels {
namespace {

using Clock = std::chrono::steady_clock;

/// Device-wide figures may be off by this much: other allocations of the runtime, page rounding.
std::int64_t device_tolerance(std::int64_t bytes) {
    return std::max<std::int64_t>(8 << 20, bytes / 100);
}

/// Above this many multiply-adds the reference looks at the first and the last sequence only.
constexpr std::int64_t reference_budget = 8'000'000'000;

} // namespace

ContextRun::ContextRun(const VerifyRequest& request, CountingAllocator& allocator,
                       std::vector<GroupRun>& groups, const Hooks& hooks,
                       const std::function<void()>& progress)
    : request_(request), allocator_(allocator), groups_(groups), hooks_(hooks), progress_(progress),
      group_of_part_(request.plan.layers.size()) {
    for (std::size_t i = 0; i < group_of_part_.size(); ++i)
        group_of_part_[i].resize(request.plan.layers[i].parts.size(), 0);
    const std::vector<LayerGroup> shapes = layer_groups(request.plan);
    for (std::size_t g = 0; g < shapes.size(); ++g) {
        const LayerGroup& group = shapes[g];
        for (std::size_t i = 0; i < group.layers.size() && !group.borrows(); ++i)
            group_of_part_[static_cast<std::size_t>(group.layers[i])]
                          [static_cast<std::size_t>(group.parts[i])] = static_cast<int>(g);
    }
}

std::int64_t ContextRun::progress_steps(const VerifyRequest& request) {
    std::int64_t parts = 0; // each is filled on its own
    for (const LayerPlan& layer : request.plan.layers)
        parts += static_cast<std::int64_t>(layer.parts.size());
    return 2 * static_cast<std::int64_t>(request.plan.layers.size()) + parts + request.steps + 1;
}

ContextOutcome ContextRun::run(std::int64_t context, Findings& findings) {
    context_ = context;
    outcomes_.assign(groups_.size(), {});
    outputs_.assign(groups_.size(), {});
    ContextOutcome outcome;
    const MemorySample before = allocator_.backend().sample();
    allocate_buffers();
    measure_device(outcome, before);
    if (request_.depth == Depth::use)
        use(outcome, findings);
    else
        check_layout(outcome, findings);
    finish_samples(outcome);
    buffers_.clear();
    return outcome;
}

void ContextRun::use(ContextOutcome& outcome, Findings& findings) {
    const MemorySample before = allocator_.backend().sample();
    fill_layers();
    decode();
    const MemorySample after = allocator_.backend().sample();
    if (before.used_bytes && after.used_bytes)
        outcome.memory.library = std::max<std::int64_t>(0, *after.used_bytes - *before.used_bytes);
    compare_outputs();
    check_buffers(outcome, findings);
    check_cartridge(findings);
    report_outputs(findings);
}

void ContextRun::check_cancelled() const {
    if (hooks_.cancel != nullptr && hooks_.cancel->load())
        throw Cancelled{};
}

void ContextRun::allocate_buffers() {
    buffers_.clear();
    int layer = -1;
    for (BufferPlan& plan : buffer_plans(request_, context_)) {
        check_cancelled();
        if (plan.layer != layer && plan.layer < static_cast<int>(request_.plan.layers.size()))
            progress_();
        layer = plan.layer;
        GuardedBuffer memory = allocator_.allocate(plan.role, plan.predicted, plan.extent);
        buffers_.push_back({std::move(plan), std::move(memory)});
    }
    allocator_.backend().synchronize();
}

/// What the system says the buffers took, into the sample of the total.
void ContextRun::measure_device(ContextOutcome& outcome, const MemorySample& before) {
    const MemorySample after = allocator_.backend().sample();
    Sample total;
    total.context = context_;
    total.component = "total";
    if (request_.depth == Depth::layout) {
        outcome.samples.push_back(std::move(total));
        return;
    }
    std::int64_t expected = 0, rounded = 0;
    for (const Buffer& buffer : buffers_) {
        const std::int64_t bytes = guarded_bytes(buffer.plan.predicted, buffer.plan.extent);
        const std::int64_t step = std::max<std::int64_t>(1, after.granularity);
        expected += bytes;
        rounded += (bytes + step - 1) / step * step;
    }
    if (before.used_bytes && after.used_bytes) {
        const std::int64_t delta = *after.used_bytes - *before.used_bytes;
        const std::int64_t slack = device_tolerance(expected);
        total.device_delta = delta;
        if (delta < expected - slack || delta > rounded + slack) {
            const bool device_wide = allocator_.backend().info().backend == "cuda";
            total.note = std::string(device_wide ? "the device" : "this process") + " shows " +
                         bytes_text(delta) + " more in use, " + bytes_text(expected) +
                         " were allocated (guards included)";
            outcome.disturbed = device_wide;
        }
    } else {
        total.note = after.unavailable;
    }
    outcome.samples.push_back(std::move(total));
}

/// The shape a buffer belongs to, -1 for one that no part of the plan has.
int ContextRun::group_of(int layer, int part) const {
    const auto index = static_cast<std::size_t>(layer);
    if (part < 0 || index >= group_of_part_.size() || group_of_part_[index].empty())
        return -1;
    return group_of_part_[index][static_cast<std::size_t>(part)];
}

LayerMemory ContextRun::memory_of(const LayerGroup& group, std::size_t member) const {
    LayerMemory memory;
    memory.layer = group.owner(member);
    memory.shapes = layer_planes(group.plan, context_, plane_elements(request_));
    for (const Plane& shape : memory.shapes)
        for (const Buffer& buffer : buffers_)
            if (buffer.plan.layer == memory.layer && buffer.plan.part == group.parts[member] &&
                buffer.plan.plane && buffer.plan.role == shape.role)
                memory.planes.push_back(buffer.memory.data());
    return memory;
}

void ContextRun::fill_layers() {
    for (GroupRun& run : groups_) {
        const LayerGroup& group = run.driver->group();
        for (std::size_t i = 0; i < group.layers.size() && !group.borrows(); ++i) {
            check_cancelled();
            run.driver->fill(memory_of(group, i), first_step(request_, context_), i == 0);
            progress_();
        }
    }
    allocator_.backend().synchronize();
    remember_cartridge();
    if (hooks_.after_fill)
        for (const Buffer& buffer : buffers_)
            hooks_.after_fill(allocator_.backend(),
                              {context_, buffer.plan.layer, buffer.plan.kind, buffer.plan.role,
                               buffer.memory.data(), buffer.memory.bytes()});
}

void ContextRun::decode() {
    const std::int64_t first = first_step(request_, context_);
    for (std::int64_t position = context_ - request_.steps; position < context_; ++position) {
        for (std::size_t g = 0; position >= first && g < groups_.size(); ++g)
            decode_step(position, position == first || position + 1 == context_, g);
        progress_();
    }
}

/// What is timed: attention at the last step, again and again; a state, which every step moves on,
/// at its last steps.
void ContextRun::keep_timed(std::size_t group) {
    std::vector<double>& seconds = outcomes_[group].seconds;
    const auto repeats = static_cast<std::size_t>(request_.repeats);
    if (seconds.size() > repeats)
        seconds.erase(seconds.begin(), seconds.end() - request_.repeats);
}

/// Every layer takes the token; the layers that attend are timed together. Those that borrow come
/// last and find the token in what they read.
void ContextRun::decode_step(std::int64_t position, bool compare, std::size_t group) {
    LayerDriver& driver = *groups_[group].driver;
    driver.begin_step(position);
    for (std::size_t i = 0; i < driver.group().layers.size() && !driver.group().borrows(); ++i) {
        check_cancelled();
        driver.append(memory_of(driver.group(), i), position);
    }
    allocator_.backend().synchronize();
    const bool again = position + 1 == context_ && !keeps_state(driver.group().plan.kind);
    for (std::int64_t i = 0; i < (again ? request_.repeats : 1); ++i)
        outcomes_[group].seconds.push_back(timed_run(group, position, compare));
    keep_timed(group);
    if (!compare)
        return;
    outputs_[group].emplace_back();
    for (const std::int64_t sequence : checked_sequences(driver))
        outputs_[group].back().push_back(driver.output(sequence));
}

/// The representative runs last, so that its output is the one that stays.
double ContextRun::timed_run(std::size_t group, std::int64_t position, bool poison) {
    LayerDriver& driver = *groups_[group].driver;
    Backend& backend = allocator_.backend();
    const auto timed = [&](std::size_t from, std::size_t to) {
        std::vector<LayerMemory> memories;
        for (std::size_t i = from; i < to; ++i)
            memories.push_back(memory_of(driver.group(), i));
        const auto start = Clock::now();
        for (const LayerMemory& memory : memories) {
            check_cancelled();
            driver.run(memory, position);
        }
        backend.synchronize();
        return std::chrono::duration<double>(Clock::now() - start).count();
    };
    const std::size_t layers = driver.group().layers.size();
    double seconds = 0;
    if (groups_[group].all_layers && layers > 1)
        seconds += timed(1, layers);
    if (poison) {
        driver.poison_output();
        backend.synchronize();
    }
    return seconds + timed(0, 1);
}

std::vector<std::int64_t> ContextRun::checked_sequences(const LayerDriver& driver) const {
    std::vector<std::int64_t> all;
    const bool cheap = driver.reference_cost(context_) <= reference_budget / request_.sequences;
    for (std::int64_t s = 0; s < request_.sequences; ++s)
        if (cheap || s == 0 || s + 1 == request_.sequences)
            all.push_back(s);
    return all;
}

void ContextRun::compare_outputs() {
    std::vector<std::int64_t> tokens{first_step(request_, context_) + 1};
    if (tokens.front() < context_)
        tokens.push_back(context_);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        LayerDriver& driver = *groups_[g].driver;
        const std::vector<std::int64_t> sequences = checked_sequences(driver);
        for (std::size_t s = 0; s < sequences.size(); ++s) {
            check_cancelled();
            const auto expected = driver.expected(sequences[s], tokens);
            for (std::size_t i = 0; i < tokens.size(); ++i)
                outcomes_[g].max_error = std::max(
                    outcomes_[g].max_error,
                    largest_relative_error(outputs_[g][i][s], expected[i], driver.output_row()));
        }
    }
    progress_();
}

} // namespace kvcaliper::kernels
