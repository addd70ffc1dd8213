// SPDX-License-Identifier: Apache-2.0
#include "core/weights.h"

#include "core/error.h"

namespace kvcaliper {

namespace {

Weights given_weights(std::string_view asked) {
    Weights weights;
    weights.total = {"weights", {{"given (--weights)", {{"bytes", parse_bytes(asked).count()}}}}};
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
    throw Error(model.plan.name + ": expected weights that auto can tell, found none: give their "
                                  "size with --weights SIZE");
}

} // namespace kvcaliper
