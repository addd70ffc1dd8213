// SPDX-License-Identifier: Apache-2.0
// Which kernel of the verifier proves what a layer keeps, where that kernel has run, and what is
// still unproven. One table, held against the kernels themselves by tests/kernels.
#pragma once

#include "core/layer_plan.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvcaliper {

// What layers of several kinds may have, named beside the kinds.
inline constexpr std::string_view index_keys = "index_keys";
inline constexpr std::string_view shared_cache = "shared_cache"; ///< a layer reads another's
inline constexpr std::string_view attention_sinks = "attention_sinks";

struct KernelProof {
    std::string_view subject;  ///< to_string of a LayerKind, or something kinds have in common
    std::string_view kernels;  ///< files of kernels/cuda, comma separated; empty: none yet
    std::string_view backends; ///< that ran it against the reference: "cpu, emulated"
    std::string_view record;   ///< of a run on a device, in tests/golden/verification; or empty
};

/// A row for every kind in the order of all_layer_kinds, then the rest.
std::span<const KernelProof> kernel_proofs();

/// The row of a subject; throws Error where there is none.
const KernelProof& proof_of(std::string_view subject);

inline constexpr std::string_view emulation_only = "executed by emulation only, never on a GPU";

/// The record, emulation_only, or "no kernel yet".
std::string record_text(const KernelProof& proof);

/// The proofs of several subjects in a line; those that are alike are told once:
/// "cpu, emulated; executed by …", or "full_attention: cpu, …; rglru: no kernel yet".
std::string proof_text(const std::vector<std::string>& subjects);

} // namespace kvcaliper
