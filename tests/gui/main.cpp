// SPDX-License-Identifier: GPL-3.0-or-later
// A main of its own: the platform must be chosen before anything of Qt runs, also while the tests
// are only listed.
#include "app/gui/main_window.h"
#include "tests/gui/helpers.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>

namespace kvcaliper::gui::test {
namespace {

int run_until_killed(const QString& folder) {
    MainWindow window;
    window.keepAutosave(folder);
    window.show();
    window.study().setSequences(sequences_of_the_killed);
    return QApplication::exec();
}

} // namespace
} // namespace kvcaliper::gui::test

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    testing::InitGoogleTest(&argc, argv);
    QStandardPaths::setTestModeEnabled(true);
    const QTemporaryDir settings;
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, settings.path());
    QCoreApplication::setOrganizationName(QStringLiteral("kvcaliper-test"));
    QCoreApplication::setApplicationName(QStringLiteral("kvcaliper-test"));
    const QApplication application(argc, argv);
    if (const QString folder = qEnvironmentVariable(kvcaliper::gui::test::autosave_variable);
        !folder.isEmpty()) {
        return kvcaliper::gui::test::run_until_killed(folder);
    }
    return RUN_ALL_TESTS();
}
