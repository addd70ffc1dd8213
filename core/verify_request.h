// SPDX-License-Identifier: Apache-2.0
// What a front end asks the verifier to run: the request line of its protocol.
#pragma once

#include "core/estimate.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kvcaliper {

struct VerifyOptions {
    std::string backend = "auto"; ///< auto, cuda or cpu
    int steps = 4;                ///< decode steps at each context
    std::int64_t seed = 1;
    int repeats = 3;           ///< timings of the last step of each context
    std::string depth = "use"; ///< layout, device or use
    Tokens cartridge{0};       ///< trained slots in front of every context
    int page = 0;              ///< tokens per page of caches that grow; 0: in one piece
    Tokens baseline{0};        ///< tokens that are also made without a cache
};

/// The contexts that are sampled for a wish of `context` tokens: a quarter, a half and all of it,
/// and the two sides of every window that lies within; in formats that pack K in groups the two
/// sides of a group as well, early and right before the wish. Ascending.
std::vector<std::int64_t> verify_contexts(const Model& model, const CacheFormats& formats,
                                          Tokens context);

/// The request: resolved plan, predicted components as they are stored, contexts, formats. Throws
/// Error for settings that are none.
JsonValue verify_request(const Model& model, const Settings& settings,
                         const VerifyOptions& options);
/// The same at contexts of one's own, ascending; the cartridge is added to each.
JsonValue verify_request(const Model& model, const Settings& settings, const VerifyOptions& options,
                         const std::vector<std::int64_t>& contexts);

} // namespace kvcaliper
