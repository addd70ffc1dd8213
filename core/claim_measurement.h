// SPDX-License-Identifier: Apache-2.0
// A claim's quantity, taken from what a run of the verifier used instead of from a formula.
#pragma once

#include "core/claim.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kvcaliper {

/// Bytes that one component of the layers of one shape used at one context, one sequence.
struct MeasuredComponent {
    std::int64_t context = 0;
    std::string kind;      ///< "full_attention"
    std::string component; ///< "key"
    std::int64_t layers = 0;
    std::int64_t used = 0;
};
/// One run of one model in one pair of formats.
struct Measurement {
    std::vector<MeasuredComponent> components; ///< at every context the same, in one order
    /// Token positions that were made without a cache, by how many tokens there were to make.
    std::map<std::int64_t, std::int64_t> recomputed;
};

/// The components of a verifier's result, totals left out. Throws Error for one that is none.
Measurement measurement_from_result(const JsonValue& result);

/// Why no run of this model can measure the quantity, or nothing.
std::string unmeasurable(const Claim& claim, const ClaimBasis& basis);
/// Tokens that the run must also make without a cache; none for most claims.
Tokens measured_baseline(const Claim& claim);

/// The contexts a run must sample for this basis, ascending; where a figure per token is asked for,
/// two contexts on one segment of the curve.
std::vector<std::int64_t> measured_contexts(const Claim& claim, const ClaimBasis& basis);
/// What a claim is compared with: the other model in the `ideal` formats.
ClaimBasis against_basis(const ClaimBasis& basis);

/// The quantity of the claim; nothing where the model has no such thing. `against` is the run of
/// against_basis, looked at only where the basis has another model. Throws Error for a run that did
/// not look where it had to.
std::optional<Ratio> measured_value(const Claim& claim, const ClaimBasis& basis,
                                    const Measurement& own, const Measurement& against);

} // namespace kvcaliper
