// SPDX-License-Identifier: Apache-2.0
// A model under settings: the question every front end asks, and its answer.
#pragma once

#include "core/cache_spec.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kvcaliper {

/// What a user may set. A format of "auto" is resolved by the engine, "checkpoint" by the model's
/// file.
struct Settings {
    Tokens context{8192};
    std::int64_t sequences = 1;
    std::string k_format = "auto";
    std::string v_format = "auto";
    std::string index_format = "auto";
    std::string conv_format = "auto";
    std::string state_format = "auto";
    std::string engine = "ideal";
    Tokens encoder_tokens{0}; ///< rows of cross-attention, where the model does not fix them
};

/// A model that was read: its plan and its components. Immutable, cheap to share.
struct Model {
    ModelPlan plan;
    CacheSpec spec;
};
using ModelPtr = std::shared_ptr<const Model>;

/// The answer for one model under one setting. All figures are per sequence unless they say
/// otherwise.
struct Estimate {
    ModelPtr model;
    Settings settings;    ///< as asked
    CacheFormats formats; ///< resolved
    Figure uncapped;      ///< bytes per token
    Figure growth;        ///< bytes per token
    Figure constant;      ///< bytes per sequence
    Figure required;      ///< all sequences, at the context
    std::vector<Knee> knees;
    std::vector<std::string> notes; ///< the model's, and those these settings bring
};

/// Resolves `auto` for the settings' engine and `checkpoint` for the model; throws Error for an
/// unknown engine or format, and for a checkpoint that asks for none.
CacheFormats resolve_formats(const Settings& settings, const ModelPlan& plan);

/// The model under settings that its components depend on (the encoder's tokens); itself where none
/// do.
ModelPtr apply_settings(const ModelPtr& model, const Settings& settings);

/// Throws Error when a format can not store the model's rows, or a number does not fit 64 bits.
Estimate estimate(ModelPtr model, const Settings& settings);

/// One point of the curve: bytes of all sequences at that many tokens.
struct CurvePoint {
    Tokens tokens;
    Bytes required;
    bool is_knee = false;
};
/// `points` token counts from `from` to `to`, geometrically spaced, both ends and all knees
/// included.
std::vector<CurvePoint> curve(const Model& model, const Settings& settings, Tokens from, Tokens to,
                              int points);

/// Token reads without a cache, n(n+1)/2, against n with one.
std::int64_t recomputed_tokens(Tokens tokens);

} // namespace kvcaliper
