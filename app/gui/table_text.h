// SPDX-License-Identifier: GPL-3.0-or-later
// A table of the window as core writes tables: for the clipboard, for files and for the report.
#pragma once

#include "core/report.h"

#include <QString>

#include <Qt>

class QAbstractItemModel;

namespace kvcaliper::gui {

/// The raw number behind a cell, to sort by.
inline constexpr int sort_role = Qt::UserRole + 1;
/// The cell as text without rounding, and the same for a header ("Growth (B/token)").
inline constexpr int exact_role = Qt::UserRole + 2;
/// The id of the row's model.
inline constexpr int id_role = Qt::UserRole + 3;

/// Every cell without rounding, under headers that say so.
Table exact_table(const QAbstractItemModel& model);
/// Every cell as it is shown; titles may have several lines.
Table shown_table(const QAbstractItemModel& model);
/// For the clipboard: exact, header included.
QString table_tsv(const Table& table);

} // namespace kvcaliper::gui
