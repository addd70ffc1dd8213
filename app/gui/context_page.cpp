// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/chart_builder.h"
#include "app/gui/chart_view.h"
#include "app/gui/pages.h"
#include "app/gui/text.h"
#include "core/error.h"

#include <QStringList>
#include <QToolTip>
#include <QVBoxLayout>

#include <cmath>

namespace kvcaliper::gui {

Tokens round_tokens(double tokens) {
    const double clamped = std::min(std::max(tokens, 1.0), 1e15);
    const double step = std::exp2(std::max(0.0, std::floor(std::log2(clamped)) - 2));
    return Tokens(std::llround(std::round(clamped / step) * step));
}

QString totals_at(const Study& study, Tokens tokens) {
    QStringList lines = {Study::tr("%1 tokens").arg(integer_text(tokens.count()))};
    for (const StudyRow& row : study.rows()) {
        if (!row.estimate) {
            continue;
        }
        try {
            const auto at = curve(*row.model, study.settings(), tokens, tokens, 2);
            lines << QStringLiteral("%1: %2").arg(row.name,
                                                  text(format_bytes_exact(at.front().required)));
        } catch (const Error& error) {
            lines << QStringLiteral("%1: %2").arg(row.name, text(error.what()));
        }
    }
    return lines.join(u'\n');
}

ContextPage::ContextPage(Study& study, QWidget* parent)
    : LazyPage(study, parent), chart_(new ChartView(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(chart_);
    connect(chart_, &ChartView::hovered, this, &ContextPage::onHover);
}

void ContextPage::refresh() {
    chart_->setData(context_chart(study_));
}

void ContextPage::onHover(const ChartSpot& spot, const QPoint& global) {
    QToolTip::showText(global,
                       spot.tokens > 0 ? totals_at(study_, round_tokens(spot.tokens)) : QString());
}

} // namespace kvcaliper::gui
