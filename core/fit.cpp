// SPDX-License-Identifier: Apache-2.0
#include "core/fit.h"

#include "core/error.h"

#include <algorithm>

namespace kvcaliper {

namespace {

FitKind kind_of(const FitQuestion& question) {
    if (question.context_given) {
        return question.sequences_given ? FitKind::check : FitKind::sequences;
    }
    return question.sequences_given ? FitKind::context : FitKind::table;
}

/// 4K, 8K, … up to the model's limit, itself included; up to 128K where none is known.
std::vector<Tokens> usual_contexts(const ModelPlan& plan) {
    const Tokens limit = plan.max_context.value_or(Tokens(131'072));
    std::vector<Tokens> contexts;
    for (Tokens tokens{4096}; tokens < limit; tokens = tokens * 2) {
        contexts.push_back(tokens);
    }
    contexts.push_back(limit);
    return contexts;
}

bool possible(const Deployment& deployment) {
    try {
        make_budget(deployment);
        return true;
    } catch (const Error&) {
        return false; // the engine has no such cache: no column
    }
}

FitTable make_table(Deployment deployment) {
    FitTable table;
    table.contexts = usual_contexts(deployment.model->plan);
    table.sequences.resize(table.contexts.size());
    const bool chosen =
        deployment.settings.k_format != "auto" || deployment.settings.v_format != "auto";
    const auto pairs =
        chosen
            ? std::vector<FormatPair>{{deployment.settings.k_format, deployment.settings.v_format}}
            : usual_formats(deployment.settings.engine);
    for (const FormatPair& pair : pairs) {
        deployment.settings.k_format = pair.k;
        deployment.settings.v_format = pair.v;
        deployment.settings.sequences = 1;
        if (!possible(deployment)) {
            continue;
        }
        table.formats.push_back(pair);
        for (std::size_t row = 0; row < table.contexts.size(); ++row) {
            deployment.settings.context = table.contexts[row];
            table.sequences[row].push_back(most_sequences(deployment));
        }
        table.longest.push_back(longest_context(deployment));
    }
    return table;
}

bool anything_fits(const FitTable& table) {
    return std::any_of(table.longest.begin(), table.longest.end(),
                       [](Tokens tokens) { return tokens > Tokens(0); });
}

/// The model's own limit, where memory would allow more.
Tokens served_context(const ModelPlan& plan, Tokens longest) {
    return plan.max_context ? std::min(longest, *plan.max_context) : longest;
}

void solve_sequences(FitAnswer& answer) {
    answer.most_sequences = most_sequences(answer.deployment);
    answer.deployment.settings.sequences = std::max<std::int64_t>(1, answer.most_sequences);
}

void solve_context(FitAnswer& answer) {
    answer.longest_context = longest_context(answer.deployment);
    answer.deployment.settings.context =
        std::max(Tokens(1), served_context(answer.deployment.model->plan, answer.longest_context));
}

void solve(FitAnswer& answer) {
    switch (answer.kind) {
    case FitKind::check:
        answer.most_sequences = most_sequences(answer.deployment);
        answer.longest_context = longest_context(answer.deployment);
        break;
    case FitKind::sequences:
        solve_sequences(answer);
        break;
    case FitKind::context:
        solve_context(answer);
        break;
    case FitKind::table:
        answer.table = make_table(answer.deployment);
        break;
    }
}

void add_notes(FitAnswer& answer) {
    for (const auto* list :
         {&answer.budget.estimate.notes, &answer.deployment.weights.notes, &answer.budget.notes}) {
        answer.notes.insert(answer.notes.end(), list->begin(), list->end());
    }
    const auto& limit = answer.deployment.model->plan.max_context;
    if (answer.kind == FitKind::context && limit && answer.longest_context > *limit) {
        answer.notes.push_back("memory would hold more than the model was made for: the context "
                               "is held at its " +
                               format_integer(limit->count()) + " tokens");
    }
}

} // namespace

std::string_view to_string(FitKind kind) {
    switch (kind) {
    case FitKind::check:
        return "check";
    case FitKind::sequences:
        return "sequences";
    case FitKind::context:
        return "context";
    case FitKind::table:
        return "table";
    }
    return "";
}

FitAnswer answer_fit(const FitQuestion& question) {
    FitAnswer answer;
    answer.kind = kind_of(question);
    answer.deployment = question.deployment;
    solve(answer);
    answer.budget = make_budget(answer.deployment);
    answer.fits =
        answer.kind == FitKind::table ? anything_fits(answer.table) : answer.budget.fits();
    if (!answer.fits) {
        answer.longest_context = longest_context(answer.deployment);
        answer.suggestions = suggestions(answer.deployment);
    } else if (answer.kind != FitKind::table) {
        answer.commands = engine_commands(answer.deployment);
    }
    answer.equal_types = equal_types_on_metal(answer.deployment);
    answer.naive = naive_bytes_per_token(answer.deployment.model->plan);
    if (question.cartridge) {
        const Estimate& estimate = answer.budget.estimate;
        answer.cartridge =
            answer_cartridge(estimate.model->spec, estimate.formats, *question.cartridge,
                             answer.deployment.settings.sequences,
                             std::max<std::int64_t>(0, answer.budget.left_for_cache()));
    }
    add_notes(answer);
    return answer;
}

} // namespace kvcaliper
