// SPDX-License-Identifier: Apache-2.0
#include "core/catalog.h"

#include "core/architectures/architectures.h"
#include "core/error.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>

namespace kvcaliper {

namespace fs = std::filesystem;

namespace {

bool holds_models(const fs::path& folder) {
    std::error_code error;
    return fs::is_directory(folder / "models", error);
}

fs::path executable_folder() {
    std::error_code error;
    return fs::read_symlink("/proc/self/exe", error).parent_path();
}

std::string text_of(const JsonValue& value, std::string_view key) {
    const JsonValue* member = value.find(key);
    return member && member->if_string() ? *member->if_string() : std::string();
}

CatalogEntry read_entry(const fs::path& file) {
    const ConfigFile config = read_config_file(file.string());
    CatalogEntry entry;
    entry.name = file.stem().string();
    entry.display_name = text_of(config.value, "_name");
    entry.vendor = text_of(config.value, "_vendor");
    entry.family = text_of(config.value, "_family");
    entry.source = text_of(config.value, "_source");
    entry.model_type = text_of(config.value, "model_type");
    entry.path = file.string();
    return entry;
}

std::vector<std::string> bundled_names() {
    std::vector<std::string> names;
    for (const auto& file : fs::directory_iterator(fs::path(data_folder()) / "models")) {
        if (file.path().extension() == ".json") {
            names.push_back(file.path().stem().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

fs::path bundled_path(const std::string& name) {
    return fs::path(data_folder()) / "models" / (name + ".json");
}

bool is_bundled_name(const std::string& name) {
    const bool plain = !name.empty() && name.find('/') == std::string::npos && name[0] != '.';
    std::error_code error;
    return plain && fs::is_regular_file(bundled_path(name), error);
}

/// Edits that turn one word into the other.
std::size_t edit_distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

} // namespace

std::string data_folder() {
    if (const char* set = std::getenv("KVCALIPER_DATA"); set && *set) {
        if (holds_models(set)) {
            return set;
        }
        throw Error(std::string(set) + ": expected a folder with models/ (KVCALIPER_DATA), found "
                                       "none in it");
    }
    const fs::path installed = executable_folder().parent_path() / "share" / "kvcaliper";
    for (const fs::path& folder : {installed, fs::path(KVCALIPER_SOURCE_CONFIGS)}) {
        if (holds_models(folder)) {
            return folder.string();
        }
    }
    throw Error("expected the bundled data in KVCALIPER_DATA or " + installed.string() +
                    ", found none",
                ErrorKind::impossible_here);
}

std::string user_folder() {
    struct Place {
        const char* variable;
        const char* below;
    };
    for (const Place& place :
         {Place{"KVCALIPER_USER_DATA", ""}, Place{"XDG_DATA_HOME", "kvcaliper"},
          Place{"HOME", ".local/share/kvcaliper"}}) {
        if (const char* set = std::getenv(place.variable); set && *set) {
            return (fs::path(set) / place.below).string();
        }
    }
    return "";
}

std::vector<CatalogEntry> bundled_models() {
    std::vector<CatalogEntry> entries;
    for (const std::string& name : bundled_names()) {
        entries.push_back(read_entry(bundled_path(name)));
    }
    return entries;
}

ModelPtr make_model(ConfigFile config) {
    auto model = std::make_shared<Model>();
    model->plan = plan_model(std::move(config));
    model->spec = build_cache_spec(model->plan);
    return model;
}

ModelPtr load_model(const std::string& model) {
    return make_model(find_config(model));
}

ConfigFile find_config(const std::string& model) {
    std::error_code error;
    if (model == "-" || fs::is_regular_file(model, error)) {
        return read_config_file(model);
    }
    if (is_bundled_name(model)) {
        return read_config_file(bundled_path(model).string());
    }
    if (fs::exists(model, error)) {
        return read_config_file(model);
    }
    const std::string near = nearest_word(model, bundled_names());
    throw Error(model +
                ": expected a config.json, a folder with one or a bundled name (see `list "
                "models`), found none" +
                (near.empty() ? "" : "; did you mean " + near + "?"));
}

std::vector<std::string> seed_models() {
    return {"gpt2-xl", "llama-3-8b", "gemma-3-27b", "deepseek-v3", "falcon-mamba-7b"};
}

std::string bundled_claims_path(const std::string& name) {
    if (name.find('/') != std::string::npos) {
        return "";
    }
    const fs::path path = fs::path(data_folder()) / "claims" / (name + ".json");
    std::error_code error;
    return fs::is_regular_file(path, error) ? path.string() : "";
}

std::string nearest_word(const std::string& word, const std::vector<std::string>& known) {
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string& candidate : known) {
        if (const std::size_t distance = edit_distance(word, candidate); distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

} // namespace kvcaliper
