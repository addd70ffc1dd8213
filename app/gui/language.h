// SPDX-License-Identifier: GPL-3.0-or-later
// The language the window speaks. English is in the source; resources/i18n holds the others.
#pragma once

#include <QString>
#include <QStringList>

namespace kvcaliper::gui {

/// "system" (the desktop's, English where it is none of ours), "en", "ko".
QStringList language_names();

/// From now on tr() speaks that language, Qt's own dialogs too where Qt's translations are
/// installed. Needs an application; call it before anything is shown.
void use_language(const QString& name);

} // namespace kvcaliper::gui
