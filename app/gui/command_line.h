// SPDX-License-Identifier: GPL-3.0-or-later
// What the program is asked on its command line: a window, a chart file, or a picture of the
// window. headless.h answers all but the first.
#pragma once

#include "app/gui/app_theme.h"
#include "app/gui/study.h"

#include <QSize>
#include <QString>
#include <QStringList>

#include <optional>
#include <string>
#include <utility>

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

    /// Whether what is made is the chart over the context, alone or on its page.
    bool ofContext() const;
};

/// Formats beside those of K and V, by option.
inline constexpr std::pair<const char*, std::string Settings::*> other_formats[] = {
    {"index", &Settings::index_format},
    {"conv", &Settings::conv_format},
    {"state", &Settings::state_format}};

/// Ranks of a budget, by option.
inline constexpr std::pair<const char*, std::int64_t BudgetState::*> rank_options[] = {
    {"tp", &BudgetState::tensor},
    {"pp", &BudgetState::pipeline},
    {"cp", &BudgetState::context},
    {"dp", &BudgetState::data}};

/// Reads the arguments (the program's name first); throws Error for what it does not understand.
Options parse_options(const QStringList& arguments);

/// What --help says; needs an application.
QString help_text();

/// The whole program but its main: returns the exit code.
int run_application(int argc, char** argv);

} // namespace kvcaliper::gui
