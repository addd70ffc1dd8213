// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/main_window.h"

#include "app/gui/chart_export.h"
#include "app/gui/chart_view.h"
#include "app/gui/pages.h"
#include "app/gui/record_book.h"
#include "app/gui/scenario_panel.h"
#include "app/gui/text.h"
#include "core/report.h"

#include <QActionGroup>
#include <QApplication>
#include <QDockWidget>
#include <QMenuBar>
#include <QMessageBox>
#include <QSettings>
#include <QStatusBar>
#include <QUndoStack>

namespace kvcaliper::gui {

namespace {

QAction* named(QAction* action, const char* name) {
    action->setObjectName(QLatin1String(name));
    return action;
}

} // namespace

void MainWindow::createFileMenu() {
    QMenu& menu = *menuBar()->addMenu(tr("&File"));
    addFileActions(menu);
    menu.addSeparator();
    named(menu.addAction(tr("&Import records…"), this, &MainWindow::importRecordsDialog),
          "importRecords")
        ->setStatusTip(tr("Add what kvcaliper verify --record wrote, such as on a machine with a "
                          "GPU, to the history of runs"));
    named(menu.addAction(tr("&Export chart…"), QKeySequence(tr("Ctrl+E")), this,
                         &MainWindow::exportChart),
          "exportChart")
        ->setStatusTip(tr("Write the chart of this page as SVG, PDF or PNG"));
    named(menu.addAction(tr("Export &table…"), QKeySequence(tr("Ctrl+Shift+E")), this,
                         &MainWindow::exportTable),
          "exportTable")
        ->setStatusTip(tr("Write the table of this page as CSV, TSV, Markdown or JSON, with exact "
                          "bytes"));
    named(menu.addAction(tr("Export &report…"), QKeySequence(tr("Ctrl+R")), this,
                         &MainWindow::exportReport),
          "exportReport")
        ->setStatusTip(tr("Write answer, charts, tables, checklist and sources as HTML or PDF"));
    menu.addSeparator();
    named(menu.addAction(tr("&Quit"), QKeySequence::Quit, this, &QWidget::close), "quit")
        ->setMenuRole(QAction::QuitRole);
}

void MainWindow::createEditMenu() {
    QMenu& menu = *menuBar()->addMenu(tr("&Edit"));
    QAction* undo = named(study_->undoStack()->createUndoAction(this, tr("&Undo")), "undo");
    undo->setShortcut(QKeySequence::Undo);
    QAction* redo = named(study_->undoStack()->createRedoAction(this, tr("&Redo")), "redo");
    redo->setShortcut(QKeySequence::Redo);
    menu.addAction(undo);
    menu.addAction(redo);
    menu.addSeparator();
    named(menu.addAction(tr("&Copy table"), QKeySequence(tr("Ctrl+Shift+C")), this,
                         &MainWindow::copyTable),
          "copyTable");
    named(menu.addAction(tr("&Paste model"), QKeySequence::Paste, this, &MainWindow::pasteModel),
          "pasteModel")
        ->setStatusTip(tr("Add the config.json on the clipboard to the comparison"));
    named(menu.addAction(tr("Edit a copy of the &model"), QKeySequence(tr("Ctrl+M")), this,
                         &MainWindow::showEditor),
          "editModel")
        ->setStatusTip(tr("Change layers, heads, window or rank of the chosen model and compare"));
    named(menu.addAction(tr("&Find a model"), QKeySequence(tr("Ctrl+Shift+F")), this,
                         [this] {
                             scenario_dock_->show();
                             scenario_->focusSearch();
                         }),
          "findModel")
        ->setStatusTip(tr("Search the list of models that can be ticked"));
    named(menu.addAction(tr("Fi&lter the comparison"), QKeySequence::Find, this,
                         [this] {
                             showTab(QStringLiteral("compare"));
                             compare_->focusFilter();
                         }),
          "filterComparison")
        ->setStatusTip(tr("Show only the rows in which all written words are found"));
}

void MainWindow::createViewMenu() {
    QMenu& menu = *menuBar()->addMenu(tr("&View"));
    menu.addAction(named(scenario_dock_->toggleViewAction(), "toggleScenario"));
    menu.addAction(named(explain_dock_->toggleViewAction(), "toggleExplain"));
    menu.addAction(named(editor_dock_->toggleViewAction(), "toggleEditor"));
    named(menu.addAction(tr("&Restore default layout"), this, &MainWindow::restoreDefaultLayout),
          "restoreLayout");
    QMenu& themes = *menu.addMenu(tr("&Theme"));
    auto* group = new QActionGroup(this);
    const QString now =
        QSettings().value(QStringLiteral("theme"), QStringLiteral("system")).toString();
    const std::pair<AppTheme, QString> entries[] = {{AppTheme::light, tr("&Light")},
                                                    {AppTheme::dark, tr("&Dark")},
                                                    {AppTheme::contrast, tr("High &contrast")},
                                                    {AppTheme::system, tr("&System")}};
    for (const auto& [theme, name] : entries) {
        QAction* action =
            themes.addAction(name, this, [this, chosen = theme] { chooseTheme(chosen); });
        action->setCheckable(true);
        action->setChecked(theme_name(theme) == now);
        group->addAction(action);
    }
}

void MainWindow::createHelpMenu() {
    QMenu& menu = *menuBar()->addMenu(tr("&Help"));
    named(menu.addAction(tr("&About kvcaliper"), this, &MainWindow::about), "about")
        ->setMenuRole(QAction::AboutRole);
    named(menu.addAction(tr("About &Qt"), qApp, &QApplication::aboutQt), "aboutQt");
}

void MainWindow::chooseTheme(AppTheme theme) {
    QSettings().setValue(QStringLiteral("theme"), theme_name(theme));
    apply_theme(theme);
}

void MainWindow::about() {
    QMessageBox::about(
        this, tr("About kvcaliper"),
        tr("<h3>kvcaliper %1</h3><p>What a language model keeps in memory while it generates text, "
           "to the byte, and a measurement that agrees.</p><p>This window is free software under "
           "the GNU General Public License, version 3 or later. Calculation core, kernels, command "
           "line and model files: Apache License 2.0.</p><p>%3</p><p>Built on Qt %2 (LGPL 3) and "
           "QCustomPlot 2.1 (GPL 3 or later).</p>")
            .arg(text(version), QString::fromLatin1(qVersion()),
                 all_kernels_text(study_->records().records()).toHtmlEscaped()));
}

} // namespace kvcaliper::gui
