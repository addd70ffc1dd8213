// SPDX-License-Identifier: GPL-3.0-or-later
// The command lines that give the figures of a study again.
#pragma once

#include "app/gui/study.h"

#include <QString>
#include <QStringList>

namespace kvcaliper::gui {

/// Words as a shell takes them: in single quotes where they must be.
QString shell_line(const QStringList& words);

/// Settings that are not as they are by default, as options of kvcaliper.
QStringList settings_options(const Settings& settings);

/// Whether kvcaliper knows all models by name or path; a config that lives in the study it does
/// not.
bool has_named_models(const Study& study);

// Commands of kvcaliper that answer with the figures of a page. Only where models are named.
QString compare_command(const Study& study);
QString curve_command(const Study& study);
QStringList layer_commands(const Study& study);
/// One model on the study's device under the settings of its deployment.
QString fit_command(const Study& study, const StudyRow& row, const Settings& settings);
QString verify_command(const Study& study, const StudyRow& row);

/// The same by the program of the window, from a file that holds the study.
QString chart_command(const QString& kind, const QString& file);
QString table_command(const QString& tab, const QString& file);

/// The token counts of the curves: of the table and of its command.
inline constexpr int table_points = 32;

} // namespace kvcaliper::gui
