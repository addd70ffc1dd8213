// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/budget.h"

#include "app/gui/chart_builder.h"
#include "app/gui/text.h"
#include "core/engine_flags.h"
#include "core/error.h"

#include <QStringList>

#include <algorithm>

namespace kvcaliper::gui {

namespace {

/// The deployment of a row's model on a device that was found.
Deployment deployment_on(const Device& device, const Study& study, const StudyRow& row) {
    const BudgetState& place = study.state().budget;
    Deployment deployment;
    deployment.model = row.model;
    deployment.settings = study.settings();
    deployment.settings.engine = utf8(place.engine);
    deployment.settings.parallel = place.parallel();
    deployment.settings.engine_options = engine_settings(place);
    deployment.device = device;
    const QString weights = place.weights.value(row.id);
    deployment.weights =
        weights.isEmpty() ? study.autoWeights(row) : weights_of(*row.model, utf8(weights));
    return deployment;
}

ContextQuestion context_question(const Deployment& deployment, std::int64_t left_for_cache) {
    ContextQuestion question{deployment.model, deployment.settings, left_for_cache};
    question.settings.context = Tokens(1);
    return question;
}

BudgetRow make_row(const Device& device, const Study& study, const StudyRow& row,
                   const std::vector<BudgetRow>& former) {
    BudgetRow result{row.id, row.name, {}, 0, Tokens(0), row.error};
    if (!row.model) {
        return result;
    }
    try {
        const Deployment deployment = deployment_on(device, study, row);
        result.budget = make_budget(deployment);
        const std::int64_t left = result.budget->left_for_cache();
        result.most_sequences = most_sequences(deployment, left);
        ContextQuestion question = context_question(deployment, left);
        const auto answered = std::find_if(former.begin(), former.end(), [&](const BudgetRow& one) {
            return one.asked == question;
        });
        result.longest_context = answered != former.end() ? answered->longest_context
                                                          : longest_context(deployment, left);
        result.asked = std::move(question); // once it is answered
        result.error.clear();
    } catch (const std::exception& exception) {
        result.error = text(exception.what());
    }
    return result;
}

Bar make_bar(const BudgetRow& row, int series) {
    Bar bar;
    bar.name = row.name;
    bar.series = series;
    if (!row.budget) {
        bar.label = tr("no answer");
        bar.detail = bar.tooltip = row.error;
        return bar;
    }
    const Budget& budget = *row.budget;
    bar.solid = budget.weights.value() + budget.workspace.value();
    bar.hatched = budget.cache.value();
    const std::int64_t headroom = budget.headroom();
    bar.label = headroom >= 0 ? tr("fits, %1 free").arg(signed_text(headroom))
                              : tr("lacks %1").arg(signed_text(-headroom));
    bar.detail = tr("at most %1 sequences; %2")
                     .arg(sequences_text(row.most_sequences), context_text(row.longest_context));
    bar.tooltip =
        tr("%1: weights %2, workspace %3, cache %4, left for the cache %5")
            .arg(row.name, bytes_text(budget.weights.value()), bytes_text(budget.workspace.value()),
                 bytes_text(budget.cache.value()), signed_text(budget.left_for_cache()));
    return bar;
}

/// The least any model may use: engines and systems keep some of a device to themselves.
std::optional<Limit> usable_limit(const std::vector<BudgetRow>& rows) {
    for (const BudgetRow& row : rows) {
        if (row.budget) {
            const Ratio usable = row.budget->usable.value();
            return Limit{usable, tr("usable %1").arg(bytes_text(usable))};
        }
    }
    return std::nullopt;
}

QString paragraph(const QString& words) {
    return QStringLiteral("<p style='margin-top:6px;margin-bottom:0'>%1</p>").arg(words);
}

QString suggestions_html(const Deployment& deployment) {
    QString html;
    for (const Suggestion& one : suggestions(deployment)) {
        html += QStringLiteral("<li>%1 <code>%2</code>: %3</li>")
                    .arg(text(one.change).toHtmlEscaped(), text(one.option).toHtmlEscaped(),
                         tr("%1 free").arg(signed_text(one.headroom)));
    }
    return html.isEmpty() ? html
                          : paragraph(tr("<b>What would make it fit</b>")) +
                                QStringLiteral("<ul style='margin-left:-24px'>%1</ul>").arg(html);
}

QString commands_html(const Deployment& deployment) {
    QString html = paragraph(tr("<b>To paste</b>"));
    for (const EngineCommand& one : engine_commands(deployment)) {
        QString remark = text(one.problem).toHtmlEscaped();
        if (one.headroom) {
            remark = *one.headroom < 0
                         ? tr("lacks %1 under its own rules").arg(signed_text(-*one.headroom))
                         : tr("%1 free").arg(signed_text(*one.headroom));
        }
        html += paragraph(QStringLiteral("%1%2<br><code>%3</code>")
                              .arg(text(one.engine),
                                   remark.isEmpty() ? QString() : QStringLiteral(": ") + remark,
                                   text(one.command).toHtmlEscaped()));
    }
    return html;
}

QString terms_html(const Budget& budget) {
    QString html = QStringLiteral("<table cellspacing='0' cellpadding='2' width='100%'>");
    const auto add = [&](const QString& name, const QString& bytes, const QString& exact) {
        html += QStringLiteral("<tr><td>%1</td><td align='right'>%2</td><td align='right'>%3</td>"
                               "</tr>")
                    .arg(name, bytes, exact);
    };
    for (const auto& [name, figure] :
         {std::pair(tr("usable"), &budget.usable), std::pair(tr("weights"), &budget.weights),
          std::pair(tr("workspace"), &budget.workspace), std::pair(tr("cache"), &budget.cache)}) {
        add(name, bytes_text(figure->value()), exact_text(figure->value()));
    }
    add(tr("headroom"), signed_text(budget.headroom()),
        QStringLiteral("%1 B").arg(integer_text(budget.headroom())));
    return html + QStringLiteral("</table>");
}

} // namespace

Deployment deployment_of(const Study& study, const StudyRow& row) {
    return deployment_on(find_device(utf8(study.state().budget.device)), study, row);
}

std::vector<EngineSetting> engine_settings(const BudgetState& place) {
    std::vector<EngineSetting> settings;
    const auto options = place.options.value(place.engine);
    for (auto option = options.begin(); option != options.end(); ++option) {
        settings.push_back({utf8(option.key()), utf8(option.value())});
    }
    return settings;
}

SequencesAnswer sequences_answer(const Study& study, const StudyRow& row) {
    if (!row.model) {
        return {std::nullopt, row.error};
    }
    try {
        return {most_sequences(deployment_of(study, row)), {}};
    } catch (const std::exception& exception) {
        return {std::nullopt, text(exception.what())};
    }
}

std::vector<BudgetRow> budget_rows(const Study& study, const std::vector<BudgetRow>& former) {
    std::vector<BudgetRow> rows;
    std::optional<Device> device;
    QString problem;
    try {
        device = find_device(utf8(study.state().budget.device));
    } catch (const std::exception& exception) {
        problem = text(exception.what());
    }
    for (const StudyRow& row : study.rows()) {
        rows.push_back(
            device
                ? make_row(*device, study, row, former)
                : BudgetRow{row.id, row.name, {}, 0, Tokens(0), row.model ? problem : row.error});
    }
    return rows;
}

QString place_text(const Study& study) {
    const BudgetState& place = study.state().budget;
    QString device = place.device;
    try {
        device = text(find_device(utf8(place.device)).display_name);
    } catch (const std::exception& exception) {
        device = text(exception.what());
    }
    const Parallelism parallel = place.parallel();
    return parallel.is_one() ? tr("on %1, engine %2").arg(device, place.engine)
                             : tr("on %1 × %2, %3, engine %4")
                                   .arg(parallel.ranks())
                                   .arg(device, text(to_string(parallel)), place.engine);
}

QString options_text(const BudgetState& place) {
    QString words;
    for (const EngineSetting& option : engine_settings(place)) {
        words += QStringLiteral(", %1=%2").arg(text(option.name), text(option.value));
    }
    return words;
}

ChartData budget_chart(const Study& study, const std::vector<BudgetRow>& rows) {
    BarChart chart;
    QStringList parts;
    for (const BudgetRow& row : rows) {
        chart.bars.push_back(make_bar(row, static_cast<int>(chart.bars.size())));
        parts << chart.bars.back().name + QStringLiteral(": ") + chart.bars.back().label;
    }
    chart.limit = usable_limit(rows);
    chart.axis = tr("bytes on each device");
    ChartData data;
    data.title = tr("What fits %1").arg(place_text(study));
    const Settings& settings = study.settings();
    data.subtitle =
        tr("%1 of %2 tokens, K %3, V %4%5")
            .arg(settings.sequences == 1 ? tr("1 sequence")
                                         : tr("%1 sequences").arg(integer_text(settings.sequences)),
                 integer_text(settings.context.count()), text(settings.k_format),
                 text(settings.v_format),
                 other_formats_text(settings) + options_text(study.state().budget));
    data.description = data.title + QStringLiteral(", ") + data.subtitle + QStringLiteral("; ") +
                       parts.join(QStringLiteral("; "));
    data.legend = {{tr("weights and workspace"), {Ink::Group::series, -1, Hatch::none}},
                   {tr("cache"), {Ink::Group::series, -1, Hatch::diagonal}}};
    data.body = std::move(chart);
    return data;
}

QString budget_html(const Study& study, const BudgetRow& row) {
    if (!row.budget) {
        return paragraph(row.error.toHtmlEscaped());
    }
    const StudyRow* model = study.row(row.id);
    QString html =
        paragraph(QStringLiteral("<b>%1</b> %2")
                      .arg(row.name, place_text(study) + options_text(study.state().budget))) +
        terms_html(*row.budget);
    try {
        const Deployment deployment = deployment_of(study, *model);
        if (const auto equal = equal_types_on_metal(deployment)) {
            html += paragraph(tr("On this device rather <code>%1</code>: %2")
                                  .arg(text(equal->option), signed_text(equal->headroom)));
        }
        html += row.budget->fits() ? commands_html(deployment) : suggestions_html(deployment);
        for (const std::string& note : deployment.weights.notes) {
            html += paragraph(text(note).toHtmlEscaped());
        }
    } catch (const std::exception& exception) {
        html += paragraph(text(exception.what()).toHtmlEscaped());
    }
    for (const std::string& note : row.budget->notes) {
        html += paragraph(text(note).toHtmlEscaped());
    }
    return html;
}

QString sequences_text(std::int64_t sequences) {
    return sequences >= any_sequences ? tr("any number") : integer_text(sequences);
}

QString context_text(Tokens tokens) {
    return tokens >= any_context ? tr("any context")
                                 : tr("%1 tokens").arg(integer_text(tokens.count()));
}

} // namespace kvcaliper::gui
