// SPDX-License-Identifier: Apache-2.0
// What the operating system says about memory: of the machine, and of this process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kvcaliper::kernels {

std::int64_t total_memory();
/// What may still be allocated: MemAvailable, or what a lower control-group limit leaves.
std::int64_t available_memory();
/// Resident bytes of this process.
std::optional<std::int64_t> resident_bytes();
std::int64_t page_bytes();
/// "AMD EPYC 9575F", or "unknown processor".
std::string processor_name();

/// Zeroed pages straight from the system, given back on unmap, so that resident bytes follow what
/// is allocated. Throws Error when memory is out.
void* map_memory(std::int64_t bytes);
void unmap_memory(void* memory, std::int64_t bytes) noexcept;

} // namespace kvcaliper::kernels
