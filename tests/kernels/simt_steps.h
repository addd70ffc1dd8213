// SPDX-License-Identifier: Apache-2.0
// Runs one step on a backend with poisoned memory around it and brings back what it wrote.
#pragma once

#include "simt_reference.h"

#include <memory>

namespace kvcaliper::kernels::test {

/// The backend that the shared kernel tests run on, or null with the reason in `why_not`.
std::unique_ptr<Backend> make_backend_under_test(std::string& why_not);

/// Device memory that starts as 0xff bytes: NaN in every element.
class Memory {
  public:
    Memory(Backend& backend, std::int64_t bytes);
    Memory(Backend& backend, const std::vector<std::byte>& content);
    Memory(Backend& backend, const Values& values, Element element)
        : Memory(backend, stored(values, element)) {}
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    std::vector<std::byte> bytes() const;
    Values values(Element element) const { return restored(bytes(), element); }
    void* get() const { return memory_; }
    float* floats() const { return static_cast<float*>(memory_); }

  private:
    Backend& backend_;
    void* memory_;
    std::int64_t size_;
};

/// The data of a step, with q multiplied by `peak`, for any view without pointers. Slots from
/// `valid` on are NaN: a kernel that reads them shows it.
AttentionData attention_data(const AttentionView& sizes, std::uint64_t seed, double peak = 1.0);
LatentData latent_data(const LatentView& sizes, std::uint64_t seed, double peak = 1.0);
MambaData mamba_data(const Mamba1View& sizes, std::uint64_t seed);

Values run_step(Backend& backend, AttentionView view, const AttentionData& data);
Values run_step(Backend& backend, LatentView view, const LatentData& data);

/// Advances history and state of `data` and returns the output.
Values run_step(Backend& backend, Mamba1View view, MambaData& data);

/// What `plane` holds after the append, `plane` being overwritten.
void run_append(Backend& backend, AppendView view, const Values& source, Values& plane);

/// As append promises, one token after the other.
void reference_append(const AppendView& sizes, const Values& source, Values& plane);

/// A view of f16 attention with the scale models use, one sequence, and as many slots as tokens.
AttentionView attention_view(std::int64_t heads, std::int64_t kv_heads, std::int64_t width,
                             std::int64_t valid, Element element = Element::f16);
LatentView latent_view(std::int64_t heads, std::int64_t rank, std::int64_t rope, std::int64_t valid,
                       Element element = Element::f16);
Mamba1View mamba_view(std::int64_t sequences, std::int64_t inner, std::int64_t state_size,
                      std::int64_t conv_kernel, std::int64_t count, Element element = Element::f16);

} // namespace kvcaliper::kernels::test
