// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of a table in which every written word is found.
#pragma once

#include <QSortFilterProxyModel>
#include <QStringList>

namespace kvcaliper::gui {

class WordsFilter : public QSortFilterProxyModel {
    Q_OBJECT

  public:
    /// `role` of a row's first cell has the text that is searched.
    WordsFilter(int role, QObject* parent = nullptr);
    /// "deepseek mla": both words, in any order and case. Empty: all rows.
    void setWords(const QString& written);

  protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

  private:
    int role_;
    QStringList words_;
};

} // namespace kvcaliper::gui
