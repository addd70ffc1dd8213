// SPDX-License-Identifier: GPL-3.0-or-later
// The runs that are known, as a list: one is chosen, exported, deleted, or others are imported.
#pragma once

#include "app/gui/study.h"

#include <QWidget>

class QLabel;
class QPushButton;
class QSortFilterProxyModel;
class QTableView;

namespace kvcaliper::gui {

struct BookedRecord;
class TextTable;

class RecordHistory : public QWidget {
    Q_OBJECT

  public:
    enum Column { Verdict, Model, Context, Sequences, Formats, Date, Device, ColumnCount };

    explicit RecordHistory(Study& study, QWidget* parent = nullptr);
    /// Marks a record as the one that is shown; none when empty.
    void select(const QString& id);
    /// The record that is marked, or empty.
    QString selected() const;
    const TextTable& table() const { return *rows_; }
    QSize sizeHint() const override { return {600, 150}; }

  Q_SIGNALS:
    void chosen(const QString& id);
    void useWanted(const QString& id);
    void importWanted();
    void exportWanted(const QString& id);

  private:
    void buildTable();
    void buildLayout();
    void refresh();
    void refreshModels();
    void enableButtons();
    void removeSelected();
    void showMenu(const QPoint& position);
    QPushButton* button(const char* name, const QString& words, const QString& tip);

    Study& study_;
    TextTable* rows_;
    QSortFilterProxyModel* sorted_;
    QTableView* view_;
    QLabel* title_;
    QPushButton* use_;
    QPushButton* import_;
    QPushButton* export_;
    QPushButton* delete_;
    std::vector<ModelPtr> models_; ///< those the records were held against
    bool selecting_ = false;
};

/// A record against today's prediction: of its model as the study has it, else of its own layers.
RecordCheck check_in_study(const VerifyRecord& record, const Study& study);

} // namespace kvcaliper::gui
