// SPDX-License-Identifier: GPL-3.0-or-later
// Models that other programs keep on this machine: the hub's cache, Ollama, LM Studio. Only names
// of files are read here; a model is read when it is ticked.
#pragma once

#include <QProcessEnvironment>
#include <QString>

#include <vector>

namespace kvcaliper::gui {

struct FoundModel {
    QString path;  ///< what load_model takes: a folder, a config.json or a GGUF file
    QString name;  ///< as its program names it: "Qwen/Qwen3-8B", "llama3:8b"
    QString place; ///< "hub cache", "Ollama" or "LM Studio"
};

/// Snapshots with a config.json in HF_HUB_CACHE, HF_HOME/hub or the default place.
std::vector<FoundModel> hub_models(const QProcessEnvironment& environment);
/// Models of the manifests in OLLAMA_MODELS or ~/.ollama/models.
std::vector<FoundModel> ollama_models(const QProcessEnvironment& environment);
/// GGUF files and folders with a config.json in LM Studio's folders.
std::vector<FoundModel> lm_studio_models(const QProcessEnvironment& environment);
/// All of them.
std::vector<FoundModel> models_on_this_machine(const QProcessEnvironment& environment);

} // namespace kvcaliper::gui
