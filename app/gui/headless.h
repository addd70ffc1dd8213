// SPDX-License-Identifier: GPL-3.0-or-later
// The study a command line asks for, and the files that are made of it without a window.
#pragma once

#include "app/gui/command_line.h"

namespace kvcaliper::gui {

class StudySession;

/// The study the options ask for: that of a file, of models, or the opening comparison, under the
/// settings that were given. Throws Error; a model without an answer is none.
void start_study(StudySession& session, const Options& options);

/// Makes a chart, a report, a table or a picture; throws Error with the reason when it can not.
void run_headless(const Options& options);

} // namespace kvcaliper::gui
