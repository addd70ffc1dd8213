// SPDX-License-Identifier: GPL-3.0-or-later
// The window and records of verification runs: kept, imported, exported.
#include "app/gui/main_window.h"

#include "app/gui/chart_export.h"
#include "app/gui/notice_bar.h"
#include "app/gui/record_book.h"
#include "app/gui/text.h"
#include "app/gui/verify_page.h"

#include <QFileDialog>
#include <QStatusBar>

#include <exception>

namespace kvcaliper::gui {

namespace {

/// A name for a record's file: "gpt2-xl-cuda-2026-11-30.json".
QString proposed_name(const VerifyRecord& record) {
    QString name = text(record.plan.name);
    return QStringLiteral("%1-%2-%3.json")
        .arg(name.replace(u'/', u'_'), text(record.backend), text(record.date).left(10));
}

} // namespace

void MainWindow::sayToo(const QString& words) {
    say(notice_->isHidden() ? words : notice_->words() + u'\n' + words);
}

void MainWindow::keepRecords(const QString& folder) {
    const QStringList problems = study_->records().keepIn(folder);
    if (!problems.isEmpty()) {
        sayToo(tr("Records left out: %1").arg(problems.join(u'\n')));
    }
}

void MainWindow::importRecordsDialog() {
    importRecords(QFileDialog::getOpenFileNames(this, tr("Import records of verification runs"),
                                                QString(), tr("Records (*.json);;All files (*)")));
}

void MainWindow::importRecords(const QStringList& paths) {
    QStringList problems;
    QString last;
    for (const QString& path : paths) {
        try {
            const auto record =
                std::make_shared<const VerifyRecord>(read_verify_record(utf8(path)));
            last = RecordBook::idOf(*record);
            if (const auto reason = study_->records().add(record)) {
                problems << tr("Not kept for the next time: %1").arg(*reason);
            }
        } catch (const std::exception& exception) {
            problems << tr("Not imported: %1").arg(text(exception.what()));
        }
    }
    if (!problems.isEmpty()) {
        say(problems.join(u'\n'));
    }
    if (!last.isEmpty()) {
        showTab(QStringLiteral("verify"));
        verify_->showRecord(last);
    }
}

void MainWindow::exportRecord(const QString& id) {
    const BookedRecord* entry = study_->records().find(id);
    if (entry == nullptr) {
        return;
    }
    const VerifyRecordPtr record = entry->record; // the dialog runs other events
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Export record"), proposed_name(*record), tr("Records (*.json)"));
    if (path.isEmpty()) {
        return;
    }
    const auto problem =
        write_file(path, QByteArray::fromStdString(dump_json(record->json) + "\n"));
    statusBar()->showMessage(problem ? tr("Not written: %1").arg(*problem)
                                     : tr("Written: %1").arg(path));
}

} // namespace kvcaliper::gui
