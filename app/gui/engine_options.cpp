// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/engine_options.h"

#include "app/gui/text.h"
#include "core/engines/engine.h"
#include "core/error.h"

#include <algorithm>

namespace kvcaliper::gui {

namespace {

bool takes_numbers(std::string_view values) {
    return values == "R" || values.starts_with("N");
}

} // namespace

EngineOptionChange read_engine_option(const QString& engine, const QString& name,
                                      const QString& value) {
    Settings settings;
    settings.engine = utf8(engine);
    settings.engine_options = {{utf8(name), utf8(value)}};
    const auto resolved = resolved_options(settings); // refuses what the engine does not know
    const auto options = find_engine(settings.engine).options;
    const auto option = std::find_if(options.begin(), options.end(), [&](const EngineOption& one) {
        return one.name == utf8(name) || one.short_name == utf8(name);
    });
    const std::string& spelled = resolved.find(option->name)->second;
    return {text(option->name), spelled == option->by_default ? QString() : text(spelled)};
}

EngineOptionChange read_engine_option(const QString& engine, const QString& written) {
    const auto at = written.indexOf(u'=');
    if (at < 1) {
        throw Error(utf8(tr("expected KEY=VALUE, found \"%1\"").arg(written)));
    }
    return read_engine_option(engine, written.left(at).trimmed(), written.mid(at + 1).trimmed());
}

QStringList option_words(std::string_view values) {
    return takes_numbers(values) ? QStringList() : text(values).split(u'|');
}

QString option_values_text(std::string_view values) {
    if (values == "R") {
        return tr("a number above 0, at most 1");
    }
    if (!takes_numbers(values)) {
        return option_words(values).join(QStringLiteral(", "));
    }
    return values == "N" ? tr("a whole number from 1")
                         : tr("a whole number from 1, or %1").arg(text(values.substr(2)));
}

} // namespace kvcaliper::gui
