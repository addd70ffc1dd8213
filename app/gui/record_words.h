// SPDX-License-Identifier: GPL-3.0-or-later
// What a verification record says about a figure, in words, marks and colours.
#pragma once

#include "core/verify_evidence.h"

#include <QColor>
#include <QString>

namespace kvcaliper::gui {

/// How a figure is known. The badge of a figure is its evidence.
using Badge = EvidenceStatus;

/// "computed", "✓ measured", …: a mark and a word beside the colour.
QString badge_text(Badge badge);
/// The mark alone, for tables; nothing for what is only computed.
QString badge_mark(Badge badge);
/// Readable as text on the ground of a palette.
QColor badge_colour(Badge badge, bool dark);

/// "2026-11-30 00:54 UTC".
QString date_text(const VerifyRecord& record);
/// "NVIDIA H200 (cuda)".
QString device_text(const VerifyRecord& record);
/// "✓ equal", "△ stale", …
QString status_text(RecordStatus status);
/// What a run found, where, when and with what: some sentences.
QString record_text(const VerifyRecord& record, const RecordCheck& check);
/// Why a figure has its badge: one sentence, and what counts as measured where it is not.
QString evidence_text(const Evidence& evidence);
/// Which of the model's CUDA kernels no GPU has run, and on what the others ran; one or two
/// sentences.
QString kernels_text(const Model& model, const std::vector<VerifyRecordPtr>& records);
/// The same for all kinds of layers, as one sentence for the About box.
QString all_kernels_text(const std::vector<VerifyRecordPtr>& records);

} // namespace kvcaliper::gui
