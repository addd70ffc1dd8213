// SPDX-License-Identifier: Apache-2.0
#include "kernels/state_layout.h"

#include "kernels/backend_cpu_vector.h"
#include "kernels/launch_shape.h"
#include "kernels/views_recurrent.h"

#include <algorithm>
#include <string>

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
    if (const auto* d = std::get_if<RglruDims>(&part.dims))
        return {2 * d->width, 0, 0, d->width, 0, d->width};
    if (const auto* d = std::get_if<RwkvDims>(&part.dims)) {
        const bool vectors = part.kind == LayerKind::rwkv4;
        const std::int64_t width = vectors ? d->attention_hidden : d->hidden;
        const bool bonus = vectors || rwkv_bonus(*d);
        return {width * (vectors ? 2 : rwkv_rows(bonus)),
                0,
                0,
                vectors ? width : 0,
                bonus ? width : 0,
                2 * d->hidden + width};
    }
    if (const auto* d = std::get_if<XlstmDims>(&part.dims))
        return {2 * d->heads, 0, 0, 0, 0, d->heads * (d->value_width + 1)};
    return {0, 0, 0, 0, 0, std::get<ConvDims>(part.dims).channels};
}

/// Multiply-adds of the state alone, for all sequences.
std::int64_t state_flops(const LayerPart& part, std::int64_t sequences) {
    if (const auto* d = std::get_if<Mamba2Dims>(&part.dims)) // decay, multiply-add, read-out
        return 5 * sequences * d->heads * d->head_width * d->state_size;
    if (const auto* d = std::get_if<DeltaDims>(&part.dims)) // decay, multiply-adds of k, u and q
        return (delta_rule(part.kind).beta ? 7 : 5) * sequences * d->value_heads * d->key_width *
               d->value_width;
    if (const auto* d = std::get_if<RglruDims>(&part.dims)) // with an exponential and a root
        return 9 * sequences * d->width;
    if (const auto* d = std::get_if<RwkvDims>(&part.dims))
        return part.kind == LayerKind::rwkv4
                   ? 22 * sequences * d->attention_hidden // two sums with two exponentials each
                   : (rwkv_bonus(*d) ? 5 : 9) * sequences * d->hidden * d->head_width;
    if (const auto* d = std::get_if<XlstmDims>(&part.dims))
        return 5 * sequences * d->heads * d->key_width * (d->value_width + 1);
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
    case LayerKind::rglru:
    case LayerKind::rwkv4:
    case LayerKind::rwkv:
    case LayerKind::xlstm:
    case LayerKind::kv_conv:
        return true;
    case LayerKind::full_attention:
    case LayerKind::sliding_attention:
    case LayerKind::chunked_attention:
    case LayerKind::cross_attention:
    case LayerKind::mla:
    case LayerKind::compressed_attention:
    case LayerKind::mamba1:
        break;
    }
    return false;
}

ConvShape conv_shape(const LayerPart& part) {
    if (const auto* d = std::get_if<Mamba2Dims>(&part.dims))
        return {d->inner + 2 * d->groups * d->state_size, d->conv_kernel};
    if (const auto* d = std::get_if<DeltaDims>(&part.dims))
        return {2 * d->key_heads * d->key_width + d->value_heads * d->value_width, d->conv_kernel};
    if (const auto* d = std::get_if<RglruDims>(&part.dims))
        return {d->width, d->conv_kernel};
    if (const auto* d = std::get_if<RwkvDims>(&part.dims)) // this token and the one before
        return {2 * d->hidden, 2};
    if (const auto* d = std::get_if<XlstmDims>(&part.dims)) // none: of one column
        return {d->heads * (2 * d->key_width + d->value_width), 1};
    const auto& d = std::get<ConvDims>(part.dims);
    return {d.channels, d.columns + 1};
}

Element history_element(const LayerPart& part, const PlaneElements& elements) {
    const auto* d = std::get_if<ConvDims>(&part.dims);
    return d != nullptr && d->in_state_format != 0 ? elements.state : elements.conv;
}

bool rwkv_bonus(const RwkvDims& dims) {
    return dims.version < 7;
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
    const std::int64_t element = element_bytes(history_element(part, elements));
    const std::int64_t token = x * (element + 4) + more * 4;
    IoPlan io;
    io.append_tokens = std::clamp<std::int64_t>(chunk_bytes / token, 1, 4096);
    const std::int64_t floats = io.append_tokens * sequences * 4;
    io.append = io.append_tokens * x * element;
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
        const bool history = plane.role != "recurrent_state";
        costs.push_back(
            {extent_bytes(plane, sequences),
             history ? 2 * sequences * conv.channels * conv.kernel : state_flops(part, sequences)});
    }
    return costs;
}

namespace {

std::string rwkv_refusal(LayerKind kind, const RwkvDims& dims) {
    const std::string name(to_string(kind));
    if (kind == LayerKind::rwkv4)
        return dims.attention_hidden < 1 ? "no kernel for rwkv4 layers without channels" : "";
    if (dims.version < 5 || dims.version > 7)
        return "no kernel for " + name + " layers of version " + std::to_string(dims.version);
    if (dims.head_width < 1 || dims.hidden % dims.head_width != 0)
        return "no kernel for " + name + " layers whose heads do not make up their width";
    if (dims.head_width > kMaxRwkvWidth)
        return "no kernel for " + name + " heads of more than " + std::to_string(kMaxRwkvWidth) +
               " channels";
    return {};
}

} // namespace

std::string state_refusal(const LayerPart& part) {
    const std::string kind(to_string(part.kind));
    if (conv_shape(part).kernel > max_conv_kernel)
        return "no kernel for " + kind + " convolutions of more than " +
               std::to_string(max_conv_kernel) + " columns";
    if (const auto* d = std::get_if<Mamba2Dims>(&part.dims)) {
        if (d->inner != d->heads * d->head_width)
            return "no kernel for " + kind + " layers whose heads do not make up their inner width";
        if (d->groups > 0 && d->heads % d->groups != 0)
            return "no kernel for " + kind + " layers whose groups do not divide their heads";
        if (d->state_size > kMaxStateSize)
            return "no kernel for " + kind + " states of more than " +
                   std::to_string(kMaxStateSize) + " columns";
    } else if (const auto* delta = std::get_if<DeltaDims>(&part.dims)) {
        if (delta->key_heads < 1 || delta->value_heads % delta->key_heads != 0)
            return "no kernel for " + kind + " layers whose key heads do not divide value heads";
        if (delta->key_width > kMaxKeyWidth)
            return "no kernel for " + kind + " states of more than " +
                   std::to_string(kMaxKeyWidth) + " rows";
    } else if (const auto* c = std::get_if<ConvDims>(&part.dims)) {
        if (c->columns < 1)
            return "no kernel for a " + kind + " history without columns";
    } else if (const auto* r = std::get_if<RwkvDims>(&part.dims)) {
        return rwkv_refusal(part.kind, *r);
    } else if (const auto* x = std::get_if<XlstmDims>(&part.dims)) {
        if (x->key_width > kMaxXlstmKeyWidth)
            return "no kernel for " + kind + " states of more than " +
                   std::to_string(kMaxXlstmKeyWidth) + " rows";
    }
    return {};
}

} // namespace kvcaliper::kernels
