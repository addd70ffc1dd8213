// SPDX-License-Identifier: Apache-2.0
#include "kernels/baseline.h"

#include "kernels/layer_driver.h"
#include "kernels/reference.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace kvcaliper::kernels {
namespace {

using Clock = std::chrono::steady_clock;

/// Bytes that the rows of a whole baseline may take: seconds at what each kind of device writes.
double row_budget(const DeviceInfo& device) {
    if (device.backend == "cpu")
        return 10e9 * device.multiprocessors;
    return device.backend == "cuda" ? 1e12 : 2e7;
}

std::int64_t token_bytes(const LayerPart& layer, const PlaneElements& elements) {
    std::int64_t bytes = 0;
    for (const Plane& plane : layer_planes(layer, 1, elements))
        bytes = checked_add(bytes, extent_bytes(plane, 1));
    return bytes;
}

/// The request for one sequence of one layer, every token of which is a step.
VerifyRequest step_by_step(VerifyRequest request, std::int64_t tokens) {
    request.sequences = 1;
    request.contexts = {tokens};
    request.steps = tokens - 1;
    request.cartridge = 0;
    request.page = 0;
    return request;
}

class Baseline {
  public:
    Baseline(const VerifyRequest& request, const LayerGroup& group, CountingAllocator& allocator,
             const std::atomic<bool>* cancel)
        : request_(request), plan_(group.plan), backend_(allocator.backend()),
          elements_(plane_elements(request)), tokens_(request.contexts.front()),
          driver_(make_layer_driver(backend_, request_, group, cancel)) {
        driver_->allocate(allocator);
        driver_->keep_rows(allocator, tokens_);
        memory_.layer = group.layers.front();
        memory_.shapes = layer_planes(plan_, tokens_, elements_);
        for (const Plane& shape : memory_.shapes) {
            buffers_.push_back(allocator.allocate("baseline", extent_bytes(shape, 1)));
            memory_.planes.push_back(buffers_.back().data());
        }
        driver_->begin_step(tokens_ - 1); // every step asks what the last one asks
    }

    BaselineRow run() {
        BaselineRow row;
        row.kind = to_string(plan_.kind);
        row.tokens = tokens_;
        row.bound = driver_->bound();
        row.with_cache = side(true);
        row.max_error = error();
        row.without_cache = side(false);
        row.max_error = std::max(row.max_error, error());
        return row;
    }

  private:
    BaselineSide side(bool cached) {
        BaselineSide total;
        poison();
        for (std::int64_t t = 0; t < tokens_; ++t) {
            if (!cached && t + 1 == tokens_)
                poison(); // nothing of the steps before is left: the last one makes all itself
            const std::int64_t first = cached ? t : 0, count = t + 1 - first;
            const auto start = Clock::now();
            driver_->append_kept(memory_, first, count);
            driver_->run(memory_, t);
            backend_.synchronize();
            total.seconds += std::chrono::duration<double>(Clock::now() - start).count();
            total.token_rows += count;
            total.bytes_written += count * token_bytes(plan_, elements_);
            total.bytes_read += step_cost(plan_, t + 1, elements_, 1).bytes_read;
        }
        return total;
    }

    void poison() {
        for (const GuardedBuffer& buffer : buffers_)
            backend_.fill(buffer.data(), poison_byte, buffer.bytes());
        driver_->poison_output();
        backend_.synchronize();
    }

    double error() {
        const std::vector<std::int64_t> questions{tokens_};
        const std::vector<float> got = driver_->output(0); // first: it also keeps what was chosen
        return largest_relative_error(got, driver_->expected(0, questions).front(),
                                      driver_->output_row());
    }

    const VerifyRequest& request_;
    LayerPart plan_;
    Backend& backend_;
    PlaneElements elements_;
    std::int64_t tokens_;
    std::unique_ptr<LayerDriver> driver_;
    std::vector<GuardedBuffer> buffers_;
    LayerMemory memory_;
};

} // namespace

bool appends_rows(LayerKind kind) {
    return kind == LayerKind::full_attention || kind == LayerKind::sliding_attention ||
           kind == LayerKind::chunked_attention || kind == LayerKind::mla;
}

std::int64_t baseline_tokens(const LayerPart& layer, const PlaneElements& elements,
                             std::int64_t wished, const DeviceInfo& device) {
    const double rows = row_budget(device) / static_cast<double>(token_bytes(layer, elements));
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::sqrt(2 * rows)), 2, wished);
}

std::int64_t baseline_bytes(const LayerPart& layer, const PlaneElements& elements,
                            std::int64_t tokens) {
    std::int64_t bytes = 0;
    for (const Plane& plane : layer_planes(layer, tokens, elements)) {
        bytes = checked_add(bytes, guarded_bytes(extent_bytes(plane, 1), 0));
        const std::int64_t row = plane.rows * plane.width * element_bytes(plane.element);
        bytes = checked_add(bytes, guarded_bytes(checked_multiply(tokens, row), 0));
    }
    return bytes;
}

BaselineRow run_baseline(const VerifyRequest& request, const LayerGroup& group, std::int64_t tokens,
                         CountingAllocator& allocator, const std::atomic<bool>* cancel) {
    const VerifyRequest steps = step_by_step(request, tokens);
    const LayerGroup first{group.plan, {group.layers.front()}, {group.parts.front()}};
    return Baseline(steps, first, allocator, cancel).run();
}

} // namespace kvcaliper::kernels
