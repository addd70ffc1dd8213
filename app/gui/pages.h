// SPDX-License-Identifier: GPL-3.0-or-later
// The pages in the middle of the window that show a study and edit nothing.
#pragma once

#include "app/gui/study.h"

#include <QWidget>

class QAbstractItemModel;
class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QSortFilterProxyModel;
class QSpinBox;
class QTableView;
class QTextBrowser;
class QToolButton;
class QUrl;

namespace kvcaliper::gui {

class BarDelegate;
class ChartView;
class CompareModel;
class WordsFilter;
struct ChartSpot;

/// A page that follows the study while it is seen, and catches up when it is shown: a slider then
/// moves one page and not all of them.
class LazyPage : public QWidget {
    Q_OBJECT

  public:
    LazyPage(Study& study, QWidget* parent);

  protected:
    void showEvent(QShowEvent* event) override;
    virtual void refresh() = 0;
    /// Refreshes now, or when the page is shown.
    void refreshSeen();

    Study& study_;

  private:
    bool stale_ = true;
};

/// Bars of bytes per token, and every figure in a table.
class ComparePage : public LazyPage {
    Q_OBJECT

  public:
    explicit ComparePage(Study& study, QWidget* parent = nullptr);
    ChartView* chart() const { return chart_; }
    /// The table as it is sorted and filtered now.
    const QAbstractItemModel& table() const;
    void focusFilter();
    /// Fills in what is searched between events: for pictures.
    void finish();

  Q_SIGNALS:
    void figureChosen(int figure);
    void copyWanted();

  private:
    void buildTable();
    QWidget* makeTablePart();
    void buildFilter();
    void fitColumn(int column);
    void fitColumns();
    void countRows();
    void refresh() override;
    void selectCurrent();
    void onSelected(const QModelIndex& index);
    void showMenu(const QPoint& position);

    ChartView* chart_;
    QTableView* view_;
    CompareModel* model_;
    WordsFilter* sorted_;
    BarDelegate* bars_;
    QLineEdit* filter_;
    QLabel* count_;
    QCheckBox* deltas_;
};

/// Bytes over tokens, and what else that chart is to show.
class ContextPage : public LazyPage {
    Q_OBJECT

  public:
    explicit ContextPage(Study& study, QWidget* parent = nullptr);
    ChartView* chart() const { return chart_; }

  private:
    QWidget* makeControls();
    void fillDevices();
    void setDevice(const QString& name, bool shown);
    void refresh() override;
    void onHover(const ChartSpot& spot, const QPoint& global);

    ChartView* chart_;
    QToolButton* devices_;
    QCheckBox* crossings_;
    QCheckBox* linear_;
    QCheckBox* recompute_;
};

/// One cell per layer, and what the chosen layer keeps.
class LayersPage : public LazyPage {
    Q_OBJECT

  public:
    explicit LayersPage(Study& study, QWidget* parent = nullptr);
    ChartView* chart() const { return chart_; }
    void choose(const QString& id, int layer);

  private:
    void refresh() override;
    void refreshDetail();
    void onHover(const ChartSpot& spot, const QPoint& global);
    void onClick(const ChartSpot& spot);
    /// "layer:18", as layer_html writes it.
    void onLink(const QUrl& link);

    ChartView* chart_;
    QComboBox* model_;
    QSpinBox* layer_;
    QTextBrowser* detail_;
};

/// The look and sorting of every table: one row chosen at a time, unsorted until a header is
/// clicked.
void style_table(QTableView& view);
/// Bars say what they are under the pointer, and choose their model when clicked.
void follow_bars(ChartView& chart, Study& study);
/// Room for the frame of a chart and so many bars.
int bars_height(std::size_t bars);

/// A round token count near a position on the axis: two binary digits are kept.
Tokens round_tokens(double tokens);
/// Kind, key that decided it and components of one layer, as HTML; other layers it shares with are
/// links.
QString layer_html(const StudyRow& row, int layer);

} // namespace kvcaliper::gui
