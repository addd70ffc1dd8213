// SPDX-License-Identifier: Apache-2.0
// The CUDA backend. The runtime is linked statically and the driver library never, so the program
// starts on machines without one and can say what is missing.
#include "kernels/backend.h"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/launch_index.cuh"
#include "kernels/cuda/launch_placed.cuh"
#include "kernels/cuda_driver.h"

#include <algorithm>
#include <string>
#include <vector>

namespace kvcaliper::kernels {

namespace {

constexpr std::int64_t kGranularity = std::int64_t{2} << 20;

[[noreturn]] void unusable(const std::string& reason) {
    throw Error("cuda: " + reason, ErrorKind::impossible_here);
}

/// Without a driver every other call reports "driver too old", and device counts stay unset. Only
/// the version call tells the cases apart: it succeeds with 0.
int driver_version() {
    int version = 0;
    if (cudaDriverGetVersion(&version) != cudaSuccess) {
        version = 0;
    }
    if (const std::string reason = driver_refusal(version); !reason.empty()) {
        unusable(reason);
    }
    return version;
}

void require_device() {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) {
        unusable("no NVIDIA GPU is visible");
    }
    simt::check(status, "looking for a GPU");
    simt::check(cudaSetDevice(0), "opening the first GPU");
}

void require_kernels(const cudaDeviceProp& properties) {
    cudaFuncAttributes attributes{};
    const cudaError_t status = cudaFuncGetAttributes(&attributes, merge_splits);
    if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction) {
        unusable("this build has no kernels for " + std::string(properties.name) +
                 " (compute capability " + std::to_string(properties.major) + "." +
                 std::to_string(properties.minor) + ")");
    }
    simt::check(status, "loading the kernels");
}

struct MemoryState {
    std::int64_t available, total;
};

MemoryState memory_state() {
    std::size_t available = 0;
    std::size_t total = 0;
    simt::check(cudaMemGetInfo(&available, &total), "asking for free memory");
    return {static_cast<std::int64_t>(available), static_cast<std::int64_t>(total)};
}

/// A pair of events around work on a stream.
class Stopwatch {
  public:
    explicit Stopwatch(Stream stream) : stream_(stream) {
        simt::check(cudaEventCreate(&begin_), "creating an event");
        simt::check(cudaEventCreate(&end_), "creating an event");
    }
    ~Stopwatch() {
        cudaEventDestroy(begin_);
        cudaEventDestroy(end_);
    }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

    template <class Work> double seconds(Work work) {
        simt::check(cudaEventRecord(begin_, stream_), "recording an event");
        work();
        simt::check(cudaEventRecord(end_, stream_), "recording an event");
        simt::check(cudaEventSynchronize(end_), "waiting for an event");
        float milliseconds = 0.0f;
        simt::check(cudaEventElapsedTime(&milliseconds, begin_, end_), "reading an event");
        return static_cast<double>(milliseconds) / 1000.0;
    }

  private:
    Stream stream_;
    cudaEvent_t begin_ = nullptr;
    cudaEvent_t end_ = nullptr;
};

class CudaBackend final : public Backend {
  public:
    explicit CudaBackend(bool tensor_cores) : driver_(driver_version()) {
        require_device();
        simt::check(cudaGetDeviceProperties(&properties_, 0), "asking for the GPU's properties");
        require_kernels(properties_);
        simt::check(cudaStreamCreate(&site_.stream), "creating a stream");
        site_.facts = {properties_.multiProcessorCount,
                       static_cast<std::int64_t>(properties_.sharedMemPerBlockOptin),
                       tensor_cores ? 10 * properties_.major + properties_.minor
                                    : DeviceFacts{}.compute_capability};
    }
    ~CudaBackend() override { cudaStreamDestroy(site_.stream); }

    DeviceInfo info() const override {
        const MemoryState memory = memory_state();
        return {"cuda",       properties_.name, "CUDA " + cuda_version_text(driver_),
                memory.total, memory.available, properties_.multiProcessorCount};
    }

    void* allocate(std::int64_t bytes) override {
        void* memory = nullptr;
        // Zero bytes would give a null pointer.
        const auto size = static_cast<std::size_t>(std::max(bytes, std::int64_t{1}));
        const cudaError_t status = cudaMalloc(&memory, size);
        if (status == cudaErrorMemoryAllocation) {
            cudaGetLastError(); // it would come back from the next launch
            unusable("allocate: expected " + std::to_string(bytes) + " bytes, found " +
                     std::to_string(memory_state().available) + " free");
        }
        simt::check(status, "allocate");
        return memory;
    }

    void release(void* memory, std::int64_t) noexcept override { cudaFree(memory); }

    void fill(void* memory, unsigned char byte, std::int64_t bytes) override {
        simt::check(cudaMemsetAsync(memory, byte, static_cast<std::size_t>(bytes), site_.stream),
                    "fill");
    }

