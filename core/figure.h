// SPDX-License-Identifier: Apache-2.0
// A number that carries how it was computed. The value is computed from the terms and stored
// nowhere else, so an explanation can not disagree with its number.
#pragma once

#include "core/units.h"

#include <string>
#include <vector>

namespace kvcaliper {

/// One named number of a product: {"num_key_value_heads", 8}.
struct Factor {
    std::string name;
    Ratio value;
};

/// A product of factors with a heading: "full attention, key: 32 layers × 8,192 tokens × …".
struct Term {
    std::string label;
    std::vector<Factor> factors;
    Ratio value() const;
};

/// A sum of terms.
struct Figure {
    std::string name;
    std::vector<Term> terms;

    Ratio value() const;
    /// The value as bytes; throws Error when it is no whole number.
    Bytes bytes() const;
};

/// One line per term and a total, in words and numbers.
std::string explain(const Figure& figure);
/// "32 layers × 8 num_key_value_heads × 128 head_dim × 2 bytes per element".
std::string explain(const Term& term);

} // namespace kvcaliper
