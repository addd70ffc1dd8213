// SPDX-License-Identifier: Apache-2.0
// What a row of a cache gives back in each format, in doubles and integers: the reference's own
// arithmetic, which never sees stored bytes.
#pragma once

#include "kernels/formats.h"

#include <cstdint>

namespace kvcaliper::kernels {

/// The nearest number of that type; of two the even one.
double rounded_to(Element element, double value);

/// Replaces the values of one row (f16 or bf16 numbers) by what is read back after storing them.
/// Of a format with a residual: by a packed row, whose groups are of neighbours.
void store_and_restore(Format format, std::int64_t width, double* row);

/// The same for one group of numbers, `step` apart, of a format with a residual.
void pack_and_restore(Format format, double* group, std::int64_t step);

} // namespace kvcaliper::kernels
