// SPDX-License-Identifier: Apache-2.0
// What make_cuda_backend() says where it cannot work, and that both builds of the kernels live in
// one program. What the kernels compute on a GPU is cuda_kernels_test's business.
#include "core/error.h"
#include "kernels/backend_emulated.h"
#include "kernels/cuda_driver.h"

#include <gtest/gtest.h>

#include <string>

namespace kvcaliper::kernels {
namespace {

/// Its refusal, or empty where there is a usable GPU.
std::string refusal() {
    try {
        make_cuda_backend();
        return {};
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::impossible_here);
        return error.what();
    }
}

TEST(CudaBackend, SaysInOneLineWhyItCannotWork) {
    const std::string reason = refusal();
    if (reason.empty()) {
        GTEST_SKIP() << "there is a GPU";
    }
    EXPECT_EQ(reason.rfind("cuda: ", 0), 0u) << reason;
    EXPECT_EQ(reason.find('\n'), std::string::npos) << reason;
#if defined(KVCALIPER_HAVE_CUDA)
    EXPECT_EQ(reason.find("has no CUDA backend"), std::string::npos) << reason;
#else
    EXPECT_EQ(reason, "cuda: this build has no CUDA backend (nvcc was not found)");
#endif
}

TEST(CudaDriver, IsRefusedWhenAbsentOrOlderThanTheRuntime) {
    EXPECT_EQ(driver_refusal(0), "no NVIDIA driver is installed");
    EXPECT_EQ(driver_refusal(12090), "the NVIDIA driver supports CUDA 12.9, this build needs CUDA "
                                     "13.0 (driver 580 or newer)");
    EXPECT_EQ(driver_refusal(13000), "");
    EXPECT_EQ(driver_refusal(13010), "");
}

TEST(CudaBackend, SaysTheSameEachTime) {
    EXPECT_EQ(refusal(), refusal());
}

TEST(CudaBackend, LivesInOneProgramWithTheEmulatedKernels) {
    EXPECT_EQ(make_emulated_backend()->info().backend, "emulated");
}

} // namespace
} // namespace kvcaliper::kernels
