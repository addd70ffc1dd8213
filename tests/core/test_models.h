// SPDX-License-Identifier: Apache-2.0
// Models from a config written in a test.
#pragma once

#include "core/architectures/architectures.h"
#include "core/cache_spec.h"
#include "core/error.h"
#include "core/estimate.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>

namespace kvcaliper {

inline ModelPtr model_of(const std::string& json) {
    JsonDocument document = parse_json(json, "test.json");
    auto model = std::make_shared<Model>();
    model->plan =
        plan_model({"test.json", "test", std::move(document.value), std::move(document.warnings)});
    model->spec = build_cache_spec(model->plan);
    return model;
}

/// The error a config leads to, "" when there is none.
inline std::string model_error(const std::string& json) {
    try {
        model_of(json);
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return error.what();
    }
    return "";
}

inline Ratio uncapped(const Model& model) {
    return uncapped_bytes_per_token(model.spec, ideal_formats()).value();
}
inline Ratio growth(const Model& model) {
    return growth_bytes_per_token(model.spec, ideal_formats()).value();
}
inline Bytes constant(const Model& model) {
    return constant_bytes(model.spec, ideal_formats()).bytes();
}
inline Bytes total(const Model& model, std::int64_t tokens) {
    return cache_bytes(model.spec, ideal_formats(), Tokens(tokens)).bytes();
}

inline bool has_note(const Model& model, const std::string& part) {
    for (const std::string& note : model.plan.notes) {
        if (note.find(part) != std::string::npos) {
            return true;
        }
    }
    return false;
}

} // namespace kvcaliper
