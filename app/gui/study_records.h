// SPDX-License-Identifier: GPL-3.0-or-later
// The verification records in a study's file: its member "records", each as `--record` writes it.
#pragma once

#include "app/gui/study_file.h"

namespace kvcaliper::gui {

/// Records of so many runs of each model go into a file, the latest ones.
inline constexpr int records_per_model = 4;

/// The records of a study's document. One that is damaged is a line in `problems`, and no reason
/// not to read the others.
std::vector<VerifyRecordPtr> read_study_records(const JsonValue& document, const QString& path,
                                                QStringList& problems);

/// Writes the records of the study's models into its document. Those in it that could not be read
/// stay as they are.
void set_study_records(JsonValue& document, const Study& study);

} // namespace kvcaliper::gui
