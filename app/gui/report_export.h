// SPDX-License-Identifier: GPL-3.0-or-later
// Reports as files, and the studies in what was exported.
#pragma once

#include "core/json_value.h"

#include <QString>

#include <optional>

namespace kvcaliper::gui {

class StudySession;

/// Writes a report on the study as .html or .pdf, complete or not at all. Returns why it could not
/// be written.
std::optional<QString> write_report(const StudySession& session, const QString& path);

/// Whether a file is a report or a table that was exported, by its name; of .json files a table
/// begins with its own mark.
bool carries_study(const QString& path);
/// The study in such a file; throws Error when there is none.
JsonValue carried_study(const QString& path);

/// Whether a file opens as a study: its own file, or one that carries it.
bool opens_as_study(const QString& path);

} // namespace kvcaliper::gui
