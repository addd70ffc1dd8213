// SPDX-License-Identifier: GPL-3.0-or-later
// Options of an engine as a user writes them, checked by the engine's own table.
#pragma once

#include <QString>
#include <QStringList>

#include <string_view>

namespace kvcaliper::gui {

/// One option as it is to be kept: its long name, and its value in the engine's spelling.
struct EngineOptionChange {
    QString name;
    QString value; ///< empty where it is the default
};

/// Reads a name (long or short) and a value. Throws Error with the engine's reason.
EngineOptionChange read_engine_option(const QString& engine, const QString& name,
                                      const QString& value);
/// Reads "KEY=VALUE".
EngineOptionChange read_engine_option(const QString& engine, const QString& written);

/// The words an option may take; empty where it takes a number.
QStringList option_words(std::string_view values);
/// "a whole number, or auto"; the words where it takes words.
QString option_values_text(std::string_view values);

} // namespace kvcaliper::gui
