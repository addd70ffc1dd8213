// SPDX-License-Identifier: Apache-2.0
// Models of real configs made small enough to be run one after another: one layer of each shape,
// widths as they are, windows short enough to fill.
#pragma once

#include "core/estimate.h"
#include "kernels/verify_request.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace kvcaliper::kernels {

inline constexpr std::int64_t shrunk_window = 200;
inline constexpr std::int64_t shrunk_encoder_tokens = 100;

/// The layers that are the first of their shape. A layer that reads another's cache brings its
/// owner along, and counts as one of its owner's shape.
ModelPlan shrink(const ModelPlan& plan);

/// What became of one model.
struct Outcome {
    std::string verdict;              ///< "equal", "refused", …
    std::vector<std::string> reasons; ///< why it is not equal
};

/// What the verifier is told of each layer: what core predicts, or a row too many.
enum class Prediction { right, wrong };

/// Verifies shrunk models on the CPU backend; what has been run once is not run again.
class ShrunkVerifier {
  public:
    /// K and V in that format. Throws Error where it can not hold them.
    Outcome verify(const Model& model, Prediction prediction = Prediction::right,
                   const std::string& format = "auto");

  private:
    std::map<std::string, Outcome> known_; ///< by request
};

/// Counts of a run over many models.
struct Tally {
    std::map<std::string, int> equal_by_kind; ///< models that hold a kind and are equal
    std::set<std::string> equal_types;        ///< their model_types
    std::map<std::string, int> refused;       ///< models by the reason they are refused for
    std::vector<std::string> failed;          ///< "name: verdict: reasons"
    int equal = 0, refusals = 0;

    void add(const std::string& name, const ModelPlan& plan, const Outcome& outcome);
    /// The kinds and reasons, a line each.
    std::string text() const;
};

/// Why models may be refused, as long as a kind has no kernel. A bundled model is refused for each
/// of them.
const std::set<std::string>& known_refusals();

} // namespace kvcaliper::kernels
