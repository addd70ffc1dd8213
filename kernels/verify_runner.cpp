// SPDX-License-Identifier: Apache-2.0
#include "kernels/verify_runner.h"

#include "core/error.h"
#include "kernels/baseline.h"
#include "kernels/context_run.h"
#include "kernels/state_layout.h"

#include <algorithm>
#include <chrono>
#include <functional>

namespace kvcaliper::kernels {
namespace {

/// What the timed steps of a whole run may read and compute before only one layer of each shape
/// attends. Chosen so that a run stays within seconds: 25 GB/s and 20 GFLOP/s per CPU thread.
struct Budget {
    double bytes, flops;
};

Budget budget_for(const DeviceInfo& device) {
    if (device.backend == "cpu")
        return {40e9 * device.multiprocessors, 150e9 * device.multiprocessors};
    if (device.backend == "cuda")
        return {10e12, 100e12};
    return {1e8, 1e8}; // emulated: hundreds of times slower than the native CPU backend
}

/// True when every window is full from `context` tokens on, in the model's own range too, and all
/// groups end at both contexts: then core's growth and constant figures are what the line between
/// them must show.
bool on_the_line(const CacheSpec& spec, std::int64_t context, std::int64_t last) {
    for (const ComponentGroup& group : group_components(spec)) {
        const Units& units = group.component.units;
        const std::int64_t limit =
            spec.max_context ? std::min(context, spec.max_context->count()) : context;
        const bool bounded = units.kind == Units::Kind::window || units.kind == Units::Kind::chunk;
        if (bounded && units.n > limit)
            return false;
        const bool stepped =
            units.kind == Units::Kind::groups || units.kind == Units::Kind::remainder;
        if (stepped && (context % units.n != 0 || last % units.n != 0))
            return false;
        if (units.kind == Units::Kind::past && units.n > limit)
            return false;
    }
    return true;
}

class Run {
  public:
    Run(const VerifyRequest& request, Backend& backend, const Hooks& hooks)
        : request_(request), hooks_(hooks), allocator_(backend) {
        result_.device = backend.info();
        result_.depth = request.depth;
        context_bytes_ = backend.sample().used_bytes;
    }

    VerifyResult run() {
        try {
            if (!refuse_unsupported() && !refuse_memory())
                measure();
        } catch (const Cancelled&) {
            result_.verdict = Verdict::cancelled;
            result_.reasons = {"cancelled"};
        } catch (const Error& error) {
            if (error.kind() == ErrorKind::input)
                throw;
            result_.verdict = Verdict::refused;
            result_.reasons = {error.what()};
        }
        return std::move(result_);
    }

  private:
    bool refuse_unsupported() {
        if (request_.depth != Depth::use)
            return false; // nothing has to run
        result_.reasons = unsupported(request_);
        if (result_.reasons.empty())
            return false;
        result_.verdict = Verdict::refused;
        return true;
    }

    bool refuse_memory();
    void emit_plan();
    void measure();
    void choose_attended_layers();
    void note_compressors();
    void note_residuals();
    void measure_baseline();
    std::vector<LayerGroup> baseline_groups() const;
    void run_context(ContextRun& context_run, std::int64_t context);
    void measure_bandwidth();
    void note_sharing();
    void fit();
    void conclude();
    void progress();

