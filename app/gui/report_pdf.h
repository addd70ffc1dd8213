// SPDX-License-Identifier: GPL-3.0-or-later
// A report as PDF: A4, vector charts, the study as an attachment.
#pragma once

#include "app/gui/report_document.h"

#include <QByteArray>

namespace kvcaliper::gui {

QByteArray report_pdf(const Report& report);

/// The study attached to such a file; throws Error when there is none.
JsonValue study_of_pdf(const QByteArray& file, const std::string& source);

} // namespace kvcaliper::gui
