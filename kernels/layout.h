// SPDX-License-Identifier: Apache-2.0
// Puts core's prediction and the kernels' geometry side by side: what to allocate, what will be
// touched, what a step costs.
#pragma once

#include "kernels/geometry.h"
#include "kernels/verify_request.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kvcaliper::kernels {

/// One buffer of one layer: as large as predicted, used as the geometry says.
struct BufferPlan {
    int layer = 0;
    int part = 0;     ///< of the layer; -1 when no part of it is of this kind
    std::string kind; ///< of the part: "full_attention"
    std::string role;
    std::int64_t predicted = 0; ///< bytes, all sequences; 0 when core predicts no such component
    std::int64_t extent = 0;    ///< bytes kernels touch; 0 when the geometry has no such plane
    std::int64_t element_size = 2;
    std::optional<Plane> plane;
    std::int64_t slack = 0; ///< of the extent: slots of last pages that no token has reached
};

PlaneElements plane_elements(const VerifyRequest& request);

/// Every buffer of every layer at that many tokens. A component and a plane of the same kind and
/// role share a buffer (of the same role in a layer of one part); one without the other gets a
/// buffer of its own.
std::vector<BufferPlan> buffer_plans(const VerifyRequest& request, std::int64_t tokens);

/// Parts of layers of the same kind and dimensions. The first one stands for all where one is
/// enough.
struct LayerGroup {
    LayerPart plan;
    std::vector<int> layers; ///< ascending
    std::vector<int> parts;  ///< which part of each of these layers, or of the ones they read
    /// Of layers that keep nothing and read another's cache: whose. Else empty.
    std::vector<int> owners = {};

    bool borrows() const { return !owners.empty(); }
    /// The layer whose planes a member of the group reads.
    int owner(std::size_t member) const { return borrows() ? owners[member] : layers[member]; }
};
/// Every part of every layer; behind them the layers that read another's first part.
std::vector<LayerGroup> layer_groups(const ModelPlan& plan);

/// Keys are packed whenever there are so many more of them; 0 where no layer's are.
std::int64_t key_residual(const VerifyRequest& request);

/// The position of the first decode step of a context: as many before its end as are asked for, but
/// none before the one after which keys are packed for the last time. Until then they would take
/// more f16 rows than the context keeps.
std::int64_t first_step(const VerifyRequest& request, std::int64_t context);

/// What one decode step of one layer reads and computes, all sequences.
struct StepCost {
    std::int64_t bytes_read = 0;
    std::int64_t flops = 0;
};
/// By role, in the order of layer_planes: K and scores; V and sums; and so on.
std::vector<StepCost> step_costs(const LayerPart& layer, std::int64_t tokens,
                                 const PlaneElements& elements, std::int64_t sequences);
StepCost step_cost(const LayerPart& layer, std::int64_t tokens, const PlaneElements& elements,
                   std::int64_t sequences);

/// Bytes of inputs and outputs beside the cache: the source of appends, queries, outputs.
struct IoPlan {
    std::int64_t append_tokens = 1; ///< tokens per bulk append
    std::int64_t append = 0;        ///< the source of appends
    std::int64_t query = 0, query_rope = 0, out = 0;
    std::int64_t step = 0, b = 0, c = 0; ///< state layers: dt or gates, b, c per chunk
    std::int64_t sinks = 0;              ///< a logit per head
    std::int64_t index = 0;              ///< an indexer's queries and weights
    std::int64_t pooling = 0; ///< compressed attention: rows to be pooled, and what comes of them
    std::int64_t mixed = 0;   ///< state layers: behind the convolution
    std::int64_t a = 0, d = 0, weight = 0, bias = 0; ///< state layers: weights
    std::int64_t total() const;
};
IoPlan io_plan(const LayerPart& layer, const PlaneElements& elements, std::int64_t sequences);

} // namespace kvcaliper::kernels