    const VerifyRequest& request_;
    const Hooks& hooks_;
    CountingAllocator allocator_;
    std::vector<GroupRun> groups_;
    Findings findings_;
    VerifyResult result_;
    bool disturbed_ = false;
    std::optional<std::int64_t> context_bytes_, library_bytes_;
    std::int64_t done_ = 0, total_ = 0;
    std::chrono::steady_clock::time_point last_progress_{};
};

bool Run::refuse_memory() {
    std::int64_t beside = 0;
    const bool runs = request_.depth == Depth::use;
    for (const LayerGroup& group : runs ? layer_groups(request_.plan) : std::vector<LayerGroup>{}) {
        groups_.push_back(
            {make_layer_driver(allocator_.backend(), request_, group, hooks_.cancel), true});
        // a dozen small buffers at most, each with its guard zones
        beside += groups_.back().driver->io_bytes() + groups_.back().driver->workspace_bytes() +
                  12 * 2 * guard_bytes;
    }
    const PlaneElements elements = plane_elements(request_);
    for (const LayerGroup& group : baseline_groups())
        result_.bytes_needed = std::max(
            result_.bytes_needed,
            2 * beside + baseline_bytes(group.plan, elements,
                                        baseline_tokens(group.plan, elements, request_.baseline,
                                                        result_.device)));
    for (const std::int64_t context : request_.contexts) {
        std::int64_t needed = beside;
        for (const BufferPlan& buffer : buffer_plans(request_, context))
            needed = checked_add(needed, guarded_bytes(buffer.predicted, buffer.extent));
        result_.bytes_needed = std::max(result_.bytes_needed, needed);
    }
    const std::int64_t available = result_.device.available_bytes;
    result_.limit = available - available / 20;
    if (request_.memory_limit)
        result_.limit = std::min(result_.limit, *request_.memory_limit);
    emit_plan();
    if (result_.bytes_needed <= result_.limit)
        return false;
    result_.verdict = Verdict::refused;
    result_.reasons = {"needs " + format_bytes_exact(Bytes(result_.bytes_needed)) + ", " +
                       result_.device.backend + " offers " +
                       format_bytes_exact(Bytes(result_.limit)) +
                       "; a smaller context or fewer sequences would fit"};
    return true;
}

void Run::emit_plan() {
    if (!hooks_.event)
        return;
    JsonValue plan;
    plan.set("type", "plan");
    plan.set("bytes_needed", result_.bytes_needed);
    plan.set("limit", result_.limit);
    hooks_.event(plan);
}

void Run::progress() {
    ++done_;
    const auto now = std::chrono::steady_clock::now();
    if (!hooks_.event || (done_ < total_ && now - last_progress_ < std::chrono::milliseconds(50)))
        return;
    last_progress_ = now;
    JsonValue event;
    event.set("type", "progress");
    event.set("done", std::min(done_, total_));
    event.set("total", total_);
    hooks_.event(event);
}

/// All layers attend while the whole run stays within the budget; else one of each shape does.
void Run::choose_attended_layers() {
    double bytes = 0, flops = 0;
    const PlaneElements elements = plane_elements(request_);
    for (const GroupRun& group : groups_)
        for (const std::int64_t context : request_.contexts) {
            const LayerGroup& layers = group.driver->group();
            const StepCost cost = step_cost(layers.plan, context, elements, request_.sequences);
            const auto times = static_cast<double>(request_.steps - 1 + request_.repeats) *
                               static_cast<double>(layers.layers.size());
            bytes += static_cast<double>(cost.bytes_read) * times;
            flops += static_cast<double>(cost.flops) * times;
        }
    const Budget budget = budget_for(result_.device);
    if (bytes <= budget.bytes && flops <= budget.flops)
        return;
    for (GroupRun& group : groups_)
        if (!keeps_state(group.driver->group().plan.kind)) // cheap at any context
            group.all_layers = false;
    result_.notes.push_back("every layer is allocated, filled and checked; one layer of each shape "
                            "attends, because all of them would take too long here");
}

void Run::measure() {
    choose_attended_layers();
    for (GroupRun& group : groups_)
        group.driver->allocate(allocator_);
    total_ =
        ContextRun::progress_steps(request_) * static_cast<std::int64_t>(request_.contexts.size());
    const std::function<void()> step = [this] { progress(); };
    ContextRun context_run(request_, allocator_, groups_, hooks_, step);
    for (const std::int64_t context : request_.contexts)
        run_context(context_run, context);
    note_sharing();
    if (request_.cartridge > 0)
        result_.notes.push_back("the first " + format_integer(request_.cartridge) +
                                " tokens of every context are a cartridge's trained slots: filled "
                                "once, attended with all that follow, found unchanged at the end");
    if (request_.page > 0)
        result_.notes.push_back("caches that grow lie in shuffled pages of " +
                                format_integer(request_.page) +
                                " tokens; the slots of a last page that no token has reached count "
                                "as predicted and stay NaN");
    note_compressors();
    note_residuals();
    measure_baseline();
    if (request_.depth == Depth::use)
        measure_bandwidth();
    fit();
    conclude();
}

void Run::note_sharing() {
    std::int64_t layers = 0;
    for (const GroupRun& run : groups_)
        if (run.driver->group().borrows())
            layers += std::ssize(run.driver->group().layers);
    if (layers > 0)
        result_.notes.push_back(format_integer(layers) +
                                " layers keep nothing: they attend with queries of their own over "
                                "the cache of another");
}

/// Rings that a layer cannot do without, although what is required leaves them out.
void Run::note_compressors() {
    std::int64_t bytes = 0;
    for (const Sample& sample : result_.samples)
        if (sample.context == request_.contexts.back() &&
            (sample.component == to_string(Role::tail) ||
             sample.component == to_string(Role::index_tail)))
            bytes += sample.predicted;
    if (bytes > 0)
        result_.notes.push_back(
            format_bytes_exact(Bytes(bytes)) +
            " of the total are rings of what compressed entries are pooled from (tail, "
            "index_tail): the layers need them, but an estimate's required bytes leave them out");
}

/// What is done differently where keys stay in f16 until there are enough of them to pack.
void Run::note_residuals() {
    if (request_.depth != Depth::use)
        return;
    std::int64_t shortened = 0;
    for (const std::int64_t context : request_.contexts)
        shortened += first_step(request_, context) > context - request_.steps ? 1 : 0;
    if (shortened > 0)
        result_.notes.push_back(
            "steps at " + format_integer(shortened) +
            " of the contexts begin with the one after "
            "which " +
            std::string(request_.formats.k->name) +
            " packs keys: before it they take more f16 rows than the context keeps");
}

void Run::run_context(ContextRun& context_run, std::int64_t context) {
    ContextOutcome outcome = context_run.run(context, findings_);
    disturbed_ = disturbed_ || outcome.disturbed;
    if (!library_bytes_)
        library_bytes_ = outcome.memory.library;
    result_.memory = outcome.memory;
    result_.memory.library = library_bytes_;
    result_.memory.context = context_bytes_;
    for (Sample& sample : outcome.samples) {
        if (hooks_.event)
            hooks_.event(to_json(sample));
        result_.samples.push_back(std::move(sample));
    }
    for (KernelRow& row : outcome.kernels)
        result_.kernels.push_back(std::move(row));
}

/// One layer of every shape that appends rows.
void Run::measure_baseline() {
    const PlaneElements elements = plane_elements(request_);
    for (const LayerGroup& group : baseline_groups()) {
        const std::int64_t tokens =
            baseline_tokens(group.plan, elements, request_.baseline, result_.device);
        if (tokens < request_.baseline)
            result_.notes.push_back("the baseline of " + std::string(to_string(group.plan.kind)) +
                                    " takes " + format_integer(tokens) + " of the " +
                                    format_integer(request_.baseline) +
                                    " tokens, because all would take too long here");
        BaselineRow row = run_baseline(request_, group, tokens, allocator_, hooks_.cancel);
        if (!(row.max_error <= row.bound))
            findings_.add(tokens, group.layers.front(), row.kind + " baseline output", "output",
                          "differs from the reference");
        result_.baseline.push_back(std::move(row));
    }
}

std::vector<LayerGroup> Run::baseline_groups() const {
    std::vector<LayerGroup> groups;
    if (request_.baseline > 0 && request_.depth == Depth::use)
        for (LayerGroup& group : layer_groups(request_.plan))
            if (!group.borrows() && appends_rows(group.plan.kind))
                groups.push_back(std::move(group));
    return groups;
}

void Run::measure_bandwidth() {
    if (!hooks_.measure_bandwidth)
        return;
    result_.read_bandwidth = allocator_.backend().read_bandwidth();
    if (result_.read_bandwidth > 0)
        for (KernelRow& row : result_.kernels)
            if (row.timing.median > 0)
                row.read_fraction = static_cast<double>(row.bytes_read) / row.timing.median /
                                    result_.read_bandwidth;
}

/// What the kernels touched or, where none ran, what was allocated.
std::int64_t measured_bytes(const Sample& sample) {
    return sample.used.value_or(sample.requested);
}

/// Tokens after which a cache takes as much more as before; 1 for most.
std::int64_t stride_of(const VerifyRequest& request) {
    return std::max<std::int64_t>(1, key_residual(request));
}

/// Slope and intercept between the two largest contexts at or above the last window, per sequence.
void Run::fit() {
    std::int64_t window = 0;
    for (const LayerGroup& group : layer_groups(request_.plan))
        if (const auto* dims = std::get_if<AttentionDims>(&group.plan.dims))
            if (dims->window && *dims->window <= request_.contexts.back())
                window = std::max(window, *dims->window);
    for (const LayerGroup& group : layer_groups(request_.plan))
        if (const auto* dims = std::get_if<CompressedDims>(&group.plan.dims))
            for (const std::int64_t full : {dims->window, pooled_parts(*dims) * dims->group})
                if (full <= request_.contexts.back())
                    window = std::max(window, full);
    std::vector<const Sample*> totals;
    for (const Sample& sample : result_.samples)
        if (sample.component == "total" && sample.context >= window)
            totals.push_back(&sample);
    // Where keys are packed every so often, the line is that of the counts at which they just were.
    const std::int64_t stride = stride_of(request_);
    const auto on_stride = [&](const Sample* total) { return total->context % stride == 0; };
    if (std::count_if(totals.begin(), totals.end(), on_stride) > 1)
        totals.erase(std::remove_if(totals.begin(), totals.end(), std::not_fn(on_stride)),
                     totals.end());
    else if (stride > 1)
        result_.notes.push_back("fewer than two contexts are multiples of the " +
                                format_integer(stride) +
                                " tokens whose keys are packed together: slope and intercept are "
                                "those of a line between two contexts, not of the growth");
    const Sample& last = *totals.back();
    const Sample& before = totals.size() > 1 ? *totals[totals.size() - 2] : last;
    const std::int64_t tokens = last.context - before.context;
    const auto line = [&](std::int64_t from, std::int64_t to, auto& slope, auto& intercept) {
        slope = tokens > 0 ? Ratio(to - from, tokens) / request_.sequences : Ratio(0);
        intercept = Ratio(to, request_.sequences) - *slope * Ratio(last.context);
    };
    line(measured_bytes(before), measured_bytes(last), result_.slope, result_.intercept);
    line(before.predicted, last.predicted, result_.predicted_slope, result_.predicted_intercept);
    if (tokens > 0 && request_.page == 0 &&
        on_the_line(request_.spec, before.context, last.context)) {
        result_.predicted_slope = growth_bytes_per_token(request_.spec, request_.formats).value();
        result_.predicted_intercept = constant_bytes(request_.spec, request_.formats).value();
    }
    result_.slope_from = before.context;
    result_.slope_to = last.context;
}

void Run::conclude() {
    result_.reasons = findings_.lines();
    if (*result_.slope != *result_.predicted_slope)
        result_.reasons.push_back("measured slope " + result_.slope->to_string() +
                                  " bytes per token and sequence, predicted " +
                                  result_.predicted_slope->to_string());
    if (*result_.intercept != *result_.predicted_intercept)
        result_.reasons.push_back("measured constant part " + result_.intercept->to_string() +
                                  " bytes per sequence, predicted " +
                                  result_.predicted_intercept->to_string());
    if (!result_.reasons.empty()) {
        result_.verdict = Verdict::refuted;
        return;
    }
    result_.verdict = disturbed_ ? Verdict::disturbed : Verdict::equal;
    if (disturbed_)
        result_.reasons = {
            "memory of the whole device changed by more than this run; the count and "
            "the use of every byte agree"};
}

} // namespace

VerifyResult verify(const VerifyRequest& request, Backend& backend, const Hooks& hooks) {
    check_request(request);
    return Run(request, backend, hooks).run();
}

} // namespace kvcaliper::kernels
