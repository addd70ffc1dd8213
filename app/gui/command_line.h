// SPDX-License-Identifier: GPL-3.0-or-later
// What the program is asked on its command line: a window, a chart file, or a picture of the
// window.
#pragma once

#include "app/gui/app_theme.h"
#include "app/gui/study.h"

#include <QSize>
#include <QString>
#include <QStringList>

#include <optional>

namespace kvcaliper::gui {

struct Options {
    enum class Task { window, chart, report, table, screenshot, help, version };
    Task task = Task::window;
    QString file;
    QString kind = QStringLiteral("per-token");
    QString tab = QStringLiteral("compare");
    std::optional<AppTheme> theme;
    QString language; ///< of language_names(); empty: the system's in a window, else English
    std::optional<QSize> size;
    Settings settings;
    BudgetState budget;
    QStringList engine_options; ///< KEY=VALUE, of the engine that is named here or in the study
    ContextView context_view;
    QStringList given; ///< names of the options above that were written: "context", "k", "gpu", …
    QStringList models; ///< or one study file
};

/// Reads the arguments (the program's name first); throws Error for what it does not understand.
Options parse_options(const QStringList& arguments);

class StudySession;

/// The study the options ask for: that of a file, of models, or the opening comparison, under the
/// settings that were given. Throws Error; a model without an answer is none.
void start_study(StudySession& session, const Options& options);

/// Makes a chart, a report, a table or a picture; throws Error with the reason when it can not.
void run_headless(const Options& options);

/// What --help says; needs an application.
QString help_text();

/// The whole program but its main: returns the exit code.
int run_application(int argc, char** argv);

} // namespace kvcaliper::gui
