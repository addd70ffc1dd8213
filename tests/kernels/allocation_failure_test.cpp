// SPDX-License-Identifier: Apache-2.0
// Memory that runs out at the n-th allocation, for every n: the run says so and gives everything
// back.
#include "tests/kernels/failing_backend.h"
#include "tests/kernels/verify_case.h"

namespace kvcaliper::kernels {
namespace {

using testing::ElementsAre;

class AllocationFailure : public testing::TestWithParam<BackendCase> {
  protected:
    /// Runs until no allocation fails any more; returns how many there are.
    std::int64_t fail_each(const VerifyRequest& request) {
        for (std::int64_t n = 1;; ++n) {
            const std::unique_ptr<Backend> real = GetParam().make();
            FailingBackend backend(*real, n);
            Hooks hooks;
            hooks.measure_bandwidth = false;
            const VerifyResult result = verify(request, backend, hooks);
            EXPECT_EQ(backend.live_buffers(), 0) << "allocation " << n;
            EXPECT_EQ(backend.live_bytes(), 0) << "allocation " << n;
            if (!backend.failed()) {
                EXPECT_EQ(to_string(result.verdict), "equal");
                return n - 1;
            }
            EXPECT_EQ(to_string(result.verdict), "refused") << "allocation " << n;
            EXPECT_EQ(exit_code(result.verdict), 3);
            EXPECT_THAT(result.reasons, ElementsAre("allocation " + std::to_string(n) +
                                                    ": expected memory, found none"));
            if (testing::Test::HasFailure())
                return n;
        }
    }
};

TEST_P(AllocationFailure, OfEveryBufferOfAttention) {
    const VerifyRequest request = request_for(
        {full_layer(), with_sinks(sliding_layer()), latent_layer(), chunked_layer(), cross_layer()},
        {12, 30});
    // At least K and V (latent and rotary key) of five layers at two contexts.
    EXPECT_GE(fail_each(request), 2 * 2 * 5);
}

TEST_P(AllocationFailure, OfEveryBufferOfIndexersAndCompressedEntries) {
    VerifyRequest request = request_for(
        {indexed_latent_layer(16), indexed_layer(16),
         one_part(LayerKind::compressed_attention, CompressedDims{4, 64, 24, 4, 32, 3, 5})},
        {12, 30});
    add_compressor_buffers(request.spec, request.plan);
    // Three, three and five planes at two contexts.
    EXPECT_GE(fail_each(request), 2 * (3 + 3 + 5));
}

TEST_P(AllocationFailure, OfEveryBufferOfStates) {
    const VerifyRequest request =
        request_for({mamba1_layer(), mamba2_layer(), delta_layer(LayerKind::gated_delta),
                     short_conv_layer(), joined({full_layer(), mamba2_layer()})},
                    {12, 30});
    EXPECT_GE(fail_each(request), 2 * (2 + 2 + 2 + 1 + 4));
}

TEST_P(AllocationFailure, OfEveryBufferOfRecurrentStates) {
    const VerifyRequest request = request_for({rglru_layer(), rwkv4_layer(), rwkv_layer(6),
                                               rwkv_layer(7), xlstm_layer(), kv_conv_layer(1)},
                                              {12, 30});
    EXPECT_GE(fail_each(request), 2 * (2 + 2 + 2 + 2 + 1 + 1));
}

INSTANTIATE_TEST_SUITE_P(Backends, AllocationFailure, testing::ValuesIn(backends),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

} // namespace
} // namespace kvcaliper::kernels
