// SPDX-License-Identifier: Apache-2.0
// Shapes, sizes and costs of the state layers that have a convolution in front: Mamba-2, linear
// attention with a matrix state, short convolution, RG-LRU, RWKV, xLSTM.
#pragma once

#include "kernels/layout.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kvcaliper::kernels {

/// True for kinds whose memory does not grow, which therefore cost the same at any context.
bool keeps_state(LayerKind kind);
/// True for the kinds of this file.
bool convolves_first(LayerKind kind);

/// The convolution in front of a state. One of a single column remembers nothing.
struct ConvShape {
    std::int64_t channels = 0, kernel = 1;
};
ConvShape conv_shape(const LayerPart& part);
/// What its inputs and its history are stored as.
Element history_element(const LayerPart& part, const PlaneElements& elements);

/// How the kinds with a matrix state differ.
struct DeltaRule {
    bool column_gate = false; ///< a decay for each row of the state instead of each head
    bool fixed_gate = false;  ///< the same decay in every step
    bool beta = false;        ///< the delta rule: what k already finds is taken off first
    bool normalise = false;   ///< q and k are divided by their length
    bool scaled = false;      ///< the output is divided by the root of the key width
};
DeltaRule delta_rule(LayerKind kind);

/// Versions of RWKV with a bonus for the token itself; the others have a delta rule.
bool rwkv_bonus(const RwkvDims& dims);

/// io_plan() and step_costs() of these kinds.
IoPlan state_io_plan(const LayerPart& part, const PlaneElements& elements, std::int64_t sequences);
std::vector<StepCost> state_step_costs(const LayerPart& part, const PlaneElements& elements,
                                       std::int64_t sequences);

/// Why no kernel takes dimensions like these, or nothing.
std::string state_refusal(const LayerPart& part);

} // namespace kvcaliper::kernels
