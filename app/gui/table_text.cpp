// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/table_text.h"

#include "app/gui/text.h"

#include <QAbstractItemModel>

namespace kvcaliper::gui {

namespace {

/// What a role says, or the words on the screen where it says nothing.
QString words(const QVariant& of_role, const QVariant& shown) {
    return of_role.isValid() ? of_role.toString() : shown.toString();
}

QString header(const QAbstractItemModel& model, int column, int role) {
    return words(model.headerData(column, Qt::Horizontal, role),
                 model.headerData(column, Qt::Horizontal));
}

/// Numbers stand at the right. A row without an answer may have none.
bool has_numbers(const QAbstractItemModel& model, int column) {
    for (int row = 0; row < model.rowCount(); ++row) {
        const QVariant alignment = model.index(row, column).data(Qt::TextAlignmentRole);
        if ((alignment.toInt() & Qt::AlignRight) != 0) {
            return true;
        }
    }
    return false;
}

Table table_of(const QAbstractItemModel& model, int role) {
    Table table;
    for (int column = 0; column < model.columnCount(); ++column) {
        table.columns.push_back({utf8(header(model, column, role)), has_numbers(model, column)});
    }
    for (int row = 0; row < model.rowCount(); ++row) {
        auto& cells = table.rows.emplace_back();
        for (int column = 0; column < model.columnCount(); ++column) {
            const QModelIndex index = model.index(row, column);
            cells.push_back(utf8(words(index.data(role), index.data())));
        }
    }
    return table;
}

} // namespace

Table exact_table(const QAbstractItemModel& model) {
    return table_of(model, exact_role);
}

Table shown_table(const QAbstractItemModel& model) {
    return table_of(model, Qt::DisplayRole);
}

QString table_tsv(const Table& table) {
    return text(format_table(table, TableStyle::tsv));
}

} // namespace kvcaliper::gui
