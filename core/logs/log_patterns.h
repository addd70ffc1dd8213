// SPDX-License-Identifier: Apache-2.0
// The wording of the engines' logs, as data. Inside core only.
#pragma once

#include "core/engine_log.h"

#include <optional>
#include <span>

namespace kvcaliper::logs {

/// A text with captures:
///   a space     any white space, also none
///   {#name}     a number, white space before it: digits, points and commas
///   {name}      up to the literal that follows it; at the end up to white space or a comma
///   {>name}     the rest of the line
///   {*}         anything up to the literal that follows it
///   {=name:on}  takes nothing; says that name is "on"
/// It may stand anywhere in a line, behind dates and levels.
struct MemoryPattern {
    std::string_view engine;
    LogLineKind kind;
    std::string_view text;
};

struct FactPattern {
    std::string_view engine;
    std::string_view text;
    bool starts_load = false; ///< another model begins, where the last one has memory lines
};

/// In the order in which they are tried: a line is what the first of them says.
std::span<const MemoryPattern> memory_patterns();
std::span<const FactPattern> fact_patterns();

struct PatternMatch {
    LogFacts values;
    std::size_t begin = 0; ///< of the match in the line
    std::size_t end = 0;
};
/// Where and how a pattern stands in a line; takes time linear in the line for each place where its
/// first word does.
std::optional<PatternMatch> match(std::string_view pattern, std::string_view line);

} // namespace kvcaliper::logs
