// SPDX-License-Identifier: Apache-2.0
#include "kernels/layout.h"

#include "core/error.h"
#include "kernels/state_layout.h"

#include <algorithm>

namespace kvcaliper::kernels {
namespace {

Element element_of(const NumericFormat& format) {
    if (format.name == "f16")
        return Element::f16;
    return format.name == "f32" ? Element::f32 : Element::bf16; // others are refused before
}

/// What rows come in before they are stored so: f16, because it holds the generator's numbers
/// exactly.
Element source_of(Format format) {
    const bool stays = rope_format(format) == Format::bf16;
    return stays ? Element::bf16 : Element::f16;
}

Format format_of(const NumericFormat& format) {
    return cache_format(format.name).value_or(Format::bf16); // others are refused before
}

/// A plane and the part of the layer it belongs to.
struct PartPlane {
    int part;
    LayerKind kind;
    Plane plane;
};

std::vector<PartPlane> part_planes(const LayerPlan& layer, std::int64_t tokens,
                                   const PlaneElements& elements) {
    std::vector<PartPlane> planes;
    for (std::size_t i = 0; i < layer.parts.size(); ++i)
        for (const Plane& plane : layer_planes(layer.parts[i], tokens, elements))
            planes.push_back({static_cast<int>(i), layer.parts[i].kind, plane});
    return planes;
}

/// The first part of that kind; the only part whatever its kind; else -1.
int part_of(const LayerPlan& layer, LayerKind kind) {
    for (std::size_t i = 0; i < layer.parts.size(); ++i)
        if (layer.parts[i].kind == kind)
            return static_cast<int>(i);
    return layer.parts.size() == 1 ? 0 : -1;
}

/// Components and planes of one layer, matched by kind and role.
void add_layer(std::vector<BufferPlan>& buffers, const VerifyRequest& request, std::size_t layer,
               std::int64_t tokens) {
    const LayerPlan plan =
        layer < request.plan.layers.size() ? request.plan.layers[layer] : LayerPlan{};
    const std::vector<Component> components = layer < request.spec.layers.size()
                                                  ? request.spec.layers[layer].components
                                                  : std::vector<Component>{};
    std::vector<PartPlane> planes = part_planes(plan, tokens, plane_elements(request));
    const auto index = static_cast<int>(layer);
    for (const Component& component : components) {
        const std::string role(to_string(component.role));
        const bool in_pages = request.page > 0 && component.units.kind == Units::Kind::tokens;
        const std::int64_t stored =
            in_pages ? (tokens + request.page - 1) / request.page * request.page : tokens;
        const Bytes bytes = component_bytes(component, request.formats, Tokens(stored));
        const int part = part_of(plan, component.kind);
        const LayerKind kind =
            part < 0 ? component.kind : plan.parts[static_cast<std::size_t>(part)].kind;
        buffers.push_back({index, part, std::string(to_string(kind)), role,
                           checked_multiply(bytes.count(), request.sequences), 0, 2, std::nullopt});
        const auto match = std::find_if(planes.begin(), planes.end(), [&](const PartPlane& p) {
            return p.kind == kind && p.plane.role == role;
        });
        if (match == planes.end())
            continue;
        buffers.back().part = match->part;
        buffers.back().plane = match->plane;
        planes.erase(match);
    }
    for (const PartPlane& p : planes)
        buffers.push_back({index, p.part, std::string(to_string(p.kind)), std::string(p.plane.role),
                           0, 0, 2, p.plane});
}

/// Dimensions that no plane shows (query heads, widths behind the scale) matter too: all are
/// compared.
std::string shape_text(const LayerPart& part) {
    ModelPlan one;
    one.layers = {{{part}, std::nullopt, ""}};
    return dump_json(to_json(one), -1);
}

bool same_shape(const LayerPart& a, const LayerPart& b) {
    return a.kind == b.kind && shape_text(a) == shape_text(b);
}

/// The group of that shape, which a new shape founds.
LayerGroup& group_for(std::vector<LayerGroup>& groups, const LayerPart& part) {
    const auto known = std::find_if(groups.begin(), groups.end(), [&](const LayerGroup& group) {
        return same_shape(group.plan, part);
    });
    return known == groups.end() ? groups.emplace_back(LayerGroup{part, {}, {}}) : *known;
}

/// The least piece of a plane of which some byte differs from poison once it was written. Packed
/// planes are looked at word by word, for codes and scales lie apart: a pair of scales is never
/// NaN, and all codes of a word are the highest only where all its numbers are near their group's
/// most.
std::int64_t element_size(const Plane& plane) {
    if (keeps_residual(plane.format))
        return 4;
    return scales_behind(plane.format) ? stored_row_bytes(plane.format, plane.width)
                                       : block_of(plane.format).bytes;
}

constexpr std::int64_t append_piece = 4 << 20; ///< small enough to stay in a cache on its way

std::int64_t chunk_tokens(std::int64_t bytes_per_token) {
    return std::clamp<std::int64_t>(append_piece / bytes_per_token, 1, 4096);
}

/// Queries in 16 bits and a weight per head.
std::int64_t index_io(const LayerPart& layer, std::int64_t n) {
    const auto shape = index_shape(layer);
    return shape ? checked_multiply(n, shape->heads * (2 * shape->width + 4)) : 0;
}

IoPlan io_of(const AttentionDims& d, const PlaneElements& e, std::int64_t n) {
    IoPlan io;
    const std::int64_t row =
        std::max(d.kv_heads * std::max(d.key_width, d.value_width), d.index_width);
    const std::int64_t token = checked_multiply(n, row * element_bytes(e.key));
    io.append_tokens = chunk_tokens(token);
    if (const std::int64_t residual = packing_of(e.key_format).residual; residual > 0)
        io.append_tokens = (io.append_tokens + residual - 1) / residual * residual;
    io.append = checked_multiply(io.append_tokens, token);
    io.query = checked_multiply(n, d.heads * d.key_width * element_bytes(e.key));
    io.out = checked_multiply(n, d.heads * d.value_width * 4);
    io.sinks = d.sinks > 0 ? d.heads * 4 : 0;
    return io;
}

IoPlan io_of(const LatentDims& d, const PlaneElements& e, std::int64_t n) {
    IoPlan io;
    const std::int64_t token =
        checked_multiply(n, std::max({d.rank, d.rope_width, d.index_width}) * element_bytes(e.key));
    io.append_tokens = chunk_tokens(token);
    io.append = io.append_tokens * token;
    io.query = checked_multiply(n, d.heads * d.rank * element_bytes(e.key));
    io.query_rope = checked_multiply(n, d.heads * d.rope_width * element_bytes(e.key));
    io.out = checked_multiply(n, d.heads * d.rank * 4);
    return io;
}

IoPlan io_of(const CompressedDims& d, const PlaneElements& e, std::int64_t n) {
    IoPlan io;
    const std::int64_t widest = std::max(d.width, d.index_width);
    const std::int64_t token = checked_multiply(n, widest * element_bytes(e.key));
    const std::int64_t row = checked_multiply(n, 2 * pooled_parts(d) * widest * 4);
    io.append_tokens = chunk_tokens(std::max(token, row));
    if (d.group > 0) {
        // Whole groups, and the one before them.
        io.append_tokens = (io.append_tokens + d.group - 1) / d.group * d.group;
        io.pooling = checked_multiply(io.append_tokens + d.group, row);
    }
    io.append = io.append_tokens * token;
    io.query = checked_multiply(n, d.heads * d.width * element_bytes(e.key));
    io.out = checked_multiply(n, d.heads * d.width * 4);
    io.sinks = d.heads * 4;
    return io;
}

IoPlan io_of(const Mamba1Dims& d, const PlaneElements& e, std::int64_t n) {
    IoPlan io;
    const std::int64_t x = checked_multiply(n, d.inner * element_bytes(e.conv));
    io.append_tokens = chunk_tokens(checked_multiply(n, d.inner * 6 + d.state_size * 8));
    io.append = io.append_tokens * x;
    io.step = io.append_tokens * n * d.inner * 4;
    io.b = io.c = io.append_tokens * n * d.state_size * 4;
    io.a = checked_multiply(d.inner, d.state_size * 4);
    io.d = io.bias = d.inner * 4;
    io.weight = checked_multiply(d.inner, d.conv_kernel * 4);
    io.out = n * d.inner * 4;
    return io;
}

template <typename Dims> IoPlan io_of(const Dims&, const PlaneElements&, std::int64_t) {
    throw Error("no kernel for this kind of layer yet", ErrorKind::impossible_here);
}

} // namespace

std::int64_t key_residual(const VerifyRequest& request) {
    const auto attends = [](const LayerPart& part) {
        return part.kind == LayerKind::full_attention;
    };
    const auto& layers = request.plan.layers;
    const bool any = std::any_of(layers.begin(), layers.end(), [&](const LayerPlan& layer) {
        return std::any_of(layer.parts.begin(), layer.parts.end(), attends);
    });
    return any ? packing_of(plane_elements(request).key_format).residual : 0;
}

std::int64_t first_step(const VerifyRequest& request, std::int64_t context) {
    const std::int64_t residual = key_residual(request);
    const std::int64_t first = context - request.steps;
    return residual > 0 ? std::max(first, context / residual * residual - 1) : first;
}

PlaneElements plane_elements(const VerifyRequest& request) {
    const CacheFormats& formats = request.formats;
    const Format key = format_of(*formats.k), value = format_of(*formats.v);
    const Format index = format_of(*formats.index);
    return {source_of(key),
            source_of(value),
            element_of(*formats.conv),
            element_of(*formats.state),
            key,
            value,
            request.page,
            source_of(index),
            index};
}

std::vector<BufferPlan> buffer_plans(const VerifyRequest& request, std::int64_t tokens) {
    std::vector<BufferPlan> buffers;
    const std::size_t layers = std::max(request.plan.layers.size(), request.spec.layers.size());
    for (std::size_t layer = 0; layer < layers; ++layer)
        add_layer(buffers, request, layer, tokens);
    for (BufferPlan& buffer : buffers)
        if (buffer.plane) {
            buffer.extent = extent_bytes(*buffer.plane, request.sequences);
            buffer.element_size = element_size(*buffer.plane);
            if (request.page > 0 && buffer.plane->slots > tokens)
                buffer.slack = buffer.extent / buffer.plane->slots * (buffer.plane->slots - tokens);
        }
    return buffers;
}

std::vector<LayerGroup> layer_groups(const ModelPlan& plan) {
    std::vector<LayerGroup> groups, borrowing;
    for (std::size_t i = 0; i < plan.layers.size(); ++i) {
        const LayerPlan& layer = plan.layers[i];
        for (std::size_t j = 0; j < layer.parts.size(); ++j) {
            LayerGroup& group = group_for(groups, layer.parts[j]);
            group.layers.push_back(static_cast<int>(i));
            group.parts.push_back(static_cast<int>(j));
        }
        if (!layer.shared_with)
            continue; // without a part it is an MLP
        const LayerPlan& owner = plan.layers[static_cast<std::size_t>(*layer.shared_with)];
        LayerGroup& group = group_for(borrowing, owner.parts.front());
        group.layers.push_back(static_cast<int>(i));
        group.parts.push_back(0);
        group.owners.push_back(*layer.shared_with);
    }
    groups.insert(groups.end(), borrowing.begin(), borrowing.end());
    return groups;
}

namespace {

/// All of the window, of the entries those that are attended, all index keys. What the step makes
/// an entry of is counted where it is read: once per group.
std::vector<StepCost> compressed_costs(const LayerPart& layer, std::int64_t tokens,
                                       const PlaneElements& elements, std::int64_t sequences) {
    const auto& d = std::get<CompressedDims>(layer.dims);
    const auto shape = index_shape(layer);
    std::vector<StepCost> costs;
    for (const Plane& plane : layer_planes(layer, tokens, elements)) {
        StepCost cost{extent_bytes(plane, sequences), 0};
        const std::int64_t attended =
            shape && plane.role == "compressed" ? std::min(plane.slots, shape->top) : plane.slots;
        if (plane.slots > 0)
            cost.bytes_read = cost.bytes_read / plane.slots * attended;
        if (plane.role == "key_value" || plane.role == "compressed")
            cost.flops = 4 * sequences * d.heads * attended * d.width; // as key and as value
        else if (plane.role == "index_key")
            cost.flops = 2 * sequences * shape->heads * plane.slots * (shape->width + 1);
        else
            cost.bytes_read /= pooled_parts(d) * d.group;
        costs.push_back(cost);
    }
    return costs;
}

} // namespace

std::vector<StepCost> step_costs(const LayerPart& layer, std::int64_t tokens,
                                 const PlaneElements& elements, std::int64_t sequences) {
    if (convolves_first(layer.kind))
        return state_step_costs(layer, elements, sequences);
    if (layer.kind == LayerKind::compressed_attention)
        return compressed_costs(layer, tokens, elements, sequences);
    std::vector<StepCost> costs;
    const std::vector<Plane> planes = layer_planes(layer, tokens, elements);
    for (const Plane& plane : planes)
        costs.push_back({extent_bytes(plane, sequences), 0});
    const std::int64_t seen = visible_tokens(layer, tokens);
    const auto shape = index_shape(layer);
    const std::int64_t slots = shape ? std::min(seen, shape->top) : seen; // that are attended
    if (shape)
        costs[2].flops = 2 * sequences * shape->heads * seen * (shape->width + 1);
    if (const auto* d = std::get_if<AttentionDims>(&layer.dims)) {
        for (std::size_t i = 0; i < 2; ++i) // of a chunk, only what has been filled
            if (!keeps_residual(planes[i].format))
                costs[i].bytes_read = costs[i].bytes_read / planes[i].slots * slots;
        costs[0].flops = 2 * sequences * d->heads * slots * d->key_width;
        costs[1].flops = 2 * sequences * d->heads * slots * d->value_width;
    } else if (const auto* latent = std::get_if<LatentDims>(&layer.dims)) {
        for (std::size_t i = 0; i < 2; ++i)
            costs[i].bytes_read = costs[i].bytes_read / tokens * slots;
        costs[0].flops =
            4 * sequences * latent->heads * slots * latent->rank; // as key and as value
        costs[1].flops = 2 * sequences * latent->heads * slots * latent->rope_width;
    } else if (const auto* mamba = std::get_if<Mamba1Dims>(&layer.dims)) {
        // exp counted as one: multiply, exp, multiply, multiply-add, multiply-add of the read-out
        costs.back().flops = 7 * sequences * mamba->inner * mamba->state_size;
        if (costs.size() > 1)
            costs.front().flops = 2 * sequences * mamba->inner * mamba->conv_kernel;
    }
    return costs;
}

StepCost step_cost(const LayerPart& layer, std::int64_t tokens, const PlaneElements& elements,
                   std::int64_t sequences) {
    StepCost total;
    for (const StepCost& cost : step_costs(layer, tokens, elements, sequences)) {
        total.bytes_read = checked_add(total.bytes_read, cost.bytes_read);
        total.flops = checked_add(total.flops, cost.flops);
    }
    return total;
}

std::int64_t IoPlan::total() const {
    return append + query + query_rope + sinks + index + pooling + out + step + b + c + mixed + a +
           d + weight + bias;
}

IoPlan io_plan(const LayerPart& layer, const PlaneElements& elements, std::int64_t sequences) {
    if (convolves_first(layer.kind))
        return state_io_plan(layer, elements, sequences);
    IoPlan io =
        std::visit([&](const auto& dims) { return io_of(dims, elements, sequences); }, layer.dims);
    io.index = index_io(layer, sequences);
    return io;
}

} // namespace kvcaliper::kernels