    void write(void* device, const void* host, std::int64_t bytes) override {
        copy(device, host, bytes, cudaMemcpyHostToDevice, "write");
    }

    void read(void* host, const void* device, std::int64_t bytes) override {
        copy(host, device, bytes, cudaMemcpyDeviceToHost, "read");
    }

    MemorySample sample() override {
        MemorySample sample;
        sample.granularity = kGranularity;
        std::size_t available = 0;
        std::size_t total = 0;
        const cudaError_t status = cudaMemGetInfo(&available, &total);
        if (status == cudaSuccess) {
            sample.used_bytes = static_cast<std::int64_t>(total - available);
        } else {
            sample.unavailable = cudaGetErrorString(status);
        }
        return sample;
    }

    std::int64_t workspace_bytes(const AttentionView& view) const override {
        return plan_attention(view, site_.facts).workspace_bytes;
    }
    std::int64_t workspace_bytes(const LatentView& view) const override {
        return plan_attention(view, site_.facts).workspace_bytes;
    }
    std::int64_t workspace_bytes(const PagedAttentionView& view) const override {
        return plan_attention(view, site_.facts).workspace_bytes;
    }
    std::int64_t workspace_bytes(const ResidualAttentionView& view) const override {
        return plan_attention(view, site_.facts).workspace_bytes;
    }

    void append(const AppendView& view) override { run(view, site_); }
    void pack(const PackView& view) override { run(view, site_); }
    void attend(const AttentionView& view, void* workspace) override {
        run(view, workspace, site_);
    }
    void attend(const LatentView& view, void* workspace) override { run(view, workspace, site_); }
    void attend(const PagedAttentionView& view, void* workspace) override {
        run(view, workspace, site_);
    }
    void attend(const ResidualAttentionView& view, void* workspace) override {
        run(view, workspace, site_);
    }
    void score(const IndexScoreView& view) override { run(view, site_); }
    void select(const SelectView& view) override { run(view, site_); }
    void gather(const GatherView& view) override { run(view, site_); }
    void pool(const PoolView& view) override { run(view, site_); }
    void step(const Mamba1View& view) override { run(view, site_); }
    void step(const ConvView& view) override { run(view, site_); }
    void step(const Mamba2View& view) override { run(view, site_); }
    void step(const DeltaView& view) override { run(view, site_); }
    void step(const RglruView& view) override { run(view, site_); }
    void step(const Rwkv4View& view) override { run(view, site_); }
    void step(const RwkvView& view) override { run(view, site_); }
    void step(const XlstmView& view) override { run(view, site_); }

    void synchronize() override { simt::check(cudaStreamSynchronize(site_.stream), "a kernel"); }

    double read_bandwidth() override {
        const std::int64_t wanted = std::int64_t{4} << 30;
        const std::int64_t bytes = std::min(wanted, memory_state().available / 4) & ~255LL;
        void* const memory = allocate(bytes);
        try {
            const double seconds = median_read(memory, bytes);
            release(memory, bytes);
            return static_cast<double>(bytes) / seconds;
        } catch (...) {
            release(memory, bytes);
            throw;
        }
    }

    double attention_bound(const AttentionView& view) const override {
        return error_bound(plan_attention(view, site_.facts));
    }
    double attention_bound(const LatentView& view) const override {
        return error_bound(plan_attention(view, site_.facts));
    }
    double attention_bound(const ResidualAttentionView& view) const override {
        return error_bound(plan_attention(view, site_.facts));
    }
    double state_bound() const override { return kStateBound; }

  private:
    void copy(void* to, const void* from, std::int64_t bytes, cudaMemcpyKind kind,
              const char* doing) {
        simt::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), kind, site_.stream),
                    doing);
        simt::check(cudaStreamSynchronize(site_.stream), doing);
    }

    /// Seconds of one pass over the memory, after warming up.
    double median_read(void* memory, std::int64_t bytes) {
        fill(memory, 0, bytes);
        const auto* data = static_cast<const Quad*>(memory);
        const std::int64_t count = bytes / static_cast<std::int64_t>(sizeof(Quad));
        Stopwatch stopwatch(site_.stream);
        const auto pass = [&] {
            launch(read_all, site_.facts.multiprocessors * 16, kBlockThreads, 0, site_.stream, data,
                   count, static_cast<std::uint32_t*>(memory));
        };
        for (int warm_up = 0; warm_up < 3; ++warm_up) {
            pass();
        }
        std::vector<double> times(30);
        std::generate(times.begin(), times.end(), [&] { return stopwatch.seconds(pass); });
        std::nth_element(times.begin(), times.begin() + 15, times.end());
        return times[15];
    }

    int driver_;
    cudaDeviceProp properties_{};
    LaunchSite site_;
};

} // namespace

std::unique_ptr<Backend> make_cuda_backend(bool tensor_cores) {
    return std::make_unique<CudaBackend>(tensor_cores);
}

} // namespace kvcaliper::kernels
