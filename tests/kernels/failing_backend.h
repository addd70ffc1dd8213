// SPDX-License-Identifier: Apache-2.0
// Another backend whose n-th allocation fails, and which counts what was not given back.
#pragma once

#include "core/error.h"
#include "kernels/backend.h"

#include <string>

namespace kvcaliper::kernels {

class FailingBackend final : public Backend {
  public:
    FailingBackend(Backend& real, std::int64_t fail_at) : real_(real), fail_at_(fail_at) {}

    bool failed() const { return count_ >= fail_at_; }
    std::int64_t live_buffers() const { return live_buffers_; }
    std::int64_t live_bytes() const { return live_bytes_; }

    void* allocate(std::int64_t bytes) override {
        if (++count_ == fail_at_)
            throw Error("allocation " + std::to_string(count_) + ": expected memory, found none",
                        ErrorKind::impossible_here);
        void* memory = real_.allocate(bytes);
        live_buffers_ += 1;
        live_bytes_ += bytes;
        return memory;
    }
    void release(void* memory, std::int64_t bytes) noexcept override {
        live_buffers_ -= 1;
        live_bytes_ -= bytes;
        real_.release(memory, bytes);
    }

    DeviceInfo info() const override { return real_.info(); }
    void fill(void* memory, unsigned char byte, std::int64_t bytes) override {
        real_.fill(memory, byte, bytes);
    }
    void write(void* device, const void* host, std::int64_t bytes) override {
        real_.write(device, host, bytes);
    }
    void read(void* host, const void* device, std::int64_t bytes) override {
        real_.read(host, device, bytes);
    }
    MemorySample sample() override { return real_.sample(); }
    std::int64_t workspace_bytes(const AttentionView& view) const override {
        return real_.workspace_bytes(view);
    }
    std::int64_t workspace_bytes(const LatentView& view) const override {
        return real_.workspace_bytes(view);
    }
    std::int64_t workspace_bytes(const PagedAttentionView& view) const override {
        return real_.workspace_bytes(view);
    }
    std::int64_t workspace_bytes(const ResidualAttentionView& view) const override {
        return real_.workspace_bytes(view);
    }
    void append(const AppendView& view) override { real_.append(view); }
    void pack(const PackView& view) override { real_.pack(view); }
    void attend(const AttentionView& view, void* workspace) override {
        real_.attend(view, workspace);
    }
    void attend(const LatentView& view, void* workspace) override { real_.attend(view, workspace); }
    void attend(const PagedAttentionView& view, void* workspace) override {
        real_.attend(view, workspace);
    }
    void attend(const ResidualAttentionView& view, void* workspace) override {
        real_.attend(view, workspace);
    }
    void score(const IndexScoreView& view) override { real_.score(view); }
    void select(const SelectView& view) override { real_.select(view); }
    void gather(const GatherView& view) override { real_.gather(view); }
    void pool(const PoolView& view) override { real_.pool(view); }
    void step(const Mamba1View& view) override { real_.step(view); }
    void step(const ConvView& view) override { real_.step(view); }
    void step(const Mamba2View& view) override { real_.step(view); }
    void step(const DeltaView& view) override { real_.step(view); }
    void step(const RglruView& view) override { real_.step(view); }
    void step(const Rwkv4View& view) override { real_.step(view); }
    void step(const RwkvView& view) override { real_.step(view); }
    void step(const XlstmView& view) override { real_.step(view); }
    void synchronize() override { real_.synchronize(); }
    double read_bandwidth() override { return real_.read_bandwidth(); }
    double attention_bound(const AttentionView& view) const override {
        return real_.attention_bound(view);
    }
    double attention_bound(const ResidualAttentionView& view) const override {
        return real_.attention_bound(view);
    }
    double attention_bound(const LatentView& view) const override {
        return real_.attention_bound(view);
    }
    double state_bound() const override { return real_.state_bound(); }

  private:
    Backend& real_;
    std::int64_t fail_at_;
    std::int64_t count_ = 0, live_buffers_ = 0, live_bytes_ = 0;
};

} // namespace kvcaliper::kernels
