// SPDX-License-Identifier: GPL-3.0-or-later
// A config on the clipboard as a model of the study.
#pragma once

#include "app/gui/study.h"

#include <QString>

#include <optional>

namespace kvcaliper::gui {

/// Adds the config in a text as a model that lives in the study; the reason when it is none. The
/// name is the config's own where it has one.
std::optional<QString> paste_model(Study& study, const QString& text);

} // namespace kvcaliper::gui
