// SPDX-License-Identifier: Apache-2.0
// Models small enough to verify in milliseconds, of every kind that has kernels.
#pragma once

#include "kernels/verify_request.h"

namespace kvcaliper::kernels {

/// A layer that keeps one thing.
inline LayerPlan one_part(LayerKind kind, LayerDims dims) {
    return {{{kind, std::move(dims)}}, std::nullopt, "test"};
}
inline LayerPlan full_layer() {
    return one_part(LayerKind::full_attention, AttentionDims{8, 2, 64, 64, {}});
}
inline LayerPlan sliding_layer(std::int64_t window = 24) {
    return one_part(LayerKind::sliding_attention, AttentionDims{8, 2, 64, 64, window});
}
inline LayerPlan chunked_layer(std::int64_t chunk = 24) {
    return one_part(LayerKind::chunked_attention, AttentionDims{8, 2, 64, 64, chunk});
}
/// The layer with a sink logit per head.
inline LayerPlan with_sinks(LayerPlan layer) {
    std::get<AttentionDims>(layer.parts.front().dims).sinks = 1;
    return layer;
}
inline LayerPlan cross_layer(std::int64_t encoder_tokens = 19) {
    return one_part(LayerKind::cross_attention, AttentionDims{6, 2, 64, 64, {}, 0, encoder_tokens});
}
inline LayerPlan latent_layer() {
    return one_part(LayerKind::mla, LatentDims{4, 512, 64, 128, 128});
}
/// Three query heads choose `top` tokens by index keys.
inline LayerPlan indexed_latent_layer(std::int64_t top, std::int64_t index_width = 64) {
    return one_part(LayerKind::mla, LatentDims{4, 512, 64, 128, 128, index_width, 3, top});
}
inline LayerPlan indexed_layer(std::int64_t top) {
    return one_part(LayerKind::full_attention, AttentionDims{8, 2, 64, 64, {}, 64, 0, 0, 3, top});
}
inline LayerPlan mamba1_layer() {
    return one_part(LayerKind::mamba1, Mamba1Dims{96, 16, 4});
}
inline LayerPlan mamba2_layer(std::int64_t groups = 2) {
    return one_part(LayerKind::mamba2, Mamba2Dims{96, 4, 24, groups, 16, 4});
}
/// Two key heads for four value heads; kinds without a convolution have a kernel of one.
inline LayerPlan delta_layer(LayerKind kind) {
    if (kind == LayerKind::gated_delta)
        return one_part(kind, DeltaDims{2, 4, 16, 24, 4});
    const bool convolves = kind == LayerKind::kda;
    return one_part(kind, DeltaDims{3, 3, 24, 24, convolves ? 4 : 1});
}
inline LayerPlan short_conv_layer() {
    return one_part(LayerKind::short_conv, ConvDims{80, 2, 0});
}
inline LayerPlan rglru_layer() {
    return one_part(LayerKind::rglru, RglruDims{80, 4});
}
inline LayerPlan rwkv4_layer() {
    return one_part(LayerKind::rwkv4, RwkvDims{48, 72, 0, 0});
}
inline LayerPlan rwkv_layer(std::int64_t version) {
    return one_part(LayerKind::rwkv, RwkvDims{48, 0, 24, version});
}
inline LayerPlan xlstm_layer() {
    return one_part(LayerKind::xlstm, XlstmDims{3, 16, 40});
}
inline LayerPlan kv_conv_layer(std::int64_t in_state_format = 0) {
    return one_part(LayerKind::kv_conv, ConvDims{72, 3, in_state_format});
}
/// Several things kept in one layer.
inline LayerPlan joined(std::vector<LayerPlan> layers) {
    LayerPlan all = std::move(layers.front());
    for (std::size_t i = 1; i < layers.size(); ++i)
        all.parts.push_back(layers[i].parts.front());
    return all;
}

inline VerifyRequest request_for(std::vector<LayerPlan> layers,
                                 std::vector<std::int64_t> contexts = {12, 24, 40, 60}) {
    VerifyRequest request;
    request.plan.name = "small";
    request.plan.model_type = "test";
    request.plan.layers = std::move(layers);
    request.spec = build_cache_spec(request.plan);
    request.contexts = std::move(contexts);
    request.steps = 3;
    request.backend = "cpu";
    return request;
}

} // namespace kvcaliper::kernels
