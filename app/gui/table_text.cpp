// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/table_text.h"

#include "app/gui/text.h"
#include "core/report.h"

#include <QAbstractItemModel>
#include <QStringList>

namespace kvcaliper::gui {

namespace {

QString header(const QAbstractItemModel& model, int column) {
    const QVariant exact = model.headerData(column, Qt::Horizontal, exact_role);
    return exact.isValid() ? exact.toString() : model.headerData(column, Qt::Horizontal).toString();
}

QString cell(const QAbstractItemModel& model, int row, int column) {
    const QModelIndex index = model.index(row, column);
    const QVariant exact = index.data(exact_role);
    return exact.isValid() ? exact.toString() : index.data().toString();
}

} // namespace

QString table_tsv(const QAbstractItemModel& model) {
    QString result;
    for (int row = -1; row < model.rowCount(); ++row) {
        QStringList cells;
        for (int column = 0; column < model.columnCount(); ++column) {
            QString value = row < 0 ? header(model, column) : cell(model, row, column);
            cells << value.replace(u'\t', u' ').replace(u'\n', u' ');
        }
        result += cells.join(u'\t') + u'\n';
    }
    return result;
}

QString table_csv(const QAbstractItemModel& model) {
    Table table;
    for (int column = 0; column < model.columnCount(); ++column) {
        table.columns.push_back({utf8(header(model, column)), false});
    }
    for (int row = 0; row < model.rowCount(); ++row) {
        auto& cells = table.rows.emplace_back();
        for (int column = 0; column < model.columnCount(); ++column) {
            cells.push_back(utf8(cell(model, row, column)));
        }
    }
    return text(format_table(table, TableStyle::csv));
}

} // namespace kvcaliper::gui
