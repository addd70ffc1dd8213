// SPDX-License-Identifier: Apache-2.0
// Caches in KIVI's formats, and Llama 3 8B's in them.
#pragma once

#include "core/catalog.h"
#include "core/stored_components.h"
#include "tests/core/test_models.h"

namespace kvcaliper {

inline CacheFormats kivi(const char* k, const char* v) {
    CacheFormats formats = ideal_formats();
    formats.k = &numeric_format(k);
    formats.v = &numeric_format(v);
    return formats;
}

inline CacheFormats kivi(const char* format = "kivi_2bit") {
    return kivi(format, format);
}

inline Bytes bytes_of(const Model& model, const CacheFormats& formats, std::int64_t tokens) {
    return cache_bytes(model.spec, formats, Tokens(tokens)).bytes();
}

inline Bytes llama(std::int64_t tokens, const CacheFormats& formats = kivi()) {
    return bytes_of(*load_model("llama-3-8b"), formats, tokens);
}

inline Settings settings_of(const char* k, const char* v, std::int64_t context = 8192) {
    Settings settings;
    settings.k_format = k;
    settings.v_format = v;
    settings.context = Tokens(context);
    return settings;
}

} // namespace kvcaliper
