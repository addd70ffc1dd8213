// SPDX-License-Identifier: Apache-2.0
// Bytes of a model's weights: given, read off the files beside its config, or from formulas.
#pragma once

#include "core/estimate.h"
#include "core/figure.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvcaliper {

/// Where the bytes of weights come from, best first after what the user gave.
enum class WeightsSource {
    given,
    safetensors_index,   ///< metadata.total_size of model.safetensors.index.json
    safetensors_headers, ///< the shapes in the headers of *.safetensors beside the config
    gguf_header,         ///< the tensors a GGUF file names, all of its parts
    formula,             ///< shapes that follow from the config
};

/// "given", "safetensors index", "safetensors headers", "GGUF header" or "formula".
std::string_view to_string(WeightsSource source);

struct Weights {
    Figure total;                           ///< bytes of all parameters, every expert
    std::optional<Figure> active{};         ///< bytes one token reads, where experts are chosen
    std::optional<std::int64_t> parameters; ///< how many numbers, where that is known
    WeightsSource source = WeightsSource::given;
    std::int64_t uncertainty_permille = 0; ///< 0 where the bytes are exact
    std::vector<std::string> notes{};
};

/// `asked` is "auto", or a size such as "16GB" or "38.4 GiB". Throws Error when it is neither, and
/// when auto can not tell, saying what is missing.
Weights weights_of(const Model& model, std::string_view asked);

} // namespace kvcaliper
