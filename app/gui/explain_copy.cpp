// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/explain_copy.h"

#include "app/gui/text.h"
#include "core/kind_notes.h"
#include "core/report.h"
#include "core/stored_components.h"

namespace kvcaliper::gui {

namespace {

QString heading(const QString& words, bool markdown) {
    return markdown ? QStringLiteral("\n### %1\n\n").arg(words)
                    : QStringLiteral("\n%1\n").arg(words);
}

QString item(const QString& words, bool markdown) {
    return (markdown ? QStringLiteral("- ") : QStringLiteral("  ")) + words + u'\n';
}

QString figure_text(const Figure& figure, bool markdown) {
    QString result =
        QStringLiteral("%1: %2 (%3)\n")
            .arg(text(figure.name), bytes_text(figure.value()), exact_text(figure.value()));
    result += markdown ? QStringLiteral("\n") : QString();
    for (const Term& term : figure.terms) {
        result += item(QStringLiteral("%1: %2 = %3")
                           .arg(text(term.label), text(explain(term)), exact_text(term.value())),
                       markdown);
    }
    return result;
}

QString components_text(const Estimate& estimate, bool markdown) {
    Table table{{{utf8(tr("layers")), true},
                 {utf8(tr("kind"))},
                 {utf8(tr("component"))},
                 {utf8(tr("units"))},
                 {utf8(tr("bytes")), true}},
                {}};
    for (const ComponentGroup& group : group_components(estimate.model->spec, estimate.formats)) {
        const Component& one = group.component;
        const Bytes bytes =
            component_bytes(one, estimate.formats, estimate.settings.context) * group.layers;
        table.rows.push_back({std::to_string(group.layers), utf8(kind_text(one.kind)),
                              utf8(role_text(one.role)), one.units.to_string(),
                              format_integer(bytes.count())});
    }
    return text(format_table(table, markdown ? TableStyle::markdown : TableStyle::text));
}

QString kinds_text(const Estimate& estimate, bool markdown) {
    QString result;
    for (const KindNote* note : notes_of(estimate)) {
        if (!markdown) {
            result += text(note_text(*note));
            continue;
        }
        result += QStringLiteral("- **%1** %2 *%3* %4 *%5* %6 *%7* %8 (%9)\n")
                      .arg(text(note->title), text(note->keeps), tr("Saves:"), text(note->saves),
                           tr("Costs:"), text(note->trades), tr("Published:"), text(note->result),
                           text(note->source));
    }
    return result;
}

} // namespace

const Figure& figure_of(const Estimate& estimate, int figure) {
    switch (figure) {
    case 1:
        return estimate.growth;
    case 2:
        return estimate.constant;
    case 3:
        return estimate.required;
    default:
        return estimate.uncapped;
    }
}

QString explain_text(const StudyRow& row, int figure, const Verification* verification,
                     bool markdown) {
    if (!row.estimate) {
        return row.error;
    }
    const Estimate& estimate = *row.estimate;
    QString result = markdown ? QStringLiteral("## %1\n\n").arg(row.name) : row.name + u'\n';
    result += figure_text(figure_of(estimate, figure), markdown);
    if (verification != nullptr) {
        result += heading(tr("Verification"), markdown) + item(verification->summary, markdown);
    }
    result += heading(tr("Components at %1 tokens, one sequence")
                          .arg(integer_text(estimate.settings.context.count())),
                      markdown) +
              components_text(estimate, markdown);
    result += heading(tr("Kinds of cache"), markdown) + kinds_text(estimate, markdown);
    result += heading(tr("Notes"), markdown);
    for (const std::string& note : estimate.notes) {
        result += item(text(note), markdown);
    }
    return result + item(tr("source: %1").arg(text(estimate.model->plan.source)), markdown) +
           item(tr("computed by kvcaliper %1").arg(text(version)), markdown);
}

} // namespace kvcaliper::gui
