// SPDX-License-Identifier: GPL-3.0-or-later
// An explanation for the clipboard, as text or as Markdown.
#pragma once

#include "app/gui/study.h"

namespace kvcaliper::gui {

/// 0 uncapped, 1 growth, 2 constant, 3 total at the context.
const Figure& figure_of(const Estimate& estimate, int figure);

/// What the Explain dock shows of a row: the figure's terms, the components, the kinds of cache and
/// the notes. The reason where the row has no answer.
QString explain_text(const StudyRow& row, int figure, const Verification* verification,
                     bool markdown);

} // namespace kvcaliper::gui
