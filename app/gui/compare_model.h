// SPDX-License-Identifier: GPL-3.0-or-later
// The models of a study as a table, one row each.
#pragma once

#include "app/gui/budget.h"
#include "app/gui/study.h"
#include "core/growth_mark.h"

#include <QAbstractTableModel>

#include <array>

class QTimer;

namespace kvcaliper::gui {

/// The words a row is found by: name, vendor, family, model_type, kinds of its layers.
inline constexpr int search_role = Qt::UserRole + 18;

/// "●○○ low": a mark with a second channel beside its word.
QString mark_text(GrowthMark mark);

class CompareModel : public QAbstractTableModel {
    Q_OBJECT

  public:
    enum Column {
        Name,
        Kind,
        Uncapped,
        Growth,
        Constant,
        Total,
        RatioColumn,
        Sequences,
        Mark,
        Layers,
        ColumnCount
    };

    /// Whether a column has numbers, which are aligned right.
    static bool isNumber(int column) { return column >= Uncapped && column != Mark; }

    explicit CompareModel(const Study& study, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override;

    /// Answers the column of sequences now; else it is answered row by row between events, for a
    /// search per model takes longer than a frame.
    void finishSequences();

  Q_SIGNALS:
    /// A cell of the column of sequences has its answer.
    void sequencesKnown();

  private:
    /// An answer, and whether it is one to the study as it is now.
    struct KnownSequences {
        SequencesAnswer answer;
        bool fresh = false;
    };

    void refresh();
    void measureColumns();
    bool answerNext();
    void answerSome();
    const KnownSequences& answerNow(const StudyRow& row) const;
    std::optional<Ratio> number(const StudyRow& row, int column) const;
    QString delta(const StudyRow& row, int column) const;
    QVariant bar(const StudyRow& row, int column) const;
    QVariant spoken(const StudyRow& row, int column) const;
    QString sequencesText(const StudyRow& row) const;
    QString sequencesTip(const StudyRow& row) const;
    QString markTip(const StudyRow& row) const;
    QString searched(const StudyRow& row) const;
    QVariant sortKey(const StudyRow& row, int column) const;
    QVariant display(const StudyRow& row, int column) const;
    QVariant exact(const StudyRow& row, int column) const;
    QVariant toolTip(const StudyRow& row, int column) const;
    Badge badge(const StudyRow& row, int column) const;
    QString title(int column) const;
    QString exactTitle(int column) const;
    QString titleTip(int column) const;
    QString baselineName() const;

    const Study& study_;
    int shown_rows_ = 0;
    std::array<double, ColumnCount> largest_{}; ///< number of each column, for the bars
    QTimer* worker_;
    mutable QHash<QString, KnownSequences> sequences_;
    mutable QHash<QString, QString> catalog_; ///< words of the bundled models, read when asked for
};

/// The number of a column for one row; empty for texts, for rows without an answer, and for the
/// sequences, which are a model's to search.
std::optional<Ratio> compare_number(const Study& study, const StudyRow& row, int column);

} // namespace kvcaliper::gui
