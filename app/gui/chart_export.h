// SPDX-License-Identifier: GPL-3.0-or-later
// Charts as files.
#pragma once

#include "app/gui/chart_data.h"
#include "app/gui/chart_theme.h"

#include <QSize>
#include <QString>

#include <optional>

namespace kvcaliper::gui {

/// Writes a chart as .svg, .pdf or .png (by the name's ending; PNG at twice the size). The file
/// appears complete or not at all. Returns why it could not be written.
std::optional<QString> export_chart(const ChartData& data, const ChartTheme& theme, QSize size,
                                    const QString& path);

/// The bytes of an SVG file.
QByteArray chart_svg(const ChartData& data, const ChartTheme& theme, QSize size);

/// A size at which every bar and every strip of a chart is readable.
QSize export_size(const ChartData& data);

/// Writes bytes to a temporary file beside `path` and renames it.
std::optional<QString> write_file(const QString& path, const QByteArray& bytes);

} // namespace kvcaliper::gui
