// SPDX-License-Identifier: Apache-2.0
// Any text is a config, an Error, or nothing worse: reading, planning, building and estimating.
#include "core/architectures/architectures.h"
#include "core/error.h"
#include "core/estimate.h"
#include "core/report.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace kvcaliper;

namespace {

void read(std::string_view text) {
    JsonDocument document = parse_json(text, "fuzz");
    if (!document.value.is_object()) {
        return;
    }
    auto model = std::make_shared<Model>();
    model->plan =
        plan_model({"fuzz", "fuzz", std::move(document.value), std::move(document.warnings)});
    model->spec = build_cache_spec(model->plan);
    const Estimate answer = estimate(model, Settings{});
    dump_json(estimate_json(answer, model->plan.layers.size() < 100));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        read({reinterpret_cast<const char*>(data), size});
    } catch (const Error&) {
        // an honest no
    }
    return 0;
}
