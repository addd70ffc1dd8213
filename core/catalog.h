// SPDX-License-Identifier: Apache-2.0
// The bundled data (configs/) and how a MODEL named by a user is found.
#pragma once

#include "core/estimate.h"
#include "core/json_value.h"

#include <string>
#include <vector>

namespace kvcaliper {

struct ConfigFile; // model_config.h

/// A bundled model, as much as a list needs. Reading it in full is load_model's business.
struct CatalogEntry {
    std::string name;         ///< "gpt2-xl"
    std::string display_name; ///< "GPT-2 XL"
    std::string vendor;
    std::string family;
    std::string model_type;
    std::string path;
    std::string source;
};

/// The folder that holds models/ and claims/: KVCALIPER_DATA, else ../share/kvcaliper beside the
/// running executable's folder, else the source tree of a build. Throws Error naming all three.
std::string data_folder();

/// Where a user keeps data of their own, such as gpus.json: KVCALIPER_USER_DATA, else
/// $XDG_DATA_HOME/kvcaliper, else ~/.local/share/kvcaliper. It need not exist; empty where there is
/// no home.
std::string user_folder();

/// All bundled models, by name. Throws Error for a file that can not be read.
std::vector<CatalogEntry> bundled_models();

/// Finds the config of MODEL: a path to a config.json, a folder, "-", or a bundled name (a near
/// miss is suggested). Throws Error.
ConfigFile find_config(const std::string& model);

/// Reads a config, be it a file's or not. Throws Error with the path it names.
ModelPtr make_model(ConfigFile config);

/// Both: reads MODEL.
ModelPtr load_model(const std::string& model);

/// The models of the product's opening comparison, in the order of the story.
std::vector<std::string> seed_models();

/// Path of a bundled claims file: "seed" or "gallery"; empty when there is none of that name.
std::string bundled_claims_path(const std::string& name);

/// The nearest of `known` to a mistyped word, or empty when none is near.
std::string nearest_word(const std::string& word, const std::vector<std::string>& known);

} // namespace kvcaliper
