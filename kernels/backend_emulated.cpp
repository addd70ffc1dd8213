// SPDX-License-Identifier: Apache-2.0
#include "kernels/backend_emulated.h"

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/launch_index.cuh"
#include "kernels/cuda/launch_placed.cuh"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include <unistd.h>

namespace kvcaliper::kernels {

namespace {

std::int64_t host_bytes(int pages) {
    return std::int64_t{sysconf(pages)} * sysconf(_SC_PAGESIZE);
}

class EmulatedBackend final : public Backend {
  public:
    explicit EmulatedBackend(const EmulatedOptions& options) : options_(options) {}

    DeviceInfo info() const override {
        return {"emulated",
                "CUDA kernels on the emulator as sm_" +
                    std::to_string(options_.facts.compute_capability),
                "",
                host_bytes(_SC_PHYS_PAGES),
                host_bytes(_SC_AVPHYS_PAGES),
                static_cast<int>(options_.facts.multiprocessors)};
    }

    /// Exactly the bytes asked for, so that AddressSanitizer sees the first one past the end.
    void* allocate(std::int64_t bytes) override {
        void* memory = nullptr;
        if (posix_memalign(&memory, 256, static_cast<std::size_t>(bytes)) != 0) {
            throw Error("emulated: allocate: expected " + std::to_string(bytes) +
                            " bytes, found no memory",
                        ErrorKind::impossible_here);
        }
        return memory;
    }

    void release(void* memory, std::int64_t) noexcept override { std::free(memory); }

    void fill(void* memory, unsigned char byte, std::int64_t bytes) override {
        std::fill_n(static_cast<unsigned char*>(memory), bytes, byte);
    }
    void write(void* device, const void* host, std::int64_t bytes) override {
        std::copy_n(static_cast<const std::byte*>(host), bytes, static_cast<std::byte*>(device));
    }
    void read(void* host, const void* device, std::int64_t bytes) override {
        write(host, device, bytes);
    }

    MemorySample sample() override {
        MemorySample sample;
        sample.unavailable = "the emulator has no device memory of its own";
        return sample;
    }

    std::int64_t workspace_bytes(const AttentionView& view) const override {
        return plan_attention(view, options_.facts, options_.splits).workspace_bytes;
    }
    std::int64_t workspace_bytes(const LatentView& view) const override {
        return plan_attention(view, options_.facts, options_.splits).workspace_bytes;
    }
    std::int64_t workspace_bytes(const PagedAttentionView& view) const override {
        return plan_attention(view, options_.facts, options_.splits).workspace_bytes;
    }
    std::int64_t workspace_bytes(const ResidualAttentionView& view) const override {
        return plan_attention(view, options_.facts, options_.splits).workspace_bytes;
    }

    void append(const AppendView& view) override { run(view, site()); }
    void pack(const PackView& view) override { run(view, site()); }
    void attend(const AttentionView& view, void* workspace) override {
        run(view, workspace, site());
    }
    void attend(const LatentView& view, void* workspace) override { run(view, workspace, site()); }
    void attend(const PagedAttentionView& view, void* workspace) override {
        run(view, workspace, site());
    }
    void attend(const ResidualAttentionView& view, void* workspace) override {
        run(view, workspace, site());
    }
    void score(const IndexScoreView& view) override { run(view, site()); }
    void select(const SelectView& view) override { run(view, site()); }
    void gather(const GatherView& view) override { run(view, site()); }
    void pool(const PoolView& view) override { run(view, site()); }
    void step(const Mamba1View& view) override { run(view, site()); }
    void step(const ConvView& view) override { run(view, site()); }
    void step(const Mamba2View& view) override { run(view, site()); }
    void step(const DeltaView& view) override { run(view, site()); }
    void step(const RglruView& view) override { run(view, site()); }
    void step(const Rwkv4View& view) override { run(view, site()); }
    void step(const RwkvView& view) override { run(view, site()); }
    void step(const XlstmView& view) override { run(view, site()); }
    void synchronize() override {}

    double read_bandwidth() override {
        const std::vector<Quad> data(std::size_t{1} << 16);
        std::uint32_t sink = 0;
        const auto begin = std::chrono::steady_clock::now();
        launch(read_all, options_.facts.multiprocessors, kBlockThreads, 0, site().stream,
               data.data(), static_cast<std::int64_t>(data.size()), &sink);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        return static_cast<double>(data.size() * sizeof(Quad)) / took.count();
    }

    double attention_bound(const AttentionView& view) const override {
        return error_bound(plan_attention(view, options_.facts, options_.splits));
    }
    double attention_bound(const LatentView& view) const override {
        return error_bound(plan_attention(view, options_.facts, options_.splits));
    }
    double attention_bound(const ResidualAttentionView& view) const override {
        return error_bound(plan_attention(view, options_.facts, options_.splits));
    }
    double state_bound() const override { return kStateBound; }

  private:
    LaunchSite site() const {
        simt::Config& config = simt::config();
        config.order = options_.order;
        config.seed = options_.seed;
        config.shared_limit = options_.facts.shared_limit;
        return {options_.facts, {}, options_.splits};
    }

    EmulatedOptions options_;
};

} // namespace

std::unique_ptr<Backend> make_emulated_backend(const EmulatedOptions& options) {
    return std::make_unique<EmulatedBackend>(options);
}

} // namespace kvcaliper::kernels
