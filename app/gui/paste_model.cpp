// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/paste_model.h"

#include "app/gui/text.h"
#include "core/catalog.h"
#include "core/error.h"
#include "core/model_config.h"

#include <exception>

namespace kvcaliper::gui {

namespace {

constexpr const char* source_name = "clipboard";

QString word_of(const JsonValue& config, const char* key) {
    const JsonValue* value = config.find(key);
    return value && value->if_string() ? text(*value->if_string()) : QString();
}

/// "Llama-3.1-8B" of "meta-llama/Llama-3.1-8B": names of a study hold no slashes.
QString own_name(const JsonValue& config) {
    for (const char* key : {"_name", "_name_or_path", "model_type"}) {
        const QString name = word_of(config, key).section(u'/', -1, -1, QString::SectionSkipEmpty);
        if (!name.isEmpty()) {
            return name;
        }
    }
    return Study::tr("model");
}

QString free_name(const Study& study, const QString& base) {
    QString name = Study::tr("%1 (pasted)").arg(base);
    for (int i = 2; study.state().configs.contains(name); ++i) {
        name = Study::tr("%1 (pasted %2)").arg(base).arg(i);
    }
    return name;
}

} // namespace

std::optional<QString> paste_model(Study& study, const QString& clipboard) {
    try {
        ConfigFile file{
            source_name, source_name, parse_json(utf8(clipboard), source_name).value, {}};
        if (!file.value.is_object()) {
            throw input_error(source_name, "", "a JSON object with a model's config",
                              describe(file.value));
        }
        const QString name = free_name(study, own_name(file.value));
        file.value.set("_name", utf8(name));
        make_model(file); // throws what is wrong with it
        study.setConfig(name, {text(dump_json(file.value)), QString()});
    } catch (const std::exception& exception) {
        return text(exception.what());
    }
    return std::nullopt;
}

} // namespace kvcaliper::gui
