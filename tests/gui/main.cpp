// SPDX-License-Identifier: GPL-3.0-or-later
// A main of its own: the platform must be chosen before anything of Qt runs, also while the tests
// are only listed.
#include <gtest/gtest.h>

#include <QApplication>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    testing::InitGoogleTest(&argc, argv);
    QStandardPaths::setTestModeEnabled(true);
    const QTemporaryDir settings;
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, settings.path());
    QCoreApplication::setOrganizationName(QStringLiteral("kvcaliper-test"));
    QCoreApplication::setApplicationName(QStringLiteral("kvcaliper-test"));
    const QApplication application(argc, argv);
    return RUN_ALL_TESTS();
}
