// SPDX-License-Identifier: Apache-2.0
#include "core/engines/engine.h"

#include "core/engines/profile.h"

#include <array>

namespace kvcaliper {

namespace {

using ReserveRule = Reservation (*)(const Model&, const Settings&, const OptionValues&);

struct Profile {
    EngineInfo info;
    ReserveRule reserve = nullptr; ///< none for ideal
};

const auto& profiles() {
    static const std::array list = {
        Profile{{"ideal",
                 "what the architecture needs: exact windows, one latent, no padding",
                 "",
                 {},
                 {true, true, true}},
                nullptr},
        Profile{{"llama_cpp", "cells for the whole context up front, padded to 256; F32 states",
                 "sources of 2026: src/llama-kv-cache*.cpp, llama-memory-recurrent.cpp",
                 llama_cpp_options()},
                reserve_llama_cpp},
        Profile{{"vllm",
                 "blocks a request is admitted with; one page size for all layers",
                 "commit 001cabc, May 2026: v1/core/kv_cache_utils.py, v1/kv_cache_interface.py",
                 vllm_options(),
                 {true, false, false}},
                reserve_vllm},
        Profile{{"sglang",
                 "pools of slots for the tokens of all sequences; states by request",
                 "0.5.23: srt/mem_cache/memory_pool.py, model_executor/pool_configurator.py",
                 sglang_options(),
                 {}},
                reserve_sglang}};
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
    Model held{keep_stage(divided.plan, layers), {}};
    held.spec = build_cache_spec(held.plan, settings.encoder_tokens);
    return reserve(held, settings);
}

std::vector<StageLayers> split_for_engine(const ModelPlan& plan, const Settings& settings) {
    auto stages =
        split_layers(static_cast<std::int64_t>(plan.layers.size()), settings.parallel.pipeline);
    check_sharing(plan, stages);
    return stages;
}

std::int64_t context_ranks(const Settings& settings) {
    return settings.parallel.context;
}

void check_spread(const Settings& settings, const Model&) {
    const EngineInfo& engine = find_engine(settings.engine);
    const auto check = [&](bool known, std::int64_t ranks, const char* option) {
        if (!known && ranks != 1) {
            throw no_rule(engine.name, std::string(option) + " " + std::to_string(ranks));
        }
    };
    check(engine.ways.tensor, settings.parallel.tensor, "--tp");
    check(engine.ways.pipeline, settings.parallel.pipeline, "--pp");
    check(engine.ways.context, settings.parallel.context, "--cp");
}

} // namespace kvcaliper
