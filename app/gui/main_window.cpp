// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/main_window.h"

#include "app/gui/autosave.h"
#include "app/gui/budget_page.h"
#include "app/gui/chart_builder.h"
#include "app/gui/chart_view.h"
#include "app/gui/claims_page.h"
#include "app/gui/explain_panel.h"
#include "app/gui/model_editor.h"
#include "app/gui/notice_bar.h"
#include "app/gui/pages.h"
#include "app/gui/scenario_panel.h"
#include "app/gui/study_session.h"
#include "app/gui/verify_page.h"

#include <QCloseEvent>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QIcon>
#include <QMimeData>
#include <QSettings>
#include <QStatusBar>
#include <QTabWidget>
#include <QTimer>

// In the global namespace, as the macro wants it: a static library's resources are not found by
// themselves.
static void use_resources() {
    Q_INIT_RESOURCE(kvcaliper);
}

namespace kvcaliper::gui {

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent), study_(new Study(this)), session_(new StudySession(*study_, this)),
      notice_(new NoticeBar(this)), tabs_(new QTabWidget(this)) {
    use_resources();
    setObjectName(QStringLiteral("mainWindow"));
    setWindowIcon(QIcon(QStringLiteral(":/kvcaliper.svg")));
    setAcceptDrops(true);
    session_->startNew(seed_state());
    addToolBar(Qt::TopToolBarArea, notice_);
    createPages();
    createDocks();
    createFileMenu();
    createEditMenu();
    createViewMenu();
    createHelpMenu();
    offerTableActions();
    connect(study_, &Study::changed, this, &MainWindow::updateStatus);
    connect(session_, &StudySession::changed, this, &MainWindow::updateTitle);
    updateStatus();
    updateTitle();
    resize(1280, 800);
    restoreDefaultLayout();
}

void MainWindow::createPages() {
    compare_ = new ComparePage(*study_, this);
    context_ = new ContextPage(*study_, this);
    layers_ = new LayersPage(*study_, this);
    budget_ = new BudgetPage(*study_, this);
    claims_ = new ClaimsPage(this);
    verify_ = new VerifyPage(*study_, this);
    tabs_->setObjectName(QStringLiteral("tabs"));
    tabs_->setDocumentMode(true);
    tabs_->addTab(compare_, tr("&Compare"));
    tabs_->addTab(context_, tr("C&ontext"));
    tabs_->addTab(layers_, tr("L&ayers"));
    tabs_->addTab(budget_, tr("&Budget"));
    tabs_->addTab(claims_, tr("Clai&ms"));
    tabs_->addTab(verify_, tr("Veri&fy"));
    setCentralWidget(tabs_);
    connect(compare_, &ComparePage::copyWanted, this, &MainWindow::copyTable);
    connect(verify_, &VerifyPage::importWanted, this, &MainWindow::importRecordsDialog);
    connect(verify_, &VerifyPage::exportWanted, this, &MainWindow::exportRecord);
    connect(verify_, &VerifyPage::problem, this, &MainWindow::say);
}

void MainWindow::createDocks() {
    scenario_ = new ScenarioPanel(*study_, this);
    explain_ = new ExplainPanel(*study_, this);
    scenario_dock_ = new QDockWidget(tr("Scenario"), this);
    scenario_dock_->setObjectName(QStringLiteral("scenarioDock"));
    scenario_dock_->setWidget(scenario_);
    explain_dock_ = new QDockWidget(tr("Explain"), this);
    explain_dock_->setObjectName(QStringLiteral("explainDock"));
    explain_dock_->setWidget(explain_);
    addDockWidget(Qt::LeftDockWidgetArea, scenario_dock_);
    addDockWidget(Qt::RightDockWidgetArea, explain_dock_);
    createEditorDock();
    setTabOrder(scenario_, tabs_);
    setTabOrder(tabs_, explain_);
    connect(compare_, &ComparePage::figureChosen, explain_, &ExplainPanel::setFigure);
}

/// Behind the explanation, until a model is to be edited.
void MainWindow::createEditorDock() {
    editor_ = new ModelEditor(*study_, this);
    editor_dock_ = new QDockWidget(tr("Edit model"), this);
    editor_dock_->setObjectName(QStringLiteral("editorDock"));
    editor_dock_->setWidget(editor_);
    addDockWidget(Qt::RightDockWidgetArea, editor_dock_);
    tabifyDockWidget(explain_dock_, editor_dock_);
    editor_dock_->hide();
}

void MainWindow::showEditor() {
    editor_dock_->show();
    editor_dock_->raise();
    editor_->setFocus(Qt::ShortcutFocusReason);
}

void MainWindow::restoreDefaultLayout() {
    for (QDockWidget* dock : {scenario_dock_, explain_dock_}) {
        dock->setFloating(false);
        dock->show();
    }
    addDockWidget(Qt::LeftDockWidgetArea, scenario_dock_);
    addDockWidget(Qt::RightDockWidgetArea, explain_dock_);
    tabifyDockWidget(explain_dock_, editor_dock_);
    editor_dock_->hide();
    resizeDocks({scenario_dock_, explain_dock_}, {250, 290}, Qt::Horizontal);
}

QStringList MainWindow::tabNames() {
    return {QStringLiteral("compare"), QStringLiteral("context"), QStringLiteral("layers"),
            QStringLiteral("budget"),  QStringLiteral("claims"),  QStringLiteral("verify")};
}

bool MainWindow::showTab(const QString& name) {
    const auto index = tabNames().indexOf(name);
    if (index >= 0) {
        tabs_->setCurrentIndex(static_cast<int>(index));
    }
    return index >= 0;
}

ChartView* MainWindow::currentChart() const {
    ChartView* const charts[] = {compare_->chart(), context_->chart(), layers_->chart(),
                                 budget_->chart(),  nullptr,           verify_->chart()};
    return charts[tabs_->currentIndex()];
}

void MainWindow::updateStatus() {
    statusBar()->showMessage(view_text(*study_));
}

void MainWindow::openModels(const QStringList& paths) {
    QStringList models = study_->state().models;
    QString problem;
    for (const QString& path : paths) {
        if (const auto error = study_->readModel(path)) {
            problem = *error;
        } else {
            models << path;
        }
    }
    study_->setModels(models);
    if (!problem.isEmpty()) {
        statusBar()->showMessage(tr("Not opened: %1").arg(problem));
    }
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    bool local = false;
    for (const QUrl& url : event->mimeData()->urls()) {
        local = local || url.isLocalFile();
    }
    if (local) {
        event->acceptProposedAction();
    } else {
        statusBar()->showMessage(tr("Only files and folders of this machine can be dropped here."),
                                 5000);
    }
}

void MainWindow::dropEvent(QDropEvent* event) {
    QStringList paths;
    for (const QUrl& url : event->mimeData()->urls()) {
        if (url.isLocalFile()) {
            paths << url.toLocalFile();
        }
    }
    event->acceptProposedAction();
    // The source of the drop waits for its end; a question may come.
    QTimer::singleShot(0, this, [this, paths] { openFiles(paths); });
}

void MainWindow::restoreSettings() {
    QSettings settings;
    restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray());
    restoreState(settings.value(QStringLiteral("window/state")).toByteArray());
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (!mayLeaveStudy()) {
        event->ignore();
        return;
    }
    if (autosave_ != nullptr) {
        autosave_->remove();
    }
    notice_->hide(); // what it says is of this run
    QSettings settings;
    settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
    settings.setValue(QStringLiteral("window/state"), saveState());
    QMainWindow::closeEvent(event);
}

} // namespace kvcaliper::gui
