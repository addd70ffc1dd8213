// SPDX-License-Identifier: Apache-2.0
#include "kernels/system_memory.h"

#include "core/error.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sys/mman.h>
#include <unistd.h>

namespace kvcaliper::kernels {
namespace {

/// The number behind "NAME:" of a /proc file, 0 when it is not there.
std::int64_t number_after(const char* file, const std::string& name) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
        if (line.rfind(name + ":", 0) == 0)
            return std::atoll(line.c_str() + name.size() + 1);
    return 0;
}

std::optional<std::int64_t> number_in(const std::string& file) {
    std::ifstream in(file);
    std::int64_t value = 0;
    if (in >> value)
        return value;
    return std::nullopt; // also for "max"
}

/// What a control group leaves: version 2, then version 1. Only the group this process sees as root
/// or its own one matters; a container shows its own limit at the root of the mount.
std::optional<std::int64_t> control_group_headroom() {
    const std::string root = "/sys/fs/cgroup/";
    const auto room = [](std::optional<std::int64_t> limit, std::optional<std::int64_t> used) {
        return limit && used ? std::optional(std::max<std::int64_t>(0, *limit - *used))
                             : std::nullopt;
    };
    if (auto v2 = room(number_in(root + "memory.max"), number_in(root + "memory.current")))
        return v2;
    return room(number_in(root + "memory/memory.limit_in_bytes"),
                number_in(root + "memory/memory.usage_in_bytes"));
}

} // namespace

std::int64_t page_bytes() {
    return sysconf(_SC_PAGESIZE);
}

std::int64_t total_memory() {
    return sysconf(_SC_PHYS_PAGES) * page_bytes();
}

std::int64_t available_memory() {
    std::int64_t available = number_after("/proc/meminfo", "MemAvailable") * 1024;
    if (available == 0)
        available = total_memory();
    const auto headroom = control_group_headroom();
    return headroom ? std::min(available, *headroom) : available;
}

std::optional<std::int64_t> resident_bytes() {
    std::ifstream in("/proc/self/statm");
    std::int64_t size = 0, resident = 0;
    if (in >> size >> resident)
        return resident * page_bytes();
    return std::nullopt;
}

std::string processor_name() {
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);)
        if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos)
            return line.substr(line.find(": ") + 2);
    return "unknown processor";
}

void* map_memory(std::int64_t bytes) {
    void* memory = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        throw Error("out of memory for " + std::to_string(bytes) + " bytes",
                    ErrorKind::impossible_here);
#if defined(MADV_HUGEPAGE)
    madvise(memory, static_cast<std::size_t>(bytes),
            MADV_HUGEPAGE); // advice only: fewer page faults
#endif
    return memory;
}

void unmap_memory(void* memory, std::int64_t bytes) noexcept {
    munmap(memory, static_cast<std::size_t>(bytes));
}

} // namespace kvcaliper::kernels
