// SPDX-License-Identifier: Apache-2.0
#include "core/memory_budget.h"

#include "core/error.h"
#include "core/prefix.h"
#include "core/stored_components.h"

#include <algorithm>
#include <array>

namespace kvcaliper {

namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;

/// What an engine takes beside weights and cache where nobody says otherwise.
struct EngineWorkspace {
    std::string_view engine;
    std::int64_t bytes;
    std::string_view source;
};

/// Only a run knows these: the note says so, and --workspace replaces them.
constexpr std::array workspaces{
    EngineWorkspace{"vllm", 3125 * mib,
                    "1.26 GiB of activations and 1.79 GiB outside PyTorch: Llama 3 8B on one H100, "
                    "vLLM pull request 10511"},
    EngineWorkspace{"sglang", 512 * mib,
                    "context of the device; activations and graphs are "
                    "outside of mem-fraction-static"},
    EngineWorkspace{"llama_cpp", 1024 * mib, "compute buffers and context of the device"},
    EngineWorkspace{"ik_llama", 1024 * mib, "compute buffers and context of the device"},
    EngineWorkspace{"transformers", 1024 * mib, "activations and context of the device"},
    EngineWorkspace{"tensorrt_llm", 3125 * mib, "as vLLM's"},
    EngineWorkspace{"mlx", 1024 * mib, "activations"}};

const EngineWorkspace* workspace_of(std::string_view engine) {
    const auto* found = std::find_if(workspaces.begin(), workspaces.end(),
                                     [&](const auto& one) { return one.engine == engine; });
    return found == workspaces.end() ? nullptr : found;
}

/// SGLang 0.5.23 arg_groups/memory_hook.py: 512 MiB, 1.5 MiB per token of a prefill chunk, 1 GiB
/// for every eight ranks and 2 MiB per sequence of a graph stay outside of mem-fraction-static; no
/// less than 10 GiB on a device of over 60.
std::int64_t sglang_outside(Bytes memory, const Parallelism& parallel) {
    const std::int64_t total = memory.count() / mib;
    struct Class {
        std::int64_t below; ///< MiB of memory
        std::int64_t chunk;
        std::int64_t graph; ///< largest batch of a graph under four tensor ranks, and from there on
        std::int64_t graph_wide;
    };
    constexpr std::array classes{Class{20 * 1024, 2048, 8, 8}, Class{35 * 1024, 4096, 48, 160},
                                 Class{60 * 1024, 4096, 32, 160}, Class{160 * 1024, 8192, 256, 512},
                                 Class{INT64_MAX, 16384, 512, 512}};
    const auto* one = std::find_if(classes.begin(), classes.end(),
                                   [&](const Class& c) { return total < c.below; });
    const std::int64_t ranks = parallel.tensor * parallel.pipeline;
    const std::int64_t outside = 512 + one->chunk * 3 / 2 + ranks * 1024 / 8 +
                                 2 * (parallel.tensor < 4 ? one->graph : one->graph_wide);
    return std::max(outside, total > 60 * 1024 ? std::int64_t{10} * 1024 : 0) * mib;
}

Figure one_term(std::string name, std::string label, std::vector<Factor> factors) {
    return {std::move(name), {{std::move(label), std::move(factors)}}};
}

std::optional<UsableShare> share_of(std::string_view engine) {
    for (const UsableShare& share : usable_shares()) {
        if (share.name == engine) {
            return share;
        }
    }
    return std::nullopt;
}

/// What the engine may take of one device, before weights.
Figure usable_figure(const Deployment& deployment, Budget& budget) {
    const Device& device = deployment.device;
    const std::string& engine = deployment.settings.engine;
    const auto share = share_of(engine);
    if (deployment.utilization) {
        return one_term("usable bytes of a device", "--utilization",
                        {{"of " + format_integer(device.memory.count()) + " bytes",
                          (*deployment.utilization * Ratio(device.memory.count())).floor()}});
    }
    if (share && share->of == "free") {
        budget.cache_share = Ratio(share->permille, 1000);
    }
    std::int64_t usable = device.usable.count();
    std::string label = device.usable < device.memory ? "what the system lets a process take"
                                                      : "memory of the device";
    const auto at_most = [&](std::int64_t bytes, const std::string& why) {
        if (bytes < usable) {
            usable = bytes;
            label = why;
        }
    };
    if (engine == "sglang") {
        at_most(device.memory.count() - sglang_outside(device.memory, deployment.settings.parallel),
                "all but what mem-fraction-static leaves to activations and graphs");
    } else if (engine == "llama_cpp") {
        at_most(device.memory.count() - 1024 * mib, "all but the 1,024 MiB of --fit-target");
    } else if (share && share->of == "total") {
        at_most((Ratio(share->permille, 1000) * Ratio(device.memory.count())).floor(),
                format_decimal(Ratio(share->permille, 1000), 2) + " of the device's memory");
    }
    return one_term("usable bytes of a device", label, {{"bytes", usable}});
}

/// Tensor ranks cut every layer, stages take whole layers: the fullest has ceil(L / stages).
Figure weights_figure(const Deployment& deployment) {
    const Weights& weights = deployment.weights;
    const Parallelism& parallel = deployment.settings.parallel;
    const auto layers =
        static_cast<std::int64_t>(std::max<std::size_t>(1, deployment.model->plan.layers.size()));
    const std::int64_t fullest = (layers + parallel.pipeline - 1) / parallel.pipeline;
    Ratio bytes = weights.total.value() * Ratio(1000 + weights.uncertainty_permille, 1000);
    bytes = bytes * Ratio(fullest, layers) * Ratio(1, parallel.tensor);
    std::string label = std::string(to_string(weights.source));
    if (weights.uncertainty_permille > 0) {
        label += ", with " + format_decimal(Ratio(weights.uncertainty_permille, 10), 1) +
                 " % uncertainty on top";
    }
    return one_term("bytes of weights on a device", label, {{"bytes", bytes.ceiling()}});
}

Figure workspace_figure(const Deployment& deployment, Budget& budget) {
    if (deployment.workspace) {
        return one_term("bytes of workspace", "--workspace",
                        {{"bytes", deployment.workspace->count()}});
    }
    const EngineWorkspace* assumed = workspace_of(deployment.settings.engine);
    if (assumed == nullptr) {
        budget.notes.push_back("engine " + deployment.settings.engine +
                               ": no workspace and no context of the device is counted; name an "
                               "--engine or give --workspace for a plan");
        return {"bytes of workspace", {}};
    }
    budget.notes.push_back("workspace is assumed: " + format_bytes(Bytes(assumed->bytes)) + " (" +
                           std::string(assumed->source) +
                           "); the engine's log knows better: --workspace SIZE");
    return one_term("bytes of workspace", "assumed", {{"bytes", assumed->bytes}});
}

Budget without_cache(const Deployment& deployment) {
    Budget budget;
    budget.usable = usable_figure(deployment, budget);
    budget.weights = weights_figure(deployment);
    budget.workspace = workspace_figure(deployment, budget);
    return budget;
}

/// The layers of each stage with the heads of one tensor rank.
std::vector<CacheSpec> rank_specs(const Deployment& deployment) {
    const Settings& settings = deployment.settings;
    const ModelPlan divided = divide_heads(deployment.model->plan, settings.parallel.tensor);
    const auto layers = static_cast<std::int64_t>(divided.layers.size());
    std::vector<CacheSpec> specs;
    for (const StageLayers& stage : split_layers(layers, settings.parallel.pipeline)) {
        specs.push_back(build_cache_spec(keep_stage(divided, stage), settings.encoder_tokens));
    }
    return specs;
}

/// A shared prefix is known to the required view alone: engines share whole blocks, by rules of
/// their own.
Figure prefix_figure(const Deployment& deployment, const Estimate& estimate) {
    const Settings& settings = deployment.settings;
    if (estimate.reserved || settings.parallel.context > 1) {
        throw Error("--shared-prefix: expected engine ideal and --cp 1 (no rule for others yet), "
                    "found engine " +
                    settings.engine + " and --cp " + std::to_string(settings.parallel.context));
    }
    const std::int64_t sequences = (settings.sequences - 1) / settings.parallel.data + 1;
    Figure fullest;
    for (const CacheSpec& spec : rank_specs(deployment)) {
        Figure figure = shared_prefix_bytes(spec, estimate.formats, settings.context,
                                            deployment.shared_prefix, sequences);
        fullest = figure.value() >= fullest.value() ? std::move(figure) : std::move(fullest);
    }
    return fullest;
}

Figure cache_figure(const Deployment& deployment, const Estimate& estimate) {
    if (deployment.shared_prefix > Tokens(0)) {
        return prefix_figure(deployment, estimate);
    }
    if (estimate.per_rank) {
        return estimate.per_rank->reserved ? *estimate.per_rank->reserved
                                           : estimate.per_rank->required;
    }
    return estimate.reserved ? *estimate.reserved : estimate.required;
}

/// The deployment where its cache may be larger than at its context, on the way there; none for
/// most formats. An engine's rules know no such cache.
std::optional<Deployment> fullest_before(const Deployment& deployment, const Estimate& estimate) {
    const Tokens context = deployment.settings.context;
    const Tokens fullest = fullest_context(estimate.formats, context);
    if (fullest == context || estimate.reserved) {
        return std::nullopt;
    }
    Deployment before = deployment;
    before.settings.context = fullest;
    before.shared_prefix = std::min(before.shared_prefix, fullest);
    return before;
}

/// The most on the way to the context: headroom never rises with it, and no plan runs out midway.
Figure most_of_cache(const Deployment& deployment, const Estimate& estimate) {
    Figure cache = cache_figure(deployment, estimate);
    if (const auto before = fullest_before(deployment, estimate)) {
        Figure fullest = cache_figure(*before, estimate_held(before->model, before->settings));
        return fullest.value() > cache.value() ? fullest : cache;
    }
    return cache;
}

/// In place of the estimate's note, which knows neither the device's share nor a shared prefix.
void add_cache_note(const Deployment& deployment, Budget& budget) {
    std::erase(budget.estimate.notes, larger_before(budget.estimate));
    const auto before = fullest_before(deployment, budget.estimate);
    if (before && budget.cache.value() > cache_figure(deployment, budget.estimate).value()) {
        budget.notes.push_back(
            "the cache is counted at " + format_integer(before->settings.context.count()) +
            " tokens, where " + std::string(budget.estimate.formats.k->name) +
            " takes the most on the way to " + format_integer(deployment.settings.context.count()));
    }
}

void add_device_notes(const Deployment& deployment, Budget& budget) {
    const Device& device = deployment.device;
    if (device.nominal) {
        budget.notes.push_back(device.display_name + ": " + format_bytes(device.memory) +
                               " is the vendor's size; a driver reports somewhat less");
    }
    if (device.usable < device.memory) {
        budget.notes.push_back(device.display_name + ": the system lets the GPU use " +
                               format_bytes(device.usable) + " of " + format_bytes(device.memory) +
                               " unless it is told otherwise (macOS: iogpu.wired_limit_mb)");
    }
    const CacheFormats& formats = budget.estimate.reserved_formats;
    if (leaves_fast_path(device, formats)) {
        budget.notes.push_back("warning: Metal's flash attention wants K and V of one type, and a "
                               "quantised V needs flash attention: K " +
                               std::string(formats.k->name) + " with V " +
                               std::string(formats.v->name) + " leaves the GPU");
    }
}

} // namespace

std::int64_t Budget::left_for_cache() const {
    const Ratio left = usable.value() - weights.value() - workspace.value();
    return left > Ratio(0) ? (left * cache_share).floor() : left.to_integer();
}

std::int64_t Budget::headroom() const {
    return checked_add(left_for_cache(), -cache.value().ceiling());
}

bool leaves_fast_path(const Device& device, const CacheFormats& formats) {
    return device.vendor == "Apple" && formats.k != formats.v;
}

std::int64_t left_for_cache(const Deployment& deployment) {
    return without_cache(deployment).left_for_cache();
}

Figure cache_on_device(const Deployment& deployment) {
    return most_of_cache(deployment, estimate_held(deployment.model, deployment.settings));
}

Budget make_budget(const Deployment& deployment) {
    Budget budget = without_cache(deployment);
    budget.estimate = estimate(deployment.model, deployment.settings);
    budget.cache = most_of_cache(deployment, budget.estimate);
    add_cache_note(deployment, budget);
    add_device_notes(deployment, budget);
    return budget;
}

} // namespace kvcaliper
