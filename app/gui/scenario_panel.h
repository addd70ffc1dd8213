// SPDX-License-Identifier: GPL-3.0-or-later
// The left dock: which models, at what context, in which formats.
#pragma once

#include "app/gui/model_places.h"
#include "app/gui/study.h"

#include <QWidget>

class QFormLayout;
class QLabel;
class QLineEdit;
class QListView;

namespace kvcaliper::gui {

class LogSlider;
class ModelList;
class WordsFilter;

class ScenarioPanel : public QWidget {
    Q_OBJECT

  public:
    explicit ScenarioPanel(Study& study, QWidget* parent = nullptr);
    void focusSearch();
    /// Lists models that other programs keep on this machine.
    void addFound(const std::vector<FoundModel>& found);
    QSize sizeHint() const override { return {260, 560}; }

  private:
    QWidget* makeModelPart();
    QWidget* makeSettingsPart();
    void addFormats(QFormLayout& layout);
    void refresh();
    void showTicked();

    Study& study_;
    ModelList* models_;
    WordsFilter* filter_;
    QLineEdit* search_;
    QListView* list_;
    QLabel* ticked_;
    LogSlider* context_;
    LogSlider* sequences_;
};

} // namespace kvcaliper::gui
