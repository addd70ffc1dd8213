// SPDX-License-Identifier: Apache-2.0
// Attention steps of the CPU backend on caches far larger than any processor cache, as a share of
// what a plain read of memory reaches in the same run: the best step beside the best read, because
// others use the memory too. Steps of one group take turns with reads.
#include "kernels/backend_cpu.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace {

using namespace kvcaliper::kernels;

constexpr std::int64_t kHeads = 8, kWidth = 128, kTokens = 32768; // 134 MB of keys and values

/// Backend memory of 16-bit numbers, all of them 0.0078 in f16 and 4.7e-38 or less in bf16: no
/// step takes longer for them.
class Plane {
  public:
    Plane(Backend& backend, std::int64_t bytes)
        : backend_(backend), bytes_(bytes), memory_(backend.allocate(bytes)) {
        backend.fill(memory_, 0x20, bytes);
    }
    ~Plane() { backend_.release(memory_, bytes_); }
    Plane(const Plane&) = delete;
    Plane& operator=(const Plane&) = delete;
    void* get() const { return memory_; }

  private:
    Backend& backend_;
    std::int64_t bytes_;
    void* memory_;
};

AttentionView view_of(std::int64_t group, Format format) {
    AttentionView view{};
    view.sequences = 1;
    view.heads = kHeads * group;
    view.kv_heads = kHeads;
    view.key_width = view.value_width = kWidth;
    view.slots = view.valid = kTokens;
    view.scale = 1.0f / std::sqrt(static_cast<float>(kWidth));
    view.element = format == Format::bf16 ? Element::bf16 : Element::f16;
    view.key_format = view.value_format = format;
    return view;
}

double seconds_of(Backend& backend, const AttentionView& view, void* workspace) {
    const auto begin = std::chrono::steady_clock::now();
    backend.attend(view, workspace);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void measure(benchmark::State& state, Backend& backend, Format format) {
    AttentionView view = view_of(state.range(0), format);
    const std::int64_t plane_bytes = kHeads * kTokens * stored_row_bytes(format, kWidth);
    const Plane q(backend, view.heads * kWidth * 2), out(backend, view.heads * kWidth * 4);
    const Plane k(backend, plane_bytes), v(backend, plane_bytes);
    const Plane workspace(backend, backend.workspace_bytes(view));
    view.q = q.get();
    view.k = k.get();
    view.v = v.get();
    view.out = static_cast<float*>(out.get());
    double ceiling = backend.read_bandwidth(), best = 1e9;
    std::int64_t steps = 0;
    for (auto _ : state) {
        const double seconds = seconds_of(backend, view, workspace.get());
        state.SetIterationTime(seconds);
        best = std::min(best, seconds);
        if (++steps % 32 == 0) {
            ceiling = std::max(ceiling, backend.read_bandwidth());
        }
    }
    ceiling = std::max(ceiling, backend.read_bandwidth());
    const double speed = static_cast<double>(2 * plane_bytes) / best;
    state.counters["GB/s"] = speed / 1e9;
    state.counters["read_GB/s"] = ceiling / 1e9;
    state.counters["share_of_read"] = speed / ceiling;
}

/// Every build of the loops that this processor can run, by group of query heads per KV head.
const bool registered = [] {
    for (const VectorKernels* kernels : usable_vector_kernels()) {
        for (const Format format : {Format::f16, Format::bf16, Format::q8_0}) {
            benchmark::RegisterBenchmark(
                ("attention/" + std::string(kernels->name) + "/" + name_of(format)).c_str(),
                [kernels, format](benchmark::State& state) {
                    const auto backend = make_cpu_backend(*kernels);
                    measure(state, *backend, format);
                })
                ->Arg(1)
                ->Arg(2)
                ->Arg(4)
                ->Arg(8)
                ->UseManualTime()
                ->Unit(benchmark::kMillisecond);
        }
    }
    return true;
}();

} // namespace
