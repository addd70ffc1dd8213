// SPDX-License-Identifier: GPL-3.0-or-later
// What a verification has measured so far, as a table: one row per context and component.
#pragma once

#include "app/gui/chart_data.h"
#include "app/gui/verify_run.h"

#include <QAbstractTableModel>

namespace kvcaliper::gui {

class SampleModel : public QAbstractTableModel {
    Q_OBJECT

  public:
    enum Column {
        Context,
        ComponentName,
        Predicted,
        Measured,
        Difference,
        Verdict,
        MaxError,
        Bandwidth,
        ColumnCount
    };

    using QAbstractTableModel::QAbstractTableModel;

    void clear();
    void add(const VerifySample& sample);
    void setSamples(std::vector<VerifySample> samples);
    /// What was measured at each complete context; the last one only with its total, or at the
    /// end.
    std::vector<CurvePointData> totals(bool over) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override;

  private:
    std::vector<VerifySample> samples_;
};

} // namespace kvcaliper::gui
