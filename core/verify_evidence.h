// SPDX-License-Identifier: Apache-2.0
// Which figures of an estimate the records of the verifier bear out.
#pragma once

#include "core/verify_record.h"

#include <array>
#include <string>
#include <vector>

namespace kvcaliper {

enum class FigureKind { uncapped, growth, constant, total };
inline constexpr FigureKind all_figure_kinds[] = {FigureKind::uncapped, FigureKind::growth,
                                                  FigureKind::constant, FigureKind::total};

enum class EvidenceStatus {
    computed, ///< no record is about this figure
    measured, ///< a run measured exactly this number
    refuted,  ///< a run contradicts the prediction
    stale,    ///< a run was held against another prediction than today's
};

struct Evidence {
    EvidenceStatus status = EvidenceStatus::computed;
    VerifyRecordPtr record{}; ///< none where only computed
    std::string how{};        ///< "between 4,096 and 8,192 tokens"; why it is refuted or stale
};

/// How every figure of an estimate is known, in the order of FigureKind.
using FigureEvidence = std::array<Evidence, std::size(all_figure_kinds)>;

/// A record counts where it is about exactly the estimate's model, context, sequences and formats
/// and its decode steps ran. The total was then measured at that context; the slopes count where
/// two neighbouring contexts differ by just that much per token, the constant where the line with
/// that slope through two of them starts there. Of every device the latest record speaks, and a
/// refutation outweighs the others.
FigureEvidence figure_evidence(const Estimate& estimate,
                               const std::vector<VerifyRecordPtr>& records);

} // namespace kvcaliper
