// SPDX-License-Identifier: Apache-2.0
// Step 3 of reading a model: the components of each kind of layer. The only place where what a kind
// keeps is written down.
#include "core/cache_spec.h"

#include "core/error.h"

namespace kvcaliper {

namespace {

/// K [kv_heads][units][key_width] and V [kv_heads][units][value_width].
std::vector<Component> attention_components(const AttentionDims& dims) {
    const Units units =
        dims.window ? Units{Units::Kind::window, *dims.window} : Units{Units::Kind::tokens, 0};
    return {
        {Role::key, dims.kv_heads, dims.key_width, "KV heads", "head_dim", FormatClass::k, units},
        {Role::value, dims.kv_heads, dims.value_width, "KV heads", "head_dim", FormatClass::v,
         units}};
}

/// One latent and one rotary key per token, for all heads: not per head, not doubled for V.
std::vector<Component> latent_components(const LatentDims& dims) {
    const Units units{Units::Kind::tokens, 0};
    return {{Role::latent, 1, dims.rank, "", "kv_lora_rank", FormatClass::k, units},
            {Role::rope_key, 1, dims.rope_width, "", "qk_rope_head_dim", FormatClass::k, units}};
}

/// The last conv_kernel - 1 inputs of the convolution: none for a kernel of one.
void add_conv_state(std::vector<Component>& components, std::int64_t channels,
                    const std::string& channels_name, std::int64_t conv_kernel) {
    if (conv_kernel > 1) {
        components.push_back({Role::conv_state,
                              1,
                              channels,
                              "",
                              channels_name,
                              FormatClass::conv,
                              {Units::Kind::constant, conv_kernel - 1}});
    }
}

std::vector<Component> mamba1_components(const Mamba1Dims& dims) {
    std::vector<Component> components;
    add_conv_state(components, dims.inner, "intermediate_size", dims.conv_kernel);
    components.push_back({Role::recurrent_state,
                          dims.inner,
                          dims.state_size,
                          "intermediate_size",
                          "state_size",
                          FormatClass::state,
                          {Units::Kind::constant, 1}});
    return components;
}

/// The convolution runs over x, B and C: inner + 2 · groups · state_size channels.
std::vector<Component> mamba2_components(const Mamba2Dims& dims) {
    std::vector<Component> components;
    const std::int64_t channels = checked_add(
        dims.inner, checked_multiply(2, checked_multiply(dims.groups, dims.state_size)));
    add_conv_state(components, channels, "expand·hidden_size + 2·n_groups·state_size",
                   dims.conv_kernel);
    components.push_back({Role::recurrent_state,
                          checked_multiply(dims.heads, dims.head_width),
                          dims.state_size,
                          "num_heads·head_dim",
                          "state_size",
                          FormatClass::state,
                          {Units::Kind::constant, 1}});
    return components;
}

std::vector<Component> components_of(const LayerPlan& layer) {
    switch (layer.kind) {
    case LayerKind::full_attention:
    case LayerKind::sliding_attention:
        return attention_components(std::get<AttentionDims>(layer.dims));
    case LayerKind::mla:
        return latent_components(std::get<LatentDims>(layer.dims));
    case LayerKind::mamba1:
        return mamba1_components(std::get<Mamba1Dims>(layer.dims));
    case LayerKind::mamba2:
        return mamba2_components(std::get<Mamba2Dims>(layer.dims));
    }
    throw Error("no such layer kind");
}

} // namespace

CacheSpec build_cache_spec(const ModelPlan& plan) {
    CacheSpec spec;
    spec.max_context = plan.max_context;
    for (const LayerPlan& layer : plan.layers) {
        spec.layers.push_back({layer.kind, components_of(layer), std::nullopt, layer.decided_by});
    }
    return spec;
}

} // namespace kvcaliper
