// SPDX-License-Identifier: Apache-2.0
// One context: allocate what is predicted, fill it, decode, and look at every byte.
#pragma once

#include "kernels/findings.h"
#include "kernels/layer_driver.h"
#include "kernels/verify_result.h"
#include "kernels/verify_runner.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace kvcaliper::kernels {

/// A group with its driver and how many of its layers attend in every step.
struct GroupRun {
    std::unique_ptr<LayerDriver> driver;
    bool all_layers = true;
};

struct ContextOutcome {
    std::vector<Sample> samples; ///< the total last
    std::vector<KernelRow> kernels;
    MemoryTotals memory;
    bool disturbed = false;
};

class ContextRun {
  public:
    ContextRun(const VerifyRequest& request, CountingAllocator& allocator,
               std::vector<GroupRun>& groups, const Hooks& hooks,
               const std::function<void()>& progress);

    /// Throws Cancelled. What contradicts the prediction goes to findings.
    ContextOutcome run(std::int64_t context, Findings& findings);
    /// Calls of progress() in one run.
    static std::int64_t progress_steps(const VerifyRequest& request);

  private:
    struct Buffer {
        BufferPlan plan;
        GuardedBuffer memory;
    };
    struct GroupOutcome {
        std::vector<double> seconds; ///< of the steps that are timed
        double max_error = 0;
    };

    void allocate_buffers();
    void measure_device(ContextOutcome& outcome, const MemorySample& before);
    LayerMemory memory_of(const LayerGroup& group, std::size_t member) const;
    int group_of(int layer, int part) const;
    std::string label(const BufferPlan& plan) const;
    void use(ContextOutcome& outcome, Findings& findings);
    std::uint64_t cartridge_sum(const Buffer& buffer) const;
    bool has_cartridge(const BufferPlan& plan) const;
    void remember_cartridge();
    void check_cartridge(Findings& findings);
    void check_layout(ContextOutcome& outcome, Findings& findings);
    void count(ContextOutcome& outcome, const Buffer& buffer);
    void fill_layers();
    void decode();
    void keep_timed(std::size_t group);
    void decode_step(std::int64_t position, bool compare, std::size_t group);
    double timed_run(std::size_t group, std::int64_t position, bool poison);
    void compare_outputs();
    void check_buffers(ContextOutcome& outcome, Findings& findings);
    void report(Buffer& buffer, const GuardHits& hits, std::int64_t untouched, Findings& findings);
    void add(Findings& findings, const BufferPlan& plan, const char* what,
             const std::string& text) const;
    void report_outputs(Findings& findings) const;
    Sample& sample_of(ContextOutcome& outcome, const BufferPlan& plan);
    void finish_samples(ContextOutcome& outcome) const;
    void finish_group(ContextOutcome& outcome, int group) const;
    void check_cancelled() const;
    std::vector<std::int64_t> checked_sequences(const LayerDriver& driver) const;

    const VerifyRequest& request_;
    CountingAllocator& allocator_;
    std::vector<GroupRun>& groups_;
    const Hooks& hooks_;
    const std::function<void()>& progress_;
    std::int64_t context_ = 0;
    std::vector<Buffer> buffers_;
    std::vector<std::uint64_t> cartridge_sums_; ///< of each buffer when it had been filled
    std::vector<GroupOutcome> outcomes_;
    std::vector<std::vector<int>> group_of_part_; ///< [layer][part]
    /// Outputs of the representative: [group][compared step][checked sequence].
    std::vector<std::vector<std::vector<std::vector<float>>>> outputs_;
};

} // namespace kvcaliper::kernels
