// SPDX-License-Identifier: Apache-2.0
// What the layers of a row of the architecture table keep, as its rule alone says: the kinds, and
// what they share in the table of kernel proofs.
#include "core/architectures/architectures.h"
#include "core/architectures/table.h"
#include "core/kernel_proof.h"

namespace kvcaliper {

namespace {

using Kinds = std::vector<LayerKind>;

Kinds state_kinds(State state) {
    switch (state) {
    case State::none:
        return {};
    case State::mamba1:
    case State::mamba1_prefix:
        return {LayerKind::mamba1};
    case State::mamba2:
    case State::mamba2_prefix:
    case State::mamba2_zamba:
    case State::mamba2_nemotron:
    case State::mamba2_plamo:
        return {LayerKind::mamba2};
    case State::gated_delta:
    case State::gated_delta_fla:
        return {LayerKind::gated_delta};
    case State::kda:
        return {LayerKind::kda};
    case State::lightning:
        return {LayerKind::lightning};
    case State::bailing:
        return {LayerKind::lightning, LayerKind::kda};
    case State::gla_fla:
        return {LayerKind::gla};
    case State::rglru:
        return {LayerKind::rglru};
    case State::short_conv:
        return {LayerKind::short_conv};
    case State::rwkv4:
        return {LayerKind::rwkv4};
    case State::rwkv:
        return {LayerKind::rwkv};
    case State::xlstm:
        return {LayerKind::xlstm};
    }
    return {};
}

/// Of the rule and its layout; layer_types may name a window on any of them.
Kinds attention_kinds(const Architecture& row) {
    Kinds kinds{LayerKind::full_attention};
    if (row.layout == Layout::no_rope_chunked) {
        kinds.push_back(LayerKind::chunked_attention);
    } else if (row.layout != Layout::full) {
        kinds.push_back(LayerKind::sliding_attention);
    }
    return kinds;
}

Kinds hybrid_kinds(const Architecture& row) {
    Kinds kinds = attention_kinds(row);
    if (row.latent) {
        kinds.push_back(LayerKind::mla);
    }
    if (row.attends == Attends::attn_layers) {
        kinds.push_back(LayerKind::sliding_attention);
    }
    for (const LayerKind kind : state_kinds(row.state)) {
        kinds.push_back(kind);
    }
    return kinds;
}

Kinds beside_kinds(Beside beside) {
    switch (beside) {
    case Beside::none:
    case Beside::index_key:
        return {};
    case Beside::cross:
        return {LayerKind::cross_attention};
    case Beside::baichuan_conv:
    case Beside::zaya_conv:
    case Beside::inkling_conv:
        return {LayerKind::kv_conv};
    }
    return {};
}

Kinds kinds_of(const Architecture& row) {
    if (row.plan == plan_hybrid) {
        return hybrid_kinds(row);
    }
    if (row.plan == plan_recurrent) {
        return state_kinds(row.state);
    }
    if (row.plan == plan_mla || row.plan == plan_mla_twice) {
        return {LayerKind::mla};
    }
    if (row.plan == plan_compressed || row.plan == plan_compressed_shared) {
        return {LayerKind::compressed_attention};
    }
    if (row.plan == plan_blocks) {
        return {LayerKind::full_attention, LayerKind::sliding_attention};
    }
    if (row.plan == plan_decoder || row.plan == plan_cross_list) {
        return {LayerKind::full_attention, LayerKind::cross_attention};
    }
    Kinds kinds = attention_kinds(row);
    for (const LayerKind kind : beside_kinds(row.beside)) {
        kinds.push_back(kind);
    }
    return kinds;
}

} // namespace

std::vector<std::string> keeps_of(const Architecture& row) {
    std::vector<std::string> names;
    for (const LayerKind kind : kinds_of(row)) {
        names.emplace_back(to_string(kind));
    }
    const bool compressed = row.plan == plan_compressed || row.plan == plan_compressed_shared;
    if (row.beside == Beside::index_key || compressed) {
        names.emplace_back(index_keys);
    }
    if (row.sharing != Sharing::none) {
        names.emplace_back(shared_cache);
    }
    if (row.sinks != Sinks::none) {
        names.emplace_back(attention_sinks);
    }
    return names;
}

} // namespace kvcaliper
