// SPDX-License-Identifier: Apache-2.0
// What the checks of llama.cpp's lines share. Inside core only.
#pragma once

#include "core/logs/log_check.h"

namespace kvcaliper::logs {

/// Sequences that a context was made for: as the log says, else as asked.
std::int64_t sequences_of(const Question& question);

/// What the profile reserves for a context as the log describes it.
struct ProfileTotal {
    std::int64_t tokens = 0; ///< of each sequence
    Ratio bytes;
};
/// Nothing where the log does not say the length, or a batch that sliding layers depend on, and
/// where the profile has no rule.
std::optional<ProfileTotal> profile_total(const Question& question);

} // namespace kvcaliper::logs
