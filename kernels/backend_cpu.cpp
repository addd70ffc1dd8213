// SPDX-License-Identifier: Apache-2.0
// The backend for machines without a GPU: all threads, the widest vectors the processor has.
#include "kernels/backend_cpu.h"

#include "core/error.h"
#include "kernels/backend_cpu_append.h"
#include "kernels/backend_cpu_index.h"
#include "kernels/backend_cpu_state.h"
#include "kernels/backend_cpu_steps.h"
#include "kernels/parallel.h"
#include "kernels/system_memory.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <vector>
#if defined(KVCALIPER_CPU_X86_VARIANTS)
#include <cpuid.h>
#endif

namespace kvcaliper::kernels {
namespace {

// f32 sums over up to a million tokens and an exp good to 2e-7; measured worst heads stay below a
// fifth of this, while one changed cache element shows as 1e-4 or more.
constexpr double attention_error = 1e-5;

class CpuBackend final : public Backend {
  public:
    explicit CpuBackend(const VectorKernels& kernels) : kernels_(kernels) {}

    DeviceInfo info() const override {
        DeviceInfo info;
        info.backend = "cpu";
        info.multiprocessors = thread_count();
        info.name = processor_name() + ", " + std::to_string(info.multiprocessors) +
                    (info.multiprocessors == 1 ? " thread, " : " threads, ") + kernels_.name;
        info.memory_bytes = total_memory();
        info.available_bytes = available_memory();
        return info;
    }

    // Every buffer gets pages of its own, so that memory given back leaves the process and resident
    // bytes follow what is allocated. A sanitizer guards what comes from malloc only.
    void* allocate(std::int64_t bytes) override {
#if defined(__SANITIZE_ADDRESS__)
        return ::operator new(static_cast<std::size_t>(bytes), std::align_val_t(256));
#else
        return map_memory(bytes);
#endif
    }

    void release(void* memory, [[maybe_unused]] std::int64_t bytes) noexcept override {
#if defined(__SANITIZE_ADDRESS__)
        ::operator delete(memory, std::align_val_t(256));
#else
        unmap_memory(memory, bytes);
#endif
    }

    void fill(void* memory, unsigned char byte, std::int64_t bytes) override {
        in_pieces(bytes, [&](std::int64_t at, std::size_t size) {
            std::memset(static_cast<unsigned char*>(memory) + at, byte, size);
        });
    }
    void write(void* device, const void* host, std::int64_t bytes) override {
        copy(device, host, bytes);
    }
    void read(void* host, const void* device, std::int64_t bytes) override {
        copy(host, device, bytes);
    }

    MemorySample sample() override {
        MemorySample sample;
        sample.used_bytes = resident_bytes();
        sample.granularity = page_bytes();
        if (!sample.used_bytes)
            sample.unavailable = "/proc/self/statm can not be read";
        return sample;
    }

    std::int64_t workspace_bytes(const AttentionView& view) const override {
        return attention_workspace(view);
    }
    std::int64_t workspace_bytes(const LatentView& view) const override {
        return attention_workspace(view);
    }

    std::int64_t workspace_bytes(const PagedAttentionView& view) const override {
        return attention_workspace(view);
    }
    std::int64_t workspace_bytes(const ResidualAttentionView& view) const override {
        return attention_workspace(view);
    }

    void append(const AppendView& view) override;
    void pack(const PackView& view) override {
        pack_rows(kernels_, view);
    }
    void attend(const AttentionView& view, void* workspace) override {
        run_attention(kernels_, view, workspace);
    }
    void attend(const LatentView& view, void* workspace) override {
        run_attention(kernels_, view, workspace);
    }
    void attend(const PagedAttentionView& view, void* workspace) override {
        run_attention(kernels_, view, workspace);
    }
    void attend(const ResidualAttentionView& view, void* workspace) override {
        run_attention(kernels_, view, workspace);
    }
    void score(const IndexScoreView& view) override {
        run_index_step(kernels_, view);
    }
    void select(const SelectView& view) override {
        run_index_step(view);
    }
    void gather(const GatherView& view) override {
        run_index_step(view);
    }
    void pool(const PoolView& view) override {
        run_index_step(kernels_, view);
    }
    void step(const Mamba1View& view) override {
        run_state_step(kernels_, view);
    }
    void step(const ConvView& view) override {
        run_state_step(kernels_, view);
    }
    void step(const Mamba2View& view) override {
        run_state_step(kernels_, view);
    }
    void step(const DeltaView& view) override {
        run_state_step(kernels_, view);
    }
    void step(const RglruView& view) override {
        run_state_step(kernels_, view);
    }
    void step(const Rwkv4View& view) override {
        run_state_step(kernels_, view);
    }
    void step(const RwkvView& view) override {
        run_state_step(kernels_, view);
    }
    void step(const XlstmView& view) override {
        run_state_step(kernels_, view);
    }
    void synchronize() override {}

