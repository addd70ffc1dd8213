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

std::string bytes_text(std::int64_t bytes) {
    return format_integer(bytes) + (bytes == 1 ? " byte" : " bytes");
}

/// A quant may look like a guard byte, the scale in front of it never does: writes end with a
/// block.
GuardHits whole_elements(GuardHits hits, const BufferPlan& plan) {
    const std::int64_t end = plan.predicted + hits.after;
    if (hits.after > 0)
        hits.after += (plan.element_size - end % plan.element_size) % plan.element_size;
    return hits;
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
        for (std::size_t i = 0; i < group.layers.size(); ++i)
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

/// A sum over the bytes of the trained slots: FNV-1a, 64 bits.
std::uint64_t ContextRun::cartridge_sum(const Buffer& buffer) const {
    const Plane& plane = *buffer.plan.plane;
    const std::int64_t row = stored_row_bytes(plane.format, plane.width);
    std::vector<unsigned char> slots(static_cast<std::size_t>(request_.cartridge * row));
    std::uint64_t sum = 0xcbf29ce484222325U;
    for (std::int64_t i = 0; i < request_.sequences * plane.rows; ++i) {
        allocator_.backend().read(slots.data(),
                                  buffer.memory.as<unsigned char>() + i * plane.slots * row,
                                  std::ssize(slots));
        allocator_.backend().synchronize();
        for (const unsigned char byte : slots)
            sum = (sum ^ byte) * 0x100000001b3U;
    }
    return sum;
}

void ContextRun::remember_cartridge() {
    cartridge_sums_.clear();
    for (const Buffer& buffer : buffers_)
        cartridge_sums_.push_back(has_cartridge(buffer.plan) ? cartridge_sum(buffer) : 0);
}

void ContextRun::check_cartridge(Findings& findings) {
    for (std::size_t i = 0; i < buffers_.size(); ++i)
        if (has_cartridge(buffers_[i].plan) && cartridge_sum(buffers_[i]) != cartridge_sums_[i])
            add(findings, buffers_[i].plan, "cartridge",
                "a trained slot changed after it was filled");
}

/// Buffers of rows that start with the trained slots.
bool ContextRun::has_cartridge(const BufferPlan& plan) const {
    return request_.cartridge > 0 && plan.plane &&
           plan.kind != to_string(LayerKind::cross_attention);
}

/// Without a step: what was asked for against the prediction, and the prediction against what
/// kernels of this geometry would touch.
void ContextRun::check_layout(ContextOutcome& outcome, Findings& findings) {
    const bool known = unsupported(request_).empty(); // else some parts have no geometry
    for (const Buffer& buffer : buffers_) {
        const BufferPlan& plan = buffer.plan;
        const std::int64_t bytes = buffer.memory.bytes();
        const bool fits = !known || plan.predicted == plan.extent;
        if (bytes != plan.predicted)
            add(findings, plan, "count",
                bytes_text(bytes) + " requested, " + bytes_text(plan.predicted) + " predicted");
        if (!fits)
            add(findings, plan, "layout",
                bytes_text(plan.predicted) + " predicted, the layer's geometry takes " +
                    bytes_text(plan.extent));
        count(outcome, buffer);
        Sample& sample = sample_of(outcome, plan);
        sample.refuted = sample.refuted || bytes != plan.predicted || !fits;
    }
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
    memory.layer = group.layers[member];
    memory.shapes = layer_planes(group.plan, context_, plane_elements(request_.formats));
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
        for (std::size_t i = 0; i < group.layers.size(); ++i) {
            check_cancelled();
            run.driver->fill(memory_of(group, i), context_ - request_.steps, i == 0);
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
    const std::int64_t first = context_ - request_.steps;
    for (std::int64_t position = first; position < context_; ++position) {
        for (std::size_t g = 0; g < groups_.size(); ++g)
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

/// Every layer takes the token; the layers that attend are timed together.
void ContextRun::decode_step(std::int64_t position, bool compare, std::size_t group) {
    LayerDriver& driver = *groups_[group].driver;
    driver.begin_step(position);
    for (std::size_t i = 0; i < driver.group().layers.size(); ++i) {
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
    std::vector<std::int64_t> tokens{context_ - request_.steps + 1};
    if (request_.steps > 1)
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

Sample& ContextRun::sample_of(ContextOutcome& outcome, const BufferPlan& plan) {
    const int shape = group_of(plan.layer, plan.part);
    for (Sample& sample : outcome.samples)
        if (sample.shape == shape && sample.kind == plan.kind && sample.component == plan.role)
            return sample;
    Sample sample;
    sample.context = context_;
    sample.kind = plan.kind;
    sample.component = plan.role;
    sample.shape = shape;
    return *outcome.samples.insert(outcome.samples.end() - 1, sample); // the total stays last
}

void ContextRun::check_buffers(ContextOutcome& outcome, Findings& findings) {
    int layer = -1;
    for (Buffer& buffer : buffers_) {
        check_cancelled();
        const GuardHits hits = whole_elements(buffer.memory.guard_hits(), buffer.plan);
        const std::int64_t untouched = buffer.memory.untouched_bytes(buffer.plan.element_size);
        report(buffer, hits, untouched, findings);
        count(outcome, buffer);
        Sample& sample = sample_of(outcome, buffer.plan);
        const std::int64_t used = buffer.memory.bytes() - untouched + hits.after;
        sample.used = sample.used.value_or(0) + used;
        sample.refuted = sample.refuted || hits.before > 0 || used != buffer.plan.predicted ||
                         buffer.memory.bytes() != buffer.plan.predicted;
        if (buffer.plan.layer != layer &&
            buffer.plan.layer < static_cast<int>(request_.plan.layers.size()))
            progress_();
        layer = buffer.plan.layer;
    }
}

/// A buffer into the sample of its component and into the totals by purpose.
void ContextRun::count(ContextOutcome& outcome, const Buffer& buffer) {
    Sample& sample = sample_of(outcome, buffer.plan);
    sample.layers += 1;
    sample.predicted += buffer.plan.predicted;
    sample.requested += buffer.memory.bytes();
    const bool state = buffer.plan.role == to_string(Role::recurrent_state) ||
                       buffer.plan.role == to_string(Role::conv_state);
    (state ? outcome.memory.state : outcome.memory.cache) += buffer.memory.bytes();
    outcome.memory.workspace = allocator_.tag("workspace").live;
    outcome.memory.io = allocator_.tag("io").live;
    outcome.memory.guards = allocator_.guards().live;
}

void ContextRun::add(Findings& findings, const BufferPlan& plan, const char* what,
                     const std::string& text) const {
    findings.add(context_, plan.layer, label(plan), what, text);
}

/// How findings name a buffer: by its role, and by its part where the layer has several.
std::string ContextRun::label(const BufferPlan& plan) const {
    const auto layer = static_cast<std::size_t>(plan.layer);
    const bool several =
        layer < request_.plan.layers.size() && request_.plan.layers[layer].parts.size() > 1;
    return several ? plan.kind + " " + plan.role : plan.role;
}

void ContextRun::report(Buffer& buffer, const GuardHits& hits, std::int64_t untouched,
                        Findings& findings) {
    const BufferPlan& plan = buffer.plan;
    if (hits.after > 0)
        add(findings, plan, "after",
            "kernel wrote " + bytes_text(hits.after) + " past the predicted " +
                bytes_text(plan.predicted));
    if (hits.before > 0)
        add(findings, plan, "before",
            "kernel wrote " + bytes_text(hits.before) + " in front of the buffer");
    if (untouched > 0)
        add(findings, plan, "untouched",
            bytes_text(untouched) + " of the predicted " + bytes_text(plan.predicted) +
                " were never touched");
    if (buffer.memory.bytes() != plan.predicted)
        add(findings, plan, "count",
            bytes_text(buffer.memory.bytes()) + " requested, " + bytes_text(plan.predicted) +
                " predicted");
}

void ContextRun::report_outputs(Findings& findings) const {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        const LayerDriver& driver = *groups_[g].driver;
        if (outcomes_[g].max_error <= driver.bound())
            continue;
        char text[120];
        std::snprintf(text, sizeof text, "relative error %.2g of the worst head exceeds %.2g",
                      outcomes_[g].max_error, driver.bound());
        findings.add(context_, driver.representative(),
                     std::string(to_string(driver.group().plan.kind)) + " output", "output", text);
    }
}

/// Time, cost and error of one group, as a row of its own and in the samples of its components.
void ContextRun::finish_group(ContextOutcome& outcome, int group) const {
    const auto g = static_cast<std::size_t>(group);
    const LayerDriver& driver = *groups_[g].driver;
    const LayerPart& layer = driver.group().plan;
    const PlaneElements elements = plane_elements(request_.formats);
    const auto layers = static_cast<std::int64_t>(driver.group().layers.size());
    const std::int64_t attended = groups_[g].all_layers ? layers : 1;
    const StepCost cost = step_cost(layer, context_, elements, request_.sequences);
    const Timing timing = timing_of(outcomes_[g].seconds);
    outcome.kernels.push_back({context_, std::string(to_string(layer.kind)), layers, attended,
                               timing, cost.bytes_read * attended, cost.flops * attended,
                               std::nullopt, outcomes_[g].max_error, driver.bound()});
    const auto planes = layer_planes(layer, context_, elements);
    const auto costs = step_costs(layer, context_, elements, request_.sequences);
    for (std::size_t i = 0; i < planes.size(); ++i)
        for (Sample& sample : outcome.samples)
            if (sample.shape == group && sample.component == planes[i].role) {
                sample.seconds = timing.median;
                sample.bytes_read = costs[i].bytes_read * attended;
                sample.flops = costs[i].flops * attended;
                sample.max_error = outcomes_[g].max_error;
                sample.bound = driver.bound();
                sample.refuted = sample.refuted || !(outcomes_[g].max_error <= driver.bound());
                sample.quantisation_error = driver.quantisation_error(i);
            }
}

void ContextRun::finish_samples(ContextOutcome& outcome) const {
    for (std::size_t g = 0; request_.depth == Depth::use && g < groups_.size(); ++g)
        finish_group(outcome, static_cast<int>(g));
    Sample& total = outcome.samples.back();
    total.layers = static_cast<std::int64_t>(request_.plan.layers.size());
    for (std::size_t i = 0; i + 1 < outcome.samples.size(); ++i) {
        const Sample& sample = outcome.samples[i];
        total.predicted += sample.predicted;
        total.requested += sample.requested;
        if (sample.used)
            total.used = total.used.value_or(0) + *sample.used;
        total.refuted = total.refuted || sample.refuted;
        total.bytes_read += sample.bytes_read;
        total.flops += sample.flops;
    }
}

} // namespace kvcaliper::kernels
