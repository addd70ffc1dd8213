// SPDX-License-Identifier: Apache-2.0
// Any bytes are a GGUF header, an Error, or nothing worse: reading, translating, planning,
// building, and the sizes of its tensors.
#include "core/architectures/architectures.h"
#include "core/cache_spec.h"
#include "core/error.h"
#include "core/gguf_config.h"
#include "core/gguf_tensors.h"

#include <cstddef>
#include <cstdint>
#include <span>

using namespace kvcaliper;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const auto bytes = std::as_bytes(std::span(data, size));
        const auto header = read_gguf_header(bytes, "fuzz.gguf");
        const ConfigFile config = gguf_config(header, "fuzz.gguf");
        dump_json(config.value);
        build_cache_spec(plan_model(config));
        read_gguf_tensors(bytes, "fuzz.gguf");
    } catch (const Error&) {
        // an honest no
    }
    return 0;
}
