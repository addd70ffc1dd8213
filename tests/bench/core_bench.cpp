// SPDX-License-Identifier: Apache-2.0
// What the window does on every move of a slider, and what a command does at its start.
#include "core/architectures/architectures.h"
#include "core/catalog.h"
#include "core/claim.h"
#include "core/error.h"
#include "core/report.h"

#include <benchmark/benchmark.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

using namespace kvcaliper;

void load(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(load_model("gemma-3-27b"));
    }
}
BENCHMARK(load);

void estimate_seed(benchmark::State& state) {
    std::vector<ModelPtr> models;
    for (const std::string& name : seed_models()) {
        models.push_back(load_model(name));
    }
    for (auto _ : state) {
        for (const ModelPtr& model : models) {
            benchmark::DoNotOptimize(estimate(model, Settings{}));
        }
    }
}
BENCHMARK(estimate_seed);

void curve_of_256_points(benchmark::State& state) {
    const ModelPtr model = load_model("gemma-3-27b");
    for (auto _ : state) {
        benchmark::DoNotOptimize(curve(*model, Settings{}, Tokens(1), Tokens(131072), 256));
    }
}
BENCHMARK(curve_of_256_points);

void explanation(benchmark::State& state) {
    const Estimate answer = estimate(load_model("gemma-3-27b"), Settings{});
    for (auto _ : state) {
        benchmark::DoNotOptimize(explain(answer.required));
    }
}
BENCHMARK(explanation);

/// Reads, plans, builds and sizes a text; what a scan of a model collection costs per config.
void size_config(const std::string& text) {
    JsonDocument document = parse_json(text, "bench");
    auto model = std::make_shared<Model>();
    model->plan =
        plan_model({"bench", "bench", std::move(document.value), std::move(document.warnings)});
    model->spec = build_cache_spec(model->plan);
    benchmark::DoNotOptimize(estimate(model, Settings{}));
}

void bundled_configs_from_memory(benchmark::State& state) {
    std::vector<std::string> texts;
    for (const CatalogEntry& entry : bundled_models()) {
        std::ifstream file(entry.path);
        texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    for (auto _ : state) {
        for (const std::string& text : texts) {
            size_config(text);
        }
    }
    state.SetItemsProcessed(state.iterations() * std::ssize(texts));
}
BENCHMARK(bundled_configs_from_memory);

/// The same over KVCALIPER_CORPUS/hf, where it is set; files core refuses are left out.
void corpus_configs_from_memory(benchmark::State& state) {
    const char* corpus = std::getenv("KVCALIPER_CORPUS");
    std::vector<std::string> texts;
    std::int64_t bytes = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(corpus ? corpus : ".") + "/hf")) {
        std::ifstream file(entry.path());
        std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
        try {
            size_config(text);
            bytes += std::ssize(text);
            texts.push_back(std::move(text));
        } catch (const Error&) {
            continue;
        }
    }
    for (auto _ : state) {
        for (const std::string& text : texts) {
            size_config(text);
        }
    }
    state.SetItemsProcessed(state.iterations() * std::ssize(texts));
    state.SetBytesProcessed(state.iterations() * bytes);
}

void seed_claims(benchmark::State& state) {
    for (auto _ : state) {
        const auto catalog = bundled_models();
        for (const Claim& claim : read_claims(bundled_claims_path("seed"))) {
            benchmark::DoNotOptimize(check_claim(claim, catalog));
        }
    }
}
BENCHMARK(seed_claims)->Unit(benchmark::kMillisecond);

const bool has_corpus = [] {
    if (std::getenv("KVCALIPER_CORPUS") != nullptr) {
        benchmark::RegisterBenchmark("corpus_configs_from_memory", corpus_configs_from_memory);
    }
    return true;
}();

} // namespace
