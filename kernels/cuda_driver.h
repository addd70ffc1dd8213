// SPDX-License-Identifier: Apache-2.0
// What a driver's version says about its use. Apart from the backend, so that it is tested without
// a driver of each kind.
#pragma once

#include <string>

namespace kvcaliper::kernels {

/// "13.0" for 13000.
inline std::string cuda_version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Why a driver of this version cannot be used; empty when it can. 0 means that there is none.
inline std::string driver_refusal(int version) {
    constexpr int needed = 13000; // the runtime in this program is CUDA 13
    if (version == 0) {
        return "no NVIDIA driver is installed";
    }
    if (version < needed) {
        return "the NVIDIA driver supports CUDA " + cuda_version_text(version) +
               ", this build needs CUDA 13.0 (driver 580 or newer)";
    }
    return {};
}

} // namespace kvcaliper::kernels
