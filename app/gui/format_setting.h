// SPDX-License-Identifier: GPL-3.0-or-later
// The formats of a study's settings, by what they are the formats of.
#pragma once

#include "core/estimate.h"

#include <QString>

#include <vector>

namespace kvcaliper::gui {

/// Where settings keep the format of a class of components: "auto", "q8_0", …
std::string Settings::*format_member(FormatClass format_class);

/// Whether both store everything in the same formats.
bool same_formats(const Settings& a, const Settings& b);

/// "index keys", "recurrent states", …: what a format is the format of.
QString format_class_text(FormatClass format_class);

/// Components of one format class in one of several models.
struct StoredPart {
    QString model; ///< its name
    Component component;
};
/// Those of all models, equal ones of a model once; none where no model keeps such a thing.
std::vector<StoredPart> stored_parts(const std::vector<ModelPtr>& models, FormatClass format_class);

/// Why one of the parts can not be stored in that format, or empty when all can.
QString format_problem(const NumericFormat& format, const std::vector<StoredPart>& parts);

} // namespace kvcaliper::gui
