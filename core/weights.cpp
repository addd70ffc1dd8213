// SPDX-License-Identifier: Apache-2.0
#include "core/weights.h"

#include "core/architectures/architectures.h"
#include "core/error.h"
#include "core/gguf.h"
#include "core/gguf_weights.h"
#include "core/safetensors.h"

#include <algorithm>

namespace kvcaliper {

namespace {

Weights given_weights(std::string_view asked) {
    Weights weights;
    weights.total = {"weights", {{"given (--weights)", {{"bytes", parse_bytes(asked).count()}}}}};
    return weights;
}

// ---- formula ------------------------------------------------------------------------------------

/// tensors × rows × columns × bytes, or tensors × the bytes of one quantised matrix.
Term term_of(const TensorGroup& group, std::int64_t tensors) {
    const WeightFormat& format = group.format;
    Term term{group.label, {{"tensors", tensors}}};
    if (format.scale_bytes == 0 && format.bits % 8 == 0 && format.tensor_bytes == 0) {
        term.factors.push_back({"rows", group.rows});
        term.factors.push_back({"columns", group.columns});
        term.factors.push_back({"bytes (" + format.name + ")", format.bits / 8});
    } else {
        term.factors.push_back({"bytes each: " + std::to_string(group.rows) + " × " +
                                    std::to_string(group.columns) + " in " + format.name,
                                matrix_bytes(format, group.rows, group.columns).count()});
    }
    return term;
}

/// All of the matrices, or those one token reads.
Figure figure_of(const WeightPlan& plan, std::string name, bool read) {
    Figure figure{std::move(name), {}};
    for (const TensorGroup& group : plan.tensors) {
        if (const std::int64_t tensors = read ? group.read : group.tensors; tensors > 0) {
            figure.terms.push_back(term_of(group, tensors));
        }
    }
    return figure;
}

bool chooses(const WeightPlan& plan) {
    return std::any_of(plan.tensors.begin(), plan.tensors.end(), [](const TensorGroup& group) {
        return group.read > 0 && group.read < group.tensors;
    });
}

std::int64_t parameters_of(const WeightPlan& plan) {
    std::int64_t sum = 0;
    for (const TensorGroup& group : plan.tensors) {
        sum = checked_add(
            sum, checked_multiply(group.tensors, checked_multiply(group.rows, group.columns)));
    }
    return sum;
}

Weights formula_weights(const WeightPlan& plan) {
    Weights weights;
    weights.total = figure_of(plan, "weights", false);
    if (chooses(plan)) {
        weights.active = figure_of(plan, "weights one token reads", true);
    }
    weights.parameters = parameters_of(plan);
    weights.source = WeightsSource::formula;
    weights.uncertainty_permille = plan.uncertainty_permille;
    weights.notes = plan.notes;
    return weights;
}

// ---- files --------------------------------------------------------------------------------------

/// What the files of the model say; nothing where there are none. safetensors do not tell experts
/// from other tensors, so what a token reads is the formula's, where there is one.
std::optional<Weights> file_weights(const WeightPlan& plan, std::vector<std::string>& notes) {
    if (plan.file.empty() || is_gguf_file(plan.file)) {
        return plan.file.empty() ? std::nullopt : std::optional(gguf_weights(plan.file));
    }
    auto weights = safetensors_weights(plan.file, notes);
    if (weights && chooses(plan)) {
        weights->active = figure_of(plan, "weights one token reads", true);
        weights->notes.push_back("what one token reads is from formulas");
    }
    return weights;
}

} // namespace

std::string_view to_string(WeightsSource source) {
    switch (source) {
    case WeightsSource::given:
        return "given";
    case WeightsSource::safetensors_index:
        return "safetensors index";
    case WeightsSource::safetensors_headers:
        return "safetensors headers";
    case WeightsSource::gguf_header:
        return "GGUF header";
    case WeightsSource::formula:
        return "formula";
    }
    return "";
}

Weights weights_of(const Model& model, std::string_view asked) {
    if (asked != "auto") {
        return given_weights(asked);
    }
    const WeightPlan plan = plan_weights(model.plan);
    std::vector<std::string> notes;
    if (auto weights = file_weights(plan, notes)) {
        return std::move(*weights);
    }
    if (plan.tensors.empty()) {
        throw Error(model.plan.name + ": expected weights that auto can tell, found " +
                    (plan.missing.empty() ? "nothing that says them" : plan.missing) +
                    ": give their size with --weights SIZE");
    }
    Weights weights = formula_weights(plan);
    weights.notes.insert(weights.notes.end(), notes.begin(), notes.end());
    return weights;
}

} // namespace kvcaliper
