// SPDX-License-Identifier: Apache-2.0
// What an engine reserves, as the tests of the engines ask for it.
#pragma once

#include "core/catalog.h"
#include "core/engines/engine.h"
#include "tests/core/test_models.h"

#include <string>
#include <vector>

namespace kvcaliper {

inline Settings asked_of(const std::string& engine, std::int64_t context,
                         std::vector<EngineSetting> options) {
    Settings settings;
    settings.engine = engine;
    settings.context = Tokens(context);
    settings.engine_options = std::move(options);
    return settings;
}

inline std::int64_t reserved(const ModelPtr& model, const Settings& settings) {
    return estimate(model, settings).reserved->bytes().count();
}

inline std::int64_t reserved(const char* model, const Settings& settings) {
    return reserved(load_model(model), settings);
}

/// The error of an engine without a rule, "" when there is one.
inline std::string refusal(const ModelPtr& model, const Settings& settings) {
    try {
        estimate(model, settings);
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return error.what();
    }
    return "";
}

} // namespace kvcaliper
