// SPDX-License-Identifier: GPL-3.0-or-later
// A report as HTML: one well-formed page without any outside reference.
#pragma once

#include "app/gui/report_document.h"

#include <QByteArray>
#include <QSize>

#include <functional>

namespace kvcaliper::gui {

/// UTF-8, charts inline, the study as JSON in a script element that nothing runs.
QByteArray report_html(const Report& report);

/// The study in such a page; throws Error when there is none.
JsonValue study_of_html(const QByteArray& page, const std::string& source);

/// Where an image is found: as the src of its element.
using ChartSource = std::function<QString(const ChartData& chart)>;
/// What stands between <body> and </body>, in words that Qt's documents know, too.
QString report_body(const Report& report, const ChartSource& source);

/// How large a chart is drawn for paper, in pixels of 1/96 inch.
QSize report_chart_size(const ChartData& chart);

} // namespace kvcaliper::gui
