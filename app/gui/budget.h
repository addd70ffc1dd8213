// SPDX-License-Identifier: GPL-3.0-or-later
// The models of a study on a device: weights, workspace and cache against its memory.
#pragma once

#include "app/gui/chart_data.h"
#include "app/gui/study.h"
#include "core/solve.h"

#include <optional>
#include <vector>

namespace kvcaliper::gui {

/// All that a longest context depends on: not on the study's own context.
struct ContextQuestion {
    ModelPtr model;
    Settings settings; ///< with a context of 1 token
    std::int64_t left_for_cache = 0;
    friend bool operator==(const ContextQuestion&, const ContextQuestion&) = default;
};

/// One model on the study's device, or why there is no answer.
struct BudgetRow {
    QString id;
    QString name;
    std::optional<Budget> budget;
    std::int64_t most_sequences = 0; ///< of the study's context
    Tokens longest_context{0};       ///< of the study's sequences
    QString error;
    std::optional<ContextQuestion> asked{}; ///< whose answer longest_context is
};

/// The deployment a row's model makes on the study's device. Throws Error.
Deployment deployment_of(const Study& study, const StudyRow& row);
/// The options that are set for the study's engine, in the order of their names.
std::vector<EngineSetting> engine_settings(const BudgetState& place);

/// How many sequences of the study's context fit its device, or why that can not be told.
struct SequencesAnswer {
    std::optional<std::int64_t> most; ///< any_sequences and more stand for any number
    QString problem;
};
SequencesAnswer sequences_answer(const Study& study, const StudyRow& row);

/// `former` rows spare a search where their longest context answers the same question.
std::vector<BudgetRow> budget_rows(const Study& study, const std::vector<BudgetRow>& former = {});

/// Bars of weights and workspace (solid) and cache (hatched), with the device's usable memory as a
/// line.
ChartData budget_chart(const Study& study, const std::vector<BudgetRow>& rows);

/// "on 2 × NVIDIA H100 SXM 80 GB, TP 2, engine vllm": where the numbers hold.
QString place_text(const Study& study);

/// ", block-size=32": the options that are set for the study's engine.
QString options_text(const BudgetState& place);

/// What one row says in words: verdict, what would make it fit, commands, notes.
QString budget_html(const Study& study, const BudgetRow& row);

/// "12" or "any number"; "131,072 tokens" or "any context".
QString sequences_text(std::int64_t sequences);
QString context_text(Tokens tokens);

} // namespace kvcaliper::gui
