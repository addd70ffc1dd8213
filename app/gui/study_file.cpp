// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/study_file.h"

#include "app/gui/chart_export.h"
#include "app/gui/report_export.h"
#include "app/gui/study_records.h"
#include "app/gui/text.h"
#include "core/catalog.h"
#include "core/error.h"
#include "core/report.h"

#include <QDir>
#include <QFileInfo>

namespace kvcaliper::gui {

namespace {

constexpr std::int64_t format_version = 1;
constexpr std::int64_t most_ranks = 1 << 20;
constexpr std::int64_t most_tokens = std::int64_t{1} << 40;

// ---- models as the file names them --------------------------------------------------------------

/// The folder that relative paths of a study file start from.
QDir folder_of(const QString& path) {
    return QFileInfo(path).absoluteDir();
}

bool is_path(const QString& written) {
    return written.contains(u'/') || written.endsWith(QLatin1String(".json")) ||
           written.endsWith(QLatin1String(".gguf"));
}

/// A name the file writes, as a study has it: paths absolute, names of models as they are.
QString resolved(const QString& written, const QString& path) {
    return is_path(written) && !path.isEmpty()
               ? QDir::cleanPath(folder_of(path).absoluteFilePath(written))
               : written;
}

/// Whether load_model would find a bundled model under that word, in its order: a file comes first,
/// a folder last.
bool names_bundled(const QString& id) {
    const QString models = text(data_folder()) + QStringLiteral("/models/");
    return !is_path(id) && !QFileInfo(id).isFile() &&
           QFileInfo::exists(models + id + QStringLiteral(".json"));
}

/// What a study has, as the file writes it. A model may be named by a path relative to where the
/// program was started.
QString written(const QString& id, const QString& path) {
    const QFileInfo file(id);
    if (names_bundled(id) || (!is_path(id) && !file.exists())) {
        return id;
    }
    const QString absolute = QDir::cleanPath(file.absoluteFilePath());
    if (path.isEmpty()) {
        return absolute;
    }
    const QString relative = folder_of(path).relativeFilePath(absolute);
    return relative.startsWith(QLatin1String("..")) || QDir::isAbsolutePath(relative)
               ? absolute
               : QStringLiteral("./") + relative;
}

// ---- reading ------------------------------------------------------------------------------------

/// An object of the document, with errors that say where in the file they are.
struct Part {
    const QString& path;
    const JsonValue& object;
    std::string pointer{};

    [[noreturn]] void fail(std::string_view key, std::string_view expected,
                           const JsonValue& found) const {
        throw input_error(utf8(path), pointer + "/" + std::string(key), expected, describe(found));
    }

    /// The member as an object; an empty one when it is absent.
    Part inner(const char* key) const {
        static const JsonValue none{JsonValue::Object{}};
        const JsonValue* value = object.find(key);
        if (value != nullptr && !value->is_object()) {
            fail(key, "an object", *value);
        }
        return {path, value != nullptr ? *value : none, pointer + "/" + key};
    }

    QString word(std::string_view key, const QString& absent) const {
        const JsonValue* value = object.find(key);
        if (value != nullptr && value->if_string() == nullptr) {
            fail(key, "a string", *value);
        }
        return value != nullptr ? text(*value->if_string()) : absent;
    }

    std::int64_t number(std::string_view key, std::int64_t absent, std::int64_t most) const {
        const JsonValue* value = object.find(key);
        if (value == nullptr) {
            return absent;
        }
        const std::int64_t* integer = value->if_integer();
        if (integer == nullptr || *integer < 1 || *integer > most) {
            fail(key, "an integer from 1 to " + std::to_string(most), *value);
        }
        return *integer;
    }

    bool flag(std::string_view key, bool absent) const {
        const JsonValue* value = object.find(key);
        if (value != nullptr && value->if_bool() == nullptr) {
            fail(key, "true or false", *value);
        }
        return value != nullptr ? *value->if_bool() : absent;
    }

