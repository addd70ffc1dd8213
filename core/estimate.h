// SPDX-License-Identifier: Apache-2.0
// A model under settings: the question every front end asks, and its answer.
#pragma once

#include "core/cache_spec.h"
#include "core/parallelism.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kvcaliper {

/// An option of an engine as written: --engine-opt NAME=VALUE.
struct EngineSetting {
    std::string name;
    std::string value;
    friend bool operator==(const EngineSetting&, const EngineSetting&) = default;
};

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
    std::vector<EngineSetting> engine_options{};
    Parallelism parallel{}; ///< known to estimate() alone
    friend bool operator==(const Settings&, const Settings&) = default;
};

/// A model that was read: its plan and its components. Immutable, cheap to share.
struct Model {
    ModelPlan plan;
    CacheSpec spec;
};
using ModelPtr = std::shared_ptr<const Model>;

/// What the rank that holds most keeps, of the sequences and at the context of the settings.
struct RankEstimate {
    std::int64_t stage = 0; ///< its pipeline stage
    StageLayers layers;     ///< of that stage
    Figure required;
    std::optional<Figure> reserved; ///< what the engine sets aside there; none for ideal
    Bytes required_total;           ///< over all ranks: replicas count as often as they are kept
    std::optional<Bytes> reserved_total;
    std::vector<std::string> notes;
};

/// The answer for one model under one setting. All figures are per sequence unless they say
/// otherwise, and of the whole model, as if one device held it; `per_rank` is of one of several.
struct Estimate {
    ModelPtr model;
    Settings settings;                    ///< as asked
    CacheFormats formats;                 ///< resolved, of everything but `reserved`
    Figure uncapped;                      ///< bytes per token
    Figure growth;                        ///< bytes per token
    Figure constant;                      ///< bytes per sequence
    Figure required;                      ///< all sequences, at the context
    std::optional<Figure> reserved;       ///< what the engine sets aside for them; none for ideal
    CacheFormats reserved_formats;        ///< the engine's; those above for ideal
    std::optional<RankEstimate> per_rank; ///< none on a single rank
    std::vector<Knee> knees;
    std::vector<std::string> notes; ///< the model's, and those these settings bring
};

/// Resolves `auto` to the formats of the `ideal` engine and `checkpoint` for the model; throws
/// Error for an unknown format, a checkpoint that asks for none, and any other engine: curves,
/// charts and the verifier know the required view alone.
CacheFormats resolve_formats(const Settings& settings, const ModelPlan& plan);
/// The same with other formats for `auto`, whatever the engine.
CacheFormats resolve_formats(const Settings& settings, const ModelPlan& plan,
                             const CacheFormats& automatic);

/// The model under settings that its components depend on (the encoder's tokens); itself where none
/// do.
ModelPtr apply_settings(const ModelPtr& model, const Settings& settings);

/// Throws Error when a format can not store the model's rows, or a number does not fit 64 bits.
Estimate estimate(ModelPtr model, const Settings& settings);

/// What must be held, and no more of an estimate: formats, `required`, `reserved`, `per_rank` and
/// the notes that came with these. For whoever asks many settings of one model. Throws as
/// estimate() does.
Estimate estimate_held(ModelPtr model, const Settings& settings);

/// Where a cache was larger on the way to its context than it is there: a note of its estimate, or
/// "".
std::string larger_before(const Estimate& estimate);

/// The same for so many sequences.
Figure times_sequences(Figure figure, std::int64_t sequences);

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
