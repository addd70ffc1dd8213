// SPDX-License-Identifier: GPL-3.0-or-later
// What tests of exported files have in common.
#pragma once

#include "app/gui/text.h"
#include "tests/gui/helpers.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QProcess>
#include <QTest>
#include <QTimer>

namespace kvcaliper::gui::test {

/// Types a name into the next file dialog and accepts it.
inline void name_file(const QString& path) {
    QTimer::singleShot(0, qApp, [path] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        ASSERT_NE(dialog, nullptr);
        dialog->findChild<QLineEdit*>(s("fileNameEdit"))->setText(path);
        QTest::keyClick(dialog, Qt::Key_Return);
    });
}

struct Ran {
    int code;
    QByteArray out;
    QByteArray err;
};

/// A line for a shell, run in a folder, with the programs of this build in its PATH and no display.
inline Ran run_line(const QString& line, const QString& folder) {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}) {
        environment.remove(s(name));
    }
    const QString programs = QFileInfo(s(KVCALIPER_GUI_PROGRAM)).path();
    environment.insert(s("PATH"), programs + u':' + environment.value(s("PATH")));
    process.setProcessEnvironment(environment);
    process.setWorkingDirectory(folder);
    process.start(s("/bin/sh"), {s("-c"), line});
    process.waitForFinished(120000);
    return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
}

/// Names of the files in a folder: what was left half-written would be among them.
inline QStringList files_in(const QTemporaryDir& folder) {
    return QDir(folder.path()).entryList(QDir::Files | QDir::Hidden);
}

} // namespace kvcaliper::gui::test
