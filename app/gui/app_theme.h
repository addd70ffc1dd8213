// SPDX-License-Identifier: GPL-3.0-or-later
// Light, dark, or as the desktop has it.
#pragma once

#include <QString>

#include <optional>

namespace kvcaliper::gui {

enum class AppTheme { light, dark, system };

QString theme_name(AppTheme theme);
std::optional<AppTheme> theme_from(const QString& name);
/// Small corrections to the platform's style. Once, after the application exists.
void use_style();
/// Sets the application's palette; every view follows by itself.
void apply_theme(AppTheme theme);

} // namespace kvcaliper::gui
