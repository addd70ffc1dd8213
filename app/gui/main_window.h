// SPDX-License-Identifier: GPL-3.0-or-later
// The window: docks for the scenario and the explanation, pages in the middle, and the menus.
#pragma once

#include "app/gui/app_theme.h"
#include "app/gui/study.h"
#include "app/gui/study_tables.h"

#include <QMainWindow>

class QDockWidget;
class QMenu;
class QTabWidget;

namespace kvcaliper::gui {

class Autosave;
class BudgetPage;
class ChartView;
class ClaimsPage;
class ComparePage;
class ContextPage;
class ExplainPanel;
class LayersPage;
class ModelEditor;
class NoticeBar;
class ScenarioPanel;
class StudySession;
class VerifyPage;

class MainWindow : public QMainWindow {
    Q_OBJECT

  public:
    explicit MainWindow(QWidget* parent = nullptr);

    Study& study() { return *study_; }
    StudySession& session() { return *session_; }
    VerifyPage& verifyPage() { return *verify_; }
    ComparePage& comparePage() { return *compare_; }
    LayersPage& layersPage() { return *layers_; }
    BudgetPage& budgetPage() { return *budget_; }
    ClaimsPage& claimsPage() { return *claims_; }
    /// "compare", "context", "layers", "budget", "claims" or "verify"; false for another name.
    bool showTab(const QString& name);
    static QStringList tabNames();
    /// Reads files or folders and ticks them; says in the status bar what could not be read.
    void openModels(const QStringList& paths);
    /// Opens a study in this one's place, or models into it; asks first when edits would be lost.
    void openFiles(const QStringList& paths);
    /// Opens a study in this one's place, unasked; false, and a notice, when it can not be read.
    bool openStudy(const QString& path);
    /// Puts a study first among the recent ones.
    void remember(const QString& path);
    /// Says something that stays until it is read.
    void say(const QString& words);
    /// The same behind what is still to be read.
    void sayToo(const QString& words);
    /// Keeps records of verification runs in a folder, and reads those that are there.
    void keepRecords(const QString& folder);
    /// Adds records that were written elsewhere to the history, and shows the last one.
    void importRecords(const QStringList& paths);
    /// Lists models that other programs keep on this machine beside the bundled ones.
    void listFoundModels();
    /// Writes the table of the page that is seen (.csv, .tsv, .md, .json), or a report on the study
    /// (.html, .pdf); the reason when that fails.
    std::optional<QString> writeTable(const QString& path);
    std::optional<QString> writeReport(const QString& path);
    /// Keeps unsaved edits in a folder, and offers those a program left there that has ended.
    void keepAutosave(const QString& folder);
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
    void createEditorDock();
    void showEditor();
    // The study's file (main_window_files.cpp).
    void addFileActions(QMenu& menu);
    void openDialog();
    void newStudy();
    bool saveStudy();
    bool saveStudyAs();
    bool saveTo(const QString& path);
    bool mayReplace(const QString& path);
    /// Asks what to do with unsaved edits; false when they are to stay as they are.
    bool mayLeaveStudy();
    void fillRecent();
    void updateTitle();
    void importRecordsDialog();
    void exportRecord(const QString& id);
    void offerRecovery(const QString& folder);
    void recover(const QString& autosave, const QString& folder);
    // Exports (main_window_export.cpp).
    void exportChart();
    void exportTable();
    void exportReport();
    void sayWritten(const QString& path, const std::optional<QString>& problem);
    void offerTableActions();
    void copyTable();
    void pasteModel();
    void about();
    void updateStatus();
    /// The chart of the page that is seen; none on Claims.
    ChartView* currentChart() const;
    /// Its table without rounding, and what it was made from.
    Table currentTable() const;
    TableOrigin currentOrigin(const QString& path) const;

    Study* study_;
    StudySession* session_;
    Autosave* autosave_ = nullptr;
    NoticeBar* notice_;
    QMenu* recent_ = nullptr;
    QTabWidget* tabs_;
    ComparePage* compare_;
    ContextPage* context_;
    LayersPage* layers_;
    BudgetPage* budget_;
    ClaimsPage* claims_;
    VerifyPage* verify_;
    ScenarioPanel* scenario_;
    ExplainPanel* explain_;
    ModelEditor* editor_;
    QDockWidget* scenario_dock_;
    QDockWidget* explain_dock_;
    QDockWidget* editor_dock_;
};

} // namespace kvcaliper::gui
