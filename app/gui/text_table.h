// SPDX-License-Identifier: GPL-3.0-or-later
// A table of finished cells, for pages that compute a row as a whole.
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <QStringList>
#include <QVariant>

#include <vector>

namespace kvcaliper::gui {

struct TextCell {
    QString text;
    QString exact; ///< for the clipboard and files; the text where empty
    QVariant sort; ///< to sort by; the text where invalid
    QString tip;
    bool number = false; ///< aligned right
};

struct TextRow {
    QString id;
    std::vector<TextCell> cells;
};

class TextTable : public QAbstractTableModel {
    Q_OBJECT

  public:
    /// `exact` are the titles of columns of bytes in files; those above where it is empty.
    explicit TextTable(QStringList titles, QObject* parent = nullptr, QStringList exact = {});
    /// Keeps selection and scroll position of the views where the ids are the same as before.
    void setRows(std::vector<TextRow> rows);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override;

  private:
    QStringList titles_;
    QStringList exact_titles_;
    std::vector<TextRow> rows_;
};

} // namespace kvcaliper::gui
