// SPDX-License-Identifier: Apache-2.0
// Steps of the tensor cores' kernel over planes in any format, and what they must give.
#pragma once

#include "simt_steps.h"

#include <memory>
#include <string>
#include <vector>

namespace kvcaliper::kernels::test {

/// Every place where the tensor cores' kernel can run here; with none, `why_not` says why.
std::vector<std::shared_ptr<Backend>> matrix_backends(std::string& why_not);

/// Planes that `tokens` tokens went through one by one; slots that were never written stay NaN.
struct StoredAttention {
    AttentionData numbers; ///< what the stored bytes stand for
    std::vector<std::byte> k, v;
};
StoredAttention stored_attention(Backend& backend, const AttentionView& sizes, std::int64_t tokens,
                                 std::uint64_t seed, double peak = 1.0);
Values run_step(Backend& backend, AttentionView view, const StoredAttention& data);

struct StoredLatent {
    LatentData numbers;
    std::vector<std::byte> latent, rope;
};
StoredLatent stored_latent(Backend& backend, const LatentView& sizes, std::uint64_t seed,
                           double peak = 1.0);
Values run_step(Backend& backend, LatentView view, const StoredLatent& data);

/// The view with caches in these formats.
AttentionView in_formats(AttentionView view, Format key, Format value);
LatentView in_format(LatentView view, Format format);

} // namespace kvcaliper::kernels::test