    std::string format(std::string_view key) const {
        const std::string name = utf8(word(key, QStringLiteral("auto")));
        if (name != "auto" && name != "checkpoint" && !find_numeric_format(name)) {
            fail(key, "a number format (see `kvcaliper list formats`)", JsonValue(name));
        }
        return name;
    }
};

void check_version(const Part& file) {
    const JsonValue* version = file.object.find("kvcaliper_study");
    const std::int64_t* number = version != nullptr ? version->if_integer() : nullptr;
    if (number == nullptr || *number < 1) {
        file.fail("kvcaliper_study", "the version of a study's format",
                  version != nullptr ? *version : JsonValue());
    }
    if (*number > format_version) {
        file.fail("kvcaliper_study",
                  "at most " + std::to_string(format_version) +
                      " (a newer kvcaliper wrote this study)",
                  *version);
    }
}

QMap<QString, StudyConfig> read_configs(const Part& part) {
    QMap<QString, StudyConfig> configs;
    for (const auto& [name, value] : *part.object.if_object()) {
        const Part entry = part.inner(name.c_str());
        const Part config = entry.inner("config");
        if (config.object.if_object()->empty()) {
            entry.fail("config", "a model's config", config.object);
        }
        configs.insert(text(name), {text(dump_json(config.object)),
                                    resolved(entry.word("from", QString()), part.path)});
    }
    return configs;
}

QStringList read_models(const Part& file, const StudyState& state) {
    const JsonValue* models = file.object.find("models");
    if (models == nullptr || models->if_array() == nullptr) {
        file.fail("models", "a list of models", models != nullptr ? *models : JsonValue());
    }
    QStringList ids;
    for (const JsonValue& model : *models->if_array()) {
        if (model.if_string() == nullptr) {
            file.fail("models/" + std::to_string(ids.size()), "a name or a path", model);
        }
        const QString name = text(*model.if_string());
        ids << (state.configs.contains(name) ? name : resolved(name, file.path));
    }
    ids.removeDuplicates();
    return ids;
}

Settings read_settings(const Part& part) {
    Settings settings;
    settings.context = Tokens(part.number("context", settings.context.count(), most_tokens));
    settings.sequences = part.number("sequences", settings.sequences, most_tokens);
    settings.k_format = part.format("k_format");
    settings.v_format = part.format("v_format");
    settings.index_format = part.format("index_format");
    settings.conv_format = part.format("conv_format");
    settings.state_format = part.format("state_format");
    return settings;
}

/// By engine. What an engine does not know is no error here but of the rows.
QMap<QString, QMap<QString, QString>> read_engine_options(const Part& part) {
    QMap<QString, QMap<QString, QString>> options;
    for (const auto& engine : *part.object.if_object()) {
        const Part set = part.inner(engine.first.c_str());
        for (const auto& option : *set.object.if_object()) {
            options[text(engine.first)].insert(text(option.first),
                                               set.word(option.first, QString()));
        }
    }
    return options;
}

BudgetState read_budget(const Part& part, const StudyState& state) {
    BudgetState budget;
    budget.device = part.word("device", budget.device);
    budget.engine = part.word("engine", budget.engine);
    budget.tensor = part.number("tensor", budget.tensor, most_ranks);
    budget.pipeline = part.number("pipeline", budget.pipeline, most_ranks);
    budget.context = part.number("context", budget.context, most_ranks);
    budget.data = part.number("data", budget.data, most_ranks);
    budget.options = read_engine_options(part.inner("engine_options"));
    const Part weights = part.inner("weights");
    for (const auto& member : *weights.object.if_object()) {
        const QString id = text(member.first);
        budget.weights.insert(state.configs.contains(id) ? id : resolved(id, part.path),
                              weights.word(member.first, QString()));
    }
    return budget;
}

ContextView read_context_view(const Part& part) {
    ContextView view;
    const JsonValue* devices = part.object.find("devices");
    if (devices != nullptr && devices->if_array() == nullptr) {
        part.fail("devices", "a list of devices", *devices);
    }
    for (const JsonValue& device : devices ? *devices->if_array() : JsonValue::Array{}) {
        if (device.if_string() == nullptr) {
            part.fail("devices/" + std::to_string(view.devices.size()), "a device's name", device);
        }
        view.devices << text(*device.if_string());
    }
    view.devices.removeDuplicates();
    view.linear = part.flag("linear", view.linear);
    view.crossings = part.flag("crossings", view.crossings);
    view.recompute = part.flag("recompute", view.recompute);
    return view;
}

// ---- writing ------------------------------------------------------------------------------------

/// How models are spelled in the file: as the document had them where that is the same model.
class Spelling {
  public:
    Spelling(const StudyState& state, const JsonValue& document, const QString& path)
        : state_(state), path_(path) {
        const JsonValue* models = document.find("models");
        for (const JsonValue& model :
             models && models->if_array() ? *models->if_array() : JsonValue::Array{}) {
            if (model.if_string() && !path.isEmpty()) {
                const QString name = text(*model.if_string());
                kept_.insert(resolved(name, path), name);
            }
        }
    }
    std::string of(const QString& id) const {
        return utf8(state_.configs.contains(id) ? id : kept_.value(id, written(id, path_)));
    }

