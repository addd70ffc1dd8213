// SPDX-License-Identifier: GPL-3.0-or-later
// What fits: a device, an engine and ranks for all models of the study.
#pragma once

#include "app/gui/budget.h"
#include "app/gui/pages.h"
#include "app/gui/text_table.h"

#include <array>

class QBoxLayout;
class QLineEdit;
class QToolButton;

namespace kvcaliper::gui {

class EngineOptionsPanel;

/// The page's table; the report has it, too. Belongs to `parent`, or to the caller.
TextTable* make_budget_table(QObject* parent);
std::vector<TextRow> budget_table_rows(const std::vector<BudgetRow>& rows);

class BudgetPage : public LazyPage {
    Q_OBJECT

  public:
    explicit BudgetPage(Study& study, QWidget* parent = nullptr);
    ChartView* chart() const { return chart_; }
    const QAbstractItemModel& table() const;

  private:
    QWidget* makePlacePart();
    void addDevice(QBoxLayout& line);
    void addRanks(QBoxLayout& line);
    void addWeights(QBoxLayout& line);
    void addLabelled(QBoxLayout& line, const QString& words, QWidget* field);
    QWidget* makeTablePart();
    void fillChoices();
    void refresh() override;
    void showPlace();
    void showRanks();
    void showOptions();
    void onRanks();
    void showDetail();
    void onSelected(const QModelIndex& index);

    QComboBox* device_;
    QComboBox* engine_;
    std::array<QSpinBox*, 4> ranks_; ///< tensor, pipeline, context, data
    QToolButton* options_;
    EngineOptionsPanel* options_panel_;
    QLabel* weights_label_;
    QLineEdit* weights_;
    ChartView* chart_;
    TextTable* rows_;
    QSortFilterProxyModel* sorted_;
    QTableView* view_;
    QTextBrowser* detail_;
    std::vector<BudgetRow> budgets_;
};

} // namespace kvcaliper::gui
