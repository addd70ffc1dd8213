// SPDX-License-Identifier: GPL-3.0-or-later
// The editor of an engine's options: a table of all of them, and a line for KEY=VALUE.
#pragma once

#include "app/gui/study.h"

#include <QWidget>

class QLabel;
class QLineEdit;
class QTableView;

namespace kvcaliper::gui {

class EngineOptionModel;

class EngineOptionsPanel : public QWidget {
    Q_OBJECT

  public:
    explicit EngineOptionsPanel(Study& study, QWidget* parent = nullptr);
    /// How many options of the engine are not at their defaults.
    int setCount() const;
    /// How many there are.
    int optionCount() const;

  Q_SIGNALS:
    /// One of the two numbers may be another one.
    void changed();

  private:
    QWidget* makeEntryLine();
    void buildTable();
    void addWritten();
    void resetRow();
    void say(const QString& words);
    void fitHeight();

    EngineOptionModel* model_;
    QTableView* view_;
    QLineEdit* entry_;
    QLabel* message_;
};

} // namespace kvcaliper::gui
