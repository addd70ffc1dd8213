// SPDX-License-Identifier: GPL-3.0-or-later
// A table as text, for the clipboard and for files: exact numbers, header included.
#pragma once

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

QString table_tsv(const QAbstractItemModel& model);
QString table_csv(const QAbstractItemModel& model);

} // namespace kvcaliper::gui
