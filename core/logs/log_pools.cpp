// SPDX-License-Identifier: Apache-2.0
#include "core/logs/log_pools.h"

#include "core/engines/profile.h"

#include <algorithm>

namespace kvcaliper::logs {

namespace {

bool is_window(const Component& component) {
    return component.kind == LayerKind::sliding_attention ||
           component.kind == LayerKind::chunked_attention;
}

bool is_full(const Component& component) {
    return component.kind == LayerKind::full_attention;
}

bool is_state(const Component& component) {
    return component.format_class == FormatClass::conv ||
           component.format_class == FormatClass::state;
}

bool is_v_like(const Component& component) {
    return component.format_class == FormatClass::v || component.format_class == FormatClass::state;
}

Component row_of(Role role, FormatClass format_class, std::int64_t rows, std::int64_t width) {
    return {LayerKind::mla, role, rows, width, "rows", "width", format_class, {}};
}

} // namespace

Pool pool_of(const CacheSpec& spec, const std::string& name,
             const std::function<bool(const Component&)>& belongs) {
    Pool pool{name, {}, 0};
    for (ComponentGroup group : group_components(spec)) {
        if (belongs(group.component)) {
            if (!is_state(group.component)) {
                group.component.units = {};
            }
            pool.groups.push_back(group);
        }
    }
    for (const LayerCache& layer : spec.layers) {
        const auto& parts = layer.components;
        pool.layers += std::any_of(parts.begin(), parts.end(), belongs) ? 1 : 0;
    }
    return pool;
}

Pool full_pool(const CacheSpec& spec) {
    return pool_of(spec, "full attention", is_full);
}

Pool window_pool(const CacheSpec& spec) {
    return pool_of(spec, "attention with a window", is_window);
}

Pool every_pool(const CacheSpec& spec) {
    return pool_of(spec, "attention",
                   [](const Component& one) { return is_full(one) || is_window(one); });
}

Pool latent_pool(const CacheSpec& spec, bool with_index) {
    return pool_of(spec, "latent attention", [with_index](const Component& one) {
        return one.kind == LayerKind::mla && (with_index || one.role != Role::index_key);
    });
}

Pool state_pool(const CacheSpec& spec) {
    return pool_of(spec, "states", is_state);
}

Pool expanded_pool(const Model& model) {
    const std::int64_t layers = latent_pool(model.spec, false).layers;
    if (layers == 0) {
        return {};
    }
    const LatentDims& dims = latent_dims(model.plan);
    const std::int64_t key = checked_add(dims.nope_width, dims.rope_width);
    return {"K and V of every head",
            {{row_of(Role::key, FormatClass::k, dims.heads, key), layers},
             {row_of(Role::value, FormatClass::v, dims.heads, dims.value_width), layers}},
            layers};
}

Pool doubled_latent_pool(const Model& model) {
    Pool pool = latent_pool(model.spec, false);
    if (pool.layers > 0) {
        pool.groups.push_back(
            {row_of(Role::value, FormatClass::v, 1, latent_dims(model.plan).rank), pool.layers});
    }
    return pool;
}

PoolBytes pool_bytes(const Pool& pool, const CacheFormats& formats, std::int64_t cells) {
    PoolBytes bytes;
    for (const ComponentGroup& group : pool.groups) {
        const Component& component = group.component;
        const bool state = is_state(component);
        const Bytes one = component_bytes(component, formats, Tokens(state ? 1 : cells));
        const Ratio all =
            Ratio(one.count()) * Ratio(group.layers) * Ratio(state ? cells : std::int64_t{1});
        (is_v_like(component) ? bytes.v : bytes.k) =
            (is_v_like(component) ? bytes.v : bytes.k) + all;
    }
    return bytes;
}

} // namespace kvcaliper::logs
