// SPDX-License-Identifier: GPL-3.0-or-later
// The tables behind the charts of the Context and Layers pages, and what every table of the window
// is made from.
#pragma once

#include "app/gui/study.h"
#include "core/table_file.h"

#include <QString>

#include <optional>

namespace kvcaliper::gui {

/// Exact bytes of all sequences of each model at token counts up to the longest maximum context,
/// as `kvcaliper curve` gives them: columns are models, the last names those with a knee there.
Table curve_table(const Study& study);

/// One row per component of each layer of each model, in bytes of all sequences at the context.
Table layer_table(const Study& study);

/// A table and what it was made from, to be written to a file.
struct StudyTable {
    Table table;
    TableOrigin origin;
};

/// The origin of the table of a page ("compare", "context", "layers" or "budget"), with the
/// commands that give it again: of kvcaliper where it knows the models, else of this program from
/// a file called `file` that holds the study.
TableOrigin table_origin(const Study& study, const QString& page, const QString& file,
                         JsonValue document);

/// Writes a table as its name's ending says; the reason when that fails.
std::optional<QString> export_table(const StudyTable& table, const QString& path);

} // namespace kvcaliper::gui
