// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/headless.h"

#include "app/gui/autosave.h"
#include "app/gui/language.h"
#include "app/gui/main_window.h"
#include "app/gui/record_book.h"
#include "app/gui/study_session.h"
#include "app/gui/text.h"
#include "core/error.h"
#include "core/report.h"

#include <QApplication>
#include <QIcon>
#include <QSettings>
#include <QTimer>

#include <cstdio>
#include <exception>

namespace kvcaliper::gui {

namespace {

constexpr int usage_error = 2;
constexpr int impossible_here = 3;

void say_error(const std::string& message) {
    std::fprintf(stderr, "kvcaliper-gui: %s\n", message.c_str());
}

/// Without a window Qt's remarks on the platform (no runtime folder, no size hints) are noise among
/// answers that are one line each.
void errors_only(QtMsgType type, const QMessageLogContext&, const QString& message) {
    if (type == QtCriticalMsg || type == QtFatalMsg) {
        say_error(utf8(message));
    }
}

void use_settings_theme(const Options& options) {
    const QString saved = QSettings().value(QStringLiteral("theme")).toString();
    apply_theme(options.theme.value_or(theme_from(saved).value_or(AppTheme::system)));
}

/// A study that can not be read is said in the window: who opens a file from the desktop sees no
/// terminal.
void start_window(MainWindow& window, const Options& options) {
    try {
        start_study(window.session(), options);
        if (!window.session().problems().isEmpty()) {
            window.say(window.session().problems().join(u'\n'));
        }
        if (!window.session().path().isEmpty()) {
            window.remember(window.session().path());
        }
    } catch (const Error& error) {
        window.say(text(error.what()));
    }
}

/// Files look alike on every machine, so they are English unless another language is asked for.
QString language_of(const Options& options) {
    const bool window = options.task == Options::Task::window;
    const QString usual = window ? QStringLiteral("system") : QStringLiteral("en");
    return options.language.isEmpty() ? usual : options.language;
}

int run_window(QApplication& application, const Options& options) {
    use_settings_theme(options);
    MainWindow window;
    window.restoreSettings();
    window.showTab(options.tab);
    start_window(window, options);
    window.keepRecords(RecordBook::usualFolder());
    window.keepAutosave(Autosave::usualFolder());
    window.show();
    // Other programs' folders may lie on a slow disk: the window is there first.
    QTimer::singleShot(0, &window, &MainWindow::listFoundModels);
    return application.exec();
}

int run(QApplication& application, const Options& options) {
    switch (options.task) {
    case Options::Task::help:
        std::fputs(help_text().toUtf8().constData(), stdout);
        return 0;
    case Options::Task::version:
        std::printf("kvcaliper-gui %s\n", std::string(version).c_str());
        return 0;
    case Options::Task::window:
        return run_window(application, options);
    case Options::Task::chart:
    case Options::Task::report:
    case Options::Task::table:
    case Options::Task::screenshot:
        apply_theme(options.theme.value_or(AppTheme::light));
        run_headless(options);
        return 0;
    }
    return usage_error;
}

/// Only the window needs a display; everything else is drawn off the screen.
void choose_platform(const Options& options) {
    if (options.task != Options::Task::window) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
        qInstallMessageHandler(errors_only);
        return;
    }
    for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}) {
        if (qEnvironmentVariableIsSet(name)) {
            return;
        }
    }
    throw Error("expected a display (DISPLAY or WAYLAND_DISPLAY), found none; --chart, "
                "--report, --table and --screenshot need none",
                ErrorKind::impossible_here);
}

int start(int argc, char** argv) {
    QStringList arguments;
    for (int i = 0; i < argc; ++i) {
        arguments << QString::fromLocal8Bit(argv[i]);
    }
    const Options options = parse_options(arguments);
    choose_platform(options);
    QApplication application(argc, argv);
    QCoreApplication::setApplicationName(QStringLiteral("kvcaliper"));
    QCoreApplication::setOrganizationName(QStringLiteral("kvcaliper"));
    QCoreApplication::setApplicationVersion(text(version));
    QGuiApplication::setDesktopFileName(QStringLiteral("io.github.kvcaliper.kvcaliper"));
    use_language(language_of(options));
    use_style();
    return run(application, options);
}

} // namespace

int run_application(int argc, char** argv) {
    try {
        return start(argc, argv);
    } catch (const Error& error) {
        say_error(error.what());
        return error.kind() == ErrorKind::input ? usage_error : impossible_here;
    } catch (const std::exception& error) {
        say_error(error.what());
        return usage_error;
    }
}

} // namespace kvcaliper::gui
