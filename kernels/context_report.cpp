// SPDX-License-Identifier: Apache-2.0
// The second half of a context's run: what its buffers look like, and what is said about it.
#include "kernels/context_run.h"

#include <algorithm>
#include <cstdio>

namespace kvcaliper::kernels {
namespace {

/// A quant may look like a guard byte, the scale in front of it never does: writes end with a
/// block.
GuardHits whole_elements(GuardHits hits, const BufferPlan& plan) {
    const std::int64_t end = plan.predicted + hits.after;
    if (hits.after > 0)
        hits.after += (plan.element_size - end % plan.element_size) % plan.element_size;
    return hits;
}

} // namespace

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
        const std::int64_t untouched =
            buffer.memory.untouched_bytes(buffer.plan.element_size) - buffer.plan.slack;
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
                       buffer.plan.role == to_string(Role::conv_state) ||
                       buffer.plan.role == to_string(Role::shift) ||
                       buffer.plan.role == to_string(Role::tail) ||
                       buffer.plan.role == to_string(Role::index_tail);
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
    if (untouched < 0)
        add(findings, plan, "slack",
            "kernel wrote " + bytes_text(-untouched) + " of slots that no token has reached");
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
                     (driver.group().borrows() ? "shared " : "") +
                         std::string(to_string(driver.group().plan.kind)) + " output",
                     "output", text);
    }
}

/// Time, cost and error of one group, as a row of its own and in the samples of the components
/// that it reads.
void ContextRun::finish_group(ContextOutcome& outcome, int group) const {
    const auto g = static_cast<std::size_t>(group);
    const LayerDriver& driver = *groups_[g].driver;
    const LayerPart& layer = driver.group().plan;
    const PlaneElements elements = plane_elements(request_);
    const auto layers = static_cast<std::int64_t>(driver.group().layers.size());
    const std::int64_t attended = groups_[g].all_layers ? layers : 1;
    const StepCost cost = step_cost(layer, context_, elements, request_.sequences);
    const Timing timing = timing_of(outcomes_[g].seconds);
    outcome.kernels.push_back({context_, std::string(to_string(layer.kind)), layers, attended,
                               timing, cost.bytes_read * attended, cost.flops * attended,
                               std::nullopt, outcomes_[g].max_error, driver.bound(),
                               driver.group().borrows()});
    const int shape = group_of(driver.lender(), driver.group().parts.front());
    const auto planes = layer_planes(layer, context_, elements);
    const auto costs = step_costs(layer, context_, elements, request_.sequences);
    for (std::size_t i = 0; i < planes.size(); ++i)
        for (Sample& sample : outcome.samples)
            if (sample.shape == shape && sample.component == planes[i].role) {
                sample.seconds = sample.seconds.value_or(0) + timing.median;
                sample.bytes_read += costs[i].bytes_read * attended;
                sample.flops += costs[i].flops * attended;
                sample.max_error = std::max(sample.max_error.value_or(0), outcomes_[g].max_error);
                sample.bound = driver.bound();
                sample.refuted = sample.refuted || !(outcomes_[g].max_error <= driver.bound());
                sample.quantisation_error =
                    planes[i].slots > 0 ? driver.quantisation_error(i) : std::nullopt;
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
