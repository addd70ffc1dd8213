// SPDX-License-Identifier: Apache-2.0
// Stored rows read by the definition of their format, in doubles, and the places they are made at.
#pragma once

#include "kernels/backend.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kvcaliper::kernels::test {

using Bytes = std::vector<unsigned char>;

/// Every backend that can run here: each build of the CPU's, the emulator, a GPU.
std::vector<std::shared_ptr<Backend>> all_backends();
std::string name_of_backend(const Backend& backend);

/// The numbers of rows of that width that lie one after another.
std::vector<double> numbers_in(const Bytes& rows, Format format, std::int64_t width);

/// What a backend writes for one row of f32 numbers.
Bytes stored_row(Backend& backend, Format format, const std::vector<float>& row);

/// Runs an append of that source on device memory; the plane's bytes are replaced.
void append_on(Backend& backend, AppendView view, const Bytes& source, Bytes& plane);

std::size_t size_of(std::int64_t count);

} // namespace kvcaliper::kernels::test
