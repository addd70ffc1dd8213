// SPDX-License-Identifier: Apache-2.0
// A fixed pool of threads and one operation on it.
#pragma once

#include <cstdint>
#include <functional>

namespace kvcaliper::kernels {

/// Threads that parallel_for uses, the caller included.
int thread_count();

/// Calls task(0) to task(count - 1), each once, on all threads, and returns when all are done. The
/// first exception is thrown again here. Not to be nested.
void parallel_for(std::int64_t count, const std::function<void(std::int64_t)>& task);

} // namespace kvcaliper::kernels
