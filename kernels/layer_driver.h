// SPDX-License-Identifier: Apache-2.0
// Drives the layers of one group through fill, append and step, and knows what their output must
// be.
#pragma once

#include "kernels/allocator.h"
#include "kernels/layout.h"
#include "kernels/verify_request.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace kvcaliper::kernels {

/// Where the planes that one layer reads lie, in the order of layer_planes().
struct LayerMemory {
    int layer = 0; ///< whose planes they are
    std::vector<void*> planes;
    std::vector<Plane> shapes;
};

/// Thrown where a run notices that it was asked to stop.
struct Cancelled {};

class LayerDriver {
  public:
    LayerDriver(Backend& backend, const VerifyRequest& request, const LayerGroup& group,
                const std::atomic<bool>* cancel);
    virtual ~LayerDriver() = default;

    const LayerGroup& group() const { return group_; }
    int representative() const { return group_.layers.front(); }
    /// The layer whose rows the representative reads: itself, but for one that borrows.
    int lender() const { return group_.owner(0); }
    std::int64_t io_bytes() const { return io_plan_.total(); }
    /// The most scratch any step at any of the contexts needs.
    virtual std::int64_t workspace_bytes() const { return 0; }
    /// Inputs, outputs and scratch; before anything below.
    virtual void allocate(CountingAllocator& allocator);

    /// Brings a layer to `tokens` tokens. Only a state layer distinguishes whole_history: without
    /// it the layer is reset instead, because its step alone would be as dear as the
    /// representative's.
    virtual void fill(const LayerMemory& memory, std::int64_t tokens, bool whole_history) = 0;
    /// Makes the inputs that all layers of the group share in the step of that token.
    virtual void begin_step(std::int64_t position) = 0;
    virtual void append(const LayerMemory& memory, std::int64_t position) = 0;
    /// For kinds that append rows: makes those of the representative's tokens 0 … tokens - 1, one
    /// sequence, resident, so that append_kept() does nothing but store them.
    virtual void keep_rows(CountingAllocator&, std::int64_t) {}
    virtual void append_kept(const LayerMemory&, std::int64_t, std::int64_t) {}
    /// Attends, or advances the state.
    virtual void run(const LayerMemory& memory, std::int64_t position) = 0;

    /// Fills the output with poison, so that what is not written is seen.
    void poison_output();
    /// What is compared with the reference, in rows of output_row() numbers.
    virtual std::vector<float> output(std::int64_t sequence);
    std::int64_t output_row() const { return output_row_; } ///< elements that share one error
    /// The representative's true output when the history holds so many tokens, for each of the
    /// (ascending) counts.
    virtual std::vector<std::vector<double>> expected(std::int64_t sequence,
                                                      std::span<const std::int64_t> tokens) = 0;
    virtual double bound() const = 0;
    /// How far the rows of a plane (by number) are from what was stored, where its format loses
    /// anything.
    virtual std::optional<double> quantisation_error(std::size_t) const { return std::nullopt; }
    /// Multiply-adds of one sequence's reference at that many tokens.
    virtual std::int64_t reference_cost(std::int64_t tokens) const = 0;

  protected:
    void check_cancelled() const;
    std::uint64_t seed() const { return static_cast<std::uint64_t>(request_.seed); }
    std::int64_t sequences() const { return request_.sequences; }
    /// Writes host numbers to the device and waits, so that the host copy may be used again.
    void send(const GuardedBuffer& to, const void* from, std::int64_t bytes);
    /// A buffer that holds these numbers for the whole run.
    GuardedBuffer sent(CountingAllocator& allocator, const std::vector<float>& values);
    /// The state of a sequence that has not begun: zeros in every plane.
    void reset(const LayerMemory& memory);
    /// Takes tokens 0 … tokens - 1 in pieces of append_tokens; their inputs are used again at once.
    void walk(std::int64_t tokens,
              const std::function<void(std::int64_t first, std::int64_t count)>& take);

    Backend& backend_;
    const VerifyRequest& request_;
    LayerGroup group_;
    PlaneElements elements_;
    IoPlan io_plan_;
    std::int64_t output_row_ = 0;
    GuardedBuffer out_;

  private:
    const std::atomic<bool>* cancel_;
};

/// Throws Error(impossible_here) for a kind without kernels.
std::unique_ptr<LayerDriver> make_layer_driver(Backend& backend, const VerifyRequest& request,
                                               const LayerGroup& group,
                                               const std::atomic<bool>* cancel);

// The families, one file each.
std::unique_ptr<LayerDriver> make_attention_driver(Backend& backend, const VerifyRequest& request,
                                                   const LayerGroup& group,
                                                   const std::atomic<bool>* cancel);
std::unique_ptr<LayerDriver> make_residual_driver(Backend& backend, const VerifyRequest& request,
                                                  const LayerGroup& group,
                                                  const std::atomic<bool>* cancel);
std::unique_ptr<LayerDriver> make_latent_driver(Backend& backend, const VerifyRequest& request,
                                                const LayerGroup& group,
                                                const std::atomic<bool>* cancel);
std::unique_ptr<LayerDriver> make_compressed_driver(Backend& backend, const VerifyRequest& request,
                                                    const LayerGroup& group,
                                                    const std::atomic<bool>* cancel);
std::unique_ptr<LayerDriver> make_mamba1_driver(Backend& backend, const VerifyRequest& request,
                                                const LayerGroup& group,
                                                const std::atomic<bool>* cancel);
std::unique_ptr<LayerDriver> make_mamba2_driver(Backend& backend, const VerifyRequest& request,
                                                const LayerGroup& group,
                                                const std::atomic<bool>* cancel);
std::unique_ptr<LayerDriver> make_delta_driver(Backend& backend, const VerifyRequest& request,
                                               const LayerGroup& group,
                                               const std::atomic<bool>* cancel);
std::unique_ptr<LayerDriver> make_short_conv_driver(Backend& backend, const VerifyRequest& request,
                                                    const LayerGroup& group,
                                                    const std::atomic<bool>* cancel);
std::unique_ptr<LayerDriver> make_rglru_driver(Backend& backend, const VerifyRequest& request,
                                               const LayerGroup& group,
                                               const std::atomic<bool>* cancel);
std::unique_ptr<LayerDriver> make_rwkv_driver(Backend& backend, const VerifyRequest& request,
                                              const LayerGroup& group,
                                              const std::atomic<bool>* cancel);
std::unique_ptr<LayerDriver> make_xlstm_driver(Backend& backend, const VerifyRequest& request,
                                               const LayerGroup& group,
                                               const std::atomic<bool>* cancel);

} // namespace kvcaliper::kernels
