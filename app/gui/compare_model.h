// SPDX-License-Identifier: GPL-3.0-or-later
// The models of a study as a table, one row each.
#pragma once

#include "app/gui/study.h"

#include <QAbstractTableModel>

namespace kvcaliper::gui {

class CompareModel : public QAbstractTableModel {
    Q_OBJECT

  public:
    enum Column { Name, Kind, Uncapped, Growth, Constant, Total, RatioColumn, Layers, ColumnCount };

    explicit CompareModel(const Study& study, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override;

  private:
    void refresh();
    QVariant display(const StudyRow& row, int column) const;
    QVariant exact(const StudyRow& row, int column) const;
    QVariant toolTip(const StudyRow& row, int column) const;
    Badge badge(const StudyRow& row, int column) const;
    QVariant accessible(const StudyRow& row, int column) const;
    QString title(int column) const;
    QString exactTitle(int column) const;
    QString titleTip(int column) const;
    QString baselineName() const;

    const Study& study_;
    int shown_rows_ = 0;
};

/// The number of a column for one row; empty for texts and for rows without an answer.
std::optional<Ratio> compare_number(const Study& study, const StudyRow& row, int column);

} // namespace kvcaliper::gui
