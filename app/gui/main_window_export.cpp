// SPDX-License-Identifier: GPL-3.0-or-later
// What the window writes into files: charts, tables and the report.
#include "app/gui/main_window.h"

#include "app/gui/budget_page.h"
#include "app/gui/chart_export.h"
#include "app/gui/chart_view.h"
#include "app/gui/claims_page.h"
#include "app/gui/pages.h"
#include "app/gui/rebuild.h"
#include "app/gui/report_export.h"
#include "app/gui/sample_model.h"
#include "app/gui/study_session.h"
#include "app/gui/table_text.h"
#include "app/gui/text.h"
#include "app/gui/verify_page.h"

#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QStatusBar>
#include <QTabWidget>
#include <QTableView>

namespace kvcaliper::gui {

void MainWindow::sayWritten(const QString& path, const std::optional<QString>& problem) {
    statusBar()->showMessage(problem ? tr("Not written: %1").arg(*problem)
                                     : tr("Written: %1").arg(path));
}

void MainWindow::exportChart() {
    if (currentChart() == nullptr) {
        statusBar()->showMessage(tr("This page has no chart; its table can be exported."), 5000);
        return;
    }
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Export chart"), QStringLiteral("kvcaliper.svg"),
        tr("Charts (*.svg *.pdf *.png);;SVG (*.svg);;PDF (*.pdf);;PNG (*.png)"));
    if (path.isEmpty()) {
        return;
    }
    const ChartData& shown = currentChart()->data();
    sayWritten(path, export_chart(shown, light_chart_theme(), export_size(shown), path));
}

Table MainWindow::currentTable() const {
    const QWidget* page = tabs_->currentWidget();
    return page == context_  ? curve_table(*study_)
           : page == layers_ ? layer_table(*study_)
           : page == budget_ ? exact_table(budget_->table())
           : page == claims_ ? exact_table(claims_->table())
           : page == verify_ ? exact_table(*verify_->samples())
                             : exact_table(compare_->table());
}

TableOrigin MainWindow::currentOrigin(const QString& path) const {
    const QString name = tabNames().at(tabs_->currentIndex());
    TableOrigin origin = table_origin(*study_, name, QFileInfo(path).fileName(),
                                      session_->documentFor(QFileInfo(path).absoluteFilePath()));
    if (tabs_->currentWidget() == claims_) {
        origin.title = utf8(claims_->file());
        origin.commands = {utf8(shell_line({QStringLiteral("kvcaliper"), QStringLiteral("claims"),
                                            claims_->file(), QStringLiteral("--csv")}))};
    } else if (tabs_->currentWidget() == verify_) {
        const StudyRow* row = study_->row(study_->current());
        origin.title = utf8(verify_->verdictText());
        origin.commands = {row != nullptr && has_named_models(*study_)
                               ? utf8(verify_command(*study_, *row))
                               : std::string()};
    }
    return origin;
}

std::optional<QString> MainWindow::writeTable(const QString& path) {
    return export_table({currentTable(), currentOrigin(path)}, path);
}

void MainWindow::exportTable() {
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Export table"),
        QStringLiteral("%1.csv").arg(tabNames().at(tabs_->currentIndex())),
        tr("Tables (*.csv *.tsv *.md *.json);;CSV (*.csv);;TSV (*.tsv);;Markdown (*.md);;"
           "JSON (*.json)"));
    if (!path.isEmpty()) {
        sayWritten(path, writeTable(path));
    }
}

void MainWindow::copyTable() {
    QApplication::clipboard()->setText(table_tsv(currentTable()));
    statusBar()->showMessage(tr("The table is on the clipboard, in exact bytes."), 5000);
}

std::optional<QString> MainWindow::writeReport(const QString& path) {
    return write_report(*session_, path);
}

void MainWindow::exportReport() {
    const QString path =
        QFileDialog::getSaveFileName(this, tr("Export report"), QStringLiteral("report.html"),
                                     tr("Reports (*.html *.pdf);;HTML (*.html);;PDF (*.pdf)"));
    if (!path.isEmpty()) {
        sayWritten(path, writeReport(path));
    }
}

/// Every table of a page offers what the menus do; a page with a menu of its own takes these in.
void MainWindow::offerTableActions() {
    const QList<QAction*> offered = {findChild<QAction*>(QStringLiteral("copyTable")),
                                     findChild<QAction*>(QStringLiteral("exportTable"))};
    for (QTableView* view : tabs_->findChildren<QTableView*>()) {
        view->addActions(offered);
        if (view->contextMenuPolicy() == Qt::DefaultContextMenu) {
            view->setContextMenuPolicy(Qt::ActionsContextMenu);
        }
    }
}

} // namespace kvcaliper::gui
