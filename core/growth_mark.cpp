// SPDX-License-Identifier: Apache-2.0
#include "core/growth_mark.h"

namespace kvcaliper {

std::string_view to_string(GrowthMark mark) {
    switch (mark) {
    case GrowthMark::none:
        return "none";
    case GrowthMark::low:
        return "low";
    case GrowthMark::moderate:
        return "moderate";
    case GrowthMark::high:
        return "high";
    }
    return "";
}

GrowthMark growth_mark(const Ratio& bytes_per_token) {
    const auto at_most = [&](Bytes bound) {
        return bytes_per_token <= Ratio(bound.count(), marked_tokens.count());
    };
    if (bytes_per_token <= Ratio(0)) {
        return GrowthMark::none;
    }
    return at_most(low_at_most)        ? GrowthMark::low
           : at_most(moderate_at_most) ? GrowthMark::moderate
                                       : GrowthMark::high;
}

} // namespace kvcaliper