  private:
    const StudyState& state_;
    const QString& path_;
    QHash<QString, QString> kept_;
};

/// The member of an object, to be changed in place; an object where it was none.
JsonValue member(const JsonValue& object, std::string_view key) {
    const JsonValue* found = object.find(key);
    return found && found->is_object() ? *found : JsonValue(JsonValue::Object{});
}

JsonValue settings_part(const Settings& settings, JsonValue part) {
    part.set("context", settings.context.count());
    part.set("sequences", settings.sequences);
    part.set("k_format", settings.k_format);
    part.set("v_format", settings.v_format);
    part.set("index_format", settings.index_format);
    part.set("conv_format", settings.conv_format);
    part.set("state_format", settings.state_format);
    return part;
}

JsonValue engine_options_part(const BudgetState& budget) {
    JsonValue part{JsonValue::Object{}};
    for (auto engine = budget.options.begin(); engine != budget.options.end(); ++engine) {
        JsonValue set{JsonValue::Object{}};
        for (auto option = engine->begin(); option != engine->end(); ++option) {
            set.set(utf8(option.key()), utf8(option.value()));
        }
        part.set(utf8(engine.key()), std::move(set));
    }
    return part;
}

JsonValue budget_part(const BudgetState& budget, const Spelling& spelling, JsonValue part) {
    part.set("device", utf8(budget.device));
    part.set("engine", utf8(budget.engine));
    part.set("tensor", budget.tensor);
    part.set("pipeline", budget.pipeline);
    part.set("context", budget.context);
    part.set("data", budget.data);
    part.set("engine_options", engine_options_part(budget));
    JsonValue weights{JsonValue::Object{}};
    for (auto one = budget.weights.begin(); one != budget.weights.end(); ++one) {
        weights.set(spelling.of(one.key()), utf8(one.value()));
    }
    part.set("weights", std::move(weights));
    return part;
}

JsonValue context_view_part(const ContextView& view, JsonValue part) {
    JsonValue::Array devices;
    for (const QString& device : view.devices) {
        devices.emplace_back(utf8(device));
    }
    part.set("devices", std::move(devices));
    part.set("linear", view.linear);
    part.set("crossings", view.crossings);
    part.set("recompute", view.recompute);
    return part;
}

JsonValue configs_part(const StudyState& state, const Spelling& spelling, const JsonValue& before) {
    JsonValue part{JsonValue::Object{}};
    for (auto one = state.configs.begin(); one != state.configs.end(); ++one) {
        const std::string name = utf8(one.key());
        JsonValue entry = member(before, name);
        entry.set("from", one->from.isEmpty() ? "" : spelling.of(one->from));
        entry.set("config", parse_json(utf8(one->json), name).value);
        part.set(name, std::move(entry));
    }
    return part;
}

} // namespace

bool is_study_file(const QString& path) {
    return path.endsWith(QLatin1String(".kvstudy.json"), Qt::CaseInsensitive);
}

StudyFile read_study_file(const QString& path) {
    StudyFile file;
    file.document = carries_study(path) ? carried_study(path) : read_json_file(utf8(path)).value;
    if (!file.document.is_object()) {
        throw input_error(utf8(path), "", "a JSON object with a study", describe(file.document));
    }
    const Part part{path, file.document};
    check_version(part);
    file.state.configs = read_configs(part.inner("configs"));
    file.state.models = read_models(part, file.state);
    const QString baseline = part.word("baseline", QString());
    file.state.baseline =
        file.state.configs.contains(baseline) ? baseline : resolved(baseline, path);
    file.state.settings = read_settings(part.inner("settings"));
    file.state.budget = read_budget(part.inner("budget"), file.state);
    file.records = read_study_records(file.document, path, file.problems);
    file.state.context_view = read_context_view(part.inner("context_view"));
    return file;
}

JsonValue study_document(const StudyState& state, JsonValue document, const QString& path) {
    const Spelling spelling(state, document, path);
    JsonValue::Array models;
    for (const QString& id : state.models) {
        models.emplace_back(spelling.of(id));
    }
    document.set("kvcaliper_study", format_version);
    document.set("version", version);
    document.set("models", std::move(models));
    document.set("baseline", spelling.of(state.baseline));
    document.set("settings", settings_part(state.settings, member(document, "settings")));
    document.set("budget", budget_part(state.budget, spelling, member(document, "budget")));
    document.set("context_view",
                 context_view_part(state.context_view, member(document, "context_view")));
    document.set("configs", configs_part(state, spelling, member(document, "configs")));
    return document;
}

std::optional<QString> write_study_document(const QString& path, const JsonValue& document) {
    return write_file(path, QByteArray::fromStdString(dump_json(document) + "\n"));
}

} // namespace kvcaliper::gui
