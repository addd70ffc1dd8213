// SPDX-License-Identifier: Apache-2.0
#include "kernels/layer_driver.h"

#include "core/error.h"

#include <algorithm>

namespace kvcaliper::kernels {

LayerDriver::LayerDriver(Backend& backend, const VerifyRequest& request, const LayerGroup& group,
                         const std::atomic<bool>* cancel)
    : backend_(backend), request_(request), group_(group), elements_(plane_elements(request)),
      io_plan_(io_plan(group.plan, elements_, request.sequences)), cancel_(cancel) {
    if (group.borrows())
        io_plan_.append = 0; // it appends nothing
}

void LayerDriver::allocate(CountingAllocator& allocator) {
    out_ = allocator.allocate("io", io_plan_.out);
}

void LayerDriver::poison_output() {
    backend_.fill(out_.data(), poison_byte, out_.bytes());
}

std::vector<float> LayerDriver::output(std::int64_t sequence) {
    const std::int64_t bytes = out_.bytes() / sequences();
    std::vector<float> values(static_cast<std::size_t>(bytes / 4));
    backend_.read(values.data(), out_.as<unsigned char>() + sequence * bytes, bytes);
    backend_.synchronize();
    return values;
}

void LayerDriver::check_cancelled() const {
    if (cancel_ != nullptr && cancel_->load())
        throw Cancelled{};
}

void LayerDriver::send(const GuardedBuffer& to, const void* from, std::int64_t bytes) {
    backend_.write(to.data(), from, bytes);
    backend_.synchronize();
}

GuardedBuffer LayerDriver::sent(CountingAllocator& allocator, const std::vector<float>& values) {
    const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(float));
    GuardedBuffer buffer = allocator.allocate("io", bytes);
    send(buffer, values.data(), bytes);
    return buffer;
}

void LayerDriver::reset(const LayerMemory& memory) {
    for (std::size_t i = 0; i < memory.planes.size(); ++i)
        backend_.fill(memory.planes[i], 0, extent_bytes(memory.shapes[i], sequences()));
}

void LayerDriver::walk(std::int64_t tokens,
                       const std::function<void(std::int64_t, std::int64_t)>& take) {
    for (std::int64_t first = 0; first < tokens; first += io_plan_.append_tokens) {
        check_cancelled();
        take(first, std::min(io_plan_.append_tokens, tokens - first));
        backend_.synchronize();
    }
}

namespace {

/// True where recent tokens lie apart from older ones.
bool splits_tokens(const VerifyRequest& request) {
    const PlaneElements elements = plane_elements(request);
    return keeps_residual(elements.key_format) || keeps_residual(elements.value_format);
}

} // namespace

std::unique_ptr<LayerDriver> make_layer_driver(Backend& backend, const VerifyRequest& request,
                                               const LayerGroup& group,
                                               const std::atomic<bool>* cancel) {
    switch (group.plan.kind) {
    case LayerKind::full_attention:
        return splits_tokens(request) ? make_residual_driver(backend, request, group, cancel)
                                      : make_attention_driver(backend, request, group, cancel);
    case LayerKind::sliding_attention:
    case LayerKind::chunked_attention:
    case LayerKind::cross_attention:
        return make_attention_driver(backend, request, group, cancel);
    case LayerKind::mla:
        return make_latent_driver(backend, request, group, cancel);
    case LayerKind::mamba1:
        return make_mamba1_driver(backend, request, group, cancel);
    case LayerKind::mamba2:
        return make_mamba2_driver(backend, request, group, cancel);
    case LayerKind::gated_delta:
    case LayerKind::kda:
    case LayerKind::lightning:
    case LayerKind::gla:
        return make_delta_driver(backend, request, group, cancel);
    case LayerKind::short_conv:
    case LayerKind::kv_conv:
        return make_short_conv_driver(backend, request, group, cancel);
    case LayerKind::compressed_attention:
        return make_compressed_driver(backend, request, group, cancel);
    case LayerKind::rglru:
        return make_rglru_driver(backend, request, group, cancel);
    case LayerKind::rwkv4:
    case LayerKind::rwkv:
        return make_rwkv_driver(backend, request, group, cancel);
    case LayerKind::xlstm:
        return make_xlstm_driver(backend, request, group, cancel);
    }
    throw Error("no kernel for this kind of layer", ErrorKind::impossible_here);
}

} // namespace kvcaliper::kernels
