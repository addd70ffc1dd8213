// SPDX-License-Identifier: Apache-2.0
#include "core/engines/engine.h"

#include "core/engines/profile.h"

#include <array>

namespace kvcaliper {

namespace {

using ReserveRule = Reservation (*)(const Model&, const Settings&, const OptionValues&);

/// Rules of ranks, where an engine's own differ from running its rule on what a rank holds.
struct RankRules {
    Reservation (*reserve)(const Model&, const Settings&, const OptionValues&,
                           const StageLayers&) = nullptr;
    std::vector<StageLayers> (*split)(std::int64_t, std::int64_t) = split_layers;
    void (*check)(const Model&, const Settings&, const OptionValues&) = nullptr;
    bool shares_across_stages = false; ///< a layer may read a cache on another stage
};

struct Profile {
    EngineInfo info;
    ReserveRule reserve = nullptr; ///< none for ideal
    RankRules ranks{};
};

const auto& profiles() {
    static const std::array list = {
        Profile{{"ideal",
                 "what the architecture needs: exact windows, one latent, no padding",
                 "",
                 {},
                 {true, true, true}},
                nullptr},
        Profile{{"llama_cpp",
                 "cells for the whole context up front, padded to 256; F32 states",
                 "sources of 2026: src/llama-kv-cache*.cpp, llama-memory-recurrent.cpp",
                 llama_cpp_options(),
                 {false, true, false}},
                reserve_llama_cpp,
                {reserve_llama_cpp_stage, split_llama_cpp, nullptr, true}},
        Profile{{"vllm",
                 "blocks a request is admitted with; one page size for all layers",
                 "commit 001cabc, May 2026: v1/core/kv_cache_utils.py, v1/kv_cache_interface.py",
                 vllm_options(),
                 {true, true, true}},
                reserve_vllm,
                {reserve_vllm_stage, split_layers, check_vllm_spread}},
        Profile{{"sglang",
                 "pools of slots for the tokens of all sequences; states by request",
                 "0.5.23: srt/mem_cache/memory_pool.py, model_executor/pool_configurator.py",
                 sglang_options(),
                 {true, true, false}},
                reserve_sglang,
                {nullptr, split_sglang}},
        Profile{
            {"transformers",
             "tensors of the rows in use (dynamic), of the longest length (static), or quantised",
             "5.24: cache_utils.py, models/*/modeling_*.py", transformers_options()},
            reserve_transformers},
        Profile{{"mlx", "steps of 256 tokens; windows rotate inside as many rows",
                 "mlx-lm 0.32.2: mlx_lm/models/cache.py, generate.py", mlx_options()},
                reserve_mlx},
        Profile{{"ik_llama",
                 "cells for the whole context on every layer; modes of latent attention",
                 "commit 8337e4c, August 2026: src/llama.cpp", ik_llama_options()},
                reserve_ik_llama},
        Profile{{"tensorrt_llm",
                 "blocks of tokens, one pool for all layers",
                 "sources of 2026: _torch/pyexecutor/resource_manager.py",
                 tensorrt_llm_options(),
                 {true, false, false}},
                reserve_tensorrt_llm}};
    return list;
}

const Profile& find_profile(std::string_view name) {
    std::string known;
    for (const Profile& profile : profiles()) {
        if (profile.info.name == name) {
            return profile;
        }
        known += (known.empty() ? "" : ", ") + std::string(profile.info.name);
    }
    throw Error("--engine: expected one of " + known + ", found \"" + std::string(name) + "\"");
}

} // namespace

std::span<const EngineInfo> engines() {
    static const auto infos = [] {
        std::vector<EngineInfo> list;
        for (const Profile& profile : profiles()) {
            list.push_back(profile.info);
        }
        return list;
    }();
    return infos;
}

const EngineInfo& find_engine(std::string_view name) {
    return find_profile(name).info;
}

std::map<std::string, std::string, std::less<>> resolved_options(const Settings& settings) {
    return OptionValues(find_engine(settings.engine), settings.engine_options).all();
}

std::optional<Reservation> reserve(const Model& model, const Settings& settings) {
    const Profile& profile = find_profile(settings.engine);
    const OptionValues options(profile.info, settings.engine_options);
    if (profile.reserve == nullptr) {
        return std::nullopt;
    }
    return profile.reserve(model, settings, options);
}

std::optional<Reservation> reserve_stage(const Model& divided, const Settings& settings,
                                         const StageLayers& layers) {
    const Profile& profile = find_profile(settings.engine);
    if (profile.ranks.reserve != nullptr) {
        const OptionValues options(profile.info, settings.engine_options);
        return profile.ranks.reserve(divided, settings, options, layers);
    }
    Model held{keep_stage(divided.plan, layers), {}};
    held.spec = build_cache_spec(held.plan, settings.encoder_tokens);
    return reserve(held, settings);
}

std::vector<StageLayers> split_for_engine(const ModelPlan& plan, const Settings& settings) {
    const Profile& profile = find_profile(settings.engine);
    const auto layers = static_cast<std::int64_t>(plan.layers.size());
    auto stages = profile.ranks.split(layers, settings.parallel.pipeline);
    if (!profile.ranks.shares_across_stages) {
        check_sharing(plan, stages);
    }
    return stages;
}

std::int64_t context_ranks(const Settings& settings) {
    const auto options = resolved_options(settings);
    const auto shared = options.find("decode-context-parallel-size");
    return checked_multiply(settings.parallel.context,
                            shared == options.end() ? 1 : std::stoll(shared->second));
}

void check_spread(const Settings& settings, const Model& model) {
    const Profile& profile = find_profile(settings.engine);
    const auto check = [&](bool known, std::int64_t ranks, const char* option) {
        if (!known && ranks != 1) {
            throw no_rule(profile.info.name, std::string(option) + " " + std::to_string(ranks));
        }
    };
    check(profile.info.ways.tensor, settings.parallel.tensor, "--tp");
    check(profile.info.ways.pipeline, settings.parallel.pipeline, "--pp");
    check(profile.info.ways.context, settings.parallel.context, "--cp");
    if (profile.ranks.check != nullptr) {
        profile.ranks.check(model, settings, OptionValues(profile.info, settings.engine_options));
    }
}

} // namespace kvcaliper
