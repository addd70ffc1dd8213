// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/text_table.h"

#include "app/gui/table_text.h"

#include <algorithm>

namespace kvcaliper::gui {

TextTable::TextTable(QStringList titles, QObject* parent, QStringList exact)
    : QAbstractTableModel(parent), titles_(std::move(titles)), exact_titles_(std::move(exact)) {}

void TextTable::setRows(std::vector<TextRow> rows) {
    const bool same = std::equal(rows.begin(), rows.end(), rows_.begin(), rows_.end(),
                                 [](const TextRow& a, const TextRow& b) { return a.id == b.id; });
    if (!same) {
        beginResetModel();
        rows_ = std::move(rows);
        endResetModel();
        return;
    }
    rows_ = std::move(rows);
    if (!rows_.empty()) {
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    }
}

int TextTable::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int TextTable::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(titles_.size());
}

QVariant TextTable::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const TextRow& row = rows_[static_cast<std::size_t>(index.row())];
    const TextCell& cell = row.cells[static_cast<std::size_t>(index.column())];
    switch (role) {
    case Qt::DisplayRole:
        return cell.text;
    case Qt::ToolTipRole:
        return cell.tip.isEmpty() ? cell.exact : cell.tip;
    case Qt::TextAlignmentRole:
        return QVariant(Qt::AlignVCenter | (cell.number ? Qt::AlignRight : Qt::AlignLeft));
    case exact_role:
        return cell.exact.isEmpty() ? cell.text : cell.exact;
    case sort_role:
        return cell.sort.isValid() ? cell.sort : QVariant(cell.text);
    case id_role:
        return row.id;
    default:
        return {};
    }
}

QVariant TextTable::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || (role != Qt::DisplayRole && role != exact_role)) {
        return QAbstractTableModel::headerData(section, orientation, role);
    }
    return role == exact_role ? exact_titles_.value(section, titles_.value(section))
                              : titles_.value(section);
}

} // namespace kvcaliper::gui
