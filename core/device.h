// SPDX-License-Identifier: Apache-2.0
// GPUs and machines with unified memory, as data: configs/gpus.json and the user's own file.
#pragma once

#include "core/units.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kvcaliper {

enum class DeviceKind {
    gpu,     ///< memory of its own
    unified, ///< memory shared with the processor
};
std::string_view to_string(DeviceKind kind);

struct Device {
    std::string name;         ///< "h100-80"
    std::string display_name; ///< "NVIDIA H100 SXM 80 GB"
    std::string vendor;
    DeviceKind kind = DeviceKind::gpu;
    Bytes memory;               ///< as the driver reports it, unless nominal
    Bytes usable;               ///< what one process may take by default; `memory` where all of it
    bool nominal = false;       ///< the vendor's size: no driver's figure is known
    std::int64_t bandwidth = 0; ///< bytes per second, as the vendor states it
    std::string source;
};

/// A share of memory that an engine or a system lets a process take.
struct UsableShare {
    std::string name;          ///< "vllm"
    std::string of;            ///< "total" or "free" memory
    std::int64_t permille = 0; ///< 900 for 0.9
    std::string source;
};

/// Every device by name: the bundled ones, and those of the user's gpus.json, which replace bundled
/// ones of the same name. Throws Error for a file that is not as it must be.
std::vector<Device> known_devices();

/// The device of that name; throws Error naming a near one.
Device find_device(const std::string& name);

/// The shares gpus.json names ("vllm", "sglang", "tensorrt_llm", "macos", …).
std::vector<UsableShare> usable_shares();

} // namespace kvcaliper
