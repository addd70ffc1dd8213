// SPDX-License-Identifier: GPL-3.0-or-later
// The deployment checklist of a report: decided, in the way, or still to be looked at.
// Before anything of Qt, to which "slots" is a word of its own.
#include "core/fit.h"

#include "app/gui/report_document.h"

#include "app/gui/budget.h"
#include "app/gui/rebuild.h"
#include "app/gui/text.h"
#include "core/engines/engine.h"

#include <algorithm>

namespace kvcaliper::gui {

namespace {

using State = ReportCheck::State;

/// One model on the study's device: every answer core gives, or why there is none.
struct Answer {
    const StudyRow* row;
    std::optional<FitAnswer> fit;
    QString error;
};

Answer answer_for(const Study& study, const StudyRow& row) {
    Answer answer{&row, {}, row.error};
    if (!row.model) {
        return answer;
    }
    try {
        answer.fit = answer_fit({deployment_of(study, row), true, true, {}});
        answer.error.clear();
    } catch (const std::exception& exception) {
        answer.error = text(exception.what());
    }
    return answer;
}

// ---- what all models share ----------------------------------------------------------------------

ReportCheck sequences_check(const Study& study) {
    const Settings& settings = study.settings();
    return {State::settled, tr("Load"),
            tr("%1 of %2 tokens at once")
                .arg(sequences_words(settings.sequences), integer_text(settings.context.count()))};
}

/// The formats the engine takes, which may differ from model to model.
ReportCheck formats_check(const Study& study, const std::vector<Answer>& answers) {
    QStringList resolved;
    for (const Answer& answer : answers) {
        if (answer.fit) {
            resolved << formats_text(answer.fit->budget.estimate.reserved_formats);
        }
    }
    resolved.removeDuplicates();
    const Settings& settings = study.settings();
    const QString asked =
        tr("asked: %1 K, %2 V").arg(text(settings.k_format), text(settings.v_format));
    return {resolved.isEmpty() ? State::failed : State::settled, tr("Formats of K and V"),
            resolved.isEmpty() ? tr("no model has an answer (%1)").arg(asked)
                               : tr("%1 (%2)").arg(resolved.join(tr(" or ")), asked)};
}

ReportCheck device_check(const Study& study, const std::vector<Answer>& answers) {
    try {
        const Device device = find_device(utf8(study.state().budget.device));
        std::int64_t ranks = 1;
        for (const Answer& answer : answers) {
            ranks = answer.fit ? answer.fit->deployment.settings.parallel.ranks() : ranks;
        }
        return {device.nominal ? State::open : State::settled, tr("Device"),
                tr("%1 × %2 with %3, %4")
                    .arg(integer_text(ranks), text(device.display_name),
                         text(format_bytes_exact(device.memory)),
                         device.nominal ? tr("the vendor's size: look what the driver reports")
                                        : tr("as the driver reports it"))};
    } catch (const std::exception& exception) {
        return {State::failed, tr("Device"), text(exception.what())};
    }
}

ReportCheck engine_check(const Study& study) {
    const BudgetState& place = study.state().budget;
    if (place.engine == QLatin1String("ideal")) {
        return {State::open, tr("Engine"),
                tr("none is named: bytes are those the architecture requires, and what an engine "
                   "sets aside beyond them is not counted")};
    }
    try {
        const EngineInfo& engine = find_engine(utf8(place.engine));
        return {State::settled, tr("Engine"),
                tr("%1, by the rules of %2").arg(text(engine.name), text(engine.version))};
    } catch (const std::exception& exception) {
        return {State::failed, tr("Engine"), text(exception.what())};
    }
}

ReportCheck verdict_check(const std::vector<Answer>& answers) {
    QStringList fits, lacks;
    for (const Answer& answer : answers) {
        (answer.fit && answer.fit->fits ? fits : lacks) << answer.row->name;
    }
    const QString yes = fits.isEmpty() ? tr("nothing") : fits.join(QStringLiteral(", "));
    return {lacks.isEmpty() ? State::settled : State::failed, tr("What fits"),
            lacks.isEmpty() ? tr("all: %1").arg(yes)
                            : tr("fits: %1. Does not, or has no answer: %2.")
                                  .arg(yes, lacks.join(QStringLiteral(", ")))};
}

QString badge_words(const Study& study, const StudyRow& row) {
    const Verification* verification = study.verification(row.id);
    switch (study.badge(row.id)) {
    case Badge::measured:
    case Badge::refuted:
        return verification != nullptr ? verification->summary : tr("measured");
    case Badge::stale:
        return tr(
            "a record is stale: this version predicts something else; it does not count here");
    case Badge::computed:
        return tr("not measured: every figure of this model is computed");
    }
    return {};
}

State badge_state(Badge badge) {
    return badge == Badge::measured  ? State::settled
           : badge == Badge::refuted ? State::failed
                                     : State::open;
}

ReportCheck measured_check(const Study& study) {
    QStringList measured, open;
    for (const StudyRow& row : study.rows()) {
        (study.badge(row.id) == Badge::measured ? measured : open) << row.name;
    }
    const QString names = measured.isEmpty() ? tr("nothing") : measured.join(QStringLiteral(", "));
    return {open.isEmpty() ? State::settled : State::open, tr("What was measured"),
            open.isEmpty() ? names
                           : tr("%1. Not measured: %2. kvcaliper verify MODEL runs it.")
                                 .arg(names, open.join(QStringLiteral(", ")))};
}

// ---- one model ----------------------------------------------------------------------------------

ReportCheck fit_check(const FitAnswer& fit) {
    const std::int64_t headroom = fit.budget.headroom();
    const QString most =
        tr("at most %1 of this context, or %2 with these sequences")
            .arg(sequences_words(fit.most_sequences), context_text(fit.longest_context));
    if (headroom >= 0) {
        return {State::settled, tr("Headroom"), tr("%1 free; %2").arg(signed_text(headroom), most)};
    }
    return {State::failed, tr("Headroom"), tr("%1 missing; %2").arg(signed_text(-headroom), most)};
}

ReportCheck context_check(const FitAnswer& fit) {
    const auto& most = fit.deployment.model->plan.max_context;
    const Tokens asked = fit.deployment.settings.context;
    if (!most) {
        return {State::open, tr("Context"), tr("the config states no maximum")};
    }
    const QString limit = tr("the model's maximum is %1 tokens").arg(integer_text(most->count()));
    return asked <= *most
               ? ReportCheck{State::settled, tr("Context"), limit}
               : ReportCheck{
                     State::failed, tr("Context"),
                     tr("%1: these %2 are beyond it").arg(limit, integer_text(asked.count()))};
}

ReportCheck weights_check(const FitAnswer& fit) {
    const Weights& weights = fit.deployment.weights;
    QString answer =
        tr("%1, %2").arg(bytes_text(weights.total.value()), text(to_string(weights.source)));
    if (weights.uncertainty_permille > 0) {
        answer +=
            tr(" (± %1 %)").arg(text(format_decimal(Ratio(weights.uncertainty_permille, 10), 1)));
    }
    if (fit.budget.weights.value() != weights.total.value()) {
        answer += tr("; counted on each device: %1").arg(bytes_text(fit.budget.weights.value()));
    }
    const bool sure = weights.source != WeightsSource::formula;
    return {sure ? State::settled : State::open, tr("Weights"),
            sure ? answer : answer + tr("; look at the files that will be loaded")};
}

ReportCheck cache_check(const FitAnswer& fit) {
    return {State::settled, tr("Cache"),
            tr("%1 on each device (%2), %3")
                .arg(bytes_text(fit.budget.cache.value()), exact_text(fit.budget.cache.value()),
                     text(fit.budget.cache.name))};
}

ReportCheck workspace_check(const FitAnswer& fit) {
    const Ratio workspace = fit.budget.workspace.value();
    const QString size = bytes_text(workspace);
    if (fit.deployment.workspace) {
        return {State::settled, tr("Workspace"), tr("%1, given").arg(size)};
    }
    return {State::open, tr("Workspace"),
            workspace == Ratio(0)
                ? tr("none is counted: activations, graphs and the device's context come on top")
                : tr("%1, assumed: only a run knows it").arg(size)};
}

QStringList suggestion_items(const FitAnswer& fit) {
    QStringList items;
    for (const Suggestion& one : fit.suggestions) {
        items << tr("%1 (%2): %3 free")
                     .arg(text(one.change), text(one.option), signed_text(one.headroom));
    }
    return items;
}

ReportCommand engine_command(const EngineCommand& one) {
    QString caption = text(one.engine);
    if (one.headroom) {
        caption =
            *one.headroom < 0
                ? tr("%1, lacks %2 under its own rules:").arg(caption, signed_text(-*one.headroom))
                : tr("%1, %2 free:").arg(caption, signed_text(*one.headroom));
    } else {
        caption = one.problem.empty() ? tr("%1, its reservation is not known here:").arg(caption)
                                      : tr("%1: %2").arg(caption, text(one.problem));
    }
    return {caption, one.problem.empty() ? text(one.command) : QString()};
}

void add_fit(std::vector<ReportBlock>& blocks, const Study& study, const Answer& answer) {
    const FitAnswer& fit = *answer.fit;
    blocks.push_back(ReportChecklist{{fit_check(fit),
                                      weights_check(fit),
                                      cache_check(fit),
                                      workspace_check(fit),
                                      context_check(fit),
                                      {badge_state(study.badge(answer.row->id)), tr("Measured"),
                                       badge_words(study, *answer.row)}}});
    if (!fit.suggestions.empty()) {
        blocks.push_back(ReportText{tr("What would make it fit, the cheapest first:")});
        blocks.push_back(ReportList{suggestion_items(fit)});
    }
    for (const EngineCommand& command : fit.commands) {
        blocks.push_back(engine_command(command));
    }
    QStringList notes;
    for (const auto* list : {&fit.deployment.weights.notes, &fit.budget.notes}) {
        for (const std::string& note : *list) {
            notes << text(note);
        }
    }
    if (!notes.isEmpty()) {
        blocks.push_back(ReportText{tr("What this rests on:")});
        blocks.push_back(ReportList{notes});
    }
    if (!study.state().configs.contains(answer.row->id)) {
        blocks.push_back(
            ReportCommand{tr("Again:"), fit_command(study, *answer.row, fit.deployment.settings)});
    }
}

void add_model(std::vector<ReportBlock>& blocks, const Study& study, const Answer& answer) {
    blocks.push_back(ReportHeading{answer.row->name});
    if (answer.fit) {
        add_fit(blocks, study, answer);
    } else {
        blocks.push_back(ReportChecklist{{{State::failed, tr("No answer"), answer.error}}});
    }
}

} // namespace

ReportSection checklist_section(const Study& study) {
    std::vector<Answer> answers;
    for (const StudyRow& row : study.rows()) {
        answers.push_back(answer_for(study, row));
    }
    ReportSection section{tr("Deployment checklist"), {}};
    section.blocks.push_back(ReportText{
        tr("☑ settled   ☒ stands in the way   ☐ assumed or unknown: somebody has to look")});
    section.blocks.push_back(ReportChecklist{{sequences_check(study), formats_check(study, answers),
                                              device_check(study, answers), engine_check(study),
                                              verdict_check(answers), measured_check(study)}});
    for (const Answer& answer : answers) {
        add_model(section.blocks, study, answer);
    }
    return section;
}

} // namespace kvcaliper::gui
