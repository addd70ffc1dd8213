// SPDX-License-Identifier: Apache-2.0
// Test data, and the plainest double-precision computation of what each kernel promises. It shares
// nothing with the kernels but the views.
#pragma once

#include "kernels/backend.h"
#include "kernels/simt/float_types.h"

#include <cstdint>
#include <vector>

namespace kvcaliper::kernels::test {

using Values = std::vector<double>;

/// Normally distributed values that the element can hold exactly; the same for the same seed.
Values normal_values(std::int64_t count, std::uint64_t seed, Element element, double spread = 1.0);

/// The bytes of `values` as stored in memory, and back.
std::vector<std::byte> stored(const Values& values, Element element);
Values restored(const std::vector<std::byte>& bytes, Element element);

struct AttentionData {
    Values q, k, v;
};

/// Only the sizes, the scale and `valid` of the view are used.
Values reference(const AttentionView& sizes, const AttentionData& data);

struct LatentData {
    Values q_latent, q_rope, latent, rope;
};
Values reference(const LatentView& sizes, const LatentData& data);

/// history and state are advanced in place; history holds inputs as they are.
struct MambaData {
    Values x, dt, b, c, a, d, weight, bias, history, state;
};
Values reference(const Mamba1View& sizes, MambaData& data);

/// The largest relative L2 error of any row of `width` values; NaN when a value is NaN.
double worst_error(const Values& found, const Values& expected, std::int64_t width);

} // namespace kvcaliper::kernels::test
