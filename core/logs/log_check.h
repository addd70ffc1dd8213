// SPDX-License-Identifier: Apache-2.0
// What the checks of the engines' lines share. Inside core only.
#pragma once

#include "core/engine_log.h"
#include "core/logs/log_pools.h"

#include <optional>

namespace kvcaliper::logs {

/// One memory line with all that is known about it.
struct Question {
    const MemoryLine& line;
    const LogFacts& load; ///< what the log says anywhere about this model
    ModelPtr model;
    const LogQuestion& asked;

    /// What the line, or the log before it, or the log after it says; nothing where none does.
    std::optional<std::string> word(std::string_view name) const;
    std::optional<std::int64_t> count(std::string_view name) const;
    /// Tensor-parallel ranks: as the log says, else as asked.
    std::int64_t ranks() const;
    /// The model with the dimensions of one of these ranks. Throws Error where heads do not divide.
    Model rank_model() const;
    /// "per GPU: one of 4 ranks, KV heads replicated"; nothing for a single rank.
    std::vector<std::string> rank_text() const;
    /// A number format under the engine's own name for it; the setting, or `otherwise`, where the
    /// log names none. Throws Error for one that is not known.
    const NumericFormat& format(std::string_view name, const std::string& setting,
                                const char* otherwise) const;
    /// K and V as the line names them, f32 states.
    CacheFormats formats(std::string_view k_name, std::string_view v_name,
                         const char* otherwise) const;
};

/// The bytes a figure may stand for: every written digit counts.
struct ByteRange {
    Ratio low;
    Ratio high;
    bool holds(const Ratio& bytes) const { return low <= bytes && bytes <= high; }
};
/// "640.00", "2160,00" or a sum of such, in a unit ("MiB", or one per summand).
ByteRange written_bytes(const std::string& figures, const std::string& units);

/// One way to arrive at a line's figures. The first of a list is what is expected.
struct Reading {
    PoolBytes bytes;
    std::vector<std::string> explanation; ///< empty: nothing needs explaining
    std::string quantity{};               ///< instead of the line's
};

/// Finds the first reading that holds for all figures of a line: the whole, and K and V where they
/// are written.
LogResult judge(const Question& question, std::string quantity, const std::string& unit,
                const std::vector<Reading>& readings);
/// The same with a whole that the line does not write as a size: a fact of the log.
LogResult judge_whole(const Question& question, std::string quantity, const std::string& figures,
                      const std::string& unit, const std::vector<Reading>& readings);

LogResult unchecked(const Question& question, std::string quantity, std::string why);
/// Number, engine and text of the line; the rest is empty.
LogResult blank(const Question& question);

/// Writes down what a line should say: exact bytes, those of a started byte left out.
void set_computed(LogResult& result, const Ratio& bytes);
std::string difference_text(const Ratio& logged, const Ratio& computed);

// ---- one function per engine -------------------------------------------------------------------

LogResult check_llama_line(const Question& question);
LogResult check_vllm_line(const Question& question);
LogResult check_sglang_line(const Question& question);
LogResult check_tensorrt_llm_line(const Question& question);

/// Whether the pools of one context of llama.cpp are together what the profile reserves; nothing
/// where the log does not say enough.
std::optional<LogResult> check_llama_context(const std::vector<Question>& lines,
                                             const std::vector<LogResult>& results);

} // namespace kvcaliper::logs
