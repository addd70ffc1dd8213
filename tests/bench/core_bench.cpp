// SPDX-License-Identifier: Apache-2.0
// What the window does on every move of a slider, and what a command does at its start.
#include "core/catalog.h"
#include "core/claim.h"
#include "core/report.h"

#include <benchmark/benchmark.h>

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

void seed_claims(benchmark::State& state) {
    for (auto _ : state) {
        const auto catalog = bundled_models();
        for (const Claim& claim : read_claims(bundled_claims_path("seed"))) {
            benchmark::DoNotOptimize(check_claim(claim, catalog));
        }
    }
}
BENCHMARK(seed_claims)->Unit(benchmark::kMillisecond);

} // namespace
