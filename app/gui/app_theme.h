// SPDX-License-Identifier: GPL-3.0-or-later
// Light, dark, black and white, or as the desktop has it.
#pragma once

#include <QString>
#include <QStringList>

#include <optional>

class QPalette;

namespace kvcaliper::gui {

enum class AppTheme { light, dark, contrast, system };

inline constexpr AppTheme all_themes[] = {AppTheme::light, AppTheme::dark, AppTheme::contrast,
                                          AppTheme::system};

QString theme_name(AppTheme theme);
QStringList theme_names();
std::optional<AppTheme> theme_from(const QString& name);
/// Whether its windows have a contrast of 20 to 1 and more (WCAG 2; 21 is black on white): then
/// nothing is drawn in shades of a colour, be it our theme or the desktop's.
bool is_black_and_white(const QPalette& palette);
/// Small corrections to the platform's style. Once, after the application exists.
void use_style();
/// Sets the application's palette; every view follows by itself.
void apply_theme(AppTheme theme);

} // namespace kvcaliper::gui
