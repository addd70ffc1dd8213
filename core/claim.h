// SPDX-License-Identifier: Apache-2.0
// A published figure: what its digits allow, and under which reading it is true.
#pragma once

#include "core/catalog.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kvcaliper {

/// One entry of a claims file. `value` keeps the digits as written: "300" allows 299.5 to 300.5.
struct Claim {
    std::string id;
    std::string text;
    std::string source;
    std::string model;
    std::string against;  ///< ratio and at_most: the other model (or the same one)
    std::string quantity; ///< per_token, growth, total, ratio, at_most, fixed, layer_ratio, window,
                          ///< recomputation
    std::string value;
    std::string unit;     ///< KB, KiB, …; empty for pure numbers
    std::string k_format; ///< "auto" when absent
    std::string v_format;
    Tokens context{8192};
    std::string note;   ///< why a published figure differs, in the claims file's words
    bool about = false; ///< widens the digits' interval to ±5 %
};

enum class ClaimVerdict {
    consistent, ///< true as written
    only_if,    ///< true under another unit, model variant, format or basis, which is named
    refuted,    ///< true under no reading
};
std::string_view to_string(ClaimVerdict verdict);

/// What the quantity of a claim is taken from under one reading, and what it is there.
struct ClaimBasis {
    ModelPtr model;
    ModelPtr against; ///< of ratio and at_most; null elsewhere
    std::string k_format;
    std::string v_format;
    bool growth = false;        ///< as growth once windows are full
    std::string text;           ///< "as written", or the departure: "GPT-2 XL, with K and V in f32"
    std::optional<Ratio> value; ///< bytes or a pure number; nothing where the model has none
};

struct ClaimResult {
    Claim claim;
    ClaimVerdict verdict = ClaimVerdict::refuted;
    std::string claimed;              ///< "300 KB"
    std::string computed;             ///< "36 KiB (36,864 B)", for the model as named
    std::vector<std::string> reading; ///< "true for GPT-2 XL only", "KB here means KiB"
    std::vector<std::string> notes;   ///< "GPT-2's context is 1,024"
    std::vector<ClaimBasis> bases; ///< as written, then the readings with another model or format
};

/// Reads a claims file (a JSON array). Throws Error with file and pointer.
std::vector<Claim> read_claims(const std::string& path);
/// True when the claim compares with another model's figure.
bool needs_against(const Claim& claim);
/// True when the claimed value is a number of bytes.
bool counts_bytes(const Claim& claim);
/// A value of the claim's quantity in words: "36 KiB (36,864 B)", "5", "it grows".
std::string claim_value_text(const Claim& claim, const std::optional<Ratio>& value);
/// The model's window sizes, ascending.
std::set<std::int64_t> window_sizes(const ModelPlan& plan);
/// Checks one claim; `catalog` holds the siblings that are tried when it fails as written. Throws
/// Error when its model can not be read.
ClaimResult check_claim(const Claim& claim, const std::vector<CatalogEntry>& catalog);

} // namespace kvcaliper
