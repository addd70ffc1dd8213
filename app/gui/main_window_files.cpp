// SPDX-License-Identifier: GPL-3.0-or-later
// The window and the file its study is kept in: new, open, save, recent, recovery.
#include "app/gui/main_window.h"

#include "app/gui/autosave.h"
#include "app/gui/notice_bar.h"
#include "app/gui/paste_model.h"
#include "app/gui/record_book.h"
#include "app/gui/report_export.h"
#include "app/gui/scenario_panel.h"
#include "app/gui/study_session.h"

#include <QApplication>
#include <QClipboard>
#include <QDateTime>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QSettings>
#include <QStatusBar>

#include <algorithm>

namespace kvcaliper::gui {

namespace {

constexpr int most_recent = 8;

QString recent_key() {
    return QStringLiteral("recentStudies");
}

QAction* named(QAction* action, const char* name) {
    action->setObjectName(QLatin1String(name));
    return action;
}

QString with_ending(const QString& path) {
    return is_study_file(path) ? path : path + QStringLiteral(".kvstudy.json");
}

} // namespace

void MainWindow::addFileActions(QMenu& menu) {
    named(menu.addAction(tr("&New study"), QKeySequence::New, this, &MainWindow::newStudy),
          "newStudy")
        ->setStatusTip(tr("Start over with the opening comparison"));
    named(menu.addAction(tr("&Open…"), QKeySequence::Open, this, &MainWindow::openDialog), "open")
        ->setStatusTip(tr("Open a study, or add the model of a config.json to this one"));
    recent_ = menu.addMenu(tr("Open &recent"));
    recent_->setObjectName(QStringLiteral("recentStudies"));
    connect(recent_, &QMenu::aboutToShow, this, &MainWindow::fillRecent);
    fillRecent();
    menu.addSeparator();
    named(menu.addAction(tr("&Save study"), QKeySequence::Save, this, &MainWindow::saveStudy),
          "saveStudy");
    named(menu.addAction(tr("Save study &as…"), QKeySequence(tr("Ctrl+Shift+S")), this,
                         &MainWindow::saveStudyAs),
          "saveStudyAs");
}

void MainWindow::openDialog() {
    openFiles(QFileDialog::getOpenFileNames(
        this, tr("Open a study or models"), QString(),
        tr("Studies and models (*.json *.gguf);;Studies (*.kvstudy.json);;"
           "Exported reports and tables (*.html *.pdf *.csv *.tsv *.md *.json);;All files (*)")));
}

void MainWindow::openFiles(const QStringList& paths) {
    const auto study = std::find_if(paths.begin(), paths.end(), opens_as_study);
    if (study != paths.end()) {
        if (paths.size() > 1) {
            say(tr("A study is opened alone: %1; the other files were left out.")
                    .arg(QFileInfo(*study).fileName()));
        }
        if (mayLeaveStudy()) {
            openStudy(*study);
        }
        return;
    }
    QStringList records, models;
    for (const QString& path : paths) {
        (is_record_file(path) ? records : models) << path;
    }
    if (!models.isEmpty()) {
        openModels(models);
    }
    if (!records.isEmpty()) {
        importRecords(records);
    }
}

void MainWindow::say(const QString& words) {
    notice_->say(words);
}

void MainWindow::listFoundModels() {
    scenario_->addFound(models_on_this_machine(QProcessEnvironment::systemEnvironment()));
}

void MainWindow::pasteModel() {
    const QMimeData& clipboard = *QApplication::clipboard()->mimeData();
    QStringList files;
    for (const QUrl& url : clipboard.urls()) {
        if (url.isLocalFile()) {
            files << url.toLocalFile();
        }
    }
    if (!files.isEmpty()) {
        openFiles(files);
    } else if (const auto problem = paste_model(*study_, clipboard.text())) {
        say(tr("Not pasted: %1").arg(*problem));
    }
}

void MainWindow::newStudy() {
    if (mayLeaveStudy()) {
        session_->startNew(seed_state());
    }
}

bool MainWindow::openStudy(const QString& path) {
    if (const auto problem = session_->open(path)) {
        say(tr("Not opened: %1").arg(*problem));
        return false;
    }
    if (!session_->problems().isEmpty()) {
        say(tr("Records left out: %1").arg(session_->problems().join(u'\n')));
    }
    if (!session_->path().isEmpty()) { // that of a report has no file of its own yet
        remember(session_->path());
    }
    return true;
}

bool MainWindow::saveStudy() {
    return session_->path().isEmpty() ? saveStudyAs() : saveTo(session_->path());
}

bool MainWindow::saveStudyAs() {
    const QString chosen = QFileDialog::getSaveFileName(
        this, tr("Save study"),
        session_->path().isEmpty() ? QStringLiteral("study.kvstudy.json") : session_->path(),
        tr("Studies (*.kvstudy.json)"));
    const QString path = with_ending(chosen);
    // The dialog has asked about the name it was given, not about the one with its ending.
    const bool unasked = path != chosen && QFileInfo::exists(path);
    return !chosen.isEmpty() && (!unasked || mayReplace(path)) && saveTo(path);
}

bool MainWindow::mayReplace(const QString& path) {
    return QMessageBox::question(this, tr("Save study"),
                                 tr("Replace %1?").arg(QFileInfo(path).fileName())) ==
           QMessageBox::Yes;
}

bool MainWindow::saveTo(const QString& path) {
    if (const auto problem = session_->save(path)) {
        say(tr("Not saved: %1").arg(*problem));
        return false;
    }
    remember(session_->path());
    statusBar()->showMessage(tr("Saved: %1").arg(path), 5000);
    return true;
}

bool MainWindow::mayLeaveStudy() {
    if (!session_->isModified()) {
        return true;
    }
    QMessageBox question(QMessageBox::Question, tr("Unsaved study"),
                         tr("Save the changes to %1?").arg(session_->name()),
                         QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
    question.setObjectName(QStringLiteral("unsavedQuestion"));
    question.setDefaultButton(QMessageBox::Save);
    const int answer = question.exec();
    return answer == QMessageBox::Discard || (answer == QMessageBox::Save && saveStudy());
}

void MainWindow::remember(const QString& path) {
    QSettings settings;
    QStringList recent = settings.value(recent_key()).toStringList();
    recent.removeAll(path);
    recent.prepend(path);
    settings.setValue(recent_key(), recent.mid(0, most_recent));
}

void MainWindow::fillRecent() {
    recent_->clear();
    const QStringList recent = QSettings().value(recent_key()).toStringList();
    for (const QString& path : recent) {
        QString name = path; // an ampersand would underline the letter after it
        recent_->addAction(name.replace(u'&', QStringLiteral("&&")), this,
                           [this, path] { openFiles({path}); });
    }
    recent_->addSeparator();
    recent_->addAction(tr("&Clear this list"), this, [] { QSettings().remove(recent_key()); })
        ->setEnabled(!recent.isEmpty());
}

void MainWindow::updateTitle() {
    QString name = session_->name(); // "[*]" is where Qt puts the mark; twice it is itself
    name.replace(QLatin1String("[*]"), QLatin1String("[*][*]"));
    setWindowTitle(tr("%1[*] — kvcaliper").arg(name));
    setWindowModified(session_->isModified());
}

void MainWindow::keepAutosave(const QString& folder) {
    offerRecovery(folder);
    autosave_ = new Autosave(*session_, folder, this);
    connect(autosave_, &Autosave::failed, this, [this](const QString& reason) {
        statusBar()->showMessage(tr("Unsaved edits could not be kept: %1").arg(reason));
    });
}

void MainWindow::offerRecovery(const QString& folder) {
    const QStringList files = Autosave::leftOvers(folder);
    if (files.isEmpty()) {
        return;
    }
    const QString file = files.front();
    const QString when = QLocale().toString(QFileInfo(file).lastModified(), QLocale::ShortFormat);
    // What could not be opened at the start is still to be read.
    const QString earlier = notice_->isHidden() ? QString() : notice_->words() + u'\n';
    notice_->ask(earlier + tr("kvcaliper ended on %1 with unsaved edits to a study.").arg(when),
                 {{QStringLiteral("recover"), tr("&Recover them"),
                   [this, file, folder] { recover(file, folder); }},
                  {QStringLiteral("discardRecovery"), tr("&Discard them"),
                   [this, file, folder] {
                       Autosave::discard(file);
                       offerRecovery(folder);
                   }},
                  {QStringLiteral("askLater"), tr("Ask &later"), [] {}}});
}

void MainWindow::recover(const QString& autosave, const QString& folder) {
    if (!mayLeaveStudy()) {
        offerRecovery(folder);
        return;
    }
    if (const auto problem = session_->recover(autosave)) {
        say(tr("Not recovered: %1").arg(*problem));
        return;
    }
    if (autosave_->write()) { // never is there no file with these edits
        Autosave::discard(autosave);
    }
    offerRecovery(folder);
}

} // namespace kvcaliper::gui
