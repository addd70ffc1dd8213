// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/model_places.h"

#include "app/gui/text.h"
#include "core/json_value.h"

#include <QDir>
#include <QDirIterator>
#include <QFileInfo>

#include <exception>

namespace kvcaliper::gui {

namespace {

constexpr const char* ollama_model_layer = "application/vnd.ollama.image.model";

QString home(const QProcessEnvironment& environment) {
    return environment.value(QStringLiteral("HOME"));
}

/// The first of the variables that is set, with what stands behind it; else a place below HOME.
QString hub_folder(const QProcessEnvironment& environment) {
    struct Place {
        const char* variable;
        const char* below;
    };
    for (const Place& place : {Place{"HF_HUB_CACHE", ""}, Place{"HF_HOME", "/hub"},
                               Place{"XDG_CACHE_HOME", "/huggingface/hub"}}) {
        const QString set = environment.value(QLatin1String(place.variable));
        if (!set.isEmpty()) {
            return set + QLatin1String(place.below);
        }
    }
    return home(environment) + QStringLiteral("/.cache/huggingface/hub");
}

bool has_snapshot(const QString& folder) {
    const QDir snapshots(folder + QStringLiteral("/snapshots"));
    for (const QString& name : snapshots.entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
        if (QFileInfo::exists(snapshots.filePath(name) + QStringLiteral("/config.json"))) {
            return true;
        }
    }
    return false;
}

/// The GGUF file a manifest names, or nothing.
QString blob_of(const QString& manifest, const QDir& blobs) {
    try {
        const JsonValue json = read_json_file(utf8(manifest)).value;
        for (const JsonValue& layer : json.array_at("layers")) {
            if (layer.string_at("mediaType") == ollama_model_layer) {
                QString digest = text(layer.string_at("digest"));
                return blobs.filePath(digest.replace(u':', u'-'));
            }
        }
    } catch (const std::exception&) {
        // A manifest of another kind names no model.
    }
    return {};
}

/// "llama3:8b" of registry.ollama.ai/library/llama3/8b; others keep their owner.
QString ollama_name(const QString& below_manifests) {
    QStringList parts = below_manifests.split(u'/');
    if (parts.size() < 3) {
        return below_manifests;
    }
    const QString tag = parts.takeLast();
    parts.removeFirst();
    parts.removeAll(QStringLiteral("library"));
    return parts.join(u'/') + u':' + tag;
}

} // namespace

std::vector<FoundModel> hub_models(const QProcessEnvironment& environment) {
    std::vector<FoundModel> found;
    const QDir hub(hub_folder(environment));
    for (const QString& name :
         hub.entryList({QStringLiteral("models--*")}, QDir::Dirs, QDir::Name)) {
        if (has_snapshot(hub.filePath(name))) {
            QString shown = name.mid(8); // behind "models--"
            found.push_back({hub.filePath(name),
                             shown.replace(QLatin1String("--"), QLatin1String("/")),
                             QStringLiteral("hub cache")});
        }
    }
    return found;
}

std::vector<FoundModel> ollama_models(const QProcessEnvironment& environment) {
    std::vector<FoundModel> found;
    const QDir models(environment.value(QStringLiteral("OLLAMA_MODELS"),
                                        home(environment) + QStringLiteral("/.ollama/models")));
    const QDir manifests(models.filePath(QStringLiteral("manifests")));
    const QDir blobs(models.filePath(QStringLiteral("blobs")));
    QDirIterator files(manifests.path(), QDir::Files, QDirIterator::Subdirectories);
    while (files.hasNext()) {
        const QString manifest = files.next();
        const QString blob = blob_of(manifest, blobs);
        if (!blob.isEmpty() && QFileInfo::exists(blob)) {
            found.push_back({blob, ollama_name(manifests.relativeFilePath(manifest)),
                             QStringLiteral("Ollama")});
        }
    }
    return found;
}

std::vector<FoundModel> lm_studio_models(const QProcessEnvironment& environment) {
    std::vector<FoundModel> found;
    for (const char* place : {"/.lmstudio/models", "/.cache/lm-studio/models"}) {
        const QDir models(home(environment) + QLatin1String(place));
        QDirIterator files(models.path(), {QStringLiteral("*.gguf"), QStringLiteral("config.json")},
                           QDir::Files, QDirIterator::Subdirectories);
        while (files.hasNext()) {
            const QString path = files.next();
            const bool is_config = path.endsWith(QLatin1String("/config.json"));
            const QString file = is_config ? QFileInfo(path).path() : path;
            found.push_back({file, models.relativeFilePath(file), QStringLiteral("LM Studio")});
        }
    }
    return found;
}

std::vector<FoundModel> models_on_this_machine(const QProcessEnvironment& environment) {
    std::vector<FoundModel> all;
    for (const auto& some :
         {hub_models(environment), ollama_models(environment), lm_studio_models(environment)}) {
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

} // namespace kvcaliper::gui