    double read_bandwidth() override;
    double attention_bound(const AttentionView&) const override {
        return attention_error;
    }
    double attention_bound(const LatentView&) const override {
        return attention_error;
    }
    double attention_bound(const ResidualAttentionView&) const override {
        return attention_error;
    }
    double state_bound() const override {
        return 5e-6;
    }

  private:
    template <typename Do> static void in_pieces(std::int64_t bytes, const Do& work) {
        constexpr std::int64_t piece = 4 << 20;
        parallel_for((bytes + piece - 1) / piece, [&](std::int64_t i) {
            work(i * piece, static_cast<std::size_t>(std::min(piece, bytes - i * piece)));
        });
    }

    static void copy(void* to, const void* from, std::int64_t bytes) {
        in_pieces(bytes, [&](std::int64_t at, std::size_t size) {
            std::memcpy(static_cast<unsigned char*>(to) + at,
                        static_cast<const unsigned char*>(from) + at, size);
        });
    }

    const VectorKernels& kernels_;
};

void CpuBackend::append(const AppendView& view) {
    append_rows(kernels_, view);
}

/// The best of several reads of 512 MiB, or of a quarter of what is available when that is less.
/// Others use the memory too, so it tries for a fifth of a second.
double CpuBackend::read_bandwidth() {
    using Clock = std::chrono::steady_clock;
    const std::int64_t bytes = std::min<std::int64_t>(512 << 20, available_memory() / 4);
    const std::int64_t piece = 1 << 20, pieces = bytes / piece;
    if (pieces == 0)
        return 0;
    void* memory = map_memory(bytes);
    fill(memory, 1, bytes);
    double best = 0;
    std::vector<std::uint64_t> sums(static_cast<std::size_t>(pieces));
    const auto end = Clock::now() + std::chrono::milliseconds(200);
    for (int repeat = 0; repeat < 3 || Clock::now() < end; ++repeat) {
        const auto start = Clock::now();
        parallel_for(pieces, [&](std::int64_t i) {
            sums[static_cast<std::size_t>(i)] =
                kernels_.checksum(static_cast<unsigned char*>(memory) + i * piece, piece);
        });
        const std::chrono::duration<double> seconds = Clock::now() - start;
        best = std::max(best, static_cast<double>(pieces * piece) / seconds.count());
    }
    unmap_memory(memory, bytes);
    return best;
}

} // namespace

#if defined(KVCALIPER_CPU_X86_VARIANTS)
/// __builtin_cpu_supports of clang 14 does not know this one: CPUID leaf 1, ECX bit 29.
static bool has_f16c() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c >> 29 & 1) != 0;
}
#endif

std::vector<const VectorKernels*> usable_vector_kernels() {
    std::vector<const VectorKernels*> usable{&baseline::vector_kernels};
#if defined(KVCALIPER_CPU_X86_VARIANTS)
    __builtin_cpu_init();
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512cd");
    if (v3)
        usable.push_back(&x86_64_v3::vector_kernels);
    if (v4)
        usable.push_back(&x86_64_v4::vector_kernels);
#endif
    return usable;
}

std::unique_ptr<Backend> make_cpu_backend(const VectorKernels& kernels) {
    return std::make_unique<CpuBackend>(kernels);
}

std::unique_ptr<Backend> make_cpu_backend() {
    return make_cpu_backend(*usable_vector_kernels().back());
}

} // namespace kvcaliper::kernels
