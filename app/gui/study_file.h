// SPDX-License-Identifier: GPL-3.0-or-later
// Studies as files: NAME.kvstudy.json. What this version does not know in a file stays in it.
#pragma once

#include "app/gui/study.h"
#include "core/json_value.h"

#include <QString>

#include <optional>

namespace kvcaliper::gui {

/// A study and the document it was read from, whose other members are written back as they were.
struct StudyFile {
    StudyState state;
    JsonValue document;
    std::vector<VerifyRecordPtr> records{}; ///< those that could be read
    QStringList problems{};                 ///< a line for each of the others
};

/// By its name's ending; the content says what is wrong with it.
bool is_study_file(const QString& path);

/// Reads a study, also out of a report or table that carries one. Models that are paths below the
/// file's folder come back absolute; one that can not be read is no error here but a row with its
/// reason. Throws Error with file and JSON pointer.
StudyFile read_study_file(const QString& path);

/// `document` with the study's members set, for a file at `path`: models below its folder are
/// written as "./…", others absolute unless the document has them relative. An empty path makes
/// all of them absolute.
JsonValue study_document(const StudyState& state, JsonValue document, const QString& path);

/// Writes a document under a temporary name and renames it; the reason when that fails.
std::optional<QString> write_study_document(const QString& path, const JsonValue& document);

} // namespace kvcaliper::gui
