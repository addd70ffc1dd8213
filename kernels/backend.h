// SPDX-License-Identifier: Apache-2.0
// One interface for every place a decode step can run: cuda, cpu, and in tests emulated.
#pragma once

#include "kernels/views.h"
#include "kernels/views_recurrent.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace kvcaliper::kernels {

struct DeviceInfo {
    std::string backend;              ///< "cuda", "cpu" or "emulated"
    std::string name;                 ///< "NVIDIA H200", "AMD EPYC …, 2 threads, x86-64-v4"
    std::string driver;               ///< empty where there is none
    std::int64_t memory_bytes = 0;    ///< total
    std::int64_t available_bytes = 0; ///< what may still be allocated now
    int multiprocessors = 1;          ///< threads on the CPU
};

/// What the system says is in use, with the smallest step it can show.
struct MemorySample {
    std::optional<std::int64_t>
        used_bytes; ///< device memory used, or this process's resident bytes
    std::int64_t granularity = 4096;
    std::string unavailable; ///< why used_bytes is absent
};

/// Raw memory and decode steps on one device. Calls may be asynchronous until synchronize().
/// Errors are kvcaliper::Error; a shape that is not covered is refused before any launch.
class Backend {
  public:
    virtual ~Backend() = default;
    virtual DeviceInfo info() const = 0;

    /// At least `bytes`, aligned to 256. Throws Error when memory is out.
    virtual void* allocate(std::int64_t bytes) = 0;
    virtual void release(void* memory, std::int64_t bytes) noexcept = 0;
    virtual void fill(void* memory, unsigned char byte, std::int64_t bytes) = 0;
    virtual void write(void* device, const void* host, std::int64_t bytes) = 0;
    virtual void read(void* host, const void* device, std::int64_t bytes) = 0;
    virtual MemorySample sample() = 0;

    /// Scratch a step needs, allocated by the caller and passed to it. 0 when none.
    virtual std::int64_t workspace_bytes(const AttentionView& view) const = 0;
    virtual std::int64_t workspace_bytes(const LatentView& view) const = 0;
    virtual std::int64_t workspace_bytes(const PagedAttentionView& view) const = 0;
    virtual std::int64_t workspace_bytes(const ResidualAttentionView& view) const = 0;

    virtual void append(const AppendView& view) = 0;
    virtual void pack(const PackView& view) = 0;
    virtual void attend(const AttentionView& view, void* workspace) = 0;
    virtual void attend(const LatentView& view, void* workspace) = 0;
    virtual void attend(const PagedAttentionView& view, void* workspace) = 0;
    virtual void attend(const ResidualAttentionView& view, void* workspace) = 0;
    // What an indexer and compressed entries need beside that.
    virtual void score(const IndexScoreView& view) = 0;
    virtual void select(const SelectView& view) = 0;
    virtual void gather(const GatherView& view) = 0;
    virtual void pool(const PoolView& view) = 0;
    virtual void step(const Mamba1View& view) = 0;
    virtual void step(const ConvView& view) = 0;
    virtual void step(const Mamba2View& view) = 0;
    virtual void step(const DeltaView& view) = 0;
    virtual void step(const RglruView& view) = 0;
    virtual void step(const Rwkv4View& view) = 0;
    virtual void step(const RwkvView& view) = 0;
    virtual void step(const XlstmView& view) = 0;
    virtual void synchronize() = 0;

    /// Bytes per second of a plain read of memory far larger than any cache, measured now.
    virtual double read_bandwidth() = 0;

    /// Largest relative L2 error per head that the kernels which run such a step may show
    /// (kernels.md 6). Pointers, slots and valid do not matter.
    virtual double attention_bound(const AttentionView& view) const = 0;
    virtual double attention_bound(const LatentView& view) const = 0;
    virtual double attention_bound(const ResidualAttentionView& view) const = 0;
    virtual double state_bound() const = 0;
};

/// Native vectorised C++ on all cores.
std::unique_ptr<Backend> make_cpu_backend();

/// Throws Error(impossible_here) with a one-line reason where no GPU can be used or the part was
/// not built. Without tensor cores it runs what a GPU that lacks them would.
std::unique_ptr<Backend> make_cuda_backend(bool tensor_cores = true);

} // namespace kvcaliper::kernels
