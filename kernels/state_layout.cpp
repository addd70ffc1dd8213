// SPDX-License-Identifier: Apache-2.0
#include "kernels/state_layout.h"

#include "core/error.h"

#include <algorithm>

namespace kvcaliper::kernels {
namespace {

constexpr std::int64_t chunk_bytes = 4 << 20; ///< inputs of one call: small enough for a cache

/// f32 numbers per token that a step takes beside x, and those of its weights and its output.
struct ExtraFloats {
    std::int64_t step = 0, b = 0, c = 0; ///< per token
    std::int64_t a = 0, d = 0;
    std::int64_t out = 0;
};

ExtraFloats extra_floats(const LayerPart& part) {
    if (const auto* d = std::get_if<Mamba2Dims>(&part.dims)) {
        const std::int64_t mix = d->groups == 0 ? d->state_size : 0; // else B and C are convolved
        return {d->heads, mix, mix, d->heads, d->heads, d->heads * d->head_width};
    }
    if (const auto* d = std::get_if<DeltaDims>(&part.dims)) {
        const DeltaRule rule = delta_rule(part.kind);
        return {d->value_heads * (rule.column_gate ? d->key_width : 1),
                rule.beta ? d->value_heads : 0,
                0,
                0,
                0,
                d->value_heads * d->value_width};
    }
    return {0, 0, 0, 0, 0, std::get<ConvDims>(part.dims).channels};
}

/// Multiply-adds of the state alone, for all sequences.
std::int64_t state_flops(const LayerPart& part, std::int64_t sequences) {
    if (const auto* d = std::get_if<Mamba2Dims>(&part.dims)) // decay, multiply-add, read-out
        return 5 * sequences * d->heads * d->head_width * d->state_size;
    if (const auto* d = std::get_if<DeltaDims>(&part.dims)) // decay, multiply-adds of k, u and q
        return (delta_rule(part.kind).beta ? 7 : 5) * sequences * d->value_heads * d->key_width *
               d->value_width;
    return 0;
}

} // namespace

bool keeps_state(LayerKind kind) {
    return kind == LayerKind::mamba1 || convolves_first(kind);
}

bool convolves_first(LayerKind kind) {
    switch (kind) {
    case LayerKind::mamba2:
    case LayerKind::gated_delta:
    case LayerKind::kda:
    case LayerKind::lightning:
    case LayerKind::gla:
    case LayerKind::short_conv:
        return true;
    case LayerKind::full_attention:
    case LayerKind::sliding_attention:
    case LayerKind::chunked_attention:
    case LayerKind::cross_attention:
    case LayerKind::mla:
    case LayerKind::compressed_attention:
    case LayerKind::mamba1:
    case LayerKind::rglru:
    case LayerKind::rwkv4:
    case LayerKind::rwkv:
    case LayerKind::xlstm:
    case LayerKind::kv_conv:
        break;
    }
    return false;
}

ConvShape conv_shape(const LayerPart& part) {
    if (const auto* d = std::get_if<Mamba2Dims>(&part.dims))
        return {d->inner + 2 * d->groups * d->state_size, d->conv_kernel};
    if (const auto* d = std::get_if<DeltaDims>(&part.dims))
        return {2 * d->key_heads * d->key_width + d->value_heads * d->value_width, d->conv_kernel};
    const auto& d = std::get<ConvDims>(part.dims);
    return {d.channels, d.columns + 1};
}

DeltaRule delta_rule(LayerKind kind) {
    DeltaRule rule;
    rule.column_gate = kind == LayerKind::kda || kind == LayerKind::gla;
    rule.fixed_gate = kind == LayerKind::lightning;
    rule.beta = rule.normalise = kind == LayerKind::gated_delta || kind == LayerKind::kda;
    rule.scaled = kind != LayerKind::lightning;
    return rule;
}

IoPlan state_io_plan(const LayerPart& part, const PlaneElements& elements, std::int64_t sequences) {
    const ConvShape conv = conv_shape(part);
    const ExtraFloats extra = extra_floats(part);
    const std::int64_t x = checked_multiply(sequences, conv.channels);
    const std::int64_t more = checked_multiply(sequences, extra.step + extra.b + extra.c);
    const std::int64_t token = x * (element_bytes(elements.conv) + 4) + more * 4;
    IoPlan io;
    io.append_tokens = std::clamp<std::int64_t>(chunk_bytes / token, 1, 4096);
    const std::int64_t floats = io.append_tokens * sequences * 4;
    io.append = io.append_tokens * x * element_bytes(elements.conv);
    io.mixed = io.append_tokens * x * 4;
    io.step = floats * extra.step;
    io.b = floats * extra.b;
    io.c = floats * extra.c;
    io.a = extra.a * 4;
    io.d = extra.d * 4;
    io.bias = conv.channels * 4;
    io.weight = checked_multiply(conv.channels, conv.kernel * 4);
    io.out = checked_multiply(sequences, extra.out * 4);
    return io;
}

std::vector<StepCost> state_step_costs(const LayerPart& part, const PlaneElements& elements,
                                       std::int64_t sequences) {
    const ConvShape conv = conv_shape(part);
    std::vector<StepCost> costs;
    for (const Plane& plane : layer_planes(part, 1, elements)) {
        const bool history = plane.role == "conv_state";
        costs.push_back(
            {extent_bytes(plane, sequences),
             history ? 2 * sequences * conv.channels * conv.kernel : state_flops(part, sequences)});
    }
    return costs;
}

std::string state_refusal(const LayerPart& part) {
    const std::string kind(to_string(part.kind));
    if (const auto* d = std::get_if<Mamba2Dims>(&part.dims)) {
        if (d->inner != d->heads * d->head_width)
            return "no kernel for " + kind + " layers whose heads do not make up their inner width";
        if (d->groups > 0 && d->heads % d->groups != 0)
            return "no kernel for " + kind + " layers whose groups do not divide their heads";
    } else if (const auto* delta = std::get_if<DeltaDims>(&part.dims)) {
        if (delta->key_heads < 1 || delta->value_heads % delta->key_heads != 0)
            return "no kernel for " + kind + " layers whose key heads do not divide value heads";
    } else if (const auto* c = std::get_if<ConvDims>(&part.dims)) {
        if (c->columns < 1 || c->in_state_format != 0)
            return "no kernel for a " + kind + " history without columns or in the state format";
    }
    return {};
}

} // namespace kvcaliper::kernels
