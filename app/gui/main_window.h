// SPDX-License-Identifier: GPL-3.0-or-later
// The window: docks for the scenario and the explanation, pages in the middle, and the menus.
#pragma once

#include "app/gui/app_theme.h"
#include "app/gui/study.h"

#include <QMainWindow>

class QDockWidget;
class QTabWidget;

namespace kvcaliper::gui {

class ChartView;
class ComparePage;
class ContextPage;
class ExplainPanel;
class LayersPage;
class ScenarioPanel;
class VerifyPage;

class MainWindow : public QMainWindow {
    Q_OBJECT

  public:
    explicit MainWindow(QWidget* parent = nullptr);

    Study& study() { return *study_; }
    VerifyPage& verifyPage() { return *verify_; }
    ComparePage& comparePage() { return *compare_; }
    LayersPage& layersPage() { return *layers_; }
    /// "compare", "context", "layers" or "verify"; false for another name.
    bool showTab(const QString& name);
    static QStringList tabNames();
    /// Reads files or folders and ticks them; says in the status bar what could not be read.
    void openModels(const QStringList& paths);
    /// Size, docks and theme as the last window left them.
    void restoreSettings();

  protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

  private:
    void createPages();
    void createDocks();
    void createFileMenu();
    void createEditMenu();
    void createViewMenu();
    void createHelpMenu();
    void chooseTheme(AppTheme theme);
    void restoreDefaultLayout();
    void openDialog();
    void exportChart();
    void exportTable();
    void copyTable();
    void about();
    void updateStatus();
    ChartView* currentChart() const;

    Study* study_;
    QTabWidget* tabs_;
    ComparePage* compare_;
    ContextPage* context_;
    LayersPage* layers_;
    VerifyPage* verify_;
    ScenarioPanel* scenario_;
    ExplainPanel* explain_;
    QDockWidget* scenario_dock_;
    QDockWidget* explain_dock_;
};

} // namespace kvcaliper::gui
