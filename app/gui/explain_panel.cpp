// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/explain_panel.h"

#include "app/gui/explain_copy.h"
#include "app/gui/record_book.h"
#include "app/gui/text.h"
#include "core/kind_notes.h"
#include "core/stored_components.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QSignalBlocker>
#include <QTextBrowser>
#include <QToolButton>
#include <QVBoxLayout>

namespace kvcaliper::gui {

namespace {

QString heading(const QString& words) {
    return QStringLiteral("<p style='margin-top:10px;margin-bottom:2px'><b>%1</b></p>")
        .arg(words.toHtmlEscaped());
}

QString term_html(const Term& term) {
    return QStringLiteral("<p style='margin-top:6px;margin-bottom:0'>%1<br>%2<br>= <b>%3</b></p>")
        .arg(text(term.label).toHtmlEscaped(), text(explain(term)).toHtmlEscaped(),
             exact_text(term.value()));
}

QString figure_html(const Figure& figure) {
    QString html = QStringLiteral("<p style='margin-top:0;margin-bottom:2px'>%1<br>"
                                  "<span style='font-size:large'><b>%2</b></span><br>%3</p>")
                       .arg(text(figure.name).toHtmlEscaped(), bytes_text(figure.value()),
                            exact_text(figure.value()));
    for (const Term& term : figure.terms) {
        html += term_html(term);
    }
    return figure.terms.empty() ? html + tr("<p>Nothing contributes.</p>") : html;
}

QString components_html(const Estimate& estimate) {
    QString html = heading(tr("Components at %1 tokens, one sequence")
                               .arg(integer_text(estimate.settings.context.count())));
    html += QStringLiteral("<table cellspacing='0' cellpadding='2' width='100%'>");
    for (const ComponentGroup& group : group_components(estimate.model->spec, estimate.formats)) {
        const Bytes one =
            component_bytes(group.component, estimate.formats, estimate.settings.context);
        html += QStringLiteral("<tr><td>%1 × %2, %3</td><td align='right'>%4</td></tr>")
                    .arg(group.layers)
                    .arg(kind_text(group.component.kind), role_text(group.component.role),
                         bytes_text(Ratio((one * group.layers).count())));
    }
    return html + QStringLiteral("</table>");
}

QString notes_html(const Estimate& estimate) {
    QString html = heading(tr("Notes"));
    const ModelPlan& plan = estimate.model->plan;
    html += QStringLiteral("<ul style='margin-left:-24px'><li>%1</li>")
                .arg(tr("read as %1 (%2)")
                         .arg(text(plan.model_type), text(to_string(plan.confidence)))
                         .toHtmlEscaped());
    for (const std::string& note : estimate.notes) {
        html += QStringLiteral("<li>%1</li>").arg(text(note).toHtmlEscaped());
    }
    html += QStringLiteral("<li>%1</li></ul>")
                .arg(tr("source: %1").arg(text(plan.source)).toHtmlEscaped());
    return html;
}

/// What each kind of cache is, saves and costs, and what is published of it.
QString kinds_html(const Estimate& estimate) {
    QString html = heading(tr("Kinds of cache"));
    for (const KindNote* note : notes_of(estimate)) {
        html += QStringLiteral("<p style='margin-top:6px;margin-bottom:0'><b>%1</b></p>")
                    .arg(text(note->title).toHtmlEscaped());
        for (const auto& [name, words] :
             {std::pair(tr("keeps"), note->keeps), std::pair(tr("saves"), note->saves),
              std::pair(tr("costs"), note->trades), std::pair(tr("published"), note->result),
              std::pair(tr("source"), note->source)}) {
            html += QStringLiteral("<p style='margin:0'><i>%1</i> %2</p>")
                        .arg(name, text(words).toHtmlEscaped());
        }
    }
    return html;
}

QString badge_colours(Badge badge) {
    switch (badge) {
    case Badge::computed:
        return QStringLiteral("background:#5b6470;color:white");
    case Badge::measured:
        return QStringLiteral("background:#00694d;color:white");
    case Badge::refuted:
        return QStringLiteral("background:#a63f00;color:white");
    case Badge::stale:
        return QStringLiteral("background:#e69f00;color:black");
    }
    return {};
}

} // namespace

QString explain_html(const StudyRow& row, int figure, const Evidence& evidence,
                     const QString& kernels) {
    if (!row.estimate) {
        return QStringLiteral("<p>%1</p>").arg(row.error.toHtmlEscaped());
    }
    QString html = figure_html(figure_of(*row.estimate, figure));
    html += heading(tr("Verification")) +
            QStringLiteral("<p style='margin-top:0'>%1</p><p style='margin-top:0'>%2</p>")
                .arg(evidence_text(evidence).toHtmlEscaped(), kernels.toHtmlEscaped());
    return html + components_html(*row.estimate) + kinds_html(*row.estimate) +
           notes_html(*row.estimate);
}

ExplainPanel::ExplainPanel(Study& study, QWidget* parent)
    : QWidget(parent), study_(study), name_(new QLabel(this)), badge_(new QLabel(this)),
      figure_(new QComboBox(this)), copy_(new QToolButton(this)), text_(new QTextBrowser(this)) {
    QFont bold = name_->font();
    bold.setBold(true);
    name_->setFont(bold);
    badge_->setObjectName(QStringLiteral("badge"));
    figure_->setObjectName(QStringLiteral("explainFigure"));
    figure_->setAccessibleName(tr("Figure to explain"));
    // The dock may be narrower than its longest words.
    figure_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    figure_->setMinimumContentsLength(6);
    figure_->addItems({tr("Uncapped per token"), tr("Growth per token"),
                       tr("Constant per sequence"), tr("Total at the context")});
    text_->setObjectName(QStringLiteral("explainText"));
    text_->setAccessibleName(tr("Terms of the figure"));
    copy_->setObjectName(QStringLiteral("copyExplanation"));
    copy_->setText(tr("Cop&y"));
    copy_->setAccessibleName(tr("Copy the explanation"));
    copy_->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(copy_);
    menu->addAction(tr("As &text"), this, [this] { copy(false); })
        ->setObjectName(QStringLiteral("copyAsText"));
    menu->addAction(tr("As &Markdown"), this, [this] { copy(true); })
        ->setObjectName(QStringLiteral("copyAsMarkdown"));
    copy_->setMenu(menu);
    auto* head = new QHBoxLayout;
    head->addWidget(name_, 1);
    head->addWidget(badge_);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(head);
    auto* choice = new QHBoxLayout;
    choice->addWidget(figure_, 1);
    choice->addWidget(copy_);
    layout->addLayout(choice);
    layout->addWidget(text_, 1);
    connect(figure_, &QComboBox::currentIndexChanged, this, &ExplainPanel::refresh);
    connect(&study_, &Study::changed, this, &ExplainPanel::refresh);
    connect(&study_, &Study::currentChanged, this, &ExplainPanel::refresh);
    connect(&study_, &Study::recordsChanged, this, &ExplainPanel::refresh);
    refresh();
}

void ExplainPanel::setFigure(int figure) {
    figure_->setCurrentIndex(figure);
}

void ExplainPanel::copy(bool markdown) {
    if (const StudyRow* row = study_.row(study_.current())) {
        QApplication::clipboard()->setText(
            explain_text(*row, figure_->currentIndex(), study_.verification(row->id), markdown));
    }
}

void ExplainPanel::refresh() {
    const StudyRow* row = study_.row(study_.current());
    if (row == nullptr) {
        name_->setText(tr("No model"));
        badge_->hide();
        copy_->setEnabled(false);
        text_->setHtml(tr("<p>Tick a model in the list to see how its figures are made up.</p>"));
        return;
    }
    name_->setText(row->name);
    copy_->setEnabled(row->estimate.has_value());
    const Evidence evidence =
        study_.evidence(row->id, static_cast<FigureKind>(figure_->currentIndex()));
    const Badge badge = evidence.status;
    badge_->setText(badge_text(badge));
    const QString style =
        badge_colours(badge) + QStringLiteral(";border-radius:3px;padding:1px 6px");
    if (badge_->styleSheet() != style) { // setting one takes its time, whatever it is
        badge_->setStyleSheet(style);
    }
    badge_->setToolTip(evidence_text(evidence));
    badge_->setAccessibleName(tr("How this figure is known: %1").arg(badge_text(badge)));
    badge_->setVisible(row->estimate.has_value());
    text_->setHtml(explain_html(*row, figure_->currentIndex(), evidence,
                                row->model ? kernels_text(*row->model, study_.records().records())
                                           : QString()));
}

} // namespace kvcaliper::gui
