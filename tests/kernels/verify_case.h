// SPDX-License-Identifier: Apache-2.0
// Whole verifications of small models on the backends that need no device.
#pragma once

#include "kernels/verify_runner.h"
#include "tests/kernels/small_models.h"
#if defined(KVCALIPER_HAVE_EMULATED)
#include "kernels/backend_emulated.h"
#endif

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kvcaliper::kernels {

struct BackendCase {
    const char* name;
    std::unique_ptr<Backend> (*make)();
};

inline void PrintTo(const BackendCase& backend, std::ostream* out) {
    *out << backend.name;
}

inline const BackendCase backends[] = {
    {"cpu", [] { return make_cpu_backend(); }},
#if defined(KVCALIPER_HAVE_EMULATED)
    {"emulated", [] { return make_emulated_backend(); }},
    {"emulated_tensor_cores", [] { return make_emulated_tensor_backend(); }},
#endif
};

class VerifyTest : public testing::TestWithParam<BackendCase> {
  protected:
    VerifyResult verify_with(const VerifyRequest& request, Hooks hooks = {}) {
        hooks.measure_bandwidth = false;
        return verify(request, *backend_, hooks);
    }

    void expect_equal(const VerifyRequest& request) {
        const VerifyResult result = verify_with(request);
        EXPECT_EQ(to_string(result.verdict), "equal");
        EXPECT_THAT(result.reasons, testing::IsEmpty());
        for (const Sample& sample : result.samples) {
            EXPECT_EQ(sample.predicted, sample.requested);
            EXPECT_EQ(sample.predicted, sample.used);
        }
        for (const KernelRow& row : result.kernels) {
            EXPECT_LE(row.max_error, row.bound);
            EXPECT_GT(row.max_error, 0);
        }
    }

    /// The reasons of a request whose spec was changed.
    std::vector<std::string> refuted(const VerifyRequest& request) {
        const VerifyResult result = verify_with(request);
        EXPECT_EQ(to_string(result.verdict), "refuted");
        return result.reasons;
    }

    std::unique_ptr<Backend> backend_ = GetParam().make();
};

inline Component& component_of(VerifyRequest& request, std::size_t layer, Role role) {
    auto& components = request.spec.layers[layer].components;
    return *std::find_if(components.begin(), components.end(),
                         [&](const Component& c) { return c.role == role; });
}

/// Changes one element of the first layer's plane of that role by about one.
inline Hooks damage(const std::string& role, std::int64_t element_size, int& damaged) {
    Hooks hooks;
    hooks.after_fill = [role, element_size, &damaged](Backend& backend, const FilledPlane& plane) {
        if (plane.layer != 0 || plane.role != role || plane.context != 40)
            return;
        const float one = 1.25f;
        const std::uint16_t half = 0x3fa0; // 1.25 in bf16
        auto* at = static_cast<unsigned char*>(plane.memory) + plane.bytes / 2;
        backend.write(at, element_size == 4 ? static_cast<const void*>(&one) : &half, element_size);
        ++damaged;
    };
    return hooks;
}

} // namespace kvcaliper::kernels
